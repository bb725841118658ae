package foreign_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
)

// rows runs the offers, and returns their rows and the least number of columns.
func (x *text) rows(t *testing.T, graph engine.Graph) (all [][]string, columns int) {
	columns = 1 << 10
	for _, q := range x.offers {
		params := map[string]any{}
		for _, p := range q.Plan.Params {
			params[p.Name] = x.Params[p.Name]
		}
		raw, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		args, err := arguments.Decode(raw, q.Plan.Params)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		target := engine.Target{}
		if x.after != nil {
			target.Branch = strings.ReplaceAll(x.Name, "/", "-")
			if _, err := graph.CreateBranch(t.Context(), target.Branch, engine.Target{}); err != nil {
				t.Fatal(err)
			}
			_, err := graph.Mutate(t.Context(), q.Plan, args, engine.WriteOptions{Branch: target.Branch})
			if exists := new(engine.KeyConflict); errors.As(err, &exists) {
				return [][]string{{"the key exists"}}, 1 // as run.py says it
			} else if err != nil {
				t.Errorf("%s: %s: %v", x.Name, x.offer, err)
			}
			q, args = x.after, nil
		}
		columns = min(columns, len(q.Plan.Read.Columns))
		more, err := read(t.Context(), graph, q.Plan, args, target)
		if err != nil {
			t.Errorf("%s: %s: %v", x.Name, x.offer, err)
		}
		all = append(all, more...)
	}
	return all, columns
}

// read runs a query, and returns its rows.
func read(ctx context.Context, graph engine.Graph, q *plan.Query, args engine.Args, target engine.Target) (rows [][]string, err error) {
	res, err := graph.Query(ctx, q, args, target)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, res.Close()) }()
	for {
		b, err := res.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		for i := range b.Len {
			var r []string
			for k, c := range q.Read.Columns {
				_, whole := c.Expr.(plan.Whole)
				r = append(r, cell(&b.Columns[k], c.Type, c.Fields, i, whole))
			}
			rows = append(rows, r)
		}
	}
}

// cell writes a value as run.py does. A record with one field is its value.
func cell(c *engine.Column, typ value.Type, fields []plan.Field, i int, whole bool) string {
	switch {
	case fields == nil:
		return scalar(c.Value(i))
	case typ.List:
		var out []string
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			out = append(out, record(c, fields, int(k), whole))
		}
		slices.Sort(out)
		return "[" + strings.Join(out, ", ") + "]"
	case c.IsNull(i):
		return "null"
	}
	return record(c, fields, i, whole)
}

func record(c *engine.Column, fields []plan.Field, i int, whole bool) string {
	var out []string
	for f, field := range fields {
		if whole && field.Name == "id" && f == 0 {
			continue
		}
		v := cell(&c.Fields[f], field.Type, field.Fields, i, false)
		if len(fields) == 1 {
			return v
		}
		if v != "null" {
			out = append(out, field.Name+": "+v)
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ", ") + "}"
}

func scalar(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		var out []string
		for _, e := range v.Elems() {
			out = append(out, scalar(e))
		}
		slices.Sort(out)
		return "[" + strings.Join(out, ", ") + "]"
	case v.Kind() == value.String:
		return "'" + v.Str() + "'"
	case v.Kind() == value.Bool:
		return map[bool]string{true: "1", false: "0"}[v.Bool()]
	case v.Kind() == value.Date:
		return value.DateValue(v.Int()).String()
	case v.Kind() == value.DateTime:
		s := value.DateTimeValue(v.Int()).Time().UTC().Format("2006-01-02T15:04:05")
		return strings.TrimSuffix(s, "T00:00:00")
	case v.Kind().IsFloat():
		return number9(v.Float())
	case v.Kind() == value.U32, v.Kind() == value.U64:
		return number9(float64(v.Uint()))
	}
	return number9(float64(v.Int()))
}

func number9(f float64) string {
	if f == 0 {
		return "0"
	}
	return strings.ReplaceAll(fmt.Sprintf("%.9g", f), "e+0", "e+0")
}
