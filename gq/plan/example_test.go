package plan_test

import (
	"fmt"
	"log"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// since compiles a query and returns its plan.
func since() *plan.Query {
	schema, faults := gq.CompileSchema(gq.Source{Name: "books.pg", Text: "node Book {\n  title: String @key\n  year: I32?\n}\n"})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "books.gq", Text: `
query since($year: I32) {
  match {
    $b: Book
    $b.year >= $year
  }
  return { $b.title as title }
  limit 10
}`})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	return queries[0].Plan
}

// Format prints a plan for people. An engine takes the same plan as Go values.
func ExampleFormat() {
	fmt.Println(plan.Format(since()))
	// Output:
	// query since($year: I32)
	//   var $b: node Book
	//   bind $b
	//   filter $b.year >= $year
	//   column "title": String = $b.title
	//   ties $b
	//   limit 10
	//   reads node Book
	//   reads node Book.year: I32?
	//   reads node Book.title: String
}

// A plan can be kept as a string and run again without the parser; generated packages do this.
func ExampleDecode() {
	stored := plan.Encode(since())
	q, err := plan.Decode(stored)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(q.Name, q.Params[0].Name, q.Params[0].Type, q.Read.Columns[0].Name)
	// Output: since year I32 title
}
