package syntax

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// BenchmarkParse parses texts of 1 MiB, the largest that a server accepts, as a server does: on
// one goroutine and within a context. It also parses 1,000 queries as gq generate does.
func BenchmarkParse(b *testing.B) {
	const size = 1 << 20
	text := func(item string, before, after string) string {
		return before + strings.Repeat(item, (size-len(before)-len(after))/len(item)) + after
	}
	match := func(item string) string { return text(item, "query q() { match { $p: P ", "} return { $p } }") }
	ordinary := `query colleagues($name: String @description("Whose colleagues."), $min: I32?)
  @description("The colleagues of a person, the oldest first.") {
  match {
    $p: Person { name: $name, mood: "good" }
    $p worksAt $c
    $p $w:knows $q
    $q.age >= $min?
    not { $q knows{1,3} $p }
  }
  return { $q.name as name, $q.age, $w.since }
  order { $q.age desc, name }
  limit 50
}
`
	tests := []struct{ name, text string }{
		{"queries", text(ordinary, "", "")},
		{"bindings", match("$p:P{x:1} ")},
		{"traversals", match("$p a $q ")},
		{"filters", match("$p.x=1 ")},
		{"blocks", match(strings.Repeat("not{$p a $q ", 200) + strings.Repeat("} ", 200))},
		{"columns", text("$p.x ", "query q() { match { $p: P } return { ", "} }")},
		{"list", text("1,", "query q() { match { $p.x = [", "1] } return { $p } }")},
		{"parameters", text("$p:I32,", "query q(", "$p:I32) { match { $p: P } return { $p } }")},
		{"assignments", text(`x:1 `, "query q() { insert P { ", "} }")},
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(test.text)))
			for b.Loop() {
				if _, faults := ParseQueriesWithin(work.New(b.Context(), work.Limits{}), "x", test.text); faults != nil {
					b.Fatalf("%.300v", faults)
				}
			}
		})
	}
	thousand := strings.Repeat(ordinary, 1000)
	b.Run("1000 queries", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if f, faults := ParseQueries("x", thousand); faults != nil || len(f.Queries) != 1000 {
				b.Fatalf("%.300v", faults)
			}
		}
	})
}
