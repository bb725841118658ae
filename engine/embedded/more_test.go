package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestMore checks, on tables larger than those of the random comparison, that a result reports
// whether there are rows beyond its limit. It covers every way in which a run finds the first rows:
// a sort, a sort with pruning, an index in order, an index in order with a filter, groups, or a
// score.
func TestMore(t *testing.T) {
	slow.Test(t)
	indexed, posts := benchSorted(t, true), openPosts(t, 3000)
	defer posts.Close()
	base := func(order ...plan.Order) plan.Read {
		return plan.Read{Vars: allPeople.Read.Vars, Match: []plan.Clause{plan.Bind{Var: 0}}, Columns: allPeople.Read.Columns, Order: order, Ties: []plan.VarID{0}}
	}
	filtered := base(plan.Order{Expr: ageOf})
	filtered.Match = append(filtered.Match, plan.Filter{Cond: plan.Compare{Op: plan.Ge, Left: ageOf, Right: plan.Lit{Value: value.OfI32(30)}, Unless: plan.NoParam}})
	grouped := base()
	grouped.Columns = []plan.Column{{Name: "age", Expr: ageOf, Type: ageOf.Type}, {Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}, Type: value.Of(value.I64)}}
	grouped.Grouped, grouped.Ties = true, nil
	relevant := *ranked(plan.BM25{Prop: textOf, Query: plan.Lit{Value: value.OfString("w3x w200x")}}, value.Of(value.String), 0, false).Read
	for _, tt := range []struct {
		name string
		g    *Graph
		read plan.Read
	}{
		{"sorted", indexed, base(plan.Order{Expr: plan.ID{}, Desc: true})},
		{"in the order of an index", indexed, base(plan.Order{Expr: ageOf})},
		{"in the order of an index, filtered", indexed, filtered},
		{"grouped", indexed, grouped},
		{"by relevance", posts, relevant},
	} {
		run := func(q *plan.Query, args ...value.Value) (int64, bool) {
			r, err := tt.g.Query(context.Background(), q, args, engine.Target{})
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			n, err := drain(context.Background(), r)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			return int64(n), r.More()
		}
		literal := func(limit int64) *plan.Query {
			read := tt.read
			read.Limit = limit
			return &plan.Query{Name: fmt.Sprint(tt.name, limit), Read: &read}
		}
		count := func(limit int64) (int64, bool) { return run(literal(limit)) }
		given := limitGiven(tt.name, tt.read)
		all, more := count(plan.NoLimit)
		if all < 80 || more {
			t.Fatalf("%s: %d rows without a limit, more %t", tt.name, all, more)
		}
		for _, limit := range []int64{0, 1, 5, 31, 32, 33, 64, all - 1, all, all + 1, 1 << 62} {
			n, more := count(limit)
			if want := limit > 0 && limit < all; n != min(limit, all) || more != want {
				t.Errorf("%s, limit %d of %d: %d rows, more %t", tt.name, limit, all, n, more)
			}
			if limit > plan.MaxLimitBy {
				continue
			}
			// The query whose limit is a parameter uses one program for all limits.
			arg := value.OfI32(int32(limit))
			if m, also := run(given, arg); m != n || also != more {
				t.Errorf("%s, limit %d of %d from a parameter: %d rows, more %t, expected %d, %t", tt.name, limit, all, m, also, n, more)
			}
			if want, got := rowsOf(t, tt.g, literal(limit), nil), rowsOf(t, tt.g, given, engine.Args{arg}); got != want {
				t.Errorf("%s, limit %d from a parameter: found\n%s\nexpected\n%s", tt.name, limit, got, want)
			}
		}
		e, err := tt.g.Explain(context.Background(), given, nil, engine.Target{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(details(e.Plan)); !strings.Contains(text, "first $n (at most 10000)") {
			t.Errorf("%s: the plan is explained as %s", tt.name, text)
		}
	}
}

// limitGiven returns a query whose limit is the parameter $n.
func limitGiven(name string, read plan.Read) *plan.Query {
	none, most := value.OfI32(0), value.OfI32(plan.MaxLimitBy)
	read.Limit, read.LimitBy = plan.MaxLimitBy, &plan.ParamRef{}
	return &plan.Query{Name: name, Read: &read, Params: []plan.Param{{Name: "n", Type: value.Of(value.I32), Bounds: value.Bounds{Min: &none, Max: &most}}}}
}

// details returns the details of operators and of all operators below them.
func details(ops []*engine.Operator) (all []string) {
	for _, op := range ops {
		all = append(append(all, op.Detail), details(op.Children)...)
	}
	return all
}
