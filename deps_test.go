package omnigraph

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	{"internal/gq/diag", nil},
	{"gq/plan", []string{"gq/value"}},
	{"gq/catalog", []string{"gq/value"}},
	{"internal/gq/work", nil},
	{"internal/gq/syntax", []string{"internal/gq/diag", "gq/plan", "gq/value", "internal/gq/work"}},
	{"internal/pattern", nil},
	{"internal/gq/check", []string{"gq/**", "internal/gq/**", "internal/pattern"}},
	{"cmd/gq/internal/lsp", []string{"cmd/gq/internal/highlight", "codegen", "gq", "gq/**", "internal/codegen/**", "internal/gq/**", "internal/gqconfig", "internal/server/cluster", "internal/server/policy", "internal/server/policy/protected", "server/tool"}},                               // the language server shows what other commands compute
	{"cmd/gq/internal/tasks", []string{"engine", "engine/embedded", "gq", "gq/**", "internal/server/access", "internal/server/builtin", "internal/server/encoding", "internal/server/mcp", "internal/server/policy", "internal/server/servedgraph", "internal/source/codegraph", "server/tool"}}, // serves graphs to the agents that it scores
	{"cmd/gq/internal/**", []string{"gq/**", "internal/gq/**"}},
	{"internal/gq/**", []string{"gq/**", "internal/gq/**"}}, {"gq", []string{"gq/**", "internal/gq/compile", "internal/gq/diag", "internal/gq/work"}},

	// Code generation depends on the language only.
	{"internal/contract", nil},
	{"codegen/internal/golang", []string{"internal/codegen/model", "internal/contract", "gq/**", "internal/gq/**"}},
	{"internal/codegen/**", []string{"codegen/**", "internal/codegen/**", "internal/contract", "gq/**", "internal/gq/**", "internal/jsonschema"}},
	{"codegen/internal/**", []string{"internal/codegen/model", "gq/**", "internal/gq/**", "internal/jsonschema"}},
	{"codegen", []string{"codegen/internal/**", "internal/codegen/**", "internal/contract", "gq/**", "internal/gq/**"}},

	// Generated code imports the types of its callers and of the engine.
	{"generated/**", []string{"engine", "gq/value", "server/tool"}},

	// Engines take plans and do not depend on the parser.
	{"internal/storage/fs/faultfs", []string{"internal/storage/fs"}}, // for tests only
	{"internal/storage/fs", nil},
	{"engine/embedded/internal/format", []string{"engine"}}, {"engine/embedded/internal/parallel", []string{"internal/processors"}},
	{"engine/embedded/internal/store", []string{"engine", "engine/embedded/internal/corruption", "engine/embedded/internal/format", "engine/embedded/internal/parallel", "internal/clock", "internal/storage/fs", "internal/storage/object", "internal/storage/sharedlog"}},
	{"internal/handle", []string{"engine", "gq/catalog", "gq/plan"}},
	{"internal/server/internal/reopen", []string{"engine", "internal/handle"}},
	{"internal/tokenizer", nil},
	{"internal/embed", []string{"engine", "internal/clock"}},
	{"internal/naive", []string{"engine", "gq/catalog", "gq/plan", "gq/value", "internal/clock", "internal/pattern", "internal/tokenizer"}}, // the reference model
	{"internal/parquet", []string{"engine", "gq/catalog", "gq/plan", "gq/value"}},
	{"internal/evaluation", []string{"gq/catalog", "gq/value", "internal/gq/lint", "internal/tokenizer", "server/tool"}},
	{"engine/enginetest", []string{"engine", "gq/catalog", "gq/plan", "gq/value", "internal/clock", "internal/gq/check", "internal/gq/resolve", "internal/gq/syntax", "internal/storage/fs", "internal/naive"}},
	{"engine/embedded/internal/index/**", []string{"engine", "engine/embedded/internal/column", "engine/embedded/internal/corruption", "engine/embedded/internal/fault", "engine/embedded/internal/format", "engine/embedded/internal/index", "engine/embedded/internal/parallel", "internal/tokenizer"}},
	{"engine/embedded/internal/storedtest", []string{"engine", "engine/embedded/internal/column"}}, // for tests only
	// The layers of a state, each on those before.
	{"engine/embedded/internal/codec", []string{"engine", "engine/embedded/internal/format", "gq/catalog", "gq/value"}},
	{"engine/embedded/internal/schema", []string{"engine", "engine/embedded/internal/codec", "engine/embedded/internal/index/vectorindex", "gq/catalog", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/logrecord", []string{"engine", "engine/embedded/internal/codec", "engine/embedded/internal/format", "gq/value"}},
	{"engine/embedded/internal/ancestry", []string{"engine", "engine/embedded/internal/codec", "engine/embedded/internal/format", "engine/embedded/internal/logrecord"}},
	{"engine/embedded/internal/segment", []string{"engine", "engine/embedded/internal/codec", "engine/embedded/internal/column", "engine/embedded/internal/format", "engine/embedded/internal/schema", "gq/catalog", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/membership", []string{"engine", "engine/embedded/internal/corruption"}},
	{"engine/embedded/internal/version", []string{"engine", "engine/embedded/internal/ancestry", "engine/embedded/internal/codec", "engine/embedded/internal/column", "engine/embedded/internal/corruption", "engine/embedded/internal/fault", "engine/embedded/internal/format", "engine/embedded/internal/index/**", "engine/embedded/internal/logrecord", "engine/embedded/internal/membership", "engine/embedded/internal/parallel", "engine/embedded/internal/schema", "engine/embedded/internal/segment", "gq/catalog", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/exec/scalar", []string{"engine", "engine/embedded/internal/column", "engine/embedded/internal/fault", "gq/plan", "gq/value"}}, // the layers of execution, each on those before
	{"engine/embedded/internal/exec/ir", []string{"engine", "engine/embedded/internal/exec/scalar", "engine/embedded/internal/fault", "engine/embedded/internal/schema", "engine/embedded/internal/version", "gq/catalog", "gq/plan", "gq/value", "internal/pattern"}},
	{"engine/embedded/internal/exec/eval", []string{"engine", "engine/embedded/internal/column", "engine/embedded/internal/exec/ir", "engine/embedded/internal/exec/scalar", "engine/embedded/internal/fault", "engine/embedded/internal/index/**", "engine/embedded/internal/schema", "engine/embedded/internal/version", "gq/catalog", "gq/plan", "gq/value", "internal/pattern", "internal/tokenizer"}},
	{"engine/embedded/internal/exec/sink", []string{"engine", "engine/embedded/internal/column", "engine/embedded/internal/exec/eval", "engine/embedded/internal/exec/ir", "engine/embedded/internal/exec/scalar", "engine/embedded/internal/fault", "engine/embedded/internal/version", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/exec", []string{"engine", "engine/embedded/internal/column", "engine/embedded/internal/corruption", "engine/embedded/internal/exec/eval", "engine/embedded/internal/exec/ir", "engine/embedded/internal/exec/scalar", "engine/embedded/internal/exec/sink", "engine/embedded/internal/fault", "engine/embedded/internal/index/**", "engine/embedded/internal/parallel", "engine/embedded/internal/segment", "engine/embedded/internal/version", "gq/plan", "gq/value", "internal/clock"}},
	{"engine/embedded/internal/exec/planner", []string{"engine/embedded/internal/exec", "engine/embedded/internal/exec/ir", "engine/embedded/internal/fault", "engine/embedded/internal/schema", "engine/embedded/internal/version", "gq/catalog", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/rights", []string{"engine", "engine/embedded/internal/exec/eval", "engine/embedded/internal/exec/ir", "engine/embedded/internal/exec/planner", "engine/embedded/internal/fault", "engine/embedded/internal/schema", "engine/embedded/internal/version", "gq/plan", "gq/value"}},
	{"engine/embedded/internal/exec/mutate", []string{"engine", "engine/embedded/internal/exec/eval", "engine/embedded/internal/exec/ir", "engine/embedded/internal/exec/planner", "engine/embedded/internal/exec/scalar", "engine/embedded/internal/fault", "engine/embedded/internal/schema", "engine/embedded/internal/version", "gq/catalog", "gq/plan", "gq/value", "internal/pattern"}},
	{"engine/embedded", []string{"engine", "engine/embedded/internal/**", "internal/storage/fs", "internal/storage/object", "internal/storage/object/address", "internal/storage/sharedlog", "gq/catalog", "gq/plan", "gq/value", "internal/clock"}},
	{"engine/**", []string{"engine/**", "internal/storage/fs", "internal/pattern", "internal/tokenizer", "gq/catalog", "internal/gq/diag", "gq/plan", "gq/value", "internal/clock"}},

	{"internal/source/gocode", []string{"internal/source/codegraph", "internal/source/folder", "internal/source/freshness", "internal/source/revision"}},
	{"internal/source/revision", []string{"internal/source/folder"}},
	{"internal/source/scip", []string{"internal/source/codegraph"}}, {"internal/source/**", nil},
	{"internal/buildversion", nil}, {"internal/gcpace", nil}, {"internal/processors", nil},
	{"internal/artifact", nil}, // also for the module in the folder release

	// The wire vocabulary and the REST client depend on no server. They report the errors in a query
	// text with the type that the language uses for them, and they run generated functions, which take
	// the types of the engine.
	{"client", []string{"internal/gq/diag", "internal/clock", "internal/inprocess", "engine", "gq/plan", "gq/value", "server/tool"}},
	{"client/internal/wiretypes", nil}, {"internal/credentials", []string{"internal/clock", "internal/gq/diag", "internal/storage/fs", "internal/strictyaml"}},

	// The server: tools and operations do not depend on a transport; a transport does not depend on
	// another transport.
	{"internal/server/internal/requestinfo", nil}, {"internal/server/internal/logsample", nil},
	{"internal/server/internal/toolsearch", []string{"internal/tokenizer"}},
	{"internal/server/pagetoken/seal", []string{"internal/clock", "internal/server/pagetoken"}}, // the cipher
	{"internal/server/pagetoken", []string{"gq/plan", "gq/value"}},
	{"server/tool", []string{"engine", "gq/plan", "gq/value", "internal/contract", "internal/server/pagetoken"}},
	{"internal/server/arguments", []string{"engine", "internal/gq/diag", "gq/plan", "gq/value", "server/tool"}},
	{"internal/server/internal/notes", []string{"engine", "gq/catalog", "gq/plan", "gq/value"}},
	{"internal/server/queryrun", []string{"engine", "gq/plan", "gq/value", "internal/server/arguments", "internal/server/internal/notes", "internal/server/internal/restricted", "internal/server/pagetoken", "server/tool"}},
	{"internal/server/wireerror", []string{"client", "engine", "internal/gq/diag", "internal/server/internal/requestinfo", "server/tool"}},
	{"internal/server/internal/restricted", []string{"engine", "gq/catalog", "gq/plan", "internal/server/wireerror", "server/tool"}},
	{"internal/server/access", []string{"engine", "gq/plan", "gq/value", "server/tool", "internal/server/internal/requestinfo", "internal/server/internal/restricted", "internal/server/wireerror"}},
	{"internal/server/encoding", []string{"client", "engine", "gq/plan", "gq/value", "internal/server/queryrun", "server/tool", "internal/server/wireerror"}},
	{"internal/server/internal/textlimit", []string{"engine", "internal/processors"}},
	{"internal/server/internal/checks", []string{"engine", "gq/plan", "internal/clock", "internal/server/encoding", "internal/server/pagetoken", "internal/server/wireerror", "server/tool"}},
	{"internal/server/operations", []string{"internal/server/internal/restricted", "engine", "gq", "gq/**", "internal/gq/**", "internal/server/access", "internal/server/arguments", "internal/server/encoding", "internal/server/queryrun", "server/tool", "internal/server/wireerror", "client", "internal/server/pagetoken", "internal/audittrail", "internal/clock", "internal/server/internal/tableimport"}},
	{"internal/server/metatools", []string{"client", "gq/value", "internal/gq/diag", "internal/jsonschema", "internal/server/access", "internal/server/arguments", "internal/server/queryrun", "internal/server/internal/toolsearch", "server/tool"}},
	{"internal/server/internal/audit", []string{"engine", "gq/plan", "internal/audittrail", "internal/clock", "internal/server/access", "internal/server/encoding", "internal/server/internal/requestinfo", "server/tool", "internal/server/wireerror"}},
	{"internal/server/servedgraph/servedtest", []string{"server/tool", "engine", "engine/enginetest/**", "internal/naive", "gq", "gq/**", "internal/gq/**", "internal/server/**"}}, // for tests only
	{"internal/server/internal/webhook", nil}, {"internal/server/internal/codesource", []string{"engine", "gq/catalog", "gq/plan", "gq/value", "internal/source/freshness", "server/tool"}},
	{"internal/server/servedgraph", []string{"internal/server/internal/codesource", "internal/server/internal/restricted", "client", "engine", "gq/catalog", "gq/plan", "internal/clock", "internal/gq/diag", "internal/server/access", "internal/server/arguments", "internal/server/internal/audit", "internal/server/internal/checks", "internal/server/encoding", "internal/server/metatools", "internal/server/operations", "internal/server/pagetoken", "internal/server/pagetoken/seal", "internal/server/queryrun", "internal/server/internal/reviewkey", "internal/server/internal/textlimit", "internal/server/internal/webhook", "internal/claims", "gq/value", "server/tool", "internal/server/wireerror", "internal/audittrail"}},
	{"internal/server/builtin", []string{"internal/server/internal/restricted", "internal/server/wireerror", "client", "engine", "gq", "gq/**", "internal/gq/**", "internal/jsonschema", "internal/server/arguments", "internal/server/encoding", "internal/server/operations", "internal/server/queryrun", "internal/server/internal/textlimit", "server/tool", "internal/source/codegraph"}},
	{"internal/server/skill", []string{"gq/catalog", "internal/gq/guide"}},
	{"internal/server/mcp", []string{"internal/jsonschema", "internal/server/internal/restricted", "engine", "gq/**", "internal/gq/**", "internal/server/access", "internal/server/arguments", "internal/server/encoding", "internal/server/metatools", "internal/server/queryrun", "internal/server/internal/envelope", "internal/server/operations", "internal/server/internal/reviewkey", "internal/server/servedgraph", "internal/server/skill", "internal/server/internal/textlimit", "server/tool", "internal/server/wireerror", "client"}},
	{"internal/server/internal/envelope", []string{"internal/server/encoding", "internal/server/wireerror", "client"}}, // the HTTP status of each fault
	{"internal/server/rest/resttest", []string{"internal/server/rest"}},                                                // for tests only
	{"internal/server/internal/uploads", []string{"engine", "internal/clock"}}, {"internal/server/internal/reviewkey", []string{"internal/clock", "internal/server/access", "internal/server/wireerror", "server/tool"}}, {"internal/server/internal/tableimport", []string{"client", "engine", "gq", "gq/catalog", "internal/dataimport", "internal/dataimport/infer", "internal/dataimport/record", "internal/server/wireerror", "server/tool"}},
	{"internal/server/rest", []string{"internal/server/internal/restricted", "client", "engine", "gq/**", "internal/clock", "internal/gq/**", "internal/inprocess", "internal/parquet", "internal/server/access", "internal/server/arguments", "internal/server/encoding", "internal/server/operations", "internal/server/queryrun", "internal/server/internal/envelope", "internal/server/internal/uploads", "internal/server/internal/tableimport", "internal/server/servedgraph", "server/tool", "internal/server/wireerror", "internal/audittrail"}},
	{"internal/server/internal/admission", []string{"internal/server/access", "internal/server/internal/envelope", "internal/server/wireerror", "client"}},
	{"internal/server/observe", []string{"engine", "internal/clock", "internal/server/internal/audit", "internal/server/internal/requestinfo", "internal/server/internal/logsample", "internal/server/wireerror", "internal/audittrail"}},
	{"internal/strictyaml", []string{"internal/gq/diag"}}, {"internal/claims", []string{"gq/plan", "gq/value", "internal/strictyaml"}},
	{"internal/gqconfig", []string{"gq/plan", "internal/claims", "internal/gq/diag", "internal/gq/lint", "internal/strictyaml"}},
	{"internal/dataimport/record", nil},
	{"internal/dataimport/remote", []string{"internal/dataimport/record", "internal/storage/object/address"}},
	{"internal/dataimport/postgres", []string{"gq/value", "internal/dataimport", "internal/dataimport/infer", "internal/dataimport/pgtext", "internal/dataimport/record"}},
	{"internal/dataimport/follow", []string{"engine", "internal/clock", "internal/dataimport", "internal/dataimport/pgtext", "internal/dataimport/postgres", "internal/dataimport/record"}},
	{"internal/dataimport/pgtext", []string{"internal/dataimport/record"}},
	{"internal/dataimport/infer", []string{"gq/catalog", "gq/value", "internal/dataimport", "internal/dataimport/record"}},
	{"internal/dataimport", []string{"engine", "gq/catalog", "gq/value", "internal/dataimport/record", "internal/gq/diag", "internal/parquet", "internal/strictyaml"}},
	{"internal/settings", []string{"internal/strictyaml"}},
	{"internal/server/internal/forward", []string{"engine", "internal/server/internal/envelope", "internal/server/wireerror"}},
	{"internal/server/hostcheck", []string{"client", "internal/server/internal/envelope", "internal/server/wireerror"}},
	{"internal/server/auth/authtest", []string{"internal/clock"}}, // for tests only
	{"internal/server/auth", []string{"client", "engine", "gq/plan", "gq/value", "internal/claims", "internal/clock", "internal/server/access", "internal/server/hostcheck", "internal/server/internal/envelope", "internal/server/internal/logsample", "internal/strictyaml", "internal/server/wireerror"}},
	{"internal/server/policy/protected", []string{"internal/strictyaml"}},
	{"internal/server/policy", []string{"engine", "gq", "gq/**", "internal/gq/diag", "internal/server/access", "internal/server/policy/protected", "internal/strictyaml", "server/tool"}},
	{"internal/server/cluster/reconcile", []string{"engine", "internal/codegen/breaking", "internal/codegen/model", "internal/contract", "internal/gqconfig", "server/tool", "internal/storage/fs", "internal/storage/object", "internal/replica", "gq", "gq/**", "internal/gq/**", "internal/clock", "internal/server/cluster", "internal/server/internal/control", "internal/server/policy", "internal/strictyaml"}}, // fs is its durable I/O
	{"internal/server/internal/control", []string{"engine", "gq/catalog", "internal/gq/compile", "internal/storage/object"}},                                                                                                                                                                                                                                                                                           // the command and the server use it
	{"internal/server/cluster/provider", []string{"engine", "internal/embed", "internal/server/cluster"}},
	{"internal/server/cluster", []string{"gq/plan", "internal/claims", "internal/gq/diag", "internal/storage/object/address", "internal/server/hostcheck", "internal/server/policy/protected", "internal/strictyaml", "server/tool"}},     // tool has the names of the actions
	{"server/launch", []string{"server/tool", "engine", "internal/buildversion", "internal/gcpace", "internal/gq/diag", "gq/plan", "internal/manual", "internal/processors", "internal/server", "internal/server/**", "internal/studio"}}, // the command, which any module may build
	{"internal/server", []string{"server/tool", "engine/**", "internal/storage/fs", "internal/storage/object", "internal/storage/object/address", "internal/replica", "internal/tokenizer", "gq/**", "internal/gq/**", "internal/clock", "internal/server/**", "internal/studio", "client", "internal/audittrail"}},
	{"internal/studio", nil}, // files that the server sends as they are

	// Commands combine the packages; no package imports a command.
	{"cmd/omnigraph/internal/clientconfig", nil},
	{"cmd/**", []string{"client", "internal/audittrail", "cmd/gq/internal/**", "cmd/omnigraph/internal/**", "internal/parquet", "server/**", "codegen/**", "internal/codegen/**", "engine/**", "internal/storage/fs", "internal/storage/object", "internal/storage/object/address", "internal/replica", "internal/tokenizer", "generated/**", "gq", "gq/**", "internal/gq/**", "internal/artifact", "internal/inprocess", "internal/buildversion", "internal/contract", "internal/gcpace", "internal/credentials", "internal/evaluation", "internal/gqconfig", "internal/clock", "internal/dataimport/**", "internal/manual", "internal/server", "internal/server/**", "internal/strictyaml", "internal/source/**"}},
	{"test/clients/packed", []string{"internal/clock"}}, {"test/clients/frameworks", nil}, {"test/e2e", nil},
	{"test/follow", []string{"internal/clock", "internal/slow", "internal/storage/object/postgres/postgrestest"}},
	{"test/foreign", nil}, {"test/outside", nil},
	{"internal/storage/object/address", []string{"internal/storage/fs", "internal/storage/object", "internal/storage/object/azure", "internal/storage/object/gcs", "internal/storage/object/postgres", "internal/storage/object/s3"}},
	{"internal/replica", []string{"internal/handle", "engine", "engine/embedded", "gq/catalog", "gq/plan", "internal/clock", "internal/storage/object", "internal/storage/object/address", "internal/storage/sharedlog"}},
	{"internal/storage/object/objecttest", []string{"internal/storage/object"}},      // for tests only
	{"internal/storage/object/postgres/postgrestest", []string{"internal/pgserver"}}, // for tests only
	{"internal/storage/object/s3/s3test", []string{"internal/storage/object/s3"}},    // for tests only
	{"internal/storage/object/azure", []string{"internal/storage/object"}},
	{"internal/storage/object/azure/azuretest", []string{"internal/storage/object/azure"}}, // for tests only
	{"internal/storage/object/gcs", []string{"internal/storage/object"}},
	{"internal/storage/object/postgres", []string{"internal/storage/object"}},
	{"internal/storage/object/s3", []string{"internal/storage/object"}},
	{"internal/storage/object", []string{"internal/storage/fs"}},
	{"internal/storage/sharedlog/simulation", []string{"internal/storage/object", "internal/storage/sharedlog"}}, // for tests only
	{"internal/storage/sharedlog", []string{"internal/clock", "internal/storage/object"}},
	{"internal/bench/social", nil},
	{"internal/bench/snb/stored", []string{"engine", "engine/embedded", "gq", "gq/**", "internal/bench/snb", "internal/bench/snb/plain", "internal/storage/fs"}},
	{"internal/bench/snb/plain", []string{"internal/bench/snb"}},
	{"internal/bench/snb/relational", []string{"internal/bench/snb"}},
	{"internal/bench/snb", nil}, {"internal/bench/measure", nil},
	{"internal/bench/serverproc", []string{"internal/clock"}},
	{"internal/bench/contention", []string{"engine", "gq", "gq/**", "internal/gq/**", "internal/clock"}},
	{"bench/cmd/snb", []string{"gq/catalog", "gq/plan", "internal/bench/snb", "internal/bench/snb/stored", "internal/server", "internal/server/auth", "internal/server/cluster", "server/tool"}},
	{"internal/audittrail", []string{"engine", "internal/clock", "internal/storage/object"}},
	{"internal/pgserver", nil}, // for tests and benchmarks
	{"bench/cmd/shared", []string{"internal/pgserver", "engine/**", "gq", "gq/**", "internal/bench/**", "internal/clock", "internal/storage/fs", "internal/storage/object", "internal/storage/object/address"}},
	{"bench/cmd/**", []string{"bench/**", "gq", "gq/**", "internal/bench/**", "internal/pgserver", "engine/**", "internal/storage/fs", "internal/tokenizer", "internal/clock"}},
	{"bench", []string{"engine/**", "internal/storage/fs", "internal/tokenizer", "generated/**", "gq", "gq/**", "internal/gq/**", "internal/clock", "internal/server", "internal/server/**"}},
	{"internal/jsonschema/schematest", nil}, // for tests only
	{"internal/jsonschema", []string{"gq/value"}},
	{"internal/**", []string{"internal/clock"}},
}

// withoutHTTP lists the packages of the server that serve every transport, so that no HTTP status
// or header may occur in them.
var withoutHTTP = []string{
	"internal/server/access", "internal/server/arguments", "internal/server/internal/audit", "internal/server/builtin", "internal/server/internal/checks", "internal/server/encoding", "internal/server/metatools", "internal/server/internal/notes", "internal/server/operations",
	"internal/server/pagetoken/**", "internal/server/policy", "internal/server/queryrun", "internal/server/servedgraph", "internal/server/internal/textlimit", "server/tool", "internal/server/wireerror",
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
		if name == "" {
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
		if name != "codegen/internal/golang" && slices.Contains(p.Imports, "github.com/dave/jennifer/jen") {
			t.Errorf("%s imports jennifer, which codegen/internal/golang alone may: it writes all generated Go", name)
		}
		if slices.Contains(p.Imports, "net/http") && slices.ContainsFunc(withoutHTTP, func(pattern string) bool { return matches(pattern, name) }) {
			t.Errorf("%s imports net/http, which only transports may; return an error of internal/server/wireerror, and let internal/server/internal/envelope choose the status", name)
		}
		for _, imp := range p.Imports {
			dep, own := strings.CutPrefix(imp, module+"/")
			if !own {
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
	module + "/gq", module + "/internal/gq/syntax", module + "/internal/gq/resolve", module + "/internal/gq/check", module + "/codegen", module + "/internal/codegen/**",
	module + "/internal/server/pagetoken/seal", module + "/internal/server/arguments", module + "/internal/server/queryrun", module + "/internal/server/encoding",
	module + "/internal/server/operations", module + "/internal/server/servedgraph", module + "/internal/server/mcp", module + "/internal/server/rest/**",
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
			if pkg == "./engine/embedded" && (dep == "net/http" || strings.HasPrefix(dep, "golang.org/x/crypto/")) {
				continue // OpenURL connects to shared storage
			}
			if slices.ContainsFunc(unlinked, func(pattern string) bool { return matches(pattern, dep) }) {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
}

// readers lists the packages that read source code, which only the commands for authors link, the line editor of a shell, and the benchmarks.
var readers = []string{module + "/bench/**", module + "/internal/bench/**", module + "/internal/source/gocode", module + "/internal/source/revision", module + "/internal/source/scip", module + "/internal/source/folder", "golang.org/x/tools/**", "github.com/go-git/**", "github.com/peterh/liner"}

func TestServersLinkNoReaderOfSource(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/omnigraph-server", "./server/launch").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/internal/server/builtin") {
		t.Error("a server does not link its built-in tools, so the list of its packages shows nothing")
	}
	for _, dep := range deps {
		if slices.ContainsFunc(readers, func(pattern string) bool { return matches(pattern, dep) }) {
			t.Errorf("a server links %s", dep)
		}
	}
}

// TestServersWithoutForeign checks that the build tag noforeign leaves the translation of other languages out of a server.
func TestServersWithoutForeign(t *testing.T) {
	const foreign = module + "/internal/gq/internal/foreign"
	for _, without := range []bool{false, true} {
		args := []string{"list", "-deps"}
		if without {
			args = append(args, "-tags=noforeign")
		}
		out, err := exec.Command("go", append(args, "./cmd/omnigraph-server")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := slices.ContainsFunc(strings.Fields(string(out)), func(dep string) bool { return matches(foreign+"/**", dep) || dep == foreign })
		if linked == without {
			t.Errorf("a server built with noforeign=%v links %s: %v", without, foreign, linked)
		}
	}
}

// public lists the packages that another module can import. docs/compatibility.md promises them; every
// other package is internal, so that it can change. The list has at most twelve entries.
var public = []string{
	"client", "codegen", "engine", "engine/embedded", "engine/enginetest", "generated/code", "gq", "gq/catalog",
	"gq/plan", "gq/value", "server/launch", "server/tool",
}

func TestPublicPackages(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath, Name string
			GoFiles          []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if p.Name != "main" && len(p.GoFiles) > 0 && !slices.Contains(strings.Split(name, "/"), "internal") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, public) {
		t.Errorf("other modules can import %v, expected %v: move a package that is not promised below internal", found, public)
	}
	promised, err := os.ReadFile("docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range public {
		if !strings.Contains(string(promised), "`"+name+"`") {
			t.Errorf("docs/compatibility.md does not name the public package `%s`", name)
		}
	}
}

// TestPublicExamples checks that each public package has an example that runs. The example must
// import no internal package, so that a reader can copy it.
func TestPublicExamples(t *testing.T) {
	for _, name := range public {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(name), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		run := 0
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			examples := doc.Examples(syntax)
			for _, example := range examples {
				if example.Output != "" {
					run++
				}
			}
			if len(examples) == 0 || name == "client" { // the examples of client call a server in this process
				continue
			}
			for _, imp := range syntax.Imports {
				if path := strings.Trim(imp.Path.Value, `"`); slices.Contains(strings.Split(path, "/"), "internal") {
					t.Errorf("the examples in %s import %s, which no other module can: use public packages", file, path)
				}
			}
		}
		if run == 0 {
			t.Errorf("the public package %s has no example with an output: add one to %s/example_test.go", name, name)
		}
	}
}

// alone lists the packages in internal that one room imports, each with the reason why it is not in the
// internal folder of that room.
var alone = []struct{ pkg, reason string }{
	{"internal/artifact", "the module in the folder release imports it too"},
	{"internal/bench/**", "the parts of the benchmarks are together; tests of the engine import some of them"},
	{"internal/codegen/scaffold", "it writes what the generator reads, and changes with it"},
	{"internal/dataimport/**", "the parts of an import are together below the package of its maps, and change with it"},
	{"internal/evaluation", "its questions are about the tools of every graph, not about the command that prints the report"},
	{"internal/gq/guide", "it explains every construct of the language, and changes with it"},
	{"internal/server/rest/resttest", "it is for tests, next to the package that they test"},
	{"internal/source/**", "the readers of source are together, because a server may link none of them"},
	{"internal/storage/object/**", "the storages and their suite are together below the interface"},
}

// TestRooms checks that a package of internal outside of the internal folder of a room has importers in several
// rooms, tests included.
func TestRooms(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	importers := map[string]map[string]bool{} // package to the rooms that import it
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, imp := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			name, own := strings.CutPrefix(imp, module+"/")
			if !own || imp == p.ImportPath || !strings.HasPrefix(name, "internal/") || strings.Contains(name, "/internal/") {
				continue
			}
			if importers[name] == nil {
				importers[name] = map[string]bool{}
			}
			importers[name][room(strings.TrimPrefix(p.ImportPath, module+"/"))] = true
		}
	}
	if len(importers) < 20 {
		t.Errorf("only %d packages of internal have importers; the test saw too few to mean anything", len(importers))
	}
	used := map[string]bool{}
	for name, rooms := range importers {
		if len(rooms) > 1 {
			continue
		}
		row := slices.IndexFunc(alone, func(r struct{ pkg, reason string }) bool { return matches(r.pkg, name) })
		if row >= 0 {
			used[alone[row].pkg] = true
			continue
		}
		for only := range rooms {
			t.Errorf("only %s imports %s: move it to %s/internal, or give the reason in a row of alone", only, name, only)
		}
	}
	for _, r := range alone {
		if !used[r.pkg] {
			t.Errorf("every package of the row %q of alone has importers in several rooms: remove the row", r.pkg)
		}
	}
}

// room returns the room that a package belongs to: the folder on top, or the one below cmd or internal.
func room(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) > 1 && (parts[0] == "cmd" || parts[0] == "internal") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// maxFiles is the number of files, without tests, that a package may have, and maxMethods the number of methods of a type.
const maxFiles, maxMethods = 40, 40

// manyFiles lists the packages that may have more than maxFiles files, with their own limit and the reason.
var manyFiles = map[string]struct {
	most   int
	reason string
}{
	"engine/enginetest": {65, "a file has the cases of one call of the contract, or draws one kind of statement"},
	"cmd/omnigraph":     {49, "a file has one verb of the command"},
}

// manyMethods lists the types that may have more than maxMethods methods, by folder and name, and why. A type that has
// fewer by now needs no row.
var manyMethods = map[string]string{
	"bench/cmd/soak client":                         "a method draws one kind of call",
	"client Graph":                                  "a method sends one call of the contract",
	"cmd/gq/internal/lsp server":                    "a method answers one request of an editor",
	"engine/embedded Follower":                      "a method forwards one call of the contract to the graph that follows",
	"engine/embedded Graph":                         "a method is one call of the contract",
	"engine/embedded branches":                      "a method makes one change that branches.mu guards",
	"engine/embedded/internal/exec matcher":         "a method does one task of a kind of step, with the memory that steps share",
	"engine/embedded/internal/exec/eval Evaluator":  "a method evaluates one kind of expression or condition, or does one part of a search for walks",
	"engine/embedded/internal/exec/ir binder":       "a method binds or checks one construct of the language",
	"engine/embedded/internal/exec/planner planner": "a method chooses one kind of step, or follows one rule of planning",
	"engine/embedded/internal/load applier":         "a method does one step of a load, or reads the batch and its errors, which steps share",
	"engine/embedded/internal/store Shared":         "a method is one call of Storage, or one part of it that needs the locks",
	"engine/embedded/internal/store Store":          "a method is one call of Storage, or one part of it that needs the locks",
	"engine/embedded/internal/version Rows":         "a method reads one part of the rows of a table",
	"engine/embedded/internal/version Txn":          "a method reads or makes one kind of change",
	"internal/gq/internal/foreign/cursor Cursor":    "a method reads or looks for one form of token",
	"engine/enginetest drawer":                      "a method draws one construct of a schema, of data or of a statement",
	"engine/enginetest pair":                        "a method runs one kind of call on both graphs, or compares one kind of answer",
	"engine/enginetest readDraw":                    "a method draws one construct of a read",
	"engine/enginetest session":                     "a method is one step of cases, or checks one kind of answer",
	"internal/gq/internal/foreign rewriter":         "a method translates one construct; a reader for each language is to replace them",
	"internal/gq/check checker":                     "a method checks one construct of the language",
	"internal/naive Graph":                          "a method is one call of the contract",
	"internal/naive evaluation":                     "a method evaluates one construct of the language",
	"internal/replica Graph":                        "a method is one call of the contract, or one step between the roles of a server",
	"internal/server/internal/restricted Graph":     "a method is one call of the contract for a caller with rights to a part of the graph",
	"internal/server/mcp surface":                   "a method answers one method of the protocol, or lists one kind of offer",
	"internal/server/rest exchange":                 "a method answers one route",
	"internal/server/servedgraph Graph":             "a method is one call of the contract with its grants",
}

// TestPackagesCanBeWalked counts the files of each package and the methods of each type, without those of tests.
func TestPackagesCanBeWalked(t *testing.T) {
	files, methods := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		files[folder]++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				of := f.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if generic, ok := of.(*ast.IndexExpr); ok {
					of = generic.X
				}
				methods[fmt.Sprint(folder, " ", of)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Errorf("the test saw %d packages, too few to mean anything", len(files))
	}
	for folder, n := range files {
		if most := max(maxFiles, manyFiles[folder].most); n > most {
			t.Errorf("%s has %d files, at most %d can be walked: divide the package", folder, n, most)
		}
	}
	for name, n := range methods {
		if n > maxMethods && manyMethods[name] == "" {
			t.Errorf("%s has %d methods, at most %d are one task: divide the type, or give the reason in manyMethods", name, n, maxMethods)
		}
	}
	for name := range manyMethods {
		if methods[name] == 0 {
			t.Errorf("there is no type %s: remove its row of manyMethods", name)
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
