package reconcile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	people = `node Person {
  name: String @key
  age: I32?
}

edge Knows: Person -> Person
`
	peopleMore    = "node Person {\n  name: String @key\n  age: I64?\n  bio: String?\n}\n\nedge Knows: Person -> Person\n"
	peopleNick    = "node Person {\n  name: String @key\n  age: I64?\n  bio: String?\n  nick: String?\n}\n\nedge Knows: Person -> Person\n"
	peopleRenamed = "node Person {\n  name: String @key\n  years: I64? @rename_from(\"age\")\n  bio: String?\n  nick: String?\n}\n\nedge Knows: Person -> Person\n"
	peopleLess    = "node Person {\n  name: String @key\n}\n\nedge Knows: Person -> Person\n"
	peopleLeast   = "node Person {\n  name: String @key\n}\n"
	peopleWrong   = "node Person {\n  name: String @key\n  age: Bool?\n}\n\nedge Knows: Person -> Person\n"
	peopleUnique  = "node Person {\n  name: String @key\n  age: I32?\n  @unique(age)\n}\n\nedge Knows: Person -> Person\n"

	things = "node Thing {\n  slug: String @key\n}\n"
	more   = "node Thing {\n  slug: String @key\n  label: String?\n}\n"
)

const seed = `{"type":"Person","data":{"name":"ada","age":36}}
{"type":"Person","data":{"name":"bob","age":36}}
{"edge":"Knows","from":"ada","to":"bob","data":{"id":"k1"}}
`

// clusterOn returns a cluster of embedded graphs. The time of its clock never changes.
func clusterOn(fsys fs.FS, storage string) *Cluster {
	options := embedded.Options{LogSize: 8192, Now: func() time.Time { return time.UnixMicro(1_700_000_000_000_000) }}
	return &Cluster{FS: fsys, Storage: storage, Engine: embedded.Engine{FS: fsys, Options: options}, Now: options.Now}
}

// sources compiles schemas. The argument `pairs` alternates the ids of graphs and their schemas.
func sources(t testing.TB, pairs ...string) *Sources {
	t.Helper()
	s := &Sources{}
	for i := 0; i < len(pairs); i += 2 {
		schema, faults := gq.CompileSchema(gq.Source{Name: pairs[i] + ".pg", Text: pairs[i+1]})
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		s.Graphs = append(s.Graphs, &Source{ID: pairs[i], File: pairs[i] + ".pg", Text: pairs[i+1], Schema: schema, Digest: catalog.Digest(schema)})
	}
	return s
}

