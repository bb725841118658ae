package embedded

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// read returns a query for persons that the function `change` has modified.
func read(change func(r *plan.Read)) *plan.Query {
	r := *allPeople.Read
	r.Vars, r.Match, r.Columns = slices.Clone(r.Vars), slices.Clone(r.Match), slices.Clone(r.Columns)
	change(&r)
	return &plan.Query{Params: []plan.Param{{Name: "n", Type: value.Of(value.I32).Optional()}}, Read: &r}
}

// TestHostilePlans binds plans that no checker would let pass. Each must be refused with a
// *engine.SchemaMismatch, and none may crash the graph.
func TestHostilePlans(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 20)); err != nil {
		t.Fatal(err)
	}
	filter := func(c plan.Cond) *plan.Query {
		return read(func(r *plan.Read) { r.Match = append(r.Match, plan.Filter{Cond: c}) })
	}
	column := func(e plan.Expr) *plan.Query {
		return read(func(r *plan.Read) { r.Columns[1].Expr = e })
	}
	knows := func(from, to, edge plan.VarID, low, high int, walk bool) *plan.Query {
		return read(func(r *plan.Read) {
			r.Vars = append(r.Vars, plan.Var{Name: "q", Type: "Person"}, plan.Var{Name: "k", Entity: plan.Edge, Type: "Knows"}, plan.Var{Name: "a", Entity: plan.Edge, Type: "About"})
			r.Match = append(r.Match, plan.Traverse{From: from, To: to, Edge: "Knows", EdgeVar: edge, Walk: walk, Min: low, Max: high})
		})
	}
	write := func(s plan.Statement) *plan.Query {
		return &plan.Query{Params: []plan.Param{{Name: "n", Type: value.Of(value.String).Optional()}}, Mutation: &plan.Mutation{Statements: []plan.Statement{s}}}
	}
	ptr := func(v value.Value) *value.Value { return &v }
	limitBy := func(p plan.Param) *plan.Query {
		q := read(func(r *plan.Read) { r.Limit, r.LimitBy = 3, &plan.ParamRef{} })
		q.Params = []plan.Param{p}
		return q
	}
	set := func(e plan.Expr) []plan.Assign {
		return []plan.Assign{{Name: "name", Type: value.Of(value.String), Value: e}}
	}
	for name, q := range map[string]*plan.Query{
		"neither read nor mutation":                       {Params: make([]plan.Param, 1)},
		"column of no variable":                           column(plan.ID{Var: 9}),
		"column of a negative variable":                   column(plan.Prop{Var: -1, Name: "age", Type: value.Of(value.I32)}),
		"column of no parameter":                          column(plan.ParamRef{Index: 3}),
		"empty column":                                    column(nil),
		"bm25 of no parameter":                            column(plan.BM25{Prop: plan.Prop{Name: "name", Type: value.Of(value.String)}, Query: plan.ParamRef{Index: 3}}),
		"bm25 of nothing":                                 column(plan.BM25{Prop: plan.Prop{Name: "name", Type: value.Of(value.String)}}),
		"bm25 of a number":                                column(plan.BM25{Prop: plan.Prop{Name: "age", Type: value.Of(value.I32)}, Query: plan.Lit{Value: str("a")}}),
		"bm25 for a number":                               column(plan.BM25{Prop: plan.Prop{Name: "name", Type: value.Of(value.String)}, Query: plan.Lit{Value: num(1)}}),
		"nearest of no vector":                            column(plan.Nearest{Prop: plan.Prop{Name: "name", Type: value.Of(value.String)}, Vector: plan.Lit{Value: value.OfVector([]float32{1})}}),
		"nearest to nothing":                              column(plan.Nearest{Prop: plan.Prop{Name: "name", Type: value.Of(value.String)}}),
		"rrf of nothing":                                  column(plan.RRF{}),
		"rrf of properties":                               column(plan.RRF{First: plan.Prop{Name: "name", Type: value.Of(value.String)}, Second: plan.ID{}}),
		"aggregate without groups":                        column(plan.Agg{Func: plan.Count, Arg: plan.Whole{}}),
		"aggregate of nothing":                            read(func(r *plan.Read) { r.Grouped, r.Columns[1].Expr = true, plan.Agg{Func: plan.Count} }),
		"unknown aggregate":                               read(func(r *plan.Read) { r.Grouped, r.Columns[1].Expr = true, plan.Agg{Func: 99, Arg: plan.Whole{}} }),
		"end of a node":                                   column(plan.Endpoint{Var: 0}),
		"unknown function":                                column(plan.Apply{Func: 200, Args: []plan.Expr{ageOf}}),
		"function without arguments":                      column(plan.Apply{Func: plan.Lower}),
		"function of nothing":                             column(plan.Apply{Func: plan.Lower, Args: []plan.Expr{nil}}),
		"function of another type":                        column(plan.Apply{Func: plan.Lower, Args: []plan.Expr{ageOf}, Type: value.Of(value.String)}),
		"function with another result":                    column(plan.Apply{Func: plan.Lower, Args: []plan.Expr{nameOf}, Type: value.Of(value.I32)}),
		"function of an aggregate":                        column(plan.Apply{Func: plan.Abs, Args: []plan.Expr{plan.Agg{Func: plan.Count, Arg: plan.Whole{}}}, Type: value.Of(value.I64)}),
		"test of nothing":                                 column(plan.Test{}),
		"truth of nothing":                                column(plan.Holds{}),
		"truth of a filter":                               column(plan.Holds{Block: plan.Filter{Cond: plan.NullTest{Expr: ageOf}}, Outer: []plan.VarID{0}}),
		"truth of an unlisted variable":                   column(plan.Holds{Block: plan.Any{Conds: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: ageOf}}}}}),
		"truth with an unknown variable":                  column(plan.Holds{Block: plan.Any{Conds: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: plan.Lit{}}}}}, Outer: []plan.VarID{9}}),
		"truth of a binding in any":                       column(plan.Holds{Block: plan.Any{Conds: []plan.Clause{plan.Bind{}}}, Outer: []plan.VarID{0}}),
		"test for null of nothing":                        column(plan.Test{Cond: plan.NullTest{}}),
		"matches within an expression, of two properties": column(plan.Test{Cond: plan.Compare{Op: plan.Matches, Left: nameOf, Right: nameOf, Unless: plan.NoParam}}),
		"insert of a block":                               write(plan.Insert{Type: "Person", Set: set(plan.Holds{Block: plan.Any{}})}),
		"subquery of an unlisted variable":                column(plan.BlockAgg{Match: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: ageOf}}}}),
		"subquery of an unknown variable":                 column(plan.BlockAgg{Match: []plan.Clause{plan.Bind{Var: 7}}}),
		"subquery of a listed unknown variable":           column(plan.BlockAgg{Match: []plan.Clause{plan.Filter{Cond: plan.NullTest{Expr: plan.Lit{}}}}, Outer: []plan.VarID{7}}),
		"sum of no value":                                 column(plan.BlockAgg{Func: plan.Sum, Match: []plan.Clause{plan.Bind{}}, Outer: []plan.VarID{0}}),
		"list over a block":                               column(plan.BlockAgg{Func: plan.Collect, Arg: nameOf, Match: []plan.Clause{plan.Bind{}}, Outer: []plan.VarID{0}}),
		"sum of texts over a block":                       column(plan.BlockAgg{Func: plan.Sum, Arg: nameOf, Match: []plan.Clause{plan.Bind{}}, Outer: []plan.VarID{0}}),
		"unknown aggregate over a block":                  column(plan.BlockAgg{Func: 99, Match: []plan.Clause{plan.Bind{}}, Outer: []plan.VarID{0}}),
		"block within an expression":                      column(plan.Test{Cond: plan.NullTest{Expr: plan.BlockRows{First: true, Limit: 1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: ageOf}}, Outer: []plan.VarID{0}}}}),
		"block without columns":                           column(plan.BlockRows{Limit: 1, Match: []plan.Clause{plan.Bind{}}, Outer: []plan.VarID{0}}),
		"block with an aggregate":                         column(plan.BlockRows{Limit: 1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}}}, Outer: []plan.VarID{0}}),
		"block with unknown ties":                         column(plan.BlockRows{Limit: 1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: ageOf}}, Ties: []plan.VarID{9}, Outer: []plan.VarID{0}}),
		"block with a negative limit":                     column(plan.BlockRows{Limit: -1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: ageOf}}, Outer: []plan.VarID{0}}),
		"field of nothing":                                column(plan.Member{}),
		"unknown field":                                   column(plan.Member{Of: plan.BlockRows{First: true, Limit: 1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: ageOf}}, Outer: []plan.VarID{0}}, Name: "y"}),
		"field of another type":                           column(plan.Member{Of: plan.BlockRows{First: true, Limit: 1, Match: []plan.Clause{plan.Bind{}}, Columns: []plan.Column{{Name: "x", Expr: ageOf}}, Outer: []plan.VarID{0}}, Name: "x", Type: value.Of(value.String)}),
		"insert of a subquery":                            write(plan.Insert{Type: "Person", Set: set(plan.BlockAgg{})}),
		"half a test":                                     column(plan.Test{Cond: plan.Compare{Left: ageOf, Unless: plan.NoParam}}),
		"ungrouped part of a column": read(func(r *plan.Read) {
			r.Grouped = true
			r.Columns = []plan.Column{{Name: "x", Type: value.Of(value.I64), Expr: plan.Apply{Func: plan.Add, Type: value.Of(value.I64), Args: []plan.Expr{ageOf, plan.Agg{Func: plan.Count, Arg: plan.Whole{}}}}}}
		}),
		"list of nodes without fields": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.Whole{}}, Type: value.Type{List: true}}
		}),
		"list of values with fields": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: nameOf}, Type: value.Type{List: true}, Fields: []plan.Field{{Name: "id"}}}
		}),
		"list of nodes with an unknown field": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.Whole{}}, Type: value.Type{List: true}, Fields: []plan.Field{{Name: "id"}, {Name: "y"}}}
		}),
		"list of nodes of no variable": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.Whole{Var: 9}}, Type: value.Type{List: true}, Fields: []plan.Field{{Name: "id"}}}
		}),
		"list of ends of a node": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.EndNode{}}, Type: value.Type{List: true}, Fields: plan.NodeFields(nil)}
		}),
		"list of ends of no variable": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.EndNode{Var: 9}}, Type: value.Type{List: true}, Fields: plan.NodeFields(nil)}
		}),
		"list of ends without fields": read(func(r *plan.Read) {
			r.Grouped, r.Columns[1] = true, plan.Column{Name: "x", Expr: plan.Agg{Func: plan.Collect, Arg: plan.EndNode{}}, Type: value.Type{List: true}}
		}),
		"tie by no variable":                   read(func(r *plan.Read) { r.Ties = []plan.VarID{7} }),
		"tie by an unbound variable":           read(func(r *plan.Read) { r.Vars, r.Ties = append(r.Vars, r.Vars[0]), []plan.VarID{1} }),
		"column bound in a not block only":     read(func(r *plan.Read) { r.Match = []plan.Clause{plan.Not{Match: r.Match}} }),
		"order by nothing":                     read(func(r *plan.Read) { r.Order = []plan.Order{{}} }),
		"order by an aggregate without groups": read(func(r *plan.Read) { r.Order = []plan.Order{{Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}}} }),
		"order by a function of an aggregate without groups": read(func(r *plan.Read) {
			r.Order = []plan.Order{{Expr: plan.Apply{Func: plan.Abs, Args: []plan.Expr{plan.Agg{Func: plan.Count, Arg: plan.Whole{}}}, Type: value.Of(value.I64)}}}
		}),
		"having an aggregate without groups": read(func(r *plan.Read) {
			r.Having = []plan.Clause{plan.Filter{Cond: plan.Compare{Op: plan.Gt, Left: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}, Right: plan.Lit{Value: value.OfI64(0)}, Unless: plan.NoParam}}}
		}),
		"limit by no parameter":                read(func(r *plan.Read) { r.Limit, r.LimitBy = 3, &plan.ParamRef{Index: 2} }),
		"limit by a nullable parameter":        read(func(r *plan.Read) { r.Limit, r.LimitBy = 3, &plan.ParamRef{} }),
		"limit without a range":                limitBy(plan.Param{Name: "n", Type: value.Of(value.I32)}),
		"limit with a range of floats":         limitBy(plan.Param{Name: "n", Type: value.Of(value.I32), Bounds: value.Bounds{Min: ptr(value.OfF64(0)), Max: ptr(value.OfF64(3))}}),
		"limit of another range":               limitBy(plan.Param{Name: "n", Type: value.Of(value.I32), Bounds: value.Bounds{Min: ptr(value.OfI32(0)), Max: ptr(value.OfI32(4))}}),
		"empty filter":                         filter(nil),
		"half a comparison":                    filter(plan.Compare{Left: ageOf, Unless: plan.NoParam}),
		"unless no parameter":                  filter(plan.Compare{Left: ageOf, Right: plan.Lit{Value: num(1)}, Unless: 4}),
		"filter on no variable":                filter(plan.Compare{Left: plan.ID{Var: 5}, Right: plan.Lit{Value: num(1)}, Unless: plan.NoParam}),
		"search for a number":                  filter(plan.TextMatch{Prop: nameOf, Query: plan.Lit{Value: num(1)}}),
		"search of a number":                   filter(plan.TextMatch{Prop: ageOf, Query: plan.Lit{Value: str("x")}}),
		"search with a number parameter":       filter(plan.TextMatch{Prop: nameOf, Query: plan.ParamRef{Index: 0}}),
		"unknown text match":                   filter(plan.TextMatch{Kind: 9, Prop: nameOf, Query: plan.Lit{Value: str("x")}}),
		"unless a negative parameter":          filter(plan.Compare{Left: ageOf, Right: plan.Lit{Value: num(1)}, Unless: -2}),
		"unknown operator":                     filter(plan.Compare{Op: 99, Left: ageOf, Right: plan.Lit{Value: num(1)}, Unless: plan.NoParam}),
		"in a number":                          filter(plan.Compare{Op: plan.In, Left: ageOf, Right: plan.Lit{Value: num(1)}, Unless: plan.NoParam}),
		"a number matches":                     filter(plan.Compare{Op: plan.Matches, Left: ageOf, Right: plan.Lit{Value: str("x")}, Unless: plan.NoParam}),
		"matches a property":                   filter(plan.Compare{Op: plan.Matches, Left: nameOf, Right: nameOf, Unless: plan.NoParam}),
		"matches a bad pattern":                filter(plan.Compare{Op: plan.Matches, Left: nameOf, Right: plan.Lit{Value: str("(")}, Unless: plan.NoParam}),
		"nothing is null":                      filter(plan.NullTest{}),
		"null test of no variable":             filter(plan.NullTest{Expr: plan.ID{Var: 5}}),
		"binding in any":                       read(func(r *plan.Read) { r.Match = append(r.Match, plan.Any{Conds: r.Match}) }),
		"empty clause in any":                  read(func(r *plan.Read) { r.Match = append(r.Match, plan.Any{Conds: []plan.Clause{nil}}) }),
		"column bound in an exists block only": read(func(r *plan.Read) { r.Match = []plan.Clause{plan.Exists{Match: r.Match}} }),
		"empty clause":                         read(func(r *plan.Read) { r.Match = append(r.Match, nil) }),
		"traversal to no variable":             knows(0, 9, plan.NoVar, 1, 1, false),
		"traversal to an edge":                 knows(0, 2, plan.NoVar, 1, 1, false),
		"traversal over a node":                knows(0, 1, 0, 1, 1, false),
		"traversal over an edge of other type": knows(0, 1, 3, 1, 1, false),
		"traversal with bounds":                knows(0, 1, plan.NoVar, 1, 3, false),
		"walk to no variable":                  knows(0, 9, plan.NoVar, 1, 3, true),
		"walk with an edge":                    knows(0, 1, 2, 1, 1, true),
		"walk of fewer than no hops":           knows(0, 1, plan.NoVar, -1, 2, true),
		"way back of no hops":                  knows(0, 0, plan.NoVar, 0, 2, true),
		"walk of bounds that cross":            knows(0, 1, plan.NoVar, 3, 2, true),
		"unknown type":                         read(func(r *plan.Read) { r.Vars[0].Type = "Ghost" }),

		"insert of no parameter":    write(plan.Insert{Type: "Person", Set: set(plan.ParamRef{Index: 3})}),
		"insert of a property":      write(plan.Insert{Type: "Person", Set: set(nameOf)}),
		"insert of a bad function":  write(plan.Insert{Type: "Person", Set: set(plan.Apply{Func: plan.Lower, Args: []plan.Expr{plan.Lit{Value: num(1)}}, Type: value.Of(value.String)})}),
		"insert of no function":     write(plan.Insert{Type: "Person", Set: set(plan.Apply{Func: 99})}),
		"insert of a match":         write(plan.Insert{Type: "Person", Set: set(plan.Test{Cond: plan.TextMatch{Prop: nameOf, Query: plan.Lit{Value: str("x")}}})}),
		"insert of nothing":         write(plan.Insert{Type: "Person", Set: set(nil)}),
		"insert at no parameter":    write(plan.Insert{Entity: plan.Edge, Type: "Knows", From: plan.ParamRef{Index: -1}}),
		"insert without a type":     write(plan.Insert{}),
		"empty statement":           write(nil),
		"update where nothing":      write(plan.Update{Type: "Person", Where: []plan.Pred{{Name: "name", Type: value.Of(value.String)}}}),
		"delete where no parameter": write(plan.Delete{Type: "Person", Where: []plan.Pred{{Name: "id", Type: value.Of(value.String), Value: plan.ParamRef{Index: 2}}}}),
		"delete by no property":     write(plan.Delete{Type: "Person", Where: []plan.Pred{{Name: "from", Type: value.Of(value.String), Value: plan.ParamRef{}}}}),
	} {
		t.Run(name, func(t *testing.T) {
			args := engine.Args{value.Null}
			var mismatch *engine.SchemaMismatch
			if q.Mutation != nil {
				if _, err := g.Mutate(ctx, q, args, engine.WriteOptions{}); !errors.As(err, &mismatch) {
					t.Errorf("error %v (%T), want a *engine.SchemaMismatch", err, err)
				}
				return
			}
			if r, err := g.Query(ctx, q, args, engine.Target{}); !errors.As(err, &mismatch) {
				n := 0
				if err == nil {
					n, err = drain(ctx, r)
				}
				t.Errorf("%d rows, error %v (%T), want a *engine.SchemaMismatch", n, err, err)
			}
		})
	}
	if _, err := g.Mutate(ctx, insertPerson, engine.Args{str("after"), value.Null}, engine.WriteOptions{}); err != nil {
		t.Error(err)
	}
}

