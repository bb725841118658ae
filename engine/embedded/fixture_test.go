package embedded

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMain makes tests read even small stored data in pieces, and copy the rows that they look up
// soon. Benchmarks read such data whole, as usual.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		column.PieceBytes = 32
		segment.FirstLookups = 1
		index.LevelEntries, index.FullLevel = 2, 8
	}
	if err := useCompression(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// useCompression stores and reads compressed blocks. The first use makes the coders of the process,
// which have channels; were it in a bubble of synctest, no other test could use them.
func useCompression() error {
	ctx, disk := context.Background(), fs.NewMem()
	g, err := Create(ctx, disk, dir, "// people", people(), Options{quiet: true})
	if err != nil {
		return err
	}
	if err := cmp.Or(loadText(g, engine.Merge, manyPeople(0, 1_500)), g.Close()); err != nil {
		return err
	}
	if g, err = Open(ctx, disk, dir, Options{quiet: true}); err != nil {
		return err
	}
	_, err = g.Export(ctx, io.Discard, engine.Target{}, engine.ExportOptions{})
	return cmp.Or(err, g.Close())
}

const dir = "graphs/people"

// testClock is the clock for graphs with a past or with idempotency keys, which expire. Each
// test run starts at the same date.
var testClock = clocktest.Running(clocktest.Start)

// people returns a schema with a node type with a key, one without a key, and edges.
func people() *catalog.Schema {
	prop := func(name string, t value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: t} }
	s := &catalog.Schema{
		Nodes: []*catalog.Node{
			{Name: "Person", Key: []string{"name"}, Properties: []*catalog.Property{
				prop("name", value.Of(value.String)), prop("age", value.Of(value.I32).Optional()), prop("city", value.Of(value.String).Optional()),
				prop("tags", value.Type{Kind: value.String, List: true, Nullable: true}),
			}},
			{Name: "Note", Unique: [][]string{{"text"}}, Properties: []*catalog.Property{prop("text", value.Of(value.String).Optional())}},
		},
		Edges: []*catalog.Edge{
			{Name: "Knows", From: "Person", To: "Person", Properties: []*catalog.Property{prop("since", value.Of(value.Date).Optional())}},
			{Name: "About", From: "Note", To: "Person"},
		},
	}
	s.Index()
	return s
}

func create(t testing.TB, fsys fs.FS, opts Options) *Graph {
	t.Helper()
	g, err := Create(context.Background(), fsys, dir, "// people", people(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func loadText(g *Graph, mode engine.LoadMode, text string) error {
	_, err := g.Load(context.Background(), strings.NewReader(text), engine.LoadOptions{Mode: mode, NewEdges: true})
	return err
}

// manyPeople returns NDJSON of n persons, each of whom knows the next. The parameter `first` is the
// number of the first person.
func manyPeople(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%06d","age":%d,"city":"c%d"}}`+"\n", i, i%90, i%7)
	}
	for i := first; i < first+n-1; i++ {
		fmt.Fprintf(&b, `{"edge":"Knows","from":"p%06d","to":"p%06d","data":{"id":"k%06d"}}`+"\n", i, i+1, i)
	}
	return b.String()
}

var (
	insertPerson = &plan.Query{
		Params: []plan.Param{{Name: "name", Type: value.Of(value.String)}, {Name: "age", Type: value.Of(value.I32).Optional()}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Type: "Person", Set: []plan.Assign{
			{Name: "name", Type: value.Of(value.String), Value: plan.ParamRef{Index: 0}},
			{Name: "age", Type: value.Of(value.I32).Optional(), Value: plan.ParamRef{Index: 1}},
		}}}},
	}
	birthday = &plan.Query{
		Params: []plan.Param{{Name: "age", Type: value.Of(value.I32)}, {Name: "old", Type: value.Of(value.I32)}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Person",
			Set:   []plan.Assign{{Name: "age", Type: value.Of(value.I32).Optional(), Value: plan.ParamRef{Index: 0}}},
			Where: []plan.Pred{{Name: "age", Type: value.Of(value.I32).Optional(), Op: plan.Eq, Value: plan.ParamRef{Index: 1}}}}}},
	}
	deletePerson = &plan.Query{
		Params: []plan.Param{{Name: "name", Type: value.Of(value.String)}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Delete{Type: "Person",
			Where: []plan.Pred{{Name: "name", Type: value.Of(value.String), Op: plan.Eq, Value: plan.ParamRef{Index: 0}}}}}},
	}
	connect = &plan.Query{
		Params: []plan.Param{{Name: "from", Type: value.Of(value.String)}, {Name: "to", Type: value.Of(value.String)}, {Name: "id", Type: value.Of(value.String)}},
		Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Insert{Entity: plan.Edge, Type: "Knows",
			From: plan.ParamRef{Index: 0}, To: plan.ParamRef{Index: 1}, ID: plan.ParamRef{Index: 2}}}},
	}

	nameOf = plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}
	ageOf  = plan.Prop{Var: 0, Name: "age", Type: value.Of(value.I32).Optional()}

	personByName = &plan.Query{
		Params: []plan.Param{{Name: "name", Type: value.Of(value.String)}},
		Read: &plan.Read{
			Vars:    []plan.Var{{Name: "p", Type: "Person"}},
			Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.Compare{Left: nameOf, Right: plan.ParamRef{Index: 0}, Unless: plan.NoParam}}},
			Columns: []plan.Column{{Name: "name", Expr: nameOf, Type: nameOf.Type}, {Name: "age", Expr: ageOf, Type: ageOf.Type}},
			Ties:    []plan.VarID{0}, Limit: plan.NoLimit,
		},
	}
	allPeople = &plan.Query{Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Type: "Person"}}, Match: []plan.Clause{plan.Bind{Var: 0}},
		Columns: []plan.Column{{Name: "name", Expr: nameOf, Type: nameOf.Type}, {Name: "age", Expr: ageOf, Type: ageOf.Type}},
		Ties:    []plan.VarID{0}, Limit: plan.NoLimit,
	}}
)

