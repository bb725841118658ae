package catalog_test

import (
	"fmt"
	"log"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// compile compiles the text of a .pg file.
func compile(text string) *catalog.Schema {
	schema, faults := gq.CompileSchema(gq.Source{Name: "books.pg", Text: text})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	return schema
}

// Diff lists what a change of the schema does to the data.
func ExampleDiff() {
	before := compile("node Book {\n  title: String @key\n  year: I32\n  shelf: String?\n}\n")
	after := compile("node Book {\n  title: String @key\n  published: I64 @rename_from(\"year\")\n}\n")
	m := catalog.Diff(before, after)
	fmt.Print(m)
	fmt.Println("supported:", m.Supported(), "destructive:", m.Destructive())
	// Output:
	// ~ rename_property node Book.published from year
	// - drop_property node Book.shelf: String? (soft, destroys data)
	// ~ widen_type node Book.published: I32 to I64
	// supported: true destructive: true
}

// The digest names a schema. It does not depend on layout and comments.
func ExampleDigest() {
	one := compile("node Book { title: String @key }")
	two := compile("// The books.\nnode Book {\n  title: String @key\n}\n")
	fmt.Println(catalog.Digest(one) == catalog.Digest(two))
	// Output: true
}

// A schema can be kept as bytes and read again without its text.
func ExampleDecode() {
	stored := catalog.Encode(compile("node Book {\n  title: String @key\n  year: I32?\n}\n"))
	schema, err := catalog.Decode(stored)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range schema.Node("Book").Properties {
		fmt.Println(p.Name, p.Type)
	}
	// Output:
	// title String
	// year I32?
}