// TestManyVariables checks the limit of 256 variables in a plan. With more variables the memory,
// which grows with the square of their number, would matter.
func TestManyVariables(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	for _, n := range []int{256, 257} {
		r := &plan.Read{Limit: 1}
		for v := range n {
			r.Vars = append(r.Vars, plan.Var{Name: "v", Type: "Person"})
			r.Match = append(r.Match, plan.Bind{Var: plan.VarID(v)})
		}
		r.Columns = []plan.Column{{Name: "id", Expr: plan.ID{Var: 0}, Type: value.Of(value.String)}}
		err := g.Bind(t.Context(), &plan.Query{Name: "q", Read: r}, engine.Target{})
		var large *engine.TooLarge
		if errors.As(err, &large) != (n > 256) {
			t.Errorf("%d variables: %v", n, err)
		}
	}
}

// TestHostileArguments runs queries with arguments that a server's checks would refuse.
func TestHostileArguments(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{quiet: true})
	var bad *engine.BadArgument
	for name, args := range map[string]engine.Args{
		"none":          nil,
		"too many":      {str("a"), num(1), num(2)},
		"null":          {value.Null, num(1)},
		"wrong kind":    {num(1), num(1)},
		"a list":        {value.OfList(value.String, nil), num(1)},
		"invalid UTF-8": {str("a\xff"), num(1)},
	} {
		if _, err := g.Mutate(ctx, insertPerson, args, engine.WriteOptions{}); !errors.As(err, &bad) {
			t.Errorf("%s: error %v, want a *engine.BadArgument", name, err)
		}
	}
	for _, name := range []string{"", strings.Repeat("k", 1<<20), "\x00", "\u2028\"\\"} {
		if _, err := g.Mutate(ctx, insertPerson, engine.Args{str(name), num(math.MinInt32)}, engine.WriteOptions{}); err != nil {
			t.Errorf("a name of %d bytes: %v", len(name), err)
			continue
		}
		r, err := g.Query(ctx, personByName, engine.Args{str(name)}, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := drain(ctx, r); n != 1 || err != nil {
			t.Errorf("a name of %d bytes: %d rows, error %v", len(name), n, err)
		}
	}
}

