package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestLinear checks that the number of steps of building a schema grows no faster than linearly
// with its text.
func TestLinear(t *testing.T) {
	numbered := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	fills := func(n int, reads func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "x%d: I32? @backfill(\"%s + 1\") ", i, reads(i))
		}
		return b.String()
	}
	tests := []struct {
		name  string
		text  func(n int) string
		valid bool
	}{
		{"types", func(n int) string {
			return numbered(n, "interface I# { x: String } node N# implements I# { y: I32? @index } edge E#: N# -> N# @card(0..1) { z: Date }\n")
		}, true},
		{"properties", func(n int) string { return "node N { " + numbered(n, "x#: String? @index ") + "}" }, true},
		{"constraints", func(n int) string {
			return "node N { y: I32 " + numbered(n, "x#: I32? @unique(x#, y) @range(x#, 0..) ") + "}"
		}, true},
		{"a key", func(n int) string {
			return "node N { " + numbered(n, "x#: String ") + "@key(" + strings.TrimSuffix(numbered(n, "x#, "), ", ") + ") }"
		}, true},
		{"enum values", func(n int) string { return "node N { x: enum(" + strings.TrimSuffix(numbered(n, "a#, "), ", ") + ") }" }, true},
		{"interfaces", func(n int) string {
			return numbered(n, "interface I# { x#: String }\n") + "node N implements " + strings.TrimSuffix(numbered(n, "I#, "), ", ") + " { x: String }"
		}, true},
		{"embeddings", func(n int) string {
			return "node N { " + numbered(n, "t#: String? v#: Vector(2)? @embed(\"t#\") ") + "}"
		}, true},
		{"backfills that read the next one", func(n int) string {
			return "node N { " + fills(n, func(i int) string { return fmt.Sprintf("x%d", i+1) }) + fmt.Sprintf("x%d: I32? }", n)
		}, true},
		{"backfills that read the one before", func(n int) string {
			return "node N { y: I32? " + fills(n, func(i int) string {
				if i == 0 {
					return "y"
				}
				return fmt.Sprintf("x%d", i-1)
			}) + "}"
		}, true},
		{"a circle of backfills", func(n int) string {
			return "node N { " + fills(n, func(i int) string { return fmt.Sprintf("x%d", (i+1)%n) }) + "}"
		}, false},
		{"unknown endpoints", func(n int) string { return numbered(n, "node N# { x: String } edge E#: N# -> M#\n") }, false},
		{"unknown interfaces", func(n int) string {
			return numbered(n, "interface I# { x: String } node N# implements J# { y: String }\n")
		}, false},
		{"unknown properties", func(n int) string { return "node N { " + numbered(n, "x#: String @index(y#) ") + "}" }, false},
		{"unknown embeddings", func(n int) string { return "node N { " + numbered(n, "v#: Vector(2)? @embed(\"t#\") ") + "}" }, false},
		{"duplicates", func(n int) string { return numbered(n, "node N { x: String x: String }\n") }, false},
		{"duplicate values", func(n int) string { return "node N { x: enum(" + numbered(n, "a, ") + "a) }" }, false},
	}
	const n, maxRatio = 1100, 2.1
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var count [2]int
			for i := range count {
				tree, faults := syntax.ParseSchema("x.pg", test.text(n<<i))
				if faults != nil {
					t.Fatalf("%.300v", faults)
				}
				b := newBuilder(tree)
				b.build(tree)
				if (b.faults == nil) != test.valid || len(b.faults) > diag.Most+1 {
					t.Fatalf("%d faults: %.300v", len(b.faults), b.faults)
				}
				count[i] = b.steps
			}
			if ratio := float64(count[1]) / float64(count[0]); ratio > maxRatio || count[0] < n {
				t.Errorf("%d steps, and %d for a text of twice the length: %.2f times as many", count[0], count[1], ratio)
			}
		})
	}
}
