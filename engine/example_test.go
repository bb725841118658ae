package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
)

const schemaText = "node Task {\n  slug: String @key\n  title: String\n}\n"

// create makes a graph of tasks with any engine.
func create(ctx context.Context, e engine.Engine, place string) engine.Graph {
	schema, faults := gq.CompileSchema(gq.Source{Name: "tasks.pg", Text: schemaText})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	g, err := e.Create(ctx, place, schemaText, schema, engine.OpenOptions{MaxBranches: 100})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// A program that takes an Engine runs on any of them. This one makes a graph, writes to it, closes
// it, and opens it again.
func ExampleEngine() {
	ctx := context.Background()
	var e engine.Engine = embedded.NewMemoryEngine() // embedded.Engine{} uses folders on disk

	g := create(ctx, e, "tasks")
	_, err := g.Load(ctx, strings.NewReader(`{"type":"Task","data":{"slug":"t1","title":"write examples"}}`), engine.LoadOptions{Mode: engine.Append})
	if err != nil {
		log.Fatal(err)
	}
	if err := g.Close(); err != nil {
		log.Fatal(err)
	}

	g, err = e.Open(ctx, "tasks", engine.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	snapshot, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(snapshot.Nodes[0].Type, snapshot.Nodes[0].Count, "at commit", snapshot.Commit.Seq)

	_, err = e.Open(ctx, "notes", engine.OpenOptions{})
	var missing *engine.NotFound
	fmt.Println("no graph of notes:", errors.As(err, &missing))
	// Output:
	// Task 1 at commit 2
	// no graph of notes: true
}

// IfCommit refuses a write if somebody else has written since the caller last read the head.
func ExampleGraph_ifCommit() {
	ctx := context.Background()
	g := create(ctx, embedded.NewMemoryEngine(), "tasks")
	defer g.Close()
	seen, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		log.Fatal(err)
	}
	for _, slug := range []string{"t1", "t2"} {
		line := fmt.Sprintf(`{"type":"Task","data":{"slug":%q,"title":"new"}}`, slug)
		_, err := g.Load(ctx, strings.NewReader(line), engine.LoadOptions{WriteOptions: engine.WriteOptions{IfCommit: seen.Commit.ID}})
		var outdated *engine.PreconditionFailed
		switch {
		case errors.As(err, &outdated):
			fmt.Println(slug, "is refused; retry the same call:", engine.IsRetryable(err))
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(slug, "is stored")
		}
	}
	// Output:
	// t1 is stored
	// t2 is refused; retry the same call: false
}
