package gq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// thousand returns a file of 1,000 queries of ordinary size.
func thousand() gq.Source {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `
// Who knows whom at a company.
query colleagues_%d($name: String @description("Whose colleagues."), $min: I32?, $since: Date?)
  @description("The colleagues of a person, the oldest first.") {
  match {
    $p: Person { name: $name, mood: "good" }
    $p worksAt $c
    $q worksAt $c
    $p $w:knows $q
    $q.age >= $min?
    $w.since > $since?
    not { $q knows{1,3} $p }
  }
  return { $q.name as name, $q.age, $c.name as company, $w.since }
  order { $q.age desc, name }
  limit 50
}
`, i)
	}
	return gq.Source{Name: "thousand.gq", Text: b.String()}
}

// hundred returns a schema of about 100 types, including the ones that the queries use.
func hundred() gq.Source {
	var b strings.Builder
	b.WriteString(check.ExampleSchema)
	for i := range 48 {
		fmt.Fprintf(&b, "node Thing%d { code: String @key label: String? amount: F64? made: Date? @index(made) }\n", i)
		fmt.Fprintf(&b, "edge Leads%d: Thing%d -> Thing%d @card(0..9) { weight: F64? }\n", i, i, i/2)
	}
	return gq.Source{Name: "hundred.pg", Text: b.String()}
}

func BenchmarkCompile1000(b *testing.B) {
	s, faults := gq.CompileSchema(hundred())
	if faults != nil {
		b.Fatal(faults)
	}
	if n := len(s.Nodes) + len(s.Edges); n != 100 {
		b.Fatalf("%d types", n)
	}
	src := thousand()
	b.ReportAllocs()
	for b.Loop() {
		if qs, faults := gq.CompileQueries(s, src); len(qs) != 1000 {
			b.Fatal(faults)
		}
	}
}

func BenchmarkParse1000(b *testing.B) {
	src := thousand()
	b.ReportAllocs()
	for b.Loop() {
		if f, faults := syntax.ParseQueries(src.Name, src.Text); len(f.Queries) != 1000 {
			b.Fatal(faults)
		}
	}
}
