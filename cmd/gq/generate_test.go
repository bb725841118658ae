package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
)

const (
	goodSchema = "node Person { slug: String @key  name: String }\n"
	goodQuery  = "query find($slug: String) { match { $p: Person { slug: $slug } } return { $p.name as name } }\n"
)

// module creates a module with the given files, keyed by path, and makes its root the current
// directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/m\n"
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// gqRun runs a command line and returns its exit code and its output.
func gqRun(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func flags(more ...string) []string {
	return append([]string{"generate", "--schema", "g/schema.pg", "--queries", "g", "--graph", "people", "--out", "generated/people"}, more...)
}

// TestGenerateLanguages writes the modules of other languages, which leaves the Go of another call as it is.
func TestGenerateLanguages(t *testing.T) {
	module(t, map[string]string{"g/schema.pg": goodSchema, "g/a.gq": goodQuery})
	for _, args := range [][]string{flags(), flags("--lang", "ts,python")} {
		if code, _, stderr := gqRun(args...); code != exitDone {
			t.Fatalf("%q: exit %d\n%s", args, code, stderr)
		}
	}
	for name, want := range map[string]string{"a_gq.go": "func Find(", "people.ts": "  find(params: FindParams", "people.py": "    def find(self"} {
		text, err := os.ReadFile("generated/people/" + name)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v\n%s", name, want, err, text)
		}
	}
	if code, _, stderr := gqRun(flags("--check", "--lang", "go,ts,python")...); code != exitDone {
		t.Errorf("check: exit %d\n%s", code, stderr)
	}
	if err := os.WriteFile("generated/people/people.ts", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun(flags("--check", "--lang", "ts")...); code != exitFailed || !strings.Contains(stderr, "people.ts is stale") {
		t.Errorf("check of a stale module: exit %d\n%s", code, stderr)
	}
	if code, _, stderr := gqRun(flags("--lang", "rust")...); code != exitUsage || !strings.Contains(stderr, "ts") {
		t.Errorf("unknown language: exit %d\n%s", code, stderr)
	}
}

func TestGenerate(t *testing.T) {
	module(t, map[string]string{"g/schema.pg": goodSchema, "g/a.gq": goodQuery})
	if code, _, stderr := gqRun(flags("--check")...); code != exitFailed || !strings.Contains(stderr, "a_gq.go is stale") {
		t.Errorf("check before: exit %d\n%s", code, stderr)
	}
	code, stdout, stderr := gqRun(flags()...)
	if code != exitDone || !strings.Contains(stdout, "a_gq.go") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile("generated/people/a_gq.go")
	if err != nil || !strings.Contains(string(text), "the query find in g/a.gq") {
		t.Errorf("found %v\n%s", err, text)
	}
	if code, stdout, _ := gqRun(flags()...); code != exitDone || stdout != "" {
		t.Errorf("again: exit %d, wrote %s", code, stdout)
	}
	if code, _, stderr := gqRun(flags("--check")...); code != exitDone {
		t.Errorf("check after: exit %d\n%s", code, stderr)
	}
	if err := os.Remove("g/a.gq"); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := gqRun(flags()...); code != exitDone || !strings.Contains(stdout, "a_gq.go") {
		t.Errorf("without the source: exit %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat("generated/people/a_gq.go"); err == nil {
		t.Error("the generated file of a removed source still exists")
	}
}

func TestGenerateFromCluster(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery,
	})
	t.Chdir("g")
	if code, stdout, stderr := gqRun("generate"); code != exitDone {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	text, err := os.ReadFile("../generated/people/a_gq.go")
	if err != nil || !strings.Contains(string(text), "the query find in g/a.gq") {
		t.Errorf("found %v\n%s", err, text)
	}
}

// TestNothingIsWrittenUnlessAllCompiles uses two files with one fault each.
func TestNothingIsWrittenUnlessAllCompiles(t *testing.T) {
	module(t, map[string]string{
		"g/schema.pg": goodSchema,
		"g/a.gq":      goodQuery,
		"g/b.gq":      "query b() {\n\tmatch { $p: Persn }\n\treturn { $p.name }\n}\n",
		"g/c.gq":      "query c() { match { $p: Person } return { $p.nam } }\n",
	})
	code, stdout, stderr := gqRun(flags()...)
	if code != exitFailed || stdout != "" {
		t.Errorf("exit %d, wrote %s", code, stdout)
	}
	for _, want := range []string{"g/b.gq:2:", "g/c.gq:1:", "Persn", "^", "help: "} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
	if _, err := os.Stat("generated"); err == nil {
		t.Error("something was written")
	}
}

func TestFaults(t *testing.T) {
	module(t, map[string]string{"g/schema.pg": goodSchema, "g/a.gq": goodQuery})
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"generate", "--chekc"}, exitUsage, "chekc"},
		{[]string{"generate", "--schema", "g/schema.pg"}, exitUsage, "must be given together"},
		{[]string{"generate", "now"}, exitUsage, `"now"`},
		{[]string{"genrate"}, exitUsage, `"genrate"`},
		{[]string{"generate"}, exitFailed, "no cluster.yaml"},
		{append(flags(), "--queries", "gone.gq"), exitFailed, "gone.gq"},
	}
	for _, tt := range tests {
		code, _, stderr := gqRun(tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("gq %s: exit %d, expected %d, and %q in\n%s", strings.Join(tt.args, " "), code, tt.code, tt.want, stderr)
		}
	}
}

