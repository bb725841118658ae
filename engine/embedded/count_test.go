package embedded_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
)

const townSchema = "node Person { n: I64 @key }\nedge Knows: Person -> Person"

// TestCountPatterns counts patterns in a graph in which each of 60 persons knows all others. The operators show that the
// matches are not enumerated. A count fails if the weights of the nodes need more memory than a query may use, and if it
// exceeds the numbers.
func TestCountPatterns(t *testing.T) {
	const persons = 60
	schema, faults := gq.CompileSchema(gq.Source{Name: "town.pg", Text: townSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range persons {
		fmt.Fprintf(&lines, "{\"type\":\"Person\",\"data\":{\"n\":%d}}\n", i)
	}
	for i := range persons {
		for k := range persons {
			if i != k {
				fmt.Fprintf(&lines, "{\"edge\":\"Knows\",\"from\":\"%d\",\"to\":\"%d\"}\n", i, k)
			}
		}
	}
	chain := func(hops int) string {
		var b strings.Builder
		for i := range hops {
			fmt.Fprintf(&b, "$p%d knows $p%d ", i, i+1)
		}
		return b.String()
	}
	const optionals = "$p3 knows $p0 $p3.n = 7 optional { $p0 knows $p1 } "
	tests := []struct {
		name, match string
		memory      int64
		want        int64  // the count
		operator    string // an operator of the plan
		resource    string // of the error; "" for none
	}{
		{"a chain", chain(5), 0, 60 * 59 * 59 * 59 * 59 * 59, "multiply", ""},
		{"different ends", chain(2) + "$p0 != $p2", 0, 60 * 59 * 58, "terms", ""},
		{"open triangles", chain(2) + "$p0 != $p2 not { $p0 knows $p2 }", 0, 0, "", ""},
		{"triangles", chain(2) + "$p2 knows $p0", 0, 60 * 59 * 58, "multiply", ""},
		{"two optional parts", optionals + "optional { $p0 knows $p2 }", 0, 59 * 59 * 59, "multiply", ""},
		// The first part is no factor, because a later clause uses its variable.
		{"a condition on two optional parts", optionals + "optional { $p0 knows $p2 } $p1.n >= $p2.n", 0, 59 * 59 * 60 / 2, "", ""},
		{"a condition in an optional part on an earlier one", optionals + "optional { $p0 knows $p2 $p1.n >= $p2.n }", 0, 59 * 59 * 60 / 2, "", ""},
		{"a block behind two optional parts", optionals + "optional { $p0 knows $p2 } not { $p1 knows $p2 }", 0, 59 * 59, "", ""},
		{"a block in an optional part on an earlier one", optionals + "optional { $p0 knows $p2 not { $p1 knows $p2 } }", 0, 59 * 59, "", ""},
		{"too little memory", chain(5), 1000, 0, "", "bytes of memory for one query"},
		{"too many matches", chain(12), 0, 0, "", "rows that one query counts"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, err := embedded.OpenMemory(t.Context(), townSchema, schema, embedded.Options{QueryMemory: test.memory})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if _, err := g.Load(t.Context(), strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
				t.Fatal(err)
			}
			queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: "query q() { match { " + test.match + " } return { count($p0) as n } }"})
			if err := faults.Err(); err != nil {
				t.Fatal(err)
			}
			q := queries[0].Plan
			res, err := g.Query(t.Context(), q, nil, engine.Target{})
			if test.resource != "" {
				var large *engine.TooLarge
				if !errors.As(err, &large) || large.Resource != test.resource {
					t.Fatalf("error %v, want a limit of %s", err, test.resource)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			batch, err := res.Next(t.Context())
			if err != nil || batch == nil || batch.Len != 1 || batch.Columns[0].Ints[0] != test.want {
				t.Fatalf("the count is %+v, %v, want %d", batch, err, test.want)
			}
			e, err := g.Explain(t.Context(), q, nil, engine.Target{}, true)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fmt.Sprint(e), test.operator) {
				t.Errorf("no operator is %s: %v", test.operator, e)
			}
		})
	}
}
