package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// maxRatio bounds the growth of the number of steps when the input doubles.
const maxRatio = 2.1

// numbered concatenates n copies of a text. In each copy # stands for its number.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// growing is a text of adjustable length.
type growing struct {
	name  string
	text  func(n int) string
	valid bool
}

var growingQueries = []growing{
	{"queries", func(n int) string { return numbered(n, "query q#($x: I32) { match { $p: P } return { $p } }\n") }, true},
	{"clauses", func(n int) string {
		return "query q() { match { " + numbered(n, "$p#: P { x: #, y: [1], } $p# knows{1,2} $q not { $q.x = 1 } ") + "} return { $q } }"
	}, true},
	{"blocks", func(n int) string {
		return "query q() { match { " + numbered(n, strings.Repeat("not { ", 100)+"$a b $c"+strings.Repeat(" }", 100)) + " } return { $q } }"
	}, true},
	{"inline conditions", func(n int) string {
		return "query q() { match { $p: P { " + numbered(n, "x#: 1, ") + "} } return { $p } }"
	}, true},
	{"projections", func(n int) string {
		return "query q() { match { $p: P } return { " + numbered(n, "$p.x as x#, count($p.y) ") + "} order { " + numbered(n, "x#, ") + "x } }"
	}, true},
	{"parameters", func(n int) string {
		return "query q(" + numbered(n, `$p#: Vector(3)? @description("d"), `) + "$q: I32) { match { $p: P } return { $p } }"
	}, true},
	{"annotations", func(n int) string {
		return "query q() " + numbered(n, `@description("d") @mcp(expose: true, title = "t",) `) + "{ match { $p: P } return { $p } }"
	}, true},
	{"statements", func(n int) string {
		return "query q() { " + numbered(n, "insert P { x: # y: $a, } update P set { x: 1 } where y = 2 ") + "}"
	}, true},
	{"assignments", func(n int) string { return "query q() { insert P { " + numbered(n, "x#: now() ") + "} }" }, true},
	{"a list", func(n int) string {
		return "query q() { match { $p.x = [" + numbered(n, "#, ") + "1] } return { $p } }"
	}, true},
	{"arguments", func(n int) string {
		return "query q() { match { $p.x = rrf(" + numbered(n, "$p.x#, ") + "1) } return { $p } }"
	}, true},
	{"comments", func(n int) string {
		return numbered(n, "// é #\n/* # */") + "query q() { match { $p: P } return { $p } }"
	}, true},
	{"a long string", func(n int) string {
		return "query q() { match { $p.x = \"" + strings.Repeat("é\\n\n", n) + "\" } return { $p } }"
	}, true},
	{"broken queries", func(n int) string { return numbered(n, "query q#() { match { $p P } return { $p } }\n") }, false},
	{"misspelt keywords", func(n int) string { return numbered(n, "query q() { match { $p: P } return { $p } } quer #\n") }, false},
	{"no queries", func(n int) string { return numbered(n, "quer q#() ") }, false},
	{"unknown functions", func(n int) string {
		return "query q() { match { " + numbered(n, "$p.x = f#(1) ") + "} return { $p } }"
	}, false},
	{"unknown scalars", func(n int) string {
		return "query q(" + numbered(n, "$p#: [Strin], ") + "$q: I32) { match { $p: P } return { $p } }"
	}, false},
	{"characters", func(n int) string { return strings.Repeat("é;", n) }, false},
	{"characters between queries", func(n int) string {
		return numbered(n, "query q#() { match { $p: P; } return { $p } } ;;\n")
	}, false},
	{"texts in single quotes", func(n int) string {
		return "query q() { match { $p: P { " + strings.Repeat("x: 'y', ", n) + "} } return { $p } }"
	}, false},
	{"opening quotes", func(n int) string { return strings.Repeat("“ ", n) }, false},
	{"mixed quotes", func(n int) string { return strings.Repeat("“‘` ", n) }, false},
	{"comments after #", func(n int) string { return numbered(n, "# it's #\n") }, false},
	{"a fault at the end", func(n int) string {
		return "query q() { match { " + numbered(n, "$p#: P not { $p# knows{1,2} $q } ") + "$p.x == 1 } return { $q } }"
	}, false},
	{"names for values", func(n int) string {
		return "query q() { match { " + numbered(n, "$p#: P { x: null } ") + "} return { $p } }"
	}, false},
	{"escapes", func(n int) string { return "query q() { match { $p.x = \"" + strings.Repeat(`\é`, n) + "\" } }" }, false},
	{"escapes in an open string", func(n int) string { return `query q() { match { $p.x = "` + strings.Repeat(`\q`, n) }, false},
	{"open brackets", func(n int) string { return "query q() { match { " + strings.Repeat("not { [ ( ", n) }, false},
	{"closing brackets", func(n int) string { return "query q() { match { $p: P } return { $p } }" + strings.Repeat(" }", n) }, false},
	{"open queries", func(n int) string { return numbered(n, "query q#() { match {\n") }, false},
	{"the word query", func(n int) string { return strings.Repeat("query ", n) }, false},
	{"a variable", func(n int) string {
		return "query q() { match { $" + strings.Repeat("X", n) + ": P } return { $p } }"
	}, false},
	{"an open comment", func(n int) string {
		return "query q() { match { $p: P } return { $p } } /*" + strings.Repeat("/*", n)
	}, false},
	{"invalid UTF-8 at the end", func(n int) string {
		return numbered(n, "query q#() { match { $p: P } return { $p } }\n") + "\xff"
	}, false},
	{"a NUL at the end", func(n int) string { return strings.Repeat("é\n", n) + "\x00" }, false},
}

