package omnigraph

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports lists the packages of this module that each package may import. A pattern that ends in
// /** matches a package and all packages below it. The first row that matches a package is its
// rule. The rules apply to the shipped code only; tests may import more.
var imports = []struct {
	pkg     string
	allowed []string
}{
	// The language packages depend on nothing outside the language.
	{"gq/value", nil},
	{"gq/diag", nil},
	{"gq/plan", []string{"gq/value"}},
	{"gq/catalog", []string{"gq/value"}},
	{"gq/work", nil},
	{"gq/syntax", []string{"gq/diag", "gq/plan", "gq/value", "gq/work"}},
	{"gq/**", []string{"gq/**"}},

	// Code generation depends on the language only.
	{"codegen/golang", []string{"codegen/model", "gq/**"}},
	{"codegen/**", []string{"codegen/**", "gq/**", "internal/jsonschema"}},

	// Generated code imports the types of its callers and of the engine.
	{"generated/**", []string{"engine", "gq/value", "server/tool"}},

	// Engines take plans and do not depend on the parser.
	{"engine/embedded/fs", nil},
	{"engine/embedded/format", nil},
	{"engine/embedded/store", []string{"engine", "engine/embedded/format", "engine/embedded/fs"}},
	{"engine/reopen", []string{"engine", "gq/catalog", "gq/plan"}},
	{"engine/text", nil},
	{"engine/**", []string{"engine/**", "gq/catalog", "gq/diag", "gq/plan", "gq/value", "internal/clock"}},

	{"source/**", nil},

	// The wire vocabulary and the REST client depend on no server. Faults of texts are those of the
	// language.
	{"client", []string{"gq/diag", "internal/clock"}},

	// The server: tools and operations do not depend on a transport; a transport does not depend on
	// another transport.
	{"server/requestinfo", nil},
	{"server/logsample", nil},
	{"server/toolsearch", nil},
	{"server/pagetoken/seal", []string{"server/pagetoken"}}, // the cipher
	{"server/pagetoken", []string{"gq/plan", "gq/value"}},
	{"server/tool", []string{"engine", "gq/plan", "gq/value", "server/pagetoken"}},
	{"server/arguments", []string{"engine", "gq/diag", "gq/plan", "gq/value", "server/tool"}},
	{"server/queryrun", []string{"engine", "gq/plan", "server/arguments", "server/pagetoken", "server/tool"}},
	{"server/wireerror", []string{"client", "engine", "gq/diag", "server/requestinfo", "server/tool"}},
	{"server/access", []string{"engine", "server/tool", "server/wireerror"}},
	{"server/encoding", []string{"client", "engine", "gq/plan", "gq/value", "server/queryrun", "server/tool", "server/wireerror"}},
	{"server/textlimit", []string{"engine"}},
	{"server/operations", []string{"client", "engine", "gq", "gq/**", "server/access", "server/arguments", "server/encoding", "server/pagetoken", "server/queryrun", "server/tool", "server/wireerror"}},
	{"server/metatools", []string{"gq/diag", "internal/jsonschema", "server/access", "server/arguments", "server/queryrun", "server/toolsearch", "server/tool"}},
	{"server/audit", []string{"engine", "internal/clock", "server/access", "server/encoding", "server/requestinfo", "server/tool", "server/wireerror"}},
	{"server/servedgraph/servedtest", []string{"engine", "engine/enginetest/**", "gq", "gq/**", "server/**"}}, // for tests only
	{"server/servedgraph", []string{"engine", "internal/clock", "server/access", "server/arguments", "server/audit", "server/encoding", "server/metatools", "server/operations", "server/pagetoken", "server/pagetoken/seal", "server/queryrun", "server/textlimit", "server/tool", "server/wireerror"}},
	{"server/builtin", []string{"client", "engine", "gq", "gq/**", "internal/jsonschema", "server/arguments", "server/encoding", "server/operations", "server/queryrun", "server/textlimit", "server/tool", "source/**"}},
	{"server/mcp", []string{"client", "engine", "gq/**", "server/access", "server/encoding", "server/metatools", "server/rest/envelope", "server/servedgraph", "server/textlimit", "server/tool", "server/wireerror"}},
	{"server/rest/envelope", []string{"client", "server/encoding", "server/wireerror"}}, // the HTTP status of each fault
	{"server/rest/resttest", []string{"server/rest"}}, // for tests only
	{"server/rest", []string{"client", "engine", "gq/**", "server/access", "server/arguments", "server/encoding", "server/operations", "server/queryrun", "server/rest/envelope", "server/servedgraph", "server/tool", "server/wireerror"}},
	{"server/admission", []string{"client", "server/access", "server/rest/envelope", "server/wireerror"}},
	{"server/observe", []string{"engine", "internal/clock", "server/audit", "server/requestinfo", "server/logsample", "server/wireerror"}},
	{"server/strictyaml", []string{"gq/diag"}},
	{"server/hostcheck", []string{"client", "server/rest/envelope", "server/wireerror"}},
	{"server/auth/authtest", []string{"internal/clock"}}, // for tests only
	{"server/auth", []string{"client", "internal/clock", "server/access", "server/hostcheck", "server/rest/envelope", "server/logsample", "server/strictyaml", "server/wireerror"}},
	{"server/policy", []string{"gq/diag", "server/access", "server/strictyaml", "server/tool"}},
	{"server/cluster/reconcile", []string{"engine", "engine/embedded/fs", "gq", "gq/**", "internal/clock", "server/cluster", "server/policy", "server/strictyaml"}}, // fs is its durable I/O
	{"server/cluster", []string{"gq/diag", "server/hostcheck", "server/strictyaml"}},
	{"server/launch", []string{"engine", "gq/diag", "gq/plan", "internal/manual", "server", "server/**"}}, // the command, which any module may build
	{"server", []string{"client", "engine/**", "gq/**", "internal/clock", "server/**"}},

	// Commands combine the packages; no package imports a command.
	{"cmd/**", []string{"client", "codegen/**", "engine/**", "generated/**", "gq", "gq/**", "internal/clock", "internal/manual", "server", "server/**", "source/**"}},
	{"test/e2e", []string{"generated/code", "server/launch"}},
	{"bench/social", nil},
	{"bench/serverproc", []string{"internal/clock"}},
	{"bench/contention", []string{"engine", "gq", "gq/**", "internal/clock"}},
	{"bench/cmd/**", []string{"bench/**", "engine/**", "internal/clock"}},
	{"bench", []string{"engine/**", "generated/**", "gq", "gq/**", "internal/clock", "server", "server/**"}},
	{"internal/jsonschema", []string{"gq/value"}},
	{"internal/**", []string{"internal/clock"}},
}

