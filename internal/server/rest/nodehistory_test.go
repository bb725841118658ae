package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestNodeHistory reads the history of a node in pages of every size, and compares it with the
// commits that the test made. In these commits, the node is deleted and inserted again, and the
// schema changes. At the end, a cleanup reclaims the first states.
func TestNodeHistory(t *testing.T) {
	c := servedtest.Config(t)
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	send := func(method, path, body string) string {
		t.Helper()
		r := httptest.NewRequest(method, "/graphs/people"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), servedtest.Writer)))
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	mutate := func(text string) {
		t.Helper()
		send("POST", "/mutate", fmt.Sprintf(`{"query":%q}`, "query m() { "+text+" }"))
	}
	mutate(`insert Person { name: "zoe", age: 1 }`)
	mutate(`insert Person { name: "yan" }`)
	mutate(`update Person set { age: 2 } where name = "zoe"`)
	send("POST", "/schema/apply", schemaOf(t, strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: F64?", 1), ""))
	mutate(`delete Person where name = "zoe"`)
	mutate(`insert Person { name: "zoe", height: 1.5 }`)
	mutate(`update Person set { age: 9 } where name = "yan"`)

	page := func(before uint64, limit int) (p client.NodeHistory) {
		t.Helper()
		path := fmt.Sprintf("/node/history?type=Person&id=zoe&limit=%d", limit)
		if before > 0 {
			path += fmt.Sprintf("&before=%d", before)
		}
		if err := json.Unmarshal([]byte(send("GET", path, "")), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	value := func(i *client.EntityImage, name string) string {
		if i == nil {
			return "-"
		}
		return string(i.Properties[name])
	}
	for limit := 1; limit <= 12; limit++ {
		var got []string
		examined := 0
		for before := uint64(0); ; {
			p := page(before, limit)
			examined += p.Examined
			for _, v := range p.Versions {
				got = append(got, fmt.Sprintf("%s %s→%s", v.Op, value(v.Before, "age"), value(v.After, "age")))
			}
			if p.NextBefore == nil {
				break
			}
			before = *p.NextBefore
		}
		if want := "insert -→null, delete 2→-, update 1→2, insert -→1"; strings.Join(got, ", ") != want {
			t.Errorf("pages of %d: %s, want %s", limit, strings.Join(got, ", "), want)
		}
		if examined != 9 {
			t.Errorf("pages of %d examined %d commits, want 9", limit, examined)
		}
	}

	if _, err := c.Graph.Cleanup(t.Context(), engine.CleanupOptions{KeepCommits: 3}); err != nil {
		t.Fatal(err)
	}
	p := page(0, 100)
	if !p.Reclaimed || p.NextBefore != nil || len(p.Versions) != 1 || p.Versions[0].Op != client.OpInsert {
		t.Errorf("after a cleanup the history is %+v", p)
	}
}

// TestLargeNodeHistory reads the history of a node with large values. Each page is bounded in bytes, and
// together the pages have every version once.
func TestLargeNodeHistory(t *testing.T) {
	g := peopleServed(t)
	mutate := func(text string) {
		t.Helper()
		if _, err := g.Mutate(t.Context(), client.MutateBody{Query: "query m() { " + text + " }"}); err != nil {
			t.Fatal(err)
		}
	}
	mutate(`insert Person { name: "zoe" }`)
	const updates = 14
	for i := range updates {
		mutate(fmt.Sprintf(`update Person set { tags: [%q, "%d"] } where name = "zoe"`, strings.Repeat("x", 900<<10), i))
	}
	pages, ops := 0, ""
	var last []string // the last tag of each version, newest first
	for before := uint64(0); ; pages++ {
		p, err := g.History(t.Context(), client.HistoryQuery{Type: "Person", ID: "zoe", Before: before})
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, v := range p.Versions {
			ops += v.Op[:1]
			for _, i := range []*client.EntityImage{v.Before, v.After} {
				if i != nil {
					bytes += len(i.Properties["tags"])
				}
			}
			last = append(last, string(v.After.Properties["tags"][max(0, len(v.After.Properties["tags"])-6):]))
		}
		if bytes > 8<<20 || p.Examined < len(p.Versions) {
			t.Errorf("page %d has %d bytes, %d versions and examined %d commits", pages, bytes, len(p.Versions), p.Examined)
		}
		if p.NextBefore == nil {
			break
		}
		before = *p.NextBefore
	}
	if want := strings.Repeat("u", updates) + "i"; ops != want || pages < 3 {
		t.Errorf("%d pages with %s, want more than 3 with %s", pages+1, ops, want)
	}
	for i, text := range last[:len(last)-1] {
		if want := fmt.Sprintf(`"%d"]`, updates-1-i); !strings.HasSuffix(text, want) {
			t.Errorf("version %d ends with %s, want %s", i, text, want)
		}
	}
}
