package codegen_test

import (
	"fmt"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq"
)

// Generate returns the files, and Write puts them into a folder. A second Write of the same files
// changes nothing.
func ExampleGenerate() {
	out, faults, err := codegen.Generate(codegen.Graph{
		Name:   "books",
		Schema: gq.Source{Name: "books.pg", Text: "node Book {\n  title: String @key\n  year: I32?\n}\n"},
		Queries: []gq.Source{{Name: "books.gq", Text: `query since($year: I32)
  @description("List the books since a year.")
{
  match {
    $b: Book
    $b.year >= $year
  }
  return { $b.title as title }
  limit 100
}
`}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := faults.Err(); err != nil {
		log.Fatal(err) // all faults of the sources, with their places
	}
	fmt.Println(slices.Sorted(maps.Keys(out.Package)))

	dir, err := os.MkdirTemp("", "books")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		changed, err := out.Package.Write(dir, codegen.Delete)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("wrote", len(changed), "files")
	}
	// Output:
	// [books_gq.go catalog.go catalog.json types.go]
	// wrote 4 files
	// wrote 0 files
}
