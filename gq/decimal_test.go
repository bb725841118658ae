package gq_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestDecimals checks what the types of Decimals allow in a query.
func TestDecimals(t *testing.T) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node Sale { price: Decimal(10, 2)  fine: Decimal(10, 3)  rate: F64  count: I64  steps: [Decimal(4, 1)] }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ body, want string }{
		{"return { $s.price + $s.fine as x }", "Decimal(38, 3)"},
		{"return { $s.price * $s.fine as x }", "Decimal(38, 5)"},
		{"return { $s.price * $s.count as x }", "Decimal(38, 2)"},
		{"return { $s.price * 1.125 as x }", "Decimal(38, 5)"},
		{"return { $s.price / $s.rate as x }", "F64?"},
		{"return { sum($s.fine) as x }", "Decimal(38, 3)?"},
		{"return { avg($s.price) as x }", "F64?"},
		{"return { max($s.price) as x }", "Decimal(10, 2)?"},
		{"return { collect($s.price) as x }", "[Decimal(10, 2)]"},
		{"return { float($s.price) as x }", "F64"},
		{"$s.price = 1.5 return { $s.price as x }", "Decimal(10, 2)"},
		{"$s.price = $p return { $s.price as x }", "Decimal(10, 2)"},
		{"$s.price = 1.555 return { $s.price as x }", "more than 2 digits after the point"},
		{"$s.price = $s.rate return { $s.price as x }", "cannot compare"},
		{"$s.price = $s.count return { $s.price as x }", "cannot compare"},
		{"$s.price = $s.fine return { $s.price as x }", "cannot compare"},
		{"$s.price in $s.steps return { $s.price as x }", "cannot test whether"},
		{"$s.price = \"1.5\" return { $s.price as x }", "cannot compare"},
		{"return { $s.price + $s.rate as x }", "cannot combine"},
		{"return { $s.price % 2 as x }", "cannot combine"},
		{"return { median($s.price) as x }", "F64?"},
	} {
		text := "query q($p: Decimal(4, 2)) { match { $s: Sale  " + strings.Replace(tt.body, "return", "} return", 1) + " }"
		queries, faults := gq.CompileQueries(schema, gq.Source{Name: "q.gq", Text: text})
		err := faults.Err()
		switch {
		case err != nil && !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %s", tt.body, err, tt.want)
		case err == nil && queries[0].Plan.Read.Columns[0].Type.String() != tt.want:
			t.Errorf("%s: the type is %s, want %s", tt.body, queries[0].Plan.Read.Columns[0].Type, tt.want)
		}
	}
	for _, typ := range []string{"Decimal", "Decimal(4)", "Decimal(39, 2)", "Decimal(0, 0)", "Decimal(2, 3)", "[Decimal]", "[I32(4, 2)]", "I32(4, 2)", "Vector(3, 2)"} {
		if _, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: "node A { x: " + typ + " }"}); faults.Err() == nil {
			t.Errorf("%s is a type", typ)
		}
	}
	if v, err := value.ParseDecimal("1.5", schema.Nodes[0].Properties[0].Type); err != nil || value.Text(v) != "1.50" {
		t.Errorf("1.5 as a price is %v, %v", v, err)
	}
}