// walkFrom returns a query for the names of all persons that can be reached by a walk from a
// person.
func walkFrom(hops int) *plan.Query {
	q := &plan.Query{Params: personByName.Params, Read: &plan.Read{
		Vars:  []plan.Var{{Name: "p", Type: "Person"}},
		Match: slices.Clone(personByName.Read.Match), Limit: plan.NoLimit,
	}}
	for i := range hops {
		q.Read.Vars = append(q.Read.Vars, plan.Var{Name: fmt.Sprintf("q%d", i), Type: "Person"})
		q.Read.Match = append(q.Read.Match, plan.Traverse{From: plan.VarID(i), To: plan.VarID(i + 1), Edge: "Knows", EdgeVar: plan.NoVar, Min: 1, Max: 1})
	}
	last := plan.Prop{Var: plan.VarID(hops), Name: "name", Type: value.Of(value.String)}
	q.Read.Columns = []plan.Column{{Name: "name", Expr: last, Type: last.Type}}
	for v := range q.Read.Vars {
		q.Read.Ties = append(q.Read.Ties, plan.VarID(v))
	}
	return q
}

func str(s string) value.Value { return value.OfString(s) }
func num(n int) value.Value    { return value.OfI32(int32(n)) }

// drain reads a result to its end, and returns the number of rows.
func drain(ctx context.Context, r engine.Result) (int, error) {
	defer r.Close()
	n := 0
	for {
		b, err := r.Next(ctx)
		if b == nil || err != nil {
			return n, err
		}
		n += b.Len
	}
}

// dump writes every entity of a snapshot, with its id, values and origin, in id order.
func dump(s *version.Snapshot) string {
	var lines []string
	for _, t := range s.Tables() {
		for ord := range t.Ordinals() {
			if !t.Alive(ord) {
				continue
			}
			line := t.Type.Name + " " + t.ID(ord)
			if found, ok := t.Lookup(t.ID(ord)); !ok || found != ord {
				line += " NOT FOUND BY ITS ID"
			}
			if t.Type.Entity == plan.Edge {
				src, dst := t.Ends(ord)
				from, to := s.Nodes(t.Type.From), s.Nodes(t.Type.To)
				line += " " + from.ID(src) + " -> " + to.ID(dst)
				for end, n := range map[string]int{"FROM": listings(t.Out(), src, ord), "TO": listings(t.In(), dst, ord)} {
					if n != 1 {
						line += fmt.Sprintf(" LISTED %d TIMES %s ITS NODE", n, end)
					}
				}
			}
			for p := range t.Type.Props {
				v := t.Value(ord, p)
				switch {
				case v.IsNull():
					line += " null"
				case v.IsList():
					for _, e := range v.Elems() {
						line += " [" + value.Text(e)
					}
				case v.Kind() == value.Vector:
					line += " " + fmt.Sprint(v.Vector())
				default:
					line += " " + value.Text(v)
				}
			}
			if s := t.Stamp(ord); s != (segment.Stamp{}) && t.Type.Of == nil {
				line += fmt.Sprintf(" @%d,%d", s.Made, s.Changed)
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// listings counts how often an edge is listed at a node.
func listings(a *index.Adjacency, node, edge uint32) int {
	n := 0
	for o := a.Later(node); o.Next(); {
		if o.Edge == edge {
			n++
		}
	}
	edges, _ := a.Base(node)
	for _, e := range edges {
		if e == edge {
			n++
		}
	}
	return n
}
