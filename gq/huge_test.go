package gq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// TestHuge compiles 100,000 valid queries, and 100,000 queries with one error each. The errors are
// listed up to a limit, and the list says that errors are missing.
func TestHuge(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("100,000 queries")
	}
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: check.ExampleSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	const n = 100_000
	text := func(typ string) gq.Source {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "query q%d() { match { $p: %s } return { $p.name } }\n", i, typ)
		}
		return gq.Source{Name: "x.gq", Text: b.String()}
	}
	if qs, faults := gq.CompileQueries(s, text("Person")); len(qs) != n || faults != nil {
		t.Errorf("%d queries, %.200v", len(qs), faults)
	}
	qs, faults := gq.CompileQueries(s, text("Persn"))
	if len(qs) != 0 || len(faults) != diag.Most+1 {
		t.Fatalf("%d queries, %d faults", len(qs), len(faults))
	}
	for i, d := range faults {
		if d.Span.Start.Line != i+1 || d.Code != check.UnknownNode || (d.Severity == diag.Error) != (i < diag.Most) {
			t.Fatalf("fault %d: %v", i, diag.List{d})
		}
	}
}

// TestLongNames checks that comparing a very long name with others takes no noticeable time.
func TestLongNames(t *testing.T) {
	long := "N" + strings.Repeat("a", 300_000)
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: "node " + long + " { x: String }"})
	if faults != nil {
		t.Fatalf("%.200v", faults)
	}
	_, faults = gq.CompileQueries(s, gq.Source{Name: "x.gq", Text: "query q() { match { $p: " + long[:len(long)-1] + "b } return { $p } }"})
	if len(faults) != 1 || faults[0].Code != check.UnknownNode || faults[0].Help != "" {
		t.Errorf("%.200v", faults)
	}
}

// TestOrder checks that the diagnostics and queries are in source order, however many goroutines
// check them.
func TestOrder(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		typ := "Person"
		if i%3 == 0 {
			typ = "Persn"
		}
		fmt.Fprintf(&b, "query q%d() { match { $p: %s } return { $p.name } }\n", i, typ)
	}
	src := gq.Source{Name: "x.gq", Text: b.String()}
	first, faults := gq.CompileQueries(graph(t), src)
	for range 5 {
		again, faultsAgain := gq.CompileQueries(graph(t), src)
		if faults.Error() != faultsAgain.Error() || len(first) != len(again) {
			t.Fatalf("%d and %d queries\n%.300v\n%.300v", len(first), len(again), faults, faultsAgain)
		}
		for i := range first {
			if first[i].Plan.Name != again[i].Plan.Name || i > 0 && first[i].Span.Start.Offset < first[i-1].Span.Start.Offset {
				t.Fatalf("query %d is %s and %s", i, first[i].Plan.Name, again[i].Plan.Name)
			}
		}
	}
	if len(first) != 333 || len(faults) != 167 {
		t.Errorf("%d queries, %d faults", len(first), len(faults))
	}
}
