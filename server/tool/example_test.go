package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// counter is a tool that counts the nodes of a type. It is stateless; countCall is one call of it.
type counter struct{}

var counterDescriptor = tool.Descriptor{
	Name:        "count_nodes",
	Title:       "Count nodes",
	Description: "Count the nodes of a type.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"type":{"type":"string"}},"required":["type"],"additionalProperties":false}`),
	ReadOnly:    true, Idempotent: true,
}

func (counter) Descriptor() *tool.Descriptor { return &counterDescriptor }

// Gates returns the permission to read. A caller that has it on some branch sees the tool.
func (counter) Gates() []tool.Grant { return []tool.Grant{{Action: tool.Read, Via: tool.AdHoc}} }

func (counter) Decode(args json.RawMessage) (tool.Call, error) {
	var c countCall
	if err := json.Unmarshal(args, &c); err != nil {
		return nil, &tool.ArgumentError{Detail: err.Error()}
	}
	if c.Type == "" {
		return nil, &tool.ArgumentError{Path: "type", Detail: "found none, expected the name of a node type"}
	}
	return &c, nil
}

type countCall struct {
	Type string `json:"type"`
}

// Needs returns the permission to read main.
func (c *countCall) Needs() []tool.Need {
	return []tool.Need{{Action: tool.Read, Via: tool.AdHoc}}
}

func (c *countCall) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	s, err := env.Graph.Snapshot(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	for _, n := range s.Nodes {
		if n.Type == c.Type {
			return &tool.Outcome{Value: map[string]int64{"count": n.Count}, Commit: s.Commit.ID}, nil
		}
	}
	return nil, &tool.ArgumentError{Path: "type", Detail: fmt.Sprintf("found %q, expected a node type of the schema", c.Type)}
}

const bookSchema = "node Book {\n  title: String @key\n  year: I32?\n}\n"

func compileBooks() *catalog.Schema {
	schema, faults := gq.CompileSchema(gq.Source{Name: "books.pg", Text: bookSchema})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	return schema
}

// openBooks returns a graph in memory with two books.
func openBooks(ctx context.Context, schema *catalog.Schema) engine.Graph {
	g, err := embedded.OpenMemory(ctx, bookSchema, schema, embedded.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = g.Load(ctx, strings.NewReader(`{"type":"Book","data":{"title":"Lavinia","year":2008}}
{"type":"Book","data":{"title":"The Dispossessed","year":1974}}`), engine.LoadOptions{Mode: engine.Append})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

// A tool written by hand lists itself with a descriptor. A caller decodes the arguments, checks
// that the actor has the grants of the call, and runs it.
func ExampleTool() {
	ctx := context.Background()
	g := openBooks(ctx, compileBooks())
	defer g.Close()
	mayRead := func(g tool.Grant) bool { return g.Action == tool.Read && g.Branch.IsMain() } // the policy of the program

	var t tool.Tool = counter{}
	fmt.Println(t.Descriptor().Name, "is listed as", t.Descriptor().Title)
	for _, args := range []string{`{"type":"Book"}`, `{}`} {
		call, err := t.Decode(json.RawMessage(args))
		var fault *tool.ArgumentError
		if errors.As(err, &fault) {
			fmt.Println("fault:", fault)
			continue
		} else if err != nil {
			log.Fatal(err)
		}
		env := &tool.Env{Server: tool.Alone{}, Graph: g, Actor: "example"}
		for _, need := range call.Needs() {
			if !mayRead(need.On(env.Branch(need.Branch))) {
				log.Fatalf("%s is denied", need.Action)
			}
		}
		outcome, err := call.Run(ctx, env)
		if err != nil {
			log.Fatal(err)
		}
		answer, err := json.Marshal(outcome.Value)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(answer))
	}
	// Output:
	// count_nodes is listed as Count nodes
	// {"count":2}
	// fault: type: found none, expected the name of a node type
}

// A stored query needs no generated package. A server takes this Catalog in launch.Program and
// serves the query as a tool; a Go program calls [tool.Rows].
func ExampleCompiled() {
	ctx := context.Background()
	schema := compileBooks()
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "books.gq", Text: `query since($year: I32) {
  match {
    $b: Book
    $b.year >= $year
  }
  return { $b.title as title, $b.year as year }
  limit 100
}`})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	since := &tool.Compiled{
		Query: tool.QueryInfo{Name: "since", Exposed: true, ParamDocs: []string{"The first year."}, File: "books.gq"},
		Tool: tool.Descriptor{
			Name: "since", Title: "Books since a year",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"params":{"type":"object","properties":{"year":{"type":"integer"}},"required":["year"]}},"required":["params"]}`),
			ReadOnly:    true, Idempotent: true,
		},
		Encoded: plan.Encode(queries[0].Plan),
	}
	books := tool.Catalog{Graph: "books", Queries: []tool.StoredQuery{since}, SchemaDigest: catalog.Digest(schema)}
	for _, q := range books.Queries {
		fmt.Println(q.Info().Name, "takes", q.Params()[0].Name)
	}

	g := openBooks(ctx, schema)
	defer g.Close()
	type book struct {
		Title string
		Year  *int32 // nil for null
	}
	rows, err := tool.Rows[book](ctx, g, since, struct{ Year int32 }{2000})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Println(row.Title, *row.Year)
	}
	// Output:
	// since takes year
	// Lavinia 2008
}
