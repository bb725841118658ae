package code_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// openGraph makes a graph in memory with the schema that the package was generated from.
func openGraph(ctx context.Context) engine.Graph {
	text, err := os.ReadFile("../../queries/code/schema.pg")
	if err != nil {
		log.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	g, err := embedded.OpenMemory(ctx, string(text), schema, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// Each stored query is a function with typed parameters and rows. The command omnigraph index go
// writes the data of a whole module.
func Example() {
	ctx := context.Background()
	g := openGraph(ctx)
	defer g.Close()
	_, err := g.Load(ctx, strings.NewReader(`{"type":"Symbol","data":{"path":"example.com/shop.Buy","name":"Buy","kind":"func","exported":true,"line":12,"words":"buy shop"}}`), engine.LoadOptions{Mode: engine.Append})
	if err != nil {
		log.Fatal(err)
	}

	note := code.AddNoteParams{Slug: "slow", Symbol: "example.com/shop.Buy", Text: "Buy waits for the bank."}
	change, err := code.AddNote(ctx, g, note, tool.With(engine.WriteOptions{Actor: "example"}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("commit", change.Commit.Seq, "by", change.Commit.Actor)

	rows, err := code.NotesAbout(ctx, g, code.NotesAboutParams{Symbol: "example.com/shop.Buy"})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Printf("%s: %s\n", row.Slug, row.Text)
	}
	// Output:
	// commit 3 by example
	// slow: Buy waits for the bank.
}

// Catalog is for a server, and for programs that list the tools.
func ExampleCatalog() {
	catalog := code.Catalog()
	for _, q := range catalog.Queries {
		if d := q.Descriptor(); !d.ReadOnly {
			fmt.Println(d.Name, "of the graph", catalog.Graph, "writes")
		}
	}
	// Output:
	// add_note of the graph code writes
	// remove_note of the graph code writes
}
