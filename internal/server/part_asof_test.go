package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPartAsOf reads a branch that clerk may see all of, as of an instant before it began. The commit is one of main then, so
// the rights to main hold, as for a read of the commit by its id.
func TestPartAsOf(t *testing.T) {
	w := newPartWorld(t)
	var list struct {
		Commits []struct {
			ID   string `json:"graph_commit_id"`
			Time int64  `json:"created_at"`
		} `json:"commits"`
	}
	if err := json.Unmarshal([]byte(w.must("act-admin", "GET", "/commits", "").body), &list); err != nil {
		t.Fatal(err)
	}
	head := list.Commits[0]
	then := time.UnixMicro(head.Time).UTC().Format(time.RFC3339Nano)
	w.must("act-admin", "POST", "/branches", `{"name":"free","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 70 } }","branch":"free"}`)
	w.policy.free = true
	header := http.Header{"Content-Type": {"application/json"}}
	const people = `query q() { match { $p: Person } return { $p } }`
	past := `query q($t: DateTime) as of $t { match { $p: Person } return { $p } }`
	for _, c := range []struct {
		name, method, path, body string
		canary                   bool // the answer has what clerk may see on free only
	}{
		{"free now", "POST", "/query", `{"query":"` + people + `","branch":"free"}`, true},
		{"snapshot", "POST", "/query", `{"query":"` + people + `","branch":"free","snapshot":"` + then + `"}`, false},
		{"as of", "POST", "/query", `{"query":"` + past + `","branch":"free","params":{"t":"` + then + `"}}`, false},
		{"stored", "POST", "/queries/everyone", `{"branch":"free","snapshot":"` + then + `"}`, false},
		{"export", "POST", "/export", `{"branch":"free","snapshot":"` + then + `"}`, false},
		{"counts", "GET", "/snapshot?branch=free&snapshot=" + then, "", false},
		{"explained", "POST", "/explain", `{"query":"` + past + `","branch":"free","params":{"t":"` + then + `"},"analyze":true}`, false},
		{"over MCP", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_query","arguments":{"query":"` + people + `","branch":"free","snapshot":"` + then + `"}}}`, false},
	} {
		sent := exchange{c.method, "/graphs/people" + c.path, c.body, header.Clone()}
		if c.name == "over MCP" {
			sent.header.Set("Accept", "application/json, text/event-stream")
		}
		a := w.send("the-token-of-"+clerk, sent)
		if a.status != http.StatusOK || strings.Contains(strings.ToLower(a.body), canary) != c.canary {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
		if c.name != "free now" && c.method == "POST" && c.path != "/export" && !strings.Contains(a.body, head.ID) {
			t.Errorf("%s does not name the commit %s: %s", c.name, head.ID, a.body)
		}
		if all := w.send("the-token-of-act-admin", sent); all.status != http.StatusOK || !strings.Contains(strings.ToLower(all.body), canary) && c.name != "explained" {
			t.Errorf("%s for act-admin: %d %s", c.name, all.status, all.body)
		}
	}
}

// TestPartGrowth counts the states of a branch that clerk may see all of. Its first states are those of main, of which clerk sees a part.
func TestPartGrowth(t *testing.T) {
	w := newPartWorld(t)
	w.must("act-admin", "POST", "/branches", `{"name":"free","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 70 } }","branch":"free"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eva\", age: 70 } }","branch":"free"}`)
	w.policy.free = true
	points := func(actor, branch string) (n int) {
		var a struct{ Points []json.RawMessage }
		if err := json.Unmarshal([]byte(w.must(actor, "GET", "/growth?branch="+branch, "").body), &a); err != nil {
			t.Fatal(err)
		}
		return len(a.Points)
	}
	all, main := points("act-admin", "free"), points("act-admin", "main")
	if all != main+2 {
		t.Fatalf("free has %d points and main %d, want two more", all, main)
	}
	if n := points(clerk, "free"); n != 2 {
		t.Errorf("clerk gets %d points of free, want the 2 made there", n)
	}
	if n := points(clerk, "main"); n != main {
		t.Errorf("clerk gets %d points of main, want %d", n, main)
	}
}
