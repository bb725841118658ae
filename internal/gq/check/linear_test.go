package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// maxRatio bounds the growth of the number of steps when the input doubles.
const maxRatio = 2.1

// numbered concatenates n copies of a text. In each copy # stands for its number and ^ for the
// next number.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(i), "^", fmt.Sprint(i+1)).Replace(text))
	}
	return b.String()
}

func backwards(n int, text string) string {
	var b strings.Builder
	for i := n - 1; i >= 0; i-- {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(i), "^", fmt.Sprint(i+1)).Replace(text))
	}
	return b.String()
}

func match(clauses, ret string) string {
	return "query q($q: I32?) { match { " + clauses + " } return { " + ret + " } }"
}

// TestLinear checks that the number of steps grows no faster than linearly with the input.
func TestLinear(t *testing.T) {
	s := ParseSchema(t, ExampleSchema)
	tests := []struct {
		name  string
		text  func(n int) string
		valid bool
	}{
		{"bindings", func(n int) string { return match(numbered(n, "$p#: Person { age: #, mood: \"good\" } "), "$p0") }, true},
		{"traversals, the first known", func(n int) string { return match("$p0: Person "+numbered(n, "$p# knows $p^ $p# worksAt $c# "), "$p0") }, true},
		{"traversals, the last known", func(n int) string {
			return match("$p0: Person "+backwards(n, "$p^ worksAt $c# $p# worksAt $c# "), "$p0")
		}, true},
		{"traversals, none known", func(n int) string { return match(numbered(n, "$p# worksAt $c# $p^ worksAt $c# "), "$p0") }, true},
		{"traversals from one", func(n int) string { return match(numbered(n, "$p worksAt $c# $c# worksAt $p "), "$p") }, true},
		{"edge bindings", func(n int) string {
			return match(numbered(n, "$p $w#:knows $q $w#.since = date(\"2024-01-01\") "), "$p")
		}, true},
		{"filters", func(n int) string { return match("$p: Person "+numbered(n, "$p.age > # $p.age = $q? "), "$p") }, true},
		{"blocks", func(n int) string {
			return match("$p: Person "+numbered(n, "not { $p knows $q not { $q knows $p } } "), "$p")
		}, true},
		{"columns", func(n int) string {
			return strings.TrimSuffix(match("$p: Person", numbered(n, "$p.age as a#, ")), "}") + " order { " + numbered(n, "a#, ") + "a0 } }"
		}, true},
		{"grouped columns", func(n int) string {
			return strings.TrimSuffix(match("$p: Person", "count($p) "+numbered(n, "$p.age as a#, ")), "}") + " order { " + numbered(n, "$p.age, ") + "a0 } }"
		}, true},
		{"parameters", func(n int) string {
			return "query q(" + numbered(n, "$p#: I32, ") + "$p: I32) { match { " + numbered(n, "$x: Person { age: $p# } ") + "} return { $x } }"
		}, true},
		{"statements", func(n int) string {
			return "query q() { " + numbered(n, "insert Person { name: \"#\" age: 3 } update Person set { age: # } where name = \"x\" ") + "}"
		}, true},
		{"a list", func(n int) string {
			return "query q() { insert Person { name: \"x\" tags: [" + numbered(n, "\"#\", ") + "\"x\"] } }"
		}, true},
		{"unknown properties", func(n int) string { return match("$p: Person "+numbered(n, "$p.nam# = 1 "), "$p") }, false},
		{"unknown types", func(n int) string { return match(numbered(n, "$p#: Persn "), "$p0") }, false},
		{"unknown edges", func(n int) string { return match("$p: Person "+numbered(n, "$p know# $q# "), "$p") }, false},
		{"unbound variables", func(n int) string { return match(numbered(n, "$p#: Person $x#.age = 1 "), "$p0") }, false},
		{"unknown columns", func(n int) string {
			return strings.TrimSuffix(match("$p: Person", numbered(n, "$p.age as a#, ")), "}") + " order { " + numbered(n, "b#, ") + "a0 } }"
		}, false},
		{"undeclared parameters", func(n int) string {
			return "query q(" + numbered(n, "$p#: I32, ") + "$p: I32) { match { " + numbered(n, "$x: Person { age: $q# } ") + "} return { $x } }"
		}, false},
		{"duplicates", func(n int) string {
			return "query q(" + numbered(n, "$p: I32, ") + "$p: I32) { insert Person { " + numbered(n, "name: \"x\" ") + "} }"
		}, false},
	}
	const n = 1100
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var count [2]int
			for i := range count {
				file, faults := syntax.ParseQueries("x.gq", test.text(n<<i))
				if faults != nil {
					t.Fatalf("%.300v", faults)
				}
				c := newChecker(s, file.Queries[0])
				_, faults = c.query(file.Queries[0])
				if (faults == nil) != test.valid || len(faults) > diag.Most+1 {
					t.Fatalf("%d faults: %.300v", len(faults), faults)
				}
				count[i] = c.steps
			}
			if ratio := float64(count[1]) / float64(count[0]); ratio > maxRatio || count[0] < n {
				t.Errorf("%d steps, and %d for a text of twice the length: %.2f times as many", count[0], count[1], ratio)
			}
		})
	}
}
