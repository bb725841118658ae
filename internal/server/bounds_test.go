package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server"
)

// TestBoundsWhileOthersAreServed sends queries whose conditions, expressions, walks and lists exceed a bound. Each
// of them must fail with the error of that bound, while another client is served.
func TestBoundsWhileOthersAreServed(t *testing.T) {
	m := newRESTMatrix(t, func(o *server.Options) {
		o.Cluster.Server.Limits.RequestTimeout = time.Minute
		o.Cluster.Server.Limits.QueryBytes = 8 << 20
	})
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"q%03d"}}`+"\n", i)
	}
	for i := range 400 {
		fmt.Fprintf(&lines, `{"edge":"Knows","from":"q%03d","to":"q%03d"}`+"\n", i, (i+1)%400)
		fmt.Fprintf(&lines, `{"edge":"Knows","from":"q%03d","to":"q%03d"}`+"\n", i, (i+7)%400)
	}
	load := exchange{"POST", "/graphs/people/load/ndjson?mode=append", lines.String(), http.Header{"Content-Type": {"application/x-ndjson"}}}
	if a := m.send("the-token-of-act-admin", load); a.status != http.StatusOK {
		t.Fatalf("the load answers %d %s", a.status, a.body)
	}
	post := func(token, query string, params any, limit string) answer {
		body, err := json.Marshal(map[string]any{"query": query, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return m.send(token, exchange{"POST", "/graphs/people/query", string(body), http.Header{"Content-Type": {"application/json"}, "X-Timeout-Ms": {limit}}})
	}
	const many = `$a: Person $b: Person $c: Person $d: Person $a.name + $b.name + $c.name + $d.name = $p.name`
	long, short := strings.Repeat("a", 900_000), strings.Repeat("a", 4_000)
	list := make([]string, 180_000)
	for i := range list {
		list[i] = fmt.Sprint("n", i)
	}
	for _, c := range []struct {
		name, query string
		params      any
		status      int    // 0 for either of the two
		want        string // a part of the answer
	}{
		{"an exists block", `query q() { match { $p: Person exists { ` + many + ` } } return { $p.name } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a not block", `query q() { match { $p: Person not { ` + many + ` } } return { $p.name } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"blocks in an any block", `query q() { match { $p: Person any { $p.name = "x" exists { ` + many + ` } } } return { $p.name } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a block as a column", `query q() { match { $p: Person } return { $p.name, exists { ` + many + ` } as x } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a block within an aggregate", `query q() { match { $p: Person } return { sum(if(not { ` + many + ` }, 1, 0)) as x } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a block as a sort key", `query q() { match { $p: Person } return { $p.name } order { exists { ` + many + ` } } limit 1 }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a regular expression", `query q($t: String) { match { $p: Person } return { ($t matches "(a?){200}b") as x } limit 1 }`, map[string]any{"t": long}, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a joined text", `query q($t: String) { match { $p: Person { name: "q001" } } return { length(` + strings.TrimSuffix(strings.Repeat("$t + ", 30), " + ") + `) as n } }`, map[string]any{"t": long}, http.StatusRequestEntityTooLarge, "bytes of a text that + makes"},
		{"the texts of the rows", `query q($t: String) { match { $p: Person } return { upper($t + $p.name) as x } order { x } limit 1 }`, map[string]any{"t": long}, http.StatusRequestEntityTooLarge, "bytes of memory for one query"},
		{"a list", `query q($l: [String]) { match { $p: Person $p.name + "" in $l } return { $p.name } }`, map[string]any{"l": list}, http.StatusRequestEntityTooLarge, "bytes of memory for one query"},
		{"walks of 64 hops", `query q() { match { $p: Person $p knows{1,64} $q $q knows{1,64} $r $r knows{1,64} $s } return { count(distinct $s) as n } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"the nodes of walks of 64 hops", `query q() { match { $p: Person $q: Person $p $w:<knows>{1,64} $q $r: Person $q $v:knows{1,64} $r } return { sum(size($w.nodes) + size($v.nodes)) as n } }`, nil, http.StatusServiceUnavailable, "longer than its time limit"},
		{"a collect of many values", `query q() { match { $p: Person $q: Person } return { collect($q.name) as l } }`, nil, http.StatusRequestEntityTooLarge, "values that collect gathers in one group"},
		{"a collect of many groups", `query q() { match { $p: Person $q: Person $r: Person } return { $p.name as p, $q.name as q, collect($r.name) as l } limit 1 }`, nil, http.StatusRequestEntityTooLarge, "bytes of memory for one query"},
		{"a collect of long texts", `query q($t: String) { match { $p: Person $q: Person $p.name < "q030" } return { $p.name as p, collect($t + $q.name) as l } limit 1 }`, map[string]any{"t": short}, http.StatusRequestEntityTooLarge, "bytes of memory for one query"},
		{"a collect block in a collect block", `query q() { match { $p: Person } return { collect { $q: Person return { $q.name as q, collect { $r: Person return { $r.name as r } limit 1000 } as l } limit 1000 } as l } limit 1 }`, nil, http.StatusRequestEntityTooLarge, "nested records in one row"},
		{"a collect block of many matches", `query q() { match { $p: Person } return { collect { $p knows $_ $q: Person $r: Person $s: Person return { $s.name as s } limit 1 } as l } }`, nil, 0, ""}, // the bound on entities, or the time limit on a slow machine
		{"a collect block of long texts", `query q($t: String) { match { $p: Person } return { collect { $q: Person return { $t + $q.name as x } limit 1000 } as l } limit 1 }`, map[string]any{"t": long}, http.StatusRequestEntityTooLarge, "bytes of memory for one query"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done := make(chan struct{})
			served := 0
			var other sync.WaitGroup
			other.Go(func() {
				for {
					a := post("the-token-of-act-reader", `query q($n: String) { match { $p: Person { name: $n } } return { $p.name, exists { $p.name = "q001" } as x } }`, map[string]any{"n": "q001"}, "60000")
					if a.status != http.StatusOK || !strings.Contains(a.body, `"x":true`) {
						t.Errorf("the other client gets %d %s", a.status, a.body)
					}
					served++
					select {
					case <-done:
						return
					default:
					}
				}
			})
			limit := "60000"
			if c.status != http.StatusRequestEntityTooLarge {
				limit = "2000"
			}
			a := post("the-token-of-act-admin", c.query, c.params, limit)
			close(done)
			other.Wait()
			either := c.status == 0 && (a.status == http.StatusServiceUnavailable || a.status == http.StatusRequestEntityTooLarge)
			if a.status != c.status && !either || !strings.Contains(a.body, c.want) {
				t.Errorf("it answers %d %.300s, want %d and %q", a.status, a.body, c.status, c.want)
			}
			if served == 0 {
				t.Error("the other client was not served")
			}
		})
	}
}