var growingSchemas = []growing{
	{"types", func(n int) string {
		return numbered(n, "interface I# { x: String } node N# implements I# { y: I32? @index } edge E#: N# -> N# @card(0..1) { z: Date }\n")
	}, true},
	{"members", func(n int) string {
		return "node N { " + numbered(n, `x#: enum(a, b-c) @embed("y", model="z") @range(x#, 0..1) @unique(x#, x) @check(x#, "y") `) + "}"
	}, true},
	{"names", func(n int) string { return "node N { @unique(" + numbered(n, "x#, ") + "x) }" }, true},
	{"enum values", func(n int) string { return "node N { x: enum(" + numbered(n, "a-#, ") + "b) }" }, true},
	{"an enum value", func(n int) string { return "node N { x: enum(" + strings.Repeat("a-", n) + ") }" }, true},
	{"interfaces", func(n int) string { return "node N implements " + numbered(n, "I#, ") + "I { x: String }" }, true},
	{"annotations", func(n int) string { return "node N " + numbered(n, `@a#(b, 1, c="d") `) + "{ x: String }" }, true},
	{"broken types", func(n int) string { return numbered(n, "node N# { x String }\nedge E# N -> N\n") }, false},
	{"characters", func(n int) string { return "node N { " + strings.Repeat("x: String; ", n) + "}" }, false},
	{"open types", func(n int) string { return numbered(n, "node N# {\n") }, false},
}

func TestLinear(t *testing.T) {
	const n = 1200 // more than the number of errors that are listed
	tests := []struct {
		kind  string
		texts []growing
		parse func(m *work.Meter, text string) diag.List
	}{
		{"queries", growingQueries, parseQueriesFaults},
		{"schema", growingSchemas, func(m *work.Meter, text string) diag.List {
			_, faults := ParseSchemaWithin(m, "x", text)
			return faults
		}},
	}
	for _, test := range tests {
		for _, g := range test.texts {
			t.Run(test.kind+"/"+g.name, func(t *testing.T) {
				n := n
				switch g.name {
				case "blocks":
					n = 40
				case "arguments":
					n = 2400 // makes both texts longer than `unmetered`
				}
				var count [2]int
				for i := range count {
					text := g.text(n << i)
					var faults diag.List
					count[i], faults = steps(func(m *work.Meter) diag.List { return test.parse(m, text) })
					if (faults == nil) != g.valid || len(faults) > diag.Most+1 {
						t.Fatalf("%d faults: %.300v", len(faults), faults)
					}
					for j, f := range faults {
						if j > 0 && f.Span.Start.Offset < faults[j-1].Span.Start.Offset {
							t.Fatalf("fault %d is placed before the fault that precedes it in the list", j)
						}
					}
				}
				if most := int(maxRatio*float64(count[0])) + 2*interval; count[1] > most || count[0] == 0 {
					t.Errorf("%d steps, and %d for a text of twice the length, expected at most %d", count[0], count[1], most)
				}
			})
		}
	}
}