// withoutHTTP lists the packages of the server that serve every transport, so that no HTTP status
// or header may occur in them.
var withoutHTTP = []string{
	"server/access", "server/arguments", "server/audit", "server/builtin", "server/encoding", "server/metatools", "server/operations",
	"server/pagetoken/**", "server/policy", "server/queryrun", "server/servedgraph", "server/textlimit", "server/tool", "server/wireerror",
}

const module = "github.com/omnigraph-go/omnigraph"

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportMap(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if name == "" || strings.Contains(name, "/internal/") {
			continue
		}
		seen++
		rule := slices.IndexFunc(imports, func(r struct {
			pkg     string
			allowed []string
		}) bool {
			return matches(r.pkg, name)
		})
		if rule < 0 {
			t.Errorf("%s is in no row of the import map: add one that says what it may import", name)
			continue
		}
		if name != "codegen/golang" && slices.Contains(p.Imports, "github.com/dave/jennifer/jen") {
			t.Errorf("%s imports jennifer, which codegen/golang alone may: it writes all generated Go", name)
		}
		if slices.Contains(p.Imports, "net/http") && slices.ContainsFunc(withoutHTTP, func(pattern string) bool { return matches(pattern, name) }) {
			t.Errorf("%s imports net/http, which is for transports: return an error of server/wireerror, and server/rest/envelope has its status", name)
		}
		for _, imp := range p.Imports {
			dep, own := strings.CutPrefix(imp, module+"/")
			if !own || strings.Contains(dep, "/internal/") {
				continue
			}
			if !slices.ContainsFunc(imports[rule].allowed, func(pattern string) bool { return matches(pattern, dep) }) {
				t.Errorf("%s imports %s, which the import map does not allow (row %q)", name, dep, imports[rule].pkg)
			}
		}
	}
	if seen < 20 {
		t.Errorf("the module lists %d packages; the test saw too few to mean anything", seen)
	}
}

// unlinked lists the packages that generated code must not pull into a program: the parsers, the
// ciphers, the transports, the decoders of arguments, and JSON Schema reflection. Their absence shows that stored queries run
// from decoded plans and that no query text is parsed at run time.
var unlinked = []string{
	module + "/gq", module + "/gq/syntax", module + "/gq/resolve", module + "/gq/check", module + "/codegen/**",
	module + "/server/pagetoken/seal", module + "/server/arguments", module + "/server/queryrun", module + "/server/encoding",
	module + "/server/operations", module + "/server/servedgraph", module + "/server/mcp", module + "/server/rest/**",
	module + "/internal/jsonschema",
	"github.com/alecthomas/participle/**", "golang.org/x/crypto/**", "github.com/modelcontextprotocol/**", "github.com/invopop/**", "net/http",
}

func TestGeneratedLinksNoParser(t *testing.T) {
	// The engine that runs the queries is included too, so that the check covers opening a graph.
	for _, pkg := range []string{"./generated/code", "./generated/internal/corpus", "./engine/embedded"} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		deps := strings.Fields(string(out))
		if !slices.Contains(deps, module+"/gq/plan") {
			t.Errorf("%s does not link gq/plan, so the list of its packages shows nothing", pkg)
		}
		for _, dep := range deps {
			if slices.ContainsFunc(unlinked, func(pattern string) bool { return matches(pattern, dep) }) {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
}

func TestNoVagueNames(t *testing.T) {
	out, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		last := path[strings.LastIndex(path, "/")+1:]
		if slices.Contains([]string{"util", "utils", "common", "helpers", "misc", "types", "service"}, last) {
			t.Errorf("package %s: the name says nothing; name it after what it holds", path)
		}
	}
}

func matches(pattern, name string) bool {
	if base, ok := strings.CutSuffix(pattern, "/**"); ok {
		return name == base || strings.HasPrefix(name, base+"/")
	}
	return pattern == name
}
