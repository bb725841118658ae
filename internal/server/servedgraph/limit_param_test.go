package servedgraph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestLimitOverPages reads page by page a query in which the limit is a parameter. The limit must
// count the rows of all pages. If the first call leaves the parameter out, a later call may pass
// the value of the default or leave the parameter out too.
func TestLimitOverPages(t *testing.T) {
	const text = `query q($n: I32 @range(1..50) @default(10)) { match { $p: Person $p.name starts_with "p" } return { $p.name as name } order { $p.name desc } limit $n }`
	for engineName, over := range engines {
		for _, tt := range []struct {
			params []string // parameters of the call for each page, as JSON
			want   []int    // number of rows of each page
		}{
			{[]string{`{}`, `{"n":10}`, `{"n":null}`}, []int{4, 4, 2}},
			{[]string{`{"n":5}`, `{"n":5}`}, []int{4, 1}},
			{[]string{`{"n":50}`, `{"n":50}`, `{"n":50}`, `{"n":50}`}, []int{4, 4, 4, 3}},
		} {
			t.Run(engineName+", "+tt.params[0], func(t *testing.T) {
				c := over(t, servedtest.Config(t, builtin.All("1")...))
				load(t, c.Graph, people(15))
				g := servedtest.Graph(t, c)
				token, number := "", 14 // number of the person in the next row
				for i, params := range tt.params {
					args := map[string]any{"query": text, "params": json.RawMessage(params)}
					if token != "" {
						args["page_token"] = token
					}
					raw, err := json.Marshal(args)
					if err != nil {
						t.Fatal(err)
					}
					got, err := g.Call(context.Background(), servedtest.Reader, "graph_query", raw, encoding.Options{MaxRows: 4})
					if err != nil {
						t.Fatalf("page %d: %v", i+1, err)
					}
					var page answer
					if err := json.Unmarshal(got.JSON, &page); err != nil {
						t.Fatal(err)
					}
					if len(page.Rows) != tt.want[i] || (page.Next == "") != (i == len(tt.params)-1) {
						t.Fatalf("page %d has %d rows and the token %q, expected %d rows", i+1, len(page.Rows), page.Next, tt.want[i])
					}
					for _, row := range page.Rows {
						if name := fmt.Sprintf(`"p%05d"`, number); !strings.Contains(string(row), name) {
							t.Errorf("page %d: found %s, expected %s", i+1, row, name)
						}
						number--
					}
					token = page.Next
				}
			})
		}
	}
}
