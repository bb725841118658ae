package gq_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// bookSchema compiles the schema of the examples.
func bookSchema() *catalog.Schema {
	schema, faults := gq.CompileSchema(gq.Source{Name: "books.pg", Text: `
node Book {
  title: String @key
  year: I32?
}`})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	return schema
}

func ExampleCompileQueries() {
	queries, faults := gq.CompileQueries(bookSchema(), gq.Source{Name: "books.gq", Text: `
query since($year: I32)
  @description("List the books since a year.")
{
  match {
    $b: Book
    $b.year >= $year
  }
  return { $b.title as title }
}`})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	for _, q := range queries {
		fmt.Println(q.Plan.Name, "at", q.Span)
		fmt.Println(q.Description)
		fmt.Println(q.Plan.Params[0].Name, q.Plan.Params[0].Type)
	}
	// Output:
	// since at books.gq:2:1
	// List the books since a year.
	// year I32
}

// Each fault has a code, a place and, where the compiler knows one, advice.
func ExampleFaults() {
	_, faults := gq.CompileQueries(bookSchema(), gq.Source{Name: "books.gq", Text: `query all() {
  match { $b: Book }
  return { $b.titel }
}`})
	for _, f := range faults {
		fmt.Println(f.Span, f.Severity, f.Code)
		fmt.Println(f.Message)
		fmt.Println(f.Help)
	}
	// Output:
	// books.gq:3:15 error T6
	// Book has no property titel
	// did you mean title?
}

// A program that compiles the texts of strangers sets limits and a context.
func ExampleCompileQueriesWithin() {
	limits := gq.Limits{Tokens: 10}
	_, _, err := gq.CompileQueriesWithin(context.Background(), limits, bookSchema(), gq.Source{
		Name: "stranger.gq", Text: "query all() { match { $b: Book } return { $b.title } }",
	})
	var tooMany *gq.TooMany
	if errors.As(err, &tooMany) {
		fmt.Println("refused, more", tooMany.What, "than", tooMany.Limit)
	}
	// Output: refused, more tokens than 10
}

func ExampleFormat() {
	text, faults := gq.Format(gq.Source{Name: "books.gq", Text: "query all(){match{$b:Book}return{$b.title}}"})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output: query all() { match { $b: Book } return { $b.title } }
}

// The list has the faults of the compiler and those of the lint rules.
func ExampleLint() {
	faults := gq.Lint(gq.Source{Name: "books.pg", Text: "node Book {\n  title: String @key\n}\n"}, gq.Source{Name: "books.gq", Text: `query all() {
  match { $b: Book }
  return { $b.title }
}`})
	for _, fault := range faults {
		fmt.Println(fault.Span, fault.Code, fault.Message)
	}
	// Output:
	// books.gq:1:7 L105 all has no limit
	// books.gq:1:7 L106 exposed query all has no @description
}
