package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// exampleServer serves a small graph named code to one actor with the token "secret".
func exampleServer() *httptest.Server {
	text, err := os.ReadFile("../queries/code/schema.pg")
	if err != nil {
		log.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		log.Fatal(err)
	}
	g := naive.New(string(text), schema, naive.Sound)
	const data = `{"type":"Package","data":{"path":"example.com/shop","name":"shop","files":2,"lines":300}}
{"type":"Package","data":{"path":"example.com/shop/cart","name":"cart","files":1,"lines":40}}
{"type":"Symbol","data":{"path":"example.com/shop.Open","name":"Open","kind":"func","exported":true,"line":7,"words":"open"}}
{"edge":"Holds","from":"example.com/shop","to":"example.com/shop.Open","data":{}}
`
	ctx := context.Background()
	if _, err := g.Load(ctx, strings.NewReader(data), engine.LoadOptions{Mode: engine.Append}); err != nil {
		log.Fatal(err)
	}
	served, err := servedgraph.NewGraph(ctx, servedgraph.Config{ID: "code", Graph: g, Catalog: code.Catalog(), Authorizer: policy.Unrestricted("code")})
	if err != nil {
		log.Fatal(err)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"code": served}, rest.Options{})
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer secret" {
			r = r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-ada", Source: "example"}))
		}
		h.ServeHTTP(w, r)
	}))
}

func ExampleNew() {
	server := exampleServer()
	defer server.Close()

	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	snapshot, err := c.Graph("code").Snapshot(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range snapshot.Datasets {
		if d.EntityCount > 0 {
			fmt.Println(d.EntityKind, d.TypeName, d.EntityCount)
		}
	}
	// Output:
	// node Package 2
	// node Symbol 1
	// edge Holds 1
}

func ExampleGraph_Invoke() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	answer, err := c.Graph("code").Invoke(context.Background(), "get_package", client.InvokeBody{
		Params: map[string]any{"path": "example.com/shop"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Read.RowCount, answer.Read.QueryName)

	_, err = c.Graph("code").Invoke(context.Background(), "no_such_query", client.InvokeBody{})
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// 1 get_package
	// true
}

// The iterator asks for a page of one row at a time. All pages are of the same commit.
func ExampleGraph_QueryRows() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	query := client.QueryBody{Query: `query q() {
		match { $p: Package }
		return { $p.name as name, $p.lines as lines }
		order { $p.lines desc }
	}`}
	for row, err := range c.Graph("code").QueryRows(context.Background(), query, 1) {
		if err != nil {
			log.Fatal(err)
		}
		var p struct {
			Name  string
			Lines int
		}
		if err := row.Decode(&p); err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Name, p.Lines)
	}
	// Output:
	// shop 300
	// cart 40
}

// The second write has the same key as the first one, so it changes nothing and has the same answer.
func ExampleIdempotencyKey() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	mutation := client.MutateBody{
		Query:  `query add($slug: String) { insert Note { slug: $slug, text: "Read this first.", created: datetime("2024-05-01T12:30:00Z") } }`,
		Params: map[string]any{"slug": "start"},
	}
	var commits []string
	for range 2 {
		answer, err := c.Graph("code").Mutate(context.Background(), mutation, client.IdempotencyKey("import-2024-05-01"))
		if err != nil {
			log.Fatal(err)
		}
		commits = append(commits, answer.Commit.GraphCommitID)
	}
	fmt.Println(commits[0] == commits[1])
	// Output: true
}

// The details of a refusal are fields of the error.
func ExampleError() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	data := `{"type":"Package","data":{"path":"example.com/shop","name":"shop","files":2,"lines":300}}`
	_, err = c.Graph("code").Load(context.Background(), strings.NewReader(data), client.LoadQuery{Mode: client.ModeAppend})
	var refused *client.Error
	if errors.As(err, &refused) && refused.KeyConflict != nil {
		fmt.Println(refused.Status, refused.Code, refused.KeyConflict.TypeName, refused.KeyConflict.ID)
	}
	// Output: 409 conflict Package example.com/shop
}

// The functions of a generated package work in the same way on a server as on a graph in the same
// process.
func ExampleGraph_Typed() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	rows, err := code.GetPackage(context.Background(), c.Graph("code").Typed(), code.GetPackageParams{Path: "example.com/shop"})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		fmt.Println(row.Name, row.Files, row.Lines)
	}
	// Output:
	// shop 2 300
}