// TestPanicGivesTurnBack makes the clock panic in the middle of a write. A caller that recovers
// from the panic must be able to continue to write.
func TestPanicGivesTurnBack(t *testing.T) {
	ctx := context.Background()
	broken := false
	g := create(t, fs.NewMem(), Options{quiet: true, Now: func() time.Time {
		if broken {
			panic("no time")
		}
		return time.Unix(1, 0)
	}})
	insert := func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err = g.Mutate(ctx, insertPerson, engine.Args{str("ann"), num(1)}, engine.WriteOptions{})
		return err
	}
	func() {
		defer func() { recover() }()
		// This panics with the write lock held.
		g.writer.write(ctx, g.branches.main, &write{}, nil)
	}()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the clock did not panic")
			}
		}()
		broken = true
		insert()
	}()
	broken = false
	if err := insert(); err != nil {
		t.Error(err)
	}
}

// gate is a reader. Its method Read calls the function `read`, which calls the graph.
type gate struct{ read func() }

func (r *gate) Read([]byte) (int, error) {
	r.read()
	return 0, io.EOF
}

// TestCloseDuringNestedCall closes the graph while a load reads from a query. Close waits for
// the load, so the query must not wait for Close.
func TestCloseDuringNestedCall(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{quiet: true})
	var closed sync.WaitGroup
	var asked error
	_, err := g.Load(ctx, &gate{func() {
		closed.Go(func() { g.Close() })
		closed.Go(func() { g.Close() })
		for asked = nil; asked == nil; {
			_, asked = g.Snapshot(ctx, engine.Target{})
		}
	}}, engine.LoadOptions{Mode: engine.Append})
	closed.Wait()
	var unavailable *engine.Unavailable
	if err != nil || !errors.As(asked, &unavailable) {
		t.Errorf("the load: %v; the query: %v, want a *engine.Unavailable", err, asked)
	}
	if _, err := Open(ctx, fs.NewMem(), dir, Options{}); err == nil {
		t.Error("opened a graph that does not exist")
	}
}

