package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestEveryToolOnce lists more tools than the SDK puts on a page. Each must be listed exactly once.
func TestEveryToolOnce(t *testing.T) {
	const queries = 5000
	var text strings.Builder
	for i := range queries {
		fmt.Fprintf(&text, "query find_%d($name: String) @description(\"Like find_%d.\") { match { $p: Person { name: $name } } return { $p.age } }\n", i, (i+1)%queries)
	}
	c := config(t)
	c.Catalog.Queries = servedtest.Queries(t, text.String())
	c.MetaThreshold = queries + 1
	s := connect(t, serve(t, c, mcp.Options{}), servedtest.Writer)
	page, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if page.NextCursor != "" {
		t.Errorf("the list of %d tools goes on at %q, expected one page", len(page.Tools), page.NextCursor)
	}
	listed, next := map[string]int{}, 0
	for tool, err := range s.Tools(t.Context(), nil) { // the iterator follows the cursors
		if err != nil {
			t.Fatal(err)
		}
		listed[tool.Name]++
		if tool.Name == fmt.Sprintf("find_%d", next) {
			next++
		}
	}
	if next != queries {
		t.Errorf("found %d of %d queries in source order", next, queries)
	}
	for name, n := range listed {
		if n != 1 {
			t.Fatalf("%s is listed %d times", name, n)
		}
	}
}
