package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/contract"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const format2 = "testdata/format2.revision"

const named = `query named($name: String) @description("Find <a> & \"b\".") { match { $p: Person { name: $name } } return { $p.name as name, $p.age as age } }
`

// folder writes the files of a cluster with the graph people, and returns its path.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: people.pg, queries: queries/ }\n",
		"people.pg":    people, "queries/a.gq": named,
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compiled compiles the files of a folder.
func compiled(t testing.TB, dir string) (*cluster.Config, *Sources, diag.List) {
	t.Helper()
	cfg, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, found, err := Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, s, found
}

// withQueries returns a revision with stored queries.
func withQueries(t testing.TB) *Revision {
	_, s, found := compiled(t, folder(t, nil))
	if found != nil {
		t.Fatal(found)
	}
	r := next(nil, s)
	r.Applied, r.Actor = 1_700_000_000_000_000, "act-ada"
	return r
}

// TestFormat2 reads the fixture of the format and writes the same bytes again. Its queries must stay usable: their
// plans can be decoded, or a later version compiles their texts.
func TestFormat2(t *testing.T) {
	b, err := os.ReadFile(format2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decode(format2, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(r); !bytes.Equal(got, b) {
		t.Errorf("written again it is\n%s", got)
	}
	c, _, err := r.Graph("people").Catalog(nil)
	if err != nil || len(c.Queries) != 1 || c.Queries[0].Info().File != "queries/a.gq" || len(c.Queries[0].Params()) != 1 {
		t.Errorf("found %+v, %v", c, err)
	}
}

// TestQueriesOfOtherVersion changes the contract as another version would write it. The texts must then be
// compiled, with the same result.
func TestQueriesOfOtherVersion(t *testing.T) {
	want, outdated, err := withQueries(t).Graph("people").Catalog(nil)
	if err != nil || outdated != nil {
		t.Fatal(outdated, err)
	}
	var plain struct{ contract.Contract }
	for name, change := range map[string]func(*contract.Contract){
		"form":     func(c *contract.Contract) { c.Format = 99 },
		"encoding": func(c *contract.Contract) { c.Queries[0].Plan[0] = 0xff },
	} {
		g := withQueries(t).Graph("people")
		if err := json.Unmarshal(g.Stored.Contract, &plain.Contract); err != nil {
			t.Fatal(err)
		}
		change(&plain.Contract)
		if g.Stored.Contract, err = contract.Encode(&plain.Contract); err != nil {
			t.Fatal(err)
		}
		got, outdated, err := g.Catalog(nil)
		if outdated == nil || err != nil || got.SourceDigest != want.SourceDigest || !reflect.DeepEqual(got.Queries[0].Descriptor(), want.Queries[0].Descriptor()) || !reflect.DeepEqual(got.Queries[0].Plan(), want.Queries[0].Plan()) {
			t.Errorf("%s: found %+v, %v, %v", name, got, outdated, err)
		}
		g.Stored.Files[0].Text = "query branch_list() { match { $p: Person } return { $p.name as name } }\n"
		if got, _, err := g.Catalog(nil); err != nil || len(got.Queries) != 1 {
			t.Errorf("%s, with the name of a built-in tool: found %+v, %v", name, got, err)
		}
		g.Stored.Files[0].Text = "query named() { match { $p: Preson } return { $p.name } }\n"
		var faults diag.List
		if got, outdated, err := g.Catalog(nil); outdated == nil || !errors.As(err, &faults) || !strings.Contains(err.Error(), "Preson") {
			t.Errorf("%s, with a fault: found %+v, %v, %v", name, got, outdated, err)
		}
	}
}

// TestCatalogParsesNothing makes the tools of a revision whose texts cannot be parsed.
func TestCatalogParsesNothing(t *testing.T) {
	g := withQueries(t).Graph("people")
	g.Source, g.Stored.Files[0].Text = "no schema {", "no query ("
	if c, outdated, err := g.Catalog(nil); err != nil || outdated != nil || len(c.Queries) != 1 || c.Queries[0].Plan().Name != "named" {
		t.Errorf("found %+v, %v, %v", c, outdated, err)
	}
}

// TestApplyQueries applies changes of queries alone. Each is one revision, which a plan announces by name.
func TestApplyQueries(t *testing.T) {
	dir := folder(t, map[string]string{"queries/b.gq": strings.Replace(named, "named(", "second(", 1)})
	c := clusterOn(fs.NewMem(), "/store")
	for i, tt := range []struct{ file, text, want string }{
		{"queries/a.gq", named, "+ named, + second"},
		{"queries/a.gq", named, ""},
		{"queries/a.gq", strings.Replace(named, "Find", "Look for", 1), "~ named"},
		{"queries/b.gq", strings.Replace(named, "named(", "third(", 1), "- second, + third"},
		{"queries/b.gq", "// none\n" + strings.Replace(named, "named(", "third(", 1), ""}, // the text is recorded
		{"gq.yaml", "strict: true\n", ""},                                                 // another contract
		{"cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: people.pg, queries: { third: { file: queries/b.gq } } }\n", "- named"},
		{"cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: people.pg }\n", "- third"},
	} {
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, s, found := compiled(t, dir)
		if found != nil {
			t.Fatal(found)
		}
		p := c.mustPlan(t, s)
		var changes []string
		for _, q := range p.Graphs[0].Changed {
			changes = append(changes, q.String())
		}
		if got := strings.Join(changes, ", "); got != tt.want || p.Pending() != (i != 1) {
			t.Errorf("%d: found the changes %q, pending %v; expected %q", i, got, p.Pending(), tt.want)
		}
		var breaks *Breaks
		if _, err := c.Apply(t.Context(), s, Options{}); errors.As(err, &breaks) != strings.Contains(tt.want, "- ") || breaks == nil && err != nil {
			t.Errorf("%d: applied without an approval: %v", i, err)
		}
		if digest := p.Graphs[0].BreakingDigest(); breaks != nil {
			if _, err := c.Apply(t.Context(), s, Options{Breaking: []string{digest}}); err != nil || !strings.Contains(breaks.Error(), "--breaking "+digest) {
				t.Errorf("%d: applied with an approval: %v; refused: %v", i, err, breaks)
			}
		}
		if p := c.mustPlan(t, s); p.Pending() || p.Graphs[0].State() != UpToDate {
			t.Errorf("%d: after the apply %s is pending", i, p.Graphs[0].State())
		}
		r, err := c.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if stored := r.Graphs[0].Stored; stored != nil {
			if same, err := stored.SameFiles(cfg, &cfg.Graphs[0]); err != nil || !same {
				t.Errorf("%d: the files differ from the revision, %v", i, err)
			}
			fewer := cfg.Graphs[0]
			fewer.Selected = map[string]string{"other": fewer.QueryFiles[0]} // the same files, another query of them
			if same, err := stored.SameFiles(cfg, &fewer); err != nil || same {
				t.Errorf("%d: another selection of queries is not noticed, %v", i, err)
			}
		}
	}
}

// TestCompileRefusesWhatGenerateRefuses uses queries that compile, and that no server could serve together. The
// faults have the paths of the files, not those relative to cluster.yaml.
func TestCompileRefusesWhatGenerateRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"tool of a built-in": {map[string]string{"queries/a.gq": strings.Replace(named, "named(", "graph_query(", 1)}, "queries/a.gq:1:7"},
		"two files":          {map[string]string{"queries/a.b.gq": "", "queries/a_b.gq": ""}, "queries/a_b.gq:1:1"},
		"gq.yaml":            {map[string]string{"gq.yaml": "strict: 3\n"}, "gq.yaml:1:9"},
	} {
		dir := folder(t, tt.files)
		_, s, found := compiled(t, dir)
		if s != nil || !found.HasErrors() || found[0].Span.String() != filepath.Join(dir, tt.want) {
			t.Errorf("%s: found %v, expected a fault at %s", name, found, tt.want)
		}
	}
}
