package contention

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Source is the text of the schema that the graph of a run must have.
//
//go:embed schema.pg
var Source string

//go:embed queries.gq
var queries string

// Schema is the compiled [Source].
func Schema() *catalog.Schema { return compiled().schema }

// plans holds the compiled schema and queries.
type plans struct {
	schema                        *catalog.Schema // see [Source]
	counter, raise, sums, entries *plan.Query     // see the queries of the same names in queries.gq
}

// compiled compiles the embedded texts. It panics if one has a fault, because they are constants.
var compiled = sync.OnceValue(func() *plans {
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: Source})
	if err := faults.Err(); err != nil {
		panic(err)
	}
	all, faults := gq.CompileQueries(schema, gq.Source{Name: "queries.gq", Text: queries})
	if err := faults.Err(); err != nil {
		panic(err)
	}
	byName := map[string]*plan.Query{}
	for _, q := range all {
		byName[q.Plan.Name] = q.Plan
	}
	return &plans{schema: schema, counter: byName["counter"], raise: byName["raise"], sums: byName["sums"], entries: byName["entries"]}
})

// counterName returns the key of counter i.
func counterName(i int) string { return fmt.Sprintf("c%03d", i) }

// fill inserts the counters, with value zero, and their mirrors.
func fill(ctx context.Context, g engine.Graph, counters int) error {
	var lines strings.Builder
	for i := range counters {
		name := counterName(i)
		fmt.Fprintf(&lines, `{"type":"Counter","data":{"name":%q,"value":0}}`+"\n", name)
		fmt.Fprintf(&lines, `{"type":"Mirror","data":{"name":%q,"value":0}}`+"\n", name)
		fmt.Fprintf(&lines, `{"edge":"Reflects","from":%q,"to":%q,"data":{"id":%q}}`+"\n", name, name, name)
	}
	_, err := g.Load(ctx, strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Append})
	return err
}

// row returns the numbers in a result of one row, or nil if the result has no rows.
func row(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) (numbers []int64, commit string, err error) {
	res, err := g.Query(ctx, q, args, at)
	if err != nil {
		return nil, "", err
	}
	defer res.Close()
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return numbers, res.Commit(), err
		}
		if numbers != nil || batch.Len != 1 {
			return nil, "", fmt.Errorf("query %s returned more than one row, want at most one", q.Name)
		}
		for i := range batch.Columns {
			switch c := &batch.Columns[i]; {
			case c.Ints != nil:
				numbers = append(numbers, c.Ints[0])
			default: // a sum; it is exact below 2⁵³
				numbers = append(numbers, int64(c.Floats[0]))
			}
		}
	}
}
