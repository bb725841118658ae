package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// events is a schema with instants in every place that stores them.
func events() *catalog.Schema {
	prop := func(name string, t value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: t} }
	at := value.Of(value.DateTime)
	s := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Event", Key: []string{"name"}, Unique: [][]string{{"at"}}, Properties: []*catalog.Property{
		prop("name", value.Of(value.String)), prop("at", at), prop("seen", at.Optional()), prop("all", value.Type{Kind: value.DateTime, List: true, Nullable: true}),
	}}}}
	s.Index()
	return s
}

// insertEvent inserts an event; firstEvent returns the first one at or after an instant.
var (
	insertEvent = &plan.Query{
		Params: []plan.Param{{Name: "name", Type: value.Of(value.String)}, {Name: "at", Type: value.Of(value.DateTime)}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Type: "Event", Set: []plan.Assign{
			{Name: "name", Type: value.Of(value.String), Value: plan.ParamRef{Index: 0}},
			{Name: "at", Type: value.Of(value.DateTime), Value: plan.ParamRef{Index: 1}},
		}}}},
	}
	firstEvent = &plan.Query{
		Params: []plan.Param{{Name: "from", Type: value.Of(value.DateTime)}},
		Read: &plan.Read{
			Vars:    []plan.Var{{Name: "e", Type: "Event"}},
			Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Left: eventAt, Op: plan.Ge, Right: plan.ParamRef{Index: 0}}}},
			Columns: []plan.Column{{Name: "at", Expr: eventAt, Type: eventAt.Type}},
			Order:   []plan.Order{{Expr: eventAt}}, Ties: []plan.VarID{0}, Limit: 1,
		},
	}
	eventAt = plan.Prop{Var: 0, Name: "at", Type: value.Of(value.DateTime)}
)

// instant parses an instant.
func instant(s string) value.Value { return must1(value.DateTime.Parse(s)) }

// insertingEvent returns a deed that inserts an event with an idempotency key.
func insertingEvent(branch, name, at string) deed {
	return deed{"insert " + name, func(g *Graph) error {
		_, err := g.Mutate(context.Background(), insertEvent, engine.Args{value.OfString(name), instant(at)}, engine.WriteOptions{Branch: branch, IdempotencyKey: name})
		return err
	}}
}

// manyEvents returns NDJSON of n events, with parts of a millisecond if `fine` is set.
func manyEvents(first, n int, fine string) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		at := fmt.Sprintf("2024-05-%02dT12:30:%02d.%03d%sZ", 1+i%28, i%60, i%1000, fine)
		fmt.Fprintf(&b, `{"type":"Event","data":{"name":"e%04d","at":%q,"seen":%s,"all":[%q,"1969-12-31T23:59:59.999%sZ"]}}`+"\n",
			i, at, []string{"null", "-62135596800000", "253402300799999"}[i%3], at, fine)
	}
	return b.String()
}

// makeEvents makes a graph with instants in segments, indexes, records and receipts.
func makeEvents(t *testing.T, home, fine string) {
	g, err := Create(t.Context(), fs.OS(), home, "// events", events(), fixtureOptions())
	must(t, err)
	for _, d := range []deed{
		loading("", engine.Append, manyEvents(0, 60, fine)),
		{"Query", func(g *Graph) error { return firstAt(g, "2024-05-02T00:00:00Z", "2024-05-02T12:30:01.001"+fine+"Z") }},
		checkpoint,
		insertingEvent("", "one", "1969-12-31T23:59:59.998"+fine+"Z"),
		forking("side", ""),
		insertingEvent("side", "two", "9999-12-31T23:59:59.999"+fine+"Z"),
		loading("", engine.Append, manyEvents(60, 3, fine)),
	} {
		if err := d.do(g); err != nil {
			t.Fatalf("%s: %v", d.call, err)
		}
	}
	must(t, g.Close())
	must(t, os.Remove(filepath.Join(home, "LOCK")))
}

// firstAt checks the instant of the first event at or after an instant.
func firstAt(g *Graph, from, want string) error {
	got, err := answer(g, firstEvent, engine.Args{instant(from)}, "")
	if err == nil && !strings.Contains(got, want) {
		err = fmt.Errorf("the first event from %s is at %s, want %s", from, got, want)
	}
	return err
}

// TestInstants opens graphs with instants of the format that kept milliseconds and of the later ones. With
// -update, the test makes that of the current one if it is missing.
func TestInstants(t *testing.T) {
	for _, c := range []struct{ fixture, fine string }{{"format10instants", ""}, {"format11instants", "250"}, {"format12instants", "250"}, {"format13instants", "250"}, {"format14instants", "250"}} {
		t.Run(c.fixture, func(t *testing.T) {
			home := filepath.Join("testdata", c.fixture)
			if _, err := os.Stat(home); golden.Updating() && errors.Is(err, os.ErrNotExist) {
				makeEvents(t, home, c.fine)
			}
			whole := script{past: true}
			g, home := openFixture(t, c.fixture)
			golden.Check(t, filepath.Join("testdata", c.fixture+".golden"), []byte(whole.dump(g)+"\n"))
			must(t, g.Verify(t.Context()))
			must(t, insertingEvent("", "one", "1969-12-31T23:59:59.998"+c.fine+"Z").do(g)) // has a receipt
			var taken *engine.ConstraintViolation
			for _, at := range []string{"2024-05-02T12:30:01.001" + c.fine + "Z", "2024-05-05T12:30:00.060" + c.fine + "Z"} {
				if err := insertingEvent("", "new", at).do(g); !errors.As(err, &taken) {
					t.Errorf("a second event at %s: %v", at, err)
				}
			}
			must(t, insertingEvent("", "new", "2024-05-02T12:30:01.001249Z").do(g))
			must(t, firstAt(g, "2024-05-02T12:30:01.000999Z", map[bool]string{true: "2024-05-02T12:30:01.001Z", false: "2024-05-02T12:30:01.001249Z"}[c.fine == ""]))
			must(t, firstAt(g, "1969-12-31T23:59:59.997Z", "1969-12-31T23:59:59.998"+c.fine+"Z"))
			staysTheSame(t, g, home, whole.dump)
			g, err := Open(t.Context(), fs.OS(), home, fixtureOptions())
			must(t, err)
			_, err = g.Merge(t.Context(), "side", "main", engine.MergeOptions{})
			must(t, err)
			staysTheSame(t, g, home, whole.dump)
		})
	}
}
