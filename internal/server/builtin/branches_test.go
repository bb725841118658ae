package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestBranchListPages reads pages while branches are deleted. Each branch that remains must
// be listed once, in name order.
func TestBranchListPages(t *testing.T) {
	ctx := context.Background()
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	want := []string{}
	for i := range 250 {
		name := fmt.Sprintf("b%03d", i)
		if _, err := c.Graph.CreateBranch(ctx, name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	want = append(want, "main")
	var seen []string
	a := args{}
	for pages := 1; ; pages++ {
		raw, _ := json.Marshal(a)
		answer, err := g.Call(ctx, servedtest.Reader, "branch_list", raw, encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var page builtin.BranchListResult
		if err := json.Unmarshal(answer.JSON, &page); err != nil {
			t.Fatal(err)
		}
		for _, b := range page.Heads {
			seen = append(seen, b.Name)
		}
		if page.NextPageToken == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		// Delete the last branch of the page. The token must still mark its place in the
		// order.
		if err := c.Graph.DeleteBranch(ctx, seen[len(seen)-1]); err != nil {
			t.Fatal(err)
		}
		a = args{"page_token": page.NextPageToken}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("found %v, want %v", seen, want)
	}
	r := servedtest.Reader
	run(t, c, []step{
		{"branch_list", r, args{"limit": 501}, 400, `limit: found 501, expected 1 to 500`},
		{"branch_list", r, args{"page_token": "e30"}, 400, `page_token: it is damaged, or this server did not make it; send next_page_token unchanged, with the arguments of the first page; or leave page_token out to get the first page`},
	})
}
