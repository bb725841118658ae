package scip_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bindings "github.com/scip-code/scip/bindings/go/scip"
	"google.golang.org/protobuf/proto"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/scip"
)

// load makes a graph in memory with the schema of queries/code and loads the given graphs, one after the
// other.
func load(t *testing.T, graphs ...*codegraph.Graph) engine.Graph {
	t.Helper()
	text, err := os.ReadFile("../../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), string(text), schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	for _, from := range graphs {
		if _, err := g.Load(t.Context(), bytes.NewReader(ndjson(t, from)), engine.LoadOptions{Mode: engine.Merge}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// answers collects lines about the rows that stored queries return.
type answers struct {
	t     *testing.T
	g     engine.Graph
	lines []string
}

func (a *answers) add(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

func (a *answers) check(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *answers) callers(path string) {
	rows, err := code.Callers(a.t.Context(), a.g, code.CallersParams{Path: path})
	a.check(err)
	for _, r := range rows {
		a.add("%s calls %s %d times, %s:%d", r.Caller, path, r.References, r.File, r.Line)
	}
}

func (a *answers) references(path string) {
	rows, err := code.UsersOf(a.t.Context(), a.g, code.UsersOfParams{Path: path})
	a.check(err)
	for _, r := range rows {
		a.add("%s %s refers to %s %d times, %s:%d", r.Kind, r.User, path, r.References, r.File, r.Line)
	}
}

func (a *answers) implementations(path string) {
	rows, err := code.Implementations(a.t.Context(), a.g, code.ImplementationsParams{Path: path})
	a.check(err)
	for _, r := range rows {
		a.add("%s: %s %s, %s:%d", path, r.Relation, r.Path, optional(r.File), r.Line)
	}
}

func (a *answers) coverage() {
	rows, err := code.IndexCoverage(a.t.Context(), a.g, code.IndexCoverageParams{})
	a.check(err)
	for _, r := range rows {
		a.add("%s is indexed by %s at %s", r.Module, optional(r.Indexer), optional(r.Commit))
		for _, gap := range r.NotCovered {
			a.add("not covered in %s: %s", r.Module, gap)
		}
	}
}

func optional(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// TestAnswers loads the indexes of two languages into one graph and asks the stored queries about both.
func TestAnswers(t *testing.T) {
	a := &answers{t: t, g: load(t,
		readFile(t, "shop-ts.scip", scip.Options{Prefix: "web", Commit: "0123abcd"}),
		readFile(t, "shop-py.scip", scip.Options{Prefix: "jobs"}))}
	const ts = "@example/shop/src/stock.ts."
	a.callers(ts + "normalize")
	a.callers(ts + "round")
	a.callers(ts + "Finder.find")
	a.callers(ts + "Shelf.<constructor>")
	a.references(ts + "Shelf")
	a.references(ts + "rate")
	a.implementations(ts + "Finder")
	a.implementations(ts + "Shelf.find")
	a.callers("shop.stock._normalize")
	a.callers("shop.stock.Shelf.put")
	a.references("shop.stock.Shelf")
	a.implementations("shop.stock.Finder")
	a.implementations("shop.stock.Finder.find")
	a.coverage()
	golden.Check(t, "testdata/answers.txt", []byte(strings.Join(a.lines, "\n")+"\n"))
}

// indexers returns the folder in which make test-scip installed the indexers and the packages to index. It
// skips the test if there is none.
func indexers(t *testing.T) string {
	dir := os.Getenv("OMNIGRAPH_TEST_SCIP")
	if dir == "" {
		t.Skip("OMNIGRAPH_TEST_SCIP names no folder with the indexers; run make test-scip, which needs node, npm and python3 with venv")
	}
	return dir
}

// index copies a folder to a temporary one, runs an indexer there, and returns the index. The index names
// the folder by its base name alone.
func index(t *testing.T, source, indexer string, args ...string) []byte {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(source))
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "index.scip")
	cmd := exec.Command(filepath.Join(indexers(t), "node_modules", ".bin", indexer), append(append([]string{"index"}, args...), "--output", out)...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", indexer, err, text)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var x bindings.Index
	if err := proto.Unmarshal(content, &x); err != nil {
		t.Fatal(err)
	}
	x.Metadata.ProjectRoot = "file:///" + filepath.Base(source)
	slices.SortFunc(x.Documents, func(a, b *bindings.Document) int { return cmp.Compare(a.RelativePath, b.RelativePath) })
	if content, err = (proto.MarshalOptions{Deterministic: true}).Marshal(&x); err != nil {
		t.Fatal(err)
	}
	return content
}

func indexTypeScript(t *testing.T, source string) []byte {
	return index(t, source, "scip-typescript")
}

// indexPython indexes without the packages that are installed: the environment is empty.
func indexPython(t *testing.T, source, name, version string) []byte {
	environment := filepath.Join(t.TempDir(), "environment.json")
	if err := os.WriteFile(environment, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	return index(t, source, "scip-python", ".", "--quiet", "--project-name", name, "--project-version", version, "--environment", environment)
}

// TestIndexersOwn runs the indexers on the sources in testdata, and compares what they write with the
// indexes there. With -update it writes these.
func TestIndexersOwn(t *testing.T) {
	indexers(t)
	for name, content := range map[string][]byte{
		"shop-ts": indexTypeScript(t, "testdata/shop-ts"),
		"shop-py": indexPython(t, "testdata/shop-py", "shop", "1.2.0"),
	} {
		path := filepath.Join("testdata", name+".scip")
		if golden.Updating() {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines [2]string
		for i, content := range [][]byte{want, content} {
			g, err := read(t.Context(), name, content, scip.Options{})
			if err != nil {
				t.Fatal(err)
			}
			lines[i] = own(t, g)
		}
		if lines[0] != lines[1] {
			t.Errorf("%s: the indexer writes\n%s\ninstead of\n%s", path, lines[1], lines[0])
		}
	}
}

// own returns the nodes and edges of a graph except those of the libraries of the languages, which depend
// on the installed version of the language.
func own(t *testing.T, g *codegraph.Graph) string {
	var kept []string
	for line := range bytes.Lines(ndjson(t, g)) {
		if !json.Valid(line) {
			t.Fatalf("%s is not JSON", line)
		}
		if !bytes.Contains(line, []byte(`"python-stdlib`)) && !bytes.Contains(line, []byte(`"typescript`)) {
			kept = append(kept, string(line))
		}
	}
	return strings.Join(kept, "")
}

// TestIndexersReal runs the indexers on released packages, loads what they write into one graph, and asks
// the stored queries about code of both. The answers are in the sources of the packages.
func TestIndexersReal(t *testing.T) {
	dir := indexers(t)
	sources := filepath.Join(t.TempDir(), "rxjs")
	if err := os.CopyFS(sources, os.DirFS(filepath.Join(dir, "node_modules", "rxjs"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(sources, "dist")); err != nil { // what the package was compiled to
		t.Fatal(err)
	}
	rxjs, err := read(t.Context(), "rxjs.scip", indexTypeScript(t, sources), scip.Options{Prefix: "rxjs", Commit: "7.8.2"})
	if err != nil {
		t.Fatal(err)
	}
	sites, err := filepath.Glob(filepath.Join(dir, ".venv", "lib", "python3*", "site-packages", "itsdangerous"))
	if err != nil || len(sites) != 1 {
		t.Fatalf("found %v, %v instead of one folder of itsdangerous; run make test-scip", sites, err)
	}
	project := filepath.Join(t.TempDir(), "project")
	if err := os.CopyFS(filepath.Join(project, "itsdangerous"), os.DirFS(sites[0])); err != nil {
		t.Fatal(err)
	}
	its, err := read(t.Context(), "itsdangerous.scip", indexPython(t, project, "itsdangerous", "2.2.0"), scip.Options{Prefix: "itsdangerous"})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*codegraph.Graph{rxjs, its} {
		checkGraph(t, g)
	}
	a := &answers{t: t, g: load(t, rxjs, its)}
	a.callers("rxjs/src/internal/util/reportUnhandledError.ts.reportUnhandledError")
	a.references("rxjs/src/internal/AsyncSubject.ts.AsyncSubject")
	a.implementations("rxjs/src/internal/scheduler/AsyncScheduler.ts.AsyncScheduler")
	a.callers("itsdangerous.signer.Signer.derive_key")
	a.references("itsdangerous.signer.HMACAlgorithm")
	a.implementations("itsdangerous.signer.Signer")
	a.implementations("itsdangerous.signer.SigningAlgorithm")
	a.coverage()
	golden.Check(t, "testdata/real.txt", []byte(strings.Join(a.lines, "\n")+"\n"))
}
