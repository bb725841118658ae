package reconcile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
)

// TestCompileFaults compiles a cluster with one fault of each kind. Each fault must be reported
// once, at its position, and must not cause a second report.
func TestCompileFaults(t *testing.T) {
	cfg, err := cluster.Read("testdata/faulty/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, found, err := Compile(cfg)
	if err != nil || s != nil {
		t.Fatalf("compiled %+v, %v", s, err)
	}
	texts := map[string]string{}
	for _, d := range found {
		b, err := os.ReadFile(d.Span.File)
		if err != nil {
			t.Fatal(err)
		}
		texts[d.Span.File] = string(b)
	}
	var b strings.Builder
	if err := diag.Render(&b, found, texts, false); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/faulty/faults.golden", []byte(b.String()))
}

// TestCompileRepository checks that the cluster of this repository is valid, and that its queries
// are found.
func TestCompileRepository(t *testing.T) {
	cfg, err := cluster.Read("../../../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, found, err := Compile(cfg)
	if err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	if g := s.graph("code"); g == nil || len(g.Queries) < 10 || len(g.Schema.Nodes) == 0 || len(s.Policies) != 2 {
		t.Errorf("compiled %+v", s)
	}
}

// TestCompileParts compiles policies about parts of graphs. A name must be in the schema of a graph to which the file applies.
func TestCompileParts(t *testing.T) {
	for _, tt := range []struct{ rule, want string }{
		{"deny: { actors: any, actions: [read], types: [Case, Person] }", ""},
		{"allow: { actors: any, actions: [read, change], rows: north }", "filter north reads Case.team"},
		{"deny: { actors: any, actions: [read], types: [Cse] }", `unknown type "Cse" in rule a`},
		{"deny: { actors: any, actions: [read], properties: [Person.name] }", "Person.name cannot be hidden"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"people.pg": "node Person { name: String @key }", "cases.pg": "node Case { code: String @key team: String? }",
			"policy.yaml": "version: 1\nfilters: { north: { type: Case, where: '$it.team = \"north\"' } }\nrules:\n  - { id: a, " + tt.rule + " }\n",
			"cluster.yaml": "version: 1\nstorage: ./data\ngraphs: { people: { schema: people.pg }, cases: { schema: cases.pg } }\n" +
				"policies: { base: { file: policy.yaml, applies_to: [people, cases] } }\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		_, found, err := Compile(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, d := range found {
			texts = append(texts, d.Message)
		}
		if got := strings.Join(texts, "\n"); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || len(texts) > 1 {
			t.Errorf("%s: found %q, want %q", tt.rule, got, tt.want)
		}
	}
}

// TestCompileUnreadable checks that Compile returns an error for a file that vanished after
// cluster.yaml was read.
func TestCompileUnreadable(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/faulty")); err != nil {
		t.Fatal(err)
	}
	cfg, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base.yaml", "good.gq", "good.pg"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Compile(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestPolicies checks that a policy file is compiled once for its graphs with protected branches, and once
// for those without.
func TestPolicies(t *testing.T) {
	main := protected.Rules{Branches: []protected.Branch{{Name: "main"}}}
	cfg := &cluster.Config{ServerPolicy: "server.yaml", Graphs: []cluster.Graph{
		{ID: "a", Policy: "p.cedar"}, {ID: "b", Policy: "p.cedar", Protected: main}, {ID: "c", Policy: "p.cedar", Protected: main},
		{ID: "d", Policy: "p.cedar"}, {ID: "e"}, {ID: "f", Policy: "q.yaml"},
	}}
	if got, want := policies(cfg), []bound{{"p.cedar", "a"}, {"p.cedar", "b"}, {"q.yaml", "f"}, {"server.yaml", ""}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