func (c *Cluster) mustApply(t testing.TB, s *Sources, approved ...string) *Outcome {
	t.Helper()
	out, err := c.Apply(context.Background(), s, Options{Actor: "ada", Approved: approved})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *Cluster) mustPlan(t testing.TB, s *Sources) *Plan {
	t.Helper()
	p, err := c.Plan(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (c *Cluster) load(t testing.TB, id, ndjson string) {
	t.Helper()
	g := c.open(t, id)
	if _, err := g.Load(context.Background(), strings.NewReader(ndjson), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

func (c *Cluster) open(t testing.TB, id string) engine.Graph {
	t.Helper()
	g, err := c.Engine.Open(context.Background(), c.Place(id), engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// dump writes the whole result of an apply except for commit ids: the revision, and for each graph
// its schema, the number and authors of its commits, and its entities.
func (c *Cluster) dump(t testing.TB, ids ...string) string {
	t.Helper()
	ctx := context.Background()
	var b bytes.Buffer
	r, err := c.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if r != nil {
		b.Write(encode(r))
	}
	for _, id := range ids {
		g, err := c.Engine.Open(ctx, c.Place(id), engine.OpenOptions{})
		var missing *engine.NotFound
		if errors.As(err, &missing) {
			fmt.Fprintf(&b, "graph %s is not there\n", id)
			continue
		}
		if err != nil {
			t.Fatalf("graph %s: %v", id, err)
		}
		schema, err := g.Schema(ctx, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "graph %s %s\n%s", id, schema.Digest, schema.Source)
		commits, err := g.Commits(ctx, "main", engine.CommitRange{})
		if err != nil {
			t.Fatal(err)
		}
		for _, commit := range commits {
			fmt.Fprintf(&b, "commit %d by %q with %s\n", commit.Seq, commit.Actor, commit.Schema)
		}
		if _, err := g.Export(ctx, &b, engine.Target{}, engine.ExportOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := g.(*embedded.Graph).Verify(ctx); err != nil {
			t.Fatalf("graph %s: %v", id, err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// states returns the graphs of a plan with their states, followed by the kept graphs.
func states(p *Plan) string {
	var words []string
	for _, g := range p.Graphs {
		word := g.ID + ":" + string(g.State())
		if g.Drifted() {
			word += ":drift"
		}
		words = append(words, word)
	}
	for _, k := range p.Kept {
		words = append(words, fmt.Sprintf("%s:kept:%t:%t", k.ID, k.Missing, k.Err != nil))
	}
	return strings.Join(words, " ")
}

// TestLife takes a cluster through creation, an additive change, a rename, drift, a removal, and a
// schema text that differs only in layout. After each step, a second apply must find nothing to do.
func TestLife(t *testing.T) {
	c := clusterOn(fs.OS(), filepath.Join(t.TempDir(), "data"))
	all := func() string { return c.dump(t, "people", "things") }
	steps := []struct {
		name    string
		before  func()
		sources *Sources
		plan    string
		number  uint64
		applied int
	}{
		{name: "create", sources: sources(t, "people", people, "things", things), plan: "people:create things:create", number: 1, applied: 2},
		{name: "add", before: func() { c.load(t, "people", seed) },
			sources: sources(t, "people", peopleMore, "things", things), plan: "people:change things:up_to_date", number: 2, applied: 1},
		{name: "layout", sources: sources(t, "people", peopleMore, "things", "// slugs\n"+things), plan: "people:up_to_date things:change", number: 3, applied: 1},
		{name: "drift", before: func() { c.drift(t, "things", more) },
			sources: sources(t, "people", peopleMore, "things", more+"// and more\n"), plan: "people:up_to_date things:change:drift", number: 4, applied: 1},
		{name: "adopt", before: func() { c.drift(t, "people", peopleNick) },
			sources: sources(t, "people", peopleNick, "things", more+"// and more\n"), plan: "people:record:drift things:up_to_date", number: 5},
		{name: "rename", sources: sources(t, "people", peopleRenamed, "things", more), plan: "people:change things:change", number: 6, applied: 2},
		{name: "remove", before: func() { mkdir(t, c.Place("empty")); writeFile(t, c.Place("a-file")) },
			sources: sources(t, "people", peopleRenamed), plan: "people:up_to_date things:kept:false:false", number: 7},
		{name: "gone", before: func() { remove(t, c.Place("things")) }, sources: sources(t, "people", peopleRenamed), plan: "people:up_to_date", number: 7},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		p := c.mustPlan(t, s.sources)
		if got := states(p); got != s.plan {
			t.Errorf("%s: planned %s, want %s", s.name, got, s.plan)
		}
		out := c.mustApply(t, s.sources, approvals(p)...)
		if out.Revision.Number != s.number || len(out.Applied) != s.applied || out.Recorded != (p.Next != nil) || len(out.Unneeded) > 0 {
			t.Errorf("%s: applied %+v, revision %d, recorded %t", s.name, out.Applied, out.Revision.Number, out.Recorded)
		}
		if p := c.mustPlan(t, s.sources); p.Pending() {
			t.Errorf("%s: after the apply there is still to do: %s", s.name, states(p))
		}
		before := all()
		if out := c.mustApply(t, s.sources); out.Recorded || len(out.Applied) > 0 {
			t.Errorf("%s: the second apply did %+v, recorded %t", s.name, out.Applied, out.Recorded)
		}
		if after := all(); after != before {
			t.Errorf("%s: the second apply changed\n%s\nto\n%s", s.name, before, after)
		}
	}
	if got := all(); !strings.Contains(got, `"name":"ada","years":36`) || !strings.Contains(got, `"edge":"Knows"`) {
		t.Errorf("the entities are lost:\n%s", got)
	}
	if _, err := os.Stat(c.Place("a-file")); err != nil {
		t.Error(err)
	}
}

// drift applies a schema to a graph directly, without an apply of the cluster.
func (c *Cluster) drift(t testing.TB, id, schema string) {
	t.Helper()
	g := c.open(t, id)
	s := sources(t, id, schema).Graphs[0]
	_, err := g.ApplySchema(context.Background(), s.Text, s.Schema, engine.SchemaOptions{})
	if err := errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
}

func approvals(p *Plan) []string {
	var all []string
	for _, g := range p.Graphs {
		if a := g.Approval(); a != "" {
			all = append(all, a)
		}
	}
	return all
}

// TestRefusals checks that a refused apply changes nothing, even if other graphs could have been
// changed.
func TestRefusals(t *testing.T) {
	c := clusterOn(fs.OS(), t.TempDir())
	c.mustApply(t, sources(t, "people", people, "things", things))
	c.load(t, "people", seed)
	before := c.dump(t, "people", "things", "other")
	refused := func(name string, s *Sources, approved []string, want any, texts ...string) {
		t.Helper()
		out, err := c.Apply(t.Context(), s, Options{Approved: approved})
		if err == nil || !errors.As(err, want) {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, text := range texts {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %v", name, text, err)
			}
		}
		if out != nil && (len(out.Applied) > 0 || out.Recorded) {
			t.Errorf("%s: applied %+v", name, out)
		}
		if after := c.dump(t, "people", "things", "other"); after != before {
			t.Errorf("%s: changed\n%s\nto\n%s", name, before, after)
		}
	}
	var unapproved *Unapproved
	less := sources(t, "things", more, "other", things, "people", peopleLess)
	digest := c.mustPlan(t, less).Graphs[2].Approval()
	refused("no approval", less, nil, &unapproved, "drop_property node Person.age", "--approve "+digest)
	refused("another's approval", less, []string{"sha256:00"}, &unapproved, "--approve "+digest, "the approval sha256:00 matches none of these changes")
	least := sources(t, "things", more, "people", peopleLeast)
	refused("a stale approval", least, []string{digest}, &unapproved, "drop_edge edge Knows", "the approval "+digest+" matches none", "--approve "+c.mustPlan(t, least).Graphs[1].Approval())
	var cannot *CannotApply
	var unsupported *engine.UnsupportedMigration
	refused("a change that cannot be made", sources(t, "things", more, "people", peopleWrong), nil, &cannot, "graph people", "change_type")
	refused("a change that cannot be made", sources(t, "things", more, "people", peopleWrong), nil, &unsupported)
	var violations *engine.ConstraintViolations
	refused("a rule that data breaks", sources(t, "things", more, "people", peopleUnique), nil, &violations, "unique")

	out := c.mustApply(t, less, digest)
	if len(out.Applied) != 3 || !out.Recorded {
		t.Errorf("with the approval: %+v", out)
	}
	if out := c.mustApply(t, less, digest); len(out.Unneeded) != 1 || out.Recorded {
		t.Errorf("the approval again: %+v", out)
	}
}

// TestInUse plans and applies while another process has a graph open, for example a server.
func TestInUse(t *testing.T) {
	c := clusterOn(fs.OS(), t.TempDir())
	c.mustApply(t, sources(t, "people", people, "things", things))
	less := sources(t, "people", peopleLess, "things", more)
	want := c.mustPlan(t, less).Graphs[0].Approval()

	g := c.open(t, "people")
	p := c.mustPlan(t, less)
	if states(p) != "people:in_use things:change" || p.Graphs[0].Approval() != want {
		t.Errorf("planned %s, to approve %s, want %s", states(p), p.Graphs[0].Approval(), want)
	}
	var inUse *GraphsInUse
	var unavailable *engine.Unavailable
	_, err := c.Apply(t.Context(), less, Options{Approved: []string{want}})
	if !errors.As(err, &inUse) || !errors.As(err, &unavailable) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) || !strings.Contains(err.Error(), "omnigraph-server") {
		t.Errorf("applied: %v", err)
	}
	if states(c.mustPlan(t, sources(t, "things", things))) != "things:up_to_date people:kept:false:true" {
		t.Error("the graph is in use, and the plan does not say that it is kept")
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := states(c.mustPlan(t, less)); got != "people:change things:change" {
		t.Errorf("the refused apply left %s", got)
	}

	lock, err := Lock(c.FS, c.Storage)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), less, Options{}); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "a cluster apply or a starting server holds it") {
		t.Errorf("beside another apply: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	c.mustApply(t, less, want)
}

// TestDamage plans and applies after folders were corrupted or lost.
func TestDamage(t *testing.T) {
	c := clusterOn(fs.OS(), t.TempDir())
	s := sources(t, "people", people, "things", things)
	c.mustApply(t, s)
	logs, err := filepath.Glob(filepath.Join(c.Place("people"), "*.manifest"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	for _, name := range logs {
		if err := os.WriteFile(name, []byte("nothing that an engine wrote"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove(t, c.Place("things"))
	p := c.mustPlan(t, s)
	if got := states(p); got != "people:blocked things:blocked" {
		t.Errorf("planned %s", got)
	}
	var lost *Lost
	var corrupt *engine.Corrupt
	if _, err := c.Apply(t.Context(), s, Options{}); !errors.As(err, &lost) || !errors.As(err, &corrupt) {
		t.Errorf("applied: %v", err)
	}
	if got := states(c.mustPlan(t, sources(t, "other", things))); got != "other:create people:kept:false:true things:kept:true:false" {
		t.Errorf("planned %s", got)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}