// TestCommitted regenerates the graphs of this repository and compares the result.
func TestCommitted(t *testing.T) {
	t.Chdir("../..")
	if code, _, stderr := gqRun("generate", "--check"); code != exitDone {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// openObjects are the permitted exceptions to the profile: the parameters of a query, where the
// schema cannot know the query before the call.
var openObjects = map[string][]string{
	"graph_query":      {"/params", "/queries/items/params"},
	"graph_mutate":     {"/params"},
	"stored_query_run": {"/params"},
	"query_explain":    {"/params"},
}

// TestServedProfile checks the schemas that a server emits: those of the built-in tools, of the
// graph in this repository, and of the corpus, which has every kind of parameter and column.
func TestServedProfile(t *testing.T) {
	walked := 0
	walk := func(name string, in, out json.RawMessage) {
		t.Helper()
		walked++
		if err := schematest.CheckInput(in); err != nil {
			t.Errorf("the input of %s: %v", name, err)
		}
		if err := schematest.CheckStrict(jsonschema.Strict(in)); err != nil {
			t.Errorf("the strict input of %s: %v", name, err)
		}
		for _, path := range schematest.OpenObjects(in) {
			if !slices.Contains(openObjects[name], path) {
				t.Errorf("the input of %s has an open object %s, which is not a permitted exception", name, path)
			}
		}
		if out == nil {
			return
		}
		if err := schematest.CheckOutput(out); err != nil {
			t.Errorf("the output of %s: %v", name, err)
		}
	}
	for _, b := range append(builtin.Local("v0", nil), builtin.Publishing()...) {
		walk(b.Descriptor().Name, b.Descriptor().InputSchema, b.Descriptor().OutputSchema)
	}
	for _, q := range code.Catalog().Queries {
		d := q.Descriptor()
		walk(d.Name, d.InputSchema, d.OutputSchema)
		if d.Description == "" || d.Title == "" {
			t.Errorf("%s has no description or no title", d.Name)
		}
	}
	text, err := os.ReadFile("../../generated/internal/corpus/catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := readContract(text, "corpus")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range corpus.Queries {
		walk(q.Tool, q.InputSchema, q.OutputSchema)
	}
	if want := len(builtin.Local("v0", nil)) + len(builtin.Publishing()) + len(code.Catalog().Queries) + len(corpus.Queries); walked != want || len(corpus.Queries) < 16 {
		t.Errorf("walked %d tools, expected %d", walked, want)
	}
}

// TestStrict generates the strict profile.
func TestStrict(t *testing.T) {
	module(t, map[string]string{"g/schema.pg": goodSchema, "g/a.gq": strings.Replace(goodQuery, "$slug: String)", "$slug: String, $name: String?)", 1), "gq.yaml": "strict: true\n"})
	if code, _, stderr := gqRun(flags()...); code != exitDone {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile("generated/people/catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := readContract(text, "catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schematest.CheckStrict(c.Queries[0].InputSchema); err != nil {
		t.Error(err)
	}
	for _, p := range c.Queries[0].Params {
		if p.Optional != (p.Name == "name") {
			t.Errorf("found %+v: the profile changes what may be left out", p)
		}
	}
	if err := os.WriteFile("gq.yaml", []byte("strict: yes please\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun(flags()...); code != exitFailed || !strings.Contains(stderr, "strict is a string, expected true or false") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// TestReservedTools checks that the names of the built-in tools are reserved, so that queries
// cannot have them. With -update it writes them.
func TestReservedTools(t *testing.T) {
	names := []string{metatools.ListQueries, metatools.RunQuery}
	for _, b := range append(builtin.Local("v0", nil), builtin.Publishing()...) {
		names = append(names, b.Descriptor().Name)
	}
	slices.Sort(names)
	golden.Check(t, "../../internal/codegen/model/reserved_tools.txt", []byte(strings.Join(names, "\n")+"\n"))
}
