package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// largePlan is a kind of plan. The argument of its make function is the number of parts.
type largePlan struct {
	name string
	make func(n int) *plan.Query
}

func ageIs(op plan.Op, v plan.VarID, n int) plan.Clause {
	return plan.Filter{Cond: plan.Compare{Op: op, Left: plan.Prop{Var: v, Name: "age", Type: ageOf.Type}, Right: plan.Lit{Value: value.OfI32(int32(n))}, Unless: plan.NoParam}}
}

// largePlans are the plans that took the longest, for their size, to bind or to explain.
var largePlans = []largePlan{
	{"deep not blocks", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			for range n / 240 {
				var block []plan.Clause
				for range 240 {
					block = []plan.Clause{plan.Not{Match: append([]plan.Clause{ageIs(plan.Eq, 0, 1)}, block...)}}
				}
				r.Match = append(r.Match, block...)
			}
		})
	}},
	{"not blocks side by side", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			for range n {
				r.Match = append(r.Match, plan.Not{Match: []plan.Clause{ageIs(plan.Eq, 0, 1)}})
			}
		})
	}},
	{"filters", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			for i := range n {
				r.Match = append(r.Match, ageIs(plan.Lt, 0, i))
			}
		})
	}},
	{"filters of many variables", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			for v := 1; v < 256; v++ {
				r.Vars = append(r.Vars, plan.Var{Name: fmt.Sprint("v", v), Type: "Person"})
				r.Match = append(r.Match, plan.Bind{Var: plan.VarID(v)})
			}
			for i := range n {
				r.Match = append(r.Match, ageIs(plan.Ne, plan.VarID(i%256), i))
			}
		})
	}},
	{"text matches", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			for i := range n {
				r.Match = append(r.Match, plan.Filter{Cond: plan.TextMatch{Kind: plan.Search, Prop: nameOf, Query: plan.Lit{Value: value.OfString(fmt.Sprint("a", i))}}})
			}
		})
	}},
	{"sort keys of groups", func(n int) *plan.Query {
		return read(func(r *plan.Read) {
			r.Grouped, r.Ties = true, nil
			r.Columns = []plan.Column{{Name: "n", Expr: plan.Agg{Func: plan.Count, Arg: plan.Whole{}}, Type: value.Of(value.I64)}}
			for i := range n / 2 {
				r.Columns = append(r.Columns, plan.Column{Name: fmt.Sprint("c", i), Expr: nameOf, Type: value.Of(value.String)})
				r.Order = append(r.Order, plan.Order{Expr: ageOf})
			}
			r.Columns = append(r.Columns, plan.Column{Name: "age", Expr: ageOf, Type: ageOf.Type})
		})
	}},
}

// BenchmarkLargePlan binds and explains each kind of plan with increasing numbers of parts, each
// number twice the previous one.
func BenchmarkLargePlan(b *testing.B) {
	g := create(b, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 20)); err != nil {
		b.Fatal(err)
	}
	for _, large := range largePlans {
		for _, n := range []int{8_000, 16_000, 32_000} {
			q := large.make(n)
			b.Run(fmt.Sprintf("%s/%d/bind", large.name, n), func(b *testing.B) {
				for b.Loop() {
					again := *q
					if err := g.Bind(b.Context(), &again, engine.Target{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d/explain", large.name, n), func(b *testing.B) {
				for b.Loop() {
					e, err := g.Explain(b.Context(), q, nil, engine.Target{}, false)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(e.String())), "text-bytes")
				}
			})
		}
	}
}

// looksOf returns how often f checks its context, which never ends.
func looksOf(f func(context.Context) error) (int, error) {
	const many = 1 << 40
	ctx := &countdown{context.Background(), many}
	err := f(ctx)
	return many - ctx.left, err
}

// explain binds a new copy of a plan and explains it.
func explain(ctx context.Context, g *Graph, q *plan.Query) (*engine.Explanation, error) {
	again := *q
	return g.Explain(ctx, &again, nil, engine.Target{}, false)
}

// TestLargePlans binds and explains plans with many parts. The work, counted in checks of the
// context, must grow with the number of parts and not with its square. The text of the plan must
// stay below a bound.
func TestLargePlans(t *testing.T) {
	slow.Test(t)
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 20)); err != nil {
		t.Fatal(err)
	}
	for _, large := range largePlans {
		t.Run(large.name, func(t *testing.T) {
			var looks [2]int
			for i, n := range []int{9_600, 19_200} {
				q := large.make(n)
				var e *engine.Explanation
				var err error
				looks[i], err = looksOf(func(ctx context.Context) (err error) {
					e, err = explain(ctx, g, q)
					return err
				})
				var tooLarge *engine.TooLarge
				switch {
				case errors.As(err, &tooLarge):
					if !strings.Contains(large.name, "not blocks") || tooLarge.Actual < int64(n) || tooLarge.Actual > int64(3*n) {
						t.Errorf("%d parts: %v", n, err)
					}
				case err != nil:
					t.Fatal(err)
				case strings.Contains(large.name, "not blocks") || len(e.String()) > 100*n:
					t.Errorf("%d parts: a text of %d bytes", n, len(e.String()))
				}
				if len(q.Read.Vars) > 1 {
					continue // the query yields more rows than fit in any memory
				}
				// The bound on an explanation does not apply to a run.
				r, err := g.Query(context.Background(), q, engine.Args{value.Null}, engine.Target{})
				if err != nil {
					t.Fatalf("%d parts: %v", n, err)
				}
				if _, err := drain(context.Background(), r); err != nil {
					t.Errorf("%d parts: %v", n, err)
				}
			}
			t.Logf("%d and %d checks of the context", looks[0], looks[1])
			// If there is less than one check of the context per 256 parts, a part of the work does
			// not check the context.
			if looks[0] < 9_600/256 || looks[1] > looks[0]*5/2 {
				t.Errorf("twice the parts take %d checks of the context, not %d", looks[1], looks[0])
			}
		})
	}
}

// TestCancelLargePlans cancels the context at checks from the first to the last, and also after 5
// ms. Binding and explaining must soon return the context's error.
func TestCancelLargePlans(t *testing.T) {
	g := create(t, fs.NewMem(), Options{quiet: true})
	if err := loadText(g, engine.Merge, manyPeople(0, 20)); err != nil {
		t.Fatal(err)
	}
	for _, large := range largePlans {
		t.Run(large.name, func(t *testing.T) {
			q := large.make(24_000)
			all, _ := looksOf(func(ctx context.Context) error { _, err := explain(ctx, g, q); return err })
			for look := 0; look < all; look += 1 + all/7 {
				if _, err := explain(&countdown{context.Background(), look}, g, q); !errors.Is(err, context.Canceled) {
					t.Errorf("with a context that ends at check %d of %d: %v", look, all, err)
				}
			}
			if err := g.Bind(&countdown{context.Background(), all / 4}, &plan.Query{Params: q.Params, Read: q.Read}, engine.Target{}); !errors.Is(err, context.Canceled) {
				t.Errorf("binding with a context that ends: %v", err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
			defer cancel()
			start := clock.Now()
			_, err := explain(ctx, g, q)
			// On a busy machine the timer may fire after a call of some milliseconds has ended.
			took := clock.Since(start)
			if err == nil && took > 200*time.Millisecond || err != nil && !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
				t.Errorf("with a context that ends after 5 ms it returned %v after %v", err, took)
			}
		})
	}
}
