package embedded_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// schemaText is the text of a .pg file.
const schemaText = `
node Person {
  name: String @key
  age: I32?
}
edge Knows: Person -> Person
`

// queryText is the text of a .gq file.
const queryText = `
query friends($name: String) {
  match {
    $p: Person { name: $name }
    $p knows $f
  }
  return { $f.name, $f.age }
  order { $f.name }
}
query set_age($name: String, $age: I32) {
  update Person set { age: $age } where name = $name
}
`

const people = `
{"type":"Person","data":{"name":"ada","age":36}}
{"type":"Person","data":{"name":"bob","age":25}}
{"type":"Person","data":{"name":"cid"}}
{"edge":"Knows","from":"ada","to":"bob","data":{"id":"k1"}}
{"edge":"Knows","from":"ada","to":"cid","data":{"id":"k2"}}
`

// compile compiles the schema and the queries.
func compile() (*catalog.Schema, map[string]*plan.Query) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "people.pg", Text: schemaText})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "people.gq", Text: queryText})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	plans := map[string]*plan.Query{}
	for _, q := range queries {
		plans[q.Plan.Name] = q.Plan
	}
	return schema, plans
}

// peopleGraph returns a graph in memory with the people.
func peopleGraph(ctx context.Context) (*embedded.Graph, map[string]*plan.Query) {
	schema, plans := compile()
	g, err := embedded.OpenMemory(ctx, schemaText, schema, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := g.Load(ctx, strings.NewReader(people), engine.LoadOptions{Mode: engine.Append}); err != nil {
		log.Fatal(err)
	}
	return g, plans
}

// printRows runs a read and prints its rows.
func printRows(ctx context.Context, g *embedded.Graph, q *plan.Query, args engine.Args, at engine.Target) {
	result, err := g.Query(ctx, q, args, at)
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	for {
		batch, err := result.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if batch == nil {
			return
		}
		for row := range batch.Len {
			var cells []string
			for i := range batch.Columns {
				cell := "null"
				if v := batch.Columns[i].Value(row); !v.IsNull() {
					cell = string(value.AppendText(nil, v))
				}
				cells = append(cells, cell)
			}
			fmt.Println(strings.Join(cells, " "))
		}
	}
}

// OpenDir makes the graph at the first call and opens it at the next ones.
func ExampleOpenDir() {
	ctx := context.Background()
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "people")

	schema, _ := compile()
	for range 2 {
		g, err := embedded.OpenDir(ctx, dir, embedded.OrCreate(schemaText, schema))
		if err != nil {
			log.Fatal(err)
		}
		result, err := g.Load(ctx, strings.NewReader(people), engine.LoadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("commit", result.Head.Seq, "new:", result.Commit != nil)
		if err := g.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// commit 2 new: true
	// commit 2 new: false
}

func ExampleGraph_Load() {
	ctx := context.Background()
	g, _ := peopleGraph(ctx)
	defer g.Close()
	result, err := g.Load(ctx, strings.NewReader(`{"type":"Person","data":{"name":"dan"}}`), engine.LoadOptions{
		Mode:         engine.Append, // fail if dan is there already
		WriteOptions: engine.WriteOptions{Actor: "example", IdempotencyKey: "people 1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Nodes[0].Type, result.Nodes[0].Count, "by", result.Commit.Actor)
	// Output: Person 1 by example
}

func ExampleGraph_Query() {
	ctx := context.Background()
	g, plans := peopleGraph(ctx)
	defer g.Close()
	result, err := g.Query(ctx, plans["friends"], engine.Args{value.OfString("ada")}, engine.Target{})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	for {
		batch, err := result.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if batch == nil {
			break
		}
		names, ages := &batch.Columns[0], &batch.Columns[1]
		for row := range batch.Len {
			if ages.IsNull(row) {
				fmt.Println(names.Strings[row], "of unknown age")
			} else {
				fmt.Println(names.Strings[row], ages.Ints[row])
			}
		}
	}
	// Output:
	// bob 25
	// cid of unknown age
}

// A write on a branch is not visible on main until the branch is merged into main.
func ExampleGraph_Merge() {
	ctx := context.Background()
	g, plans := peopleGraph(ctx)
	defer g.Close()
	if _, err := g.CreateBranch(ctx, "birthday", engine.Target{}); err != nil {
		log.Fatal(err)
	}
	args := engine.Args{value.OfString("bob"), value.OfI32(26)}
	if _, err := g.Mutate(ctx, plans["set_age"], args, engine.WriteOptions{Branch: "birthday"}); err != nil {
		log.Fatal(err)
	}
	ada := engine.Args{value.OfString("ada")}
	fmt.Println("main before the merge:")
	printRows(ctx, g, plans["friends"], ada, engine.Target{})
	merged, err := g.Merge(ctx, "birthday", engine.MainBranch, engine.MergeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(merged.Outcome)
	printRows(ctx, g, plans["friends"], ada, engine.Target{})
	// Output:
	// main before the merge:
	// bob 25
	// cid null
	// fast_forward
	// bob 26
	// cid null
}
