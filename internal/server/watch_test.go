package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
)

// TestWatchParts follows watches as an actor that may see a part of the graph, while persons come into sight and go out of it. The events
// replayed must equal the query run again, and no event may show what is hidden.
func TestWatchParts(t *testing.T) {
	w := newPartWorld(t)
	type followed struct {
		query, params, id, cursor string
		rows                      []string
	}
	var all []*followed
	for query, params := range map[string]string{"everyone": `{}`, "known": `{}`, "nested": `{}`, "find_person": `{"name":"p1"}`} {
		var made client.Watch
		a := w.must(clerk, "POST", "/watches", fmt.Sprintf(`{"query":%q,"params":%s}`, query, params))
		if err := json.Unmarshal([]byte(a.body), &made); err != nil {
			t.Fatal(err)
		}
		all = append(all, &followed{query: query, params: params, id: made.ID})
	}
	apply := func(f *followed, e *client.WatchEvent) {
		t.Helper()
		if e.Reset != nil {
			f.rows, e.Came = nil, append(e.Came, e.Rows...)
		}
		for _, c := range e.Changed {
			e.Went, e.Came = append(e.Went, c.Before), append(e.Came, c.After)
		}
		for _, row := range e.Went {
			i := slices.Index(f.rows, string(row))
			if i < 0 {
				t.Fatalf("%s: the row %s went, but the consumer does not have it", f.query, row)
			}
			f.rows = slices.Delete(f.rows, i, i+1)
		}
		for _, row := range e.Came {
			f.rows = append(f.rows, string(row))
		}
		f.cursor = e.Cursor
	}
	r := rand.New(rand.NewPCG(1, 0))
	differences := 0
	for n := range 60 {
		name := fmt.Sprint("p", r.IntN(4))
		switch r.IntN(4) {
		case 0:
			w.must("act-admin", "POST", "/load", fmt.Sprintf(`{"mode":"merge","data":"{\"type\":\"Person\",\"data\":{\"name\":\"%s\",\"age\":%d,\"canary_note\":\"canary\"}}"}`, name, 40+r.IntN(40)))
		case 1, 2:
			w.must("act-admin", "POST", "/mutate", fmt.Sprintf(`{"query":"query m() { update Person set { age: %d } where name = \"%s\" }"}`, 40+r.IntN(40), name))
		case 3:
			w.must("act-admin", "POST", "/mutate", fmt.Sprintf(`{"query":"query m() { delete Person where name = \"%s\" }"}`, name))
		}
		for _, f := range all {
			a := w.must(clerk, "GET", "/watches/"+f.id+"/events?cursor="+f.cursor, "")
			var e client.WatchEvent
			if err := json.Unmarshal([]byte(a.body), &e); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(a.body), canary) {
				t.Fatalf("%s shows %s", f.query, a.body)
			}
			if e.Reset == nil && e.News() {
				differences++
			}
			apply(f, &e)
			var now struct{ Rows []client.Row }
			if err := json.Unmarshal([]byte(w.must(clerk, "POST", "/queries/"+f.query, `{"params":`+f.params+`}`).body), &now); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, row := range now.Rows {
				want = append(want, string(row))
			}
			slices.Sort(want)
			if got := slices.Sorted(slices.Values(f.rows)); !slices.Equal(got, want) {
				t.Fatalf("commit %d, %s: the events give\n%s\nwant\n%s", n, f.query, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if differences == 0 {
		t.Error("no event had differences")
	}
	// Another actor finds neither the watch nor a difference to one that does not exist.
	for _, path := range []string{"/watches/" + all[0].id, "/watches/" + strings.Repeat("0", 26)} {
		for _, method := range []string{"GET", "DELETE"} {
			on := path
			if method == "GET" {
				on += "/events"
			}
			a := w.send("the-token-of-act-admin", exchange{method, "/graphs/people" + on, "", nil})
			if want := "watch " + strings.TrimPrefix(path, "/watches/"); a.status != 404 || !strings.Contains(a.body, "not found") && !strings.Contains(a.body, want) {
				t.Errorf("%s %s as another actor: %d %s", method, on, a.status, a.body)
			}
		}
	}
}