func parseQueriesFaults(m *work.Meter, text string) diag.List {
	_, faults := ParseQueriesWithin(m, "x", text)
	return faults
}

// TestSteps checks that steps counts the visits of the grammar library and the steps of the meter.
func TestSteps(t *testing.T) {
	count := func(text string) int {
		n, _ := steps(func(m *work.Meter) diag.List { return parseQueriesFaults(m, text) })
		return n
	}
	short := count("query q() { match { $p: P } return { $p } }")
	long := count("query q() { match { $p: P { x: 1 } } return { $p } }")
	if short < 60 || long <= short+len(" { x: 1 }") {
		t.Errorf("%d and %d steps", short, long)
	}
	if n := count(strings.Repeat("“ ", 10_000)); n < 10_000 {
		t.Errorf("%d steps for 10,000 characters that form no token", n)
	}
}

// TestHuge parses texts of 10 MB, valid and broken, and 100,000 queries.
func TestHuge(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("tens of megabytes")
	}
	const size = 10 << 20
	one := "query q#($x: I32) { match { $p: P { x: $x } } return { $p } }\n"
	tests := []struct {
		name, text string
		queries    int
		code       diag.Code // of the first error; "" for none
	}{
		{"a comment", "/*" + strings.Repeat("é ", size/3) + "*/" + numbered(1, one), 1, ""},
		{"a string", "query q() { match { $p.x = \"" + strings.Repeat("x\n", size/2) + "\" } return { $p } }", 1, ""},
		{"a list", "query q() { match { $p.x = [" + strings.Repeat("1, ", size/16) + "1] } return { $p } }", 1, ""},
		{"projections", "query q() { match { $p: P } return { " + strings.Repeat("$p ", 1_100_000) + "} }", 1, ""},
		{"100,000 queries", numbered(100_000, one), 100_000, ""},
		{"100,000 broken queries", numbered(100_000, strings.Replace(one, "match", "mach", 1)), 0, Unexpected},
		{"characters", strings.Repeat(";", size), 0, BadCharacter},
		{"an open string", numbered(1, one) + `query r() { match { $p.x = "` + strings.Repeat("x", size), 1, OpenString},
		{"escapes", `"` + strings.Repeat(`\q`, size/2), 0, BadEscape},
		{"a name", strings.Repeat("q", size), 0, Unexpected},
		{"closing brackets", strings.Repeat("}", size/8), 0, Unexpected},
		{"opening brackets", "query q() " + strings.Repeat("[", size/8), 0, TooDeep},
		{"NUL", strings.Repeat(" ", size) + "\x00", 0, NUL},
		{"not UTF-8", strings.Repeat("é", size/2) + "\xff", 0, InvalidUTF8},
		{"half a character", strings.Repeat("é", size/2) + "\xc3", 0, InvalidUTF8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, faults := ParseQueries("x.gq", test.text)
			if len(f.Queries) != test.queries || (faults == nil) != (test.code == "") || len(faults) > diag.Most+1 {
				t.Fatalf("%d queries, %d faults: %.300v", len(f.Queries), len(faults), faults)
			}
			if faults != nil && faults[0].Code != test.code {
				t.Errorf("%.300v", faults)
			}
			for _, d := range faults {
				if len(d.Message) > 300 {
					t.Fatalf("a message of %d bytes: %.300s", len(d.Message), d.Message)
				}
			}
		})
	}
}
