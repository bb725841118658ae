package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMigrationsGuide tries every row of the tables of docs/migrations.md on a graph with a branch, a draft and an open proposal. They
// must outlast the change, and the state before the change must stay readable. If a type changed without loss, the proposed branch can be
// merged, and its value is cast.
func TestMigrationsGuide(t *testing.T) {
	tables := guideTables(t, "../../docs/migrations.md")
	types, others := tables["From"], tables["Change"]
	if len(types) < 30 || len(others) < 20 {
		t.Fatalf("the guide has %d types and %d other changes", len(types), len(others))
	}
	for _, row := range types {
		from, to, kind, becomes, fails := unquoted(row[0]), unquoted(row[1]), row[2], row[3], unquoted(row[4])
		t.Run(from+" to "+to, func(t *testing.T) {
			before, after := "node T { k: String @key p: "+from+" }", "node T { k: String @key p: "+to+" }"
			line := func(v string) string { return `{"type":"T","data":{"k":"x","p":` + v + "}}\n" }
			if is, now, ok := strings.Cut(becomes, " → "); ok {
				m := newMigrated(t, before, line(unquoted(is)))
				m.apply(t, after, kind)
				want := strings.ReplaceAll(unquoted(now), ", ", ",")
				if got := m.value(t, "main"); got != want {
					t.Errorf("%s becomes %s, and the guide says %s", is, got, now)
				}
				if kind == "safe" || kind == "checked" {
					if _, err := m.g.Merge(t.Context(), "side", "main", engine.MergeOptions{}); err != nil {
						t.Error(err)
					}
					if got := m.property(t, "main", "y", "p"); got != want {
						t.Errorf("%s of the branch becomes %s at the merge, want %s", is, got, want)
					}
				}
			} else if kind != "refused" {
				t.Error("the row has no value")
			}
			if (fails != "") != (kind == "checked" || kind == "refused") {
				t.Errorf("a %s step has the failing value %q", kind, fails)
			}
			if fails == "" {
				return
			}
			m := newMigrated(t, before, line(fails))
			was := m.value(t, "main")
			_, err := m.g.ApplySchema(t.Context(), after, m.schema(t, after), engine.SchemaOptions{})
			var broken *engine.ConstraintViolations
			var unsupported *engine.UnsupportedMigration
			switch {
			case kind == "checked" && (!errors.As(err, &broken) || broken.Violations[0].ID != "x"):
				t.Errorf("%v (%T), want a violation of x", err, err)
			case kind == "refused" && !errors.As(err, &unsupported):
				t.Errorf("%v (%T), want an unsupported step", err, err)
			}
			if got := m.value(t, "main"); got != was {
				t.Errorf("a refused change made %s of %s", got, was)
			}
		})
	}
	if len(tables["New property"]) < 5 {
		t.Fatalf("the guide has %d new properties", len(tables["New property"]))
	}
	for _, row := range tables["New property"] {
		added, kind, fails := unquoted(row[0]), row[1], unquoted(row[3])
		t.Run(added, func(t *testing.T) {
			before, after := "node T { k: String @key p: I32? }", "node T { k: String @key p: I32? "+added+" }"
			line := func(v string) string { return `{"type":"T","data":{"k":"x","p":` + v + "}}\n" }
			if kind == "refused by the compiler" {
				if _, faults := gq.CompileSchema(gq.Source{Name: "t.pg", Text: after}); !faults.HasErrors() {
					t.Error("it compiles")
				}
				return
			}
			is, now, _ := strings.Cut(row[2], " → ")
			m := newMigrated(t, before, line(unquoted(is)))
			m.apply(t, after, kind)
			if got := m.property(t, "main", "x", "q"); got != unquoted(now) {
				t.Errorf("with p = %s, q is %s, and the guide says %s", is, got, now)
			}
			if fails == "" {
				return
			}
			m = newMigrated(t, before, line(fails))
			_, err := m.g.ApplySchema(t.Context(), after, m.schema(t, after), engine.SchemaOptions{})
			if broken := (*engine.ConstraintViolations)(nil); !errors.As(err, &broken) || broken.Violations[0].ID != "x" {
				t.Errorf("%v (%T), want a violation of x", err, err)
			}
		})
	}
	for _, row := range others {
		name, before, after, kind := row[0], unquoted(row[1]), unquoted(row[2]), row[3]
		t.Run(name, func(t *testing.T) {
			m := newMigrated(t, before, filledLines(t, before))
			m.apply(t, after, kind)
		})
	}
}

// guideTables reads the tables of a guide with at least four columns, by the heading of their first column.
func guideTables(t *testing.T, path string) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][][]string{}
	heading := ""
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			heading = ""
		case strings.HasPrefix(line, "|-"):
		case heading == "":
			heading = cells[0]
		case len(cells) >= 4:
			tables[heading] = append(tables[heading], cells)
		}
	}
	return tables
}

// unquoted returns the text of a cell without its backquotes.
func unquoted(cell string) string { return strings.Trim(cell, "`") }

// migrated is a graph whose schema changes.
type migrated struct {
	g        *embedded.Graph
	proposal string
	before   map[engine.Target]string // exports of the states before the change: of a branch "side", a draft, and a commit of main
}

