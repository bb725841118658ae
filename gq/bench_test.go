package gq_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/check"
	"github.com/omnigraph-go/omnigraph/gq/syntax"
)

// thousand is a file of 1,000 queries of ordinary size.
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

func BenchmarkCompile1000(b *testing.B) {
	s, faults := gq.CompileSchema(gq.Source{Name: "ex.pg", Text: check.ExampleSchema})
	if faults != nil {
		b.Fatal(faults)
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