// countdown is a context that is cancelled after some calls of Err. left is the number of calls
// that remain.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancelSort cancels a query at each of its checks of the context. The query must fail. The
// next run of the same program must return the correct result.
func TestCancelSort(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	const n = 20_000
	if err := loadText(g, engine.Merge, manyPeople(0, n)); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{plan.NoLimit, 3, 100, math.MaxInt64} {
		q := read(func(r *plan.Read) { r.Order, r.Limit = []plan.Order{{Expr: ageOf}, {Expr: nameOf, Desc: true}}, limit })
		looks := 0
		for {
			r, err := g.Query(&countdown{context.Background(), looks}, q, engine.Args{value.Null}, engine.Target{})
			if err == nil {
				rows, err := drain(context.Background(), r)
				want := int64(n)
				if limit >= 0 {
					want = min(limit, n)
				}
				if err != nil || int64(rows) != want {
					t.Errorf("limit %d: %d rows, want %d, error %v", limit, rows, want, err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			looks++
		}
		// A scan checks the context about once per frame. A sort of all rows checks more often.
		if looks < 8 {
			t.Errorf("limit %d: the query checked its context %d times", limit, looks)
		}
		if limit < 0 && looks < 15 {
			t.Errorf("a sort of %d rows checked its context %d times", n, looks)
		}
	}
}

// TestCancelWrite cancels writes at each of their checks of the context. The cancelled writes must
// leave nothing behind.
func TestCancelWrite(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 5000)); err != nil {
		t.Fatal(err)
	}
	where := plan.Pred{Name: "name", Type: value.Of(value.String), Op: plan.StartsWith, Value: plan.Lit{Value: str("p")}}
	for _, c := range []struct {
		name  string
		looks int // at least one check of the context per thousand entities
		write func(ctx context.Context) error
	}{
		{"update", 9, func(ctx context.Context) error {
			_, err := g.Mutate(ctx, &plan.Query{Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Update{Type: "Person", Where: []plan.Pred{where},
				Set: []plan.Assign{{Name: "age", Type: value.Of(value.I32).Optional(), Value: plan.Lit{Value: num(500)}}}}}}}, nil, engine.WriteOptions{})
			return err
		}},
		{"load", 5, func(ctx context.Context) error {
			_, err := g.Load(ctx, strings.NewReader(manyPeople(5000, 2500)), engine.LoadOptions{Mode: engine.Append})
			return err
		}},
		{"delete", 9, func(ctx context.Context) error {
			_, err := g.Mutate(ctx, &plan.Query{Mutation: &plan.Mutation{Statements: []plan.Statement{plan.Delete{Type: "Person", Where: []plan.Pred{where}}}}}, nil, engine.WriteOptions{})
			return err
		}},
	} {
		before := g.branches.main.tip
		looks := 0
		for ; ; looks++ {
			err := c.write(&countdown{context.Background(), looks})
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", c.name, err)
			}
			if g.branches.main.tip != before {
				t.Fatalf("%s: cancelled at check %d of the context it committed", c.name, looks)
			}
		}
		if looks < c.looks {
			t.Errorf("%s: it checked its context %d times, want %d", c.name, looks, c.looks)
		}
	}
}
