package embedded

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// openStays returns a graph of 20 stays, of which each begins a day after the one before, and lasts a day, and a query that counts those of a period.
func openStays(t *testing.T, opts Options) (*Graph, *plan.Query) {
	t.Helper()
	const text = "node Stay @valid(since, until) { slug: String @key since: Date until: Date? }"
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	opts.quiet = true
	g, err := Create(t.Context(), fs.NewMem(), dir, text, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	var b strings.Builder
	for n := range 20 {
		day := clocktest.Start.AddDate(0, 0, n)
		b.WriteString(`{"type":"Stay","data":{"slug":"s` + day.Format("0102") + `","since":"` + day.Format(time.DateOnly) + `","until":"` + day.AddDate(0, 0, 1).Format(time.DateOnly) + "\"}}\n")
	}
	if err := loadText(g, engine.Append, b.String()); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: "query q($from: Date, $to: Date) { match valid during $from, $to { $s: Stay } return { $s.slug } }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return g, queries[0].Plan
}

// stayed returns the number of stays that the query finds in a period that begins some days after the first one.
func stayed(t *testing.T, g *Graph, q *plan.Query, from, days int, at engine.Target) int {
	t.Helper()
	first := int64(value.DateTimeOf(clocktest.Start)) / 86400e6
	date := func(n int) value.Value { return value.OfDate(value.DateValue(first + int64(n))) }
	r, err := g.Query(t.Context(), q, engine.Args{date(from), date(from + days)}, at)
	if err != nil {
		t.Error(err)
		return 0
	}
	n, err := drain(context.Background(), r)
	if err != nil {
		t.Error(err)
	}
	return n
}

// TestValidPlans binds and runs plans whose valid time no checker would let pass. Each must be refused with a *engine.SchemaMismatch.
func TestValidPlans(t *testing.T) {
	g, q := openStays(t, Options{})
	with := func(v plan.Valid, params ...plan.Param) *plan.Query {
		read := *q.Read
		read.Valid = &v
		return &plan.Query{Params: params, Uses: q.Uses, Read: &read}
	}
	param := func(t value.Type) plan.Param { return plan.Param{Name: "n", Type: t} }
	day := plan.Lit{Value: value.OfDate(1)}
	for name, c := range map[string]struct {
		q   *plan.Query
		arg value.Value
	}{
		"a text":                {with(plan.Valid{From: plan.ParamRef{}}, param(value.Of(value.String))), str("x")},
		"a nullable parameter":  {with(plan.Valid{From: day, To: plan.ParamRef{}}, param(value.Of(value.Date).Optional())), value.Null},
		"a list":                {with(plan.Valid{From: plan.ParamRef{}}, param(value.Type{Kind: value.Date, List: true})), value.OfList(value.Date, nil)},
		"no parameter":          {with(plan.Valid{From: plan.ParamRef{Index: 5}}, param(value.Of(value.Date))), day.Value},
		"a negative parameter":  {with(plan.Valid{From: plan.ParamRef{Index: -1}}, param(value.Of(value.Date))), day.Value},
		"nothing":               {with(plan.Valid{}, param(value.Of(value.Date))), day.Value},
		"null":                  {with(plan.Valid{From: plan.Lit{}}, param(value.Of(value.Date))), day.Value},
		"a computed time":       {with(plan.Valid{From: plan.Apply{Func: plan.Lower, Args: []plan.Expr{day}}}, param(value.Of(value.Date))), day.Value},
		"a match of a mutation": {&plan.Query{Params: []plan.Param{param(value.Of(value.Date))}, Mutation: &plan.Mutation{Statements: []plan.Statement{plan.ForEach{Read: with(plan.Valid{From: day}).Read}}}}, day.Value},
	} {
		t.Run(name, func(t *testing.T) {
			var mismatch *engine.SchemaMismatch
			if err := g.Bind(t.Context(), c.q, engine.Target{}); !errors.As(err, &mismatch) {
				t.Errorf("Bind: %v, expected a *engine.SchemaMismatch", err)
			}
			var err error
			if c.q.Mutation != nil {
				_, err = g.Mutate(t.Context(), c.q, engine.Args{c.arg}, engine.WriteOptions{})
			} else {
				_, err = g.Query(t.Context(), c.q, engine.Args{c.arg}, engine.Target{})
			}
			if !errors.As(err, &mismatch) {
				t.Errorf("%v, expected a *engine.SchemaMismatch", err)
			}
		})
	}
}

// TestValidPeriodPlace checks that the error on a period names the parameter of its end, or else of its start.
func TestValidPeriodPlace(t *testing.T) {
	g, q := openStays(t, Options{})
	for want, v := range map[string]plan.Valid{
		"to":    {From: plan.ParamRef{Index: 0}, To: plan.ParamRef{Index: 1}},
		"from":  {From: plan.ParamRef{Index: 0}, To: plan.Lit{Value: value.OfDate(1)}},
		"query": {From: plan.Now{}, To: plan.Lit{Value: value.OfDate(1)}},
	} {
		read := *q.Read
		read.Valid = &v
		var bad *engine.BadArgument
		_, err := g.Query(t.Context(), &plan.Query{Params: q.Params, Uses: q.Uses, Read: &read}, engine.Args{value.OfDate(2), value.OfDate(2)}, engine.Target{})
		if !errors.As(err, &bad) || bad.Param != want {
			t.Errorf("%v, expected a bad argument %s", err, want)
		}
	}
}

// TestValidParts checks which parts of states are kept: the same one for readers that come together, a bounded number for each caller's rights, and none
// that was not used for long.
func TestValidParts(t *testing.T) {
	clock := clocktest.New(clocktest.Start)
	g, q := openStays(t, Options{Now: clock.Now})
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			if n := stayed(t, g, q, 3, 1, engine.Target{}); n != 1 {
				t.Errorf("%d stays on one day", n)
			}
		})
	}
	readers.Wait()
	if n := len(g.valid.kept); n != 1 {
		t.Errorf("readers of one day made %d parts that are kept", n)
	}
	for n := range 20 {
		stayed(t, g, q, n, 1, engine.Target{Rights: &engine.Rights{Digest: "other"}})
	}
	if g.valid.kept[0].rights != "" || len(g.valid.kept) != 1+maxValidRights {
		t.Errorf("%d parts are kept, of which the first is of the rights %q", len(g.valid.kept), g.valid.kept[0].rights)
	}
	for n := range maxValidParts + 5 {
		stayed(t, g, q, 3, 2, engine.Target{Rights: &engine.Rights{Digest: strings.Repeat("x", n+1)}})
	}
	if len(g.valid.kept) != maxValidParts || len(g.valid.making) > maxValidParts {
		t.Errorf("%d parts are kept, with %d locks", len(g.valid.kept), len(g.valid.making))
	}
	clock.Pass(maxValidIdle + time.Second)
	if n := stayed(t, g, q, 3, 2, engine.Target{}); n != 2 || len(g.valid.kept) != 1 || len(g.valid.making) != 1 {
		t.Errorf("%d stays on two days; %d parts are kept, with %d locks", n, len(g.valid.kept), len(g.valid.making))
	}
}
