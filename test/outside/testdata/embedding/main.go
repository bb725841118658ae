// Command embedding keeps a library in a graph of its own, in a folder or in shared storage. It uses no server.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

var (
	//go:embed library.pg
	schemaText string
	//go:embed library.gq
	queryText string
)

const books = `
{"type":"Author","data":{"name":"Ursula"}}
{"type":"Book","data":{"title":"The Dispossessed","year":1974}}
{"type":"Book","data":{"title":"Lavinia"}}
{"edge":"Wrote","from":"Ursula","to":"The Dispossessed","data":{"id":"w1"}}
{"edge":"Wrote","from":"Ursula","to":"Lavinia","data":{"id":"w2"}}
`

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: embedding DIR|URL")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// library is an open graph with its compiled queries.
type library struct {
	graph   *embedded.Graph
	queries map[string]*plan.Query
}

// run fills the library, corrects a year on a branch, and merges the branch. At the second run in
// the same place the books and the year are there already.
func run(ctx context.Context, place string) (err error) {
	schema, queries, err := compile()
	if err != nil {
		return err
	}
	open := embedded.OpenDir
	if strings.Contains(place, "://") {
		open = embedded.OpenURL
	}
	g, err := open(ctx, place, embedded.OrCreate(schemaText, schema))
	if err != nil {
		return err
	}
	defer func() {
		if closing := g.Close(); err == nil {
			err = closing
		}
	}()
	lib := &library{g, queries}

	// Because of the key, a second run on the same day repeats the load: it changes nothing and
	// returns the outcome of the first.
	loaded, err := g.Load(ctx, strings.NewReader(books), engine.LoadOptions{
		Mode: engine.Append, WriteOptions: engine.WriteOptions{Actor: "embedding", IdempotencyKey: "books 1"},
	})
	if err != nil {
		return err
	}
	fmt.Printf("loaded %d %ss\n", loaded.Nodes[1].Count, loaded.Nodes[1].Type)

	if _, err := g.CreateBranch(ctx, "correction", engine.Target{}); err != nil {
		return err
	}
	change, err := g.Mutate(ctx, queries["set_year"], engine.Args{value.OfString("Lavinia"), value.OfI32(2008)}, engine.WriteOptions{Branch: "correction"})
	if err != nil {
		return err
	}
	fmt.Printf("set the year of %d book, changed: %t\n", change.Nodes, change.Commit != nil)
	if err := lib.list(ctx, "main before", engine.Target{}); err != nil {
		return err
	}
	merged, err := g.Merge(ctx, "correction", engine.MainBranch, engine.MergeOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("merge: %s\n", merged.Outcome)
	if err := g.DeleteBranch(ctx, "correction"); err != nil {
		return err
	}
	return lib.list(ctx, "main after", engine.Target{})
}

// compile compiles the schema and the queries. Its error lists all faults with their places.
func compile() (*catalog.Schema, map[string]*plan.Query, error) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "library.pg", Text: schemaText})
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	compiled, faults := gq.CompileQueries(schema, gq.Source{Name: "library.gq", Text: queryText})
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	queries := map[string]*plan.Query{}
	for _, q := range compiled {
		queries[q.Plan.Name] = q.Plan
	}
	return schema, queries, nil
}

// book is a row of the query books_since.
type book struct {
	title string
	year  int64
}

// booksSince runs the query books_since.
func (l *library) booksSince(ctx context.Context, author string, year int32, at engine.Target) (books []book, err error) {
	result, err := l.graph.Query(ctx, l.queries["books_since"], engine.Args{value.OfString(author), value.OfI32(year)}, at)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		batch, err := result.Next(ctx)
		if err != nil || batch == nil {
			return books, err
		}
		titles, years := &batch.Columns[0], &batch.Columns[1]
		for row := range batch.Len {
			// The batch is valid until the next one; Clone keeps the text.
			books = append(books, book{strings.Clone(titles.Strings[row]), years.Ints[row]})
		}
	}
}

// list prints the books since 1970.
func (l *library) list(ctx context.Context, title string, at engine.Target) error {
	books, err := l.booksSince(ctx, "Ursula", 1970, at)
	if err != nil {
		return err
	}
	fmt.Printf("%s:\n", title)
	for _, b := range books {
		fmt.Printf("  %d %s\n", b.year, b.title)
	}
	return nil
}