// newMigrated makes a graph with a schema and lines of data. The branch "side", which a proposal wants to merge, has an entity "y" beside
// "x".
func newMigrated(t *testing.T, schema, data string) *migrated {
	t.Helper()
	m := &migrated{before: map[engine.Target]string{}}
	g, err := embedded.Create(t.Context(), fs.NewMem(), "g", schema, m.schema(t, schema), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	m.g = g
	m.load(t, "", data)
	if _, err := g.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	m.load(t, "side", strings.NewReplacer(`"x"`, `"y"`, `"p": 1`, `"p": 2`).Replace(data)) // another p in the lines of filledLines, for @unique
	draft, _, err := g.OpenDraft(t.Context(), engine.NewDraft{Owner: "act-ada"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.PutProposal(t.Context(), engine.Proposal{Source: "side", Target: "main", Title: "Add y", Events: []engine.ProposalEvent{{Kind: engine.EventOpened}}})
	if err != nil {
		t.Fatal(err)
	}
	m.proposal = p.ID
	for _, at := range []engine.Target{{Branch: "side"}, {Branch: draft.Branch()}, {Commit: draft.Head}} {
		m.before[at] = m.export(t, at)
	}
	return m
}

// outlasts checks that the states before the change are as they were, and that the proposal is open.
func (m *migrated) outlasts(t *testing.T) {
	t.Helper()
	for at, was := range m.before {
		if got := m.export(t, at); got != was {
			t.Errorf("after the change %+v is\n%s\nand was\n%s", at, got, was)
		}
	}
	if p, err := m.g.Proposal(t.Context(), m.proposal); err != nil || p.State != engine.ProposalOpen {
		t.Errorf("after the change the proposal is %+v: %v", p, err)
	}
}

// export returns the entities of a state as NDJSON.
func (m *migrated) export(t *testing.T, at engine.Target) string {
	t.Helper()
	var out strings.Builder
	if _, err := m.g.Export(t.Context(), &out, at, engine.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// schema compiles a schema. In the guide it is on one line.
func (m *migrated) schema(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(gq.Source{Name: "guide.pg", Text: text})
	if len(faults) > 0 {
		t.Fatalf("%s\n%v", text, faults)
	}
	return s
}

// load loads lines of data into a branch.
func (m *migrated) load(t *testing.T, branch, data string) {
	t.Helper()
	if data == "" {
		return
	}
	if _, err := m.g.Load(t.Context(), strings.NewReader(data), engine.LoadOptions{Mode: engine.Append, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
		t.Fatal(err)
	}
}

// filledLines returns lines with an entity of each type of the schema.
func filledLines(t *testing.T, text string) (lines string) {
	t.Helper()
	s := (&migrated{}).schema(t, text)
	for _, n := range s.Nodes {
		set := ""
		if p := n.Property("p"); p != nil && p.Type.Kind == value.Vector {
			set = `,"p":[1,2]`
		} else if p != nil {
			set = `,"p": 1`
		}
		lines += fmt.Sprintf(`{"type":%q,"data":{"k":"x"%s}}`+"\n", n.Name, set)
	}
	for _, e := range s.Edges {
		end := `"x"`
		if e.FromInterface {
			end = `{"type":"A","id":"x"}`
		}
		lines += fmt.Sprintf(`{"edge":%q,"from":%s,"to":%s}`+"\n", e.Name, end, end)
	}
	return lines
}

// apply applies a schema, whose steps must be of a kind in the guide.
func (m *migrated) apply(t *testing.T, text, kind string) {
	t.Helper()
	to := m.schema(t, text)
	defer m.outlasts(t)
	plan, err := m.g.ApplySchema(t.Context(), text, to, engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}})
	if kind == "refused" {
		_, err = m.g.ApplySchema(t.Context(), text, to, engine.SchemaOptions{AllowDataLoss: true})
		if unsupported := (*engine.UnsupportedMigration)(nil); !errors.As(err, &unsupported) {
			t.Errorf("%v (%T), want an unsupported step", err, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checked := false
	for _, s := range plan.Steps {
		checked = checked || s.Verifies()
	}
	got := "safe"
	switch {
	case plan.Destructive:
		got = "approved"
	case checked:
		got = "checked"
	}
	if got != kind {
		t.Errorf("the steps are %s, and the guide says %s\n%s", got, kind, &catalog.Migration{Steps: plan.Steps})
	}
	if _, err := m.g.ApplySchema(t.Context(), text, to, engine.SchemaOptions{AllowDataLoss: kind == "approved"}); err != nil {
		t.Error(err)
	}
}

// value returns property p of the node "x" on a branch as JSON.
func (m *migrated) value(t *testing.T, branch string) string {
	t.Helper()
	return m.property(t, branch, "x", "p")
}

// property returns a property of a node on a branch as JSON.
func (m *migrated) property(t *testing.T, branch, key, name string) string {
	t.Helper()
	for text := range strings.Lines(m.export(t, engine.Target{Branch: branch})) {
		var line struct{ Data map[string]json.RawMessage }
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err, text)
		}
		if string(line.Data["k"]) == strconv.Quote(key) {
			return cmp.Or(string(line.Data[name]), "null")
		}
	}
	t.Fatalf("%s has no node %s", branch, key)
	return ""
}
