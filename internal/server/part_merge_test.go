package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// TestPartMerges tests that comparisons, merges and proposals of an actor with rights to a part of the graph are whole or refused.
func TestPartMerges(t *testing.T) {
	const (
		insert  = `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"B"}`
		update  = `{"query":"query m() { update Person set { age: 37 } where name = \"ada\" }","branch":"B"}`
		unseen  = `{"query":"query m() { insert Person { name: \"canary-new\", age: 70 } }","branch":"B"}`
		pay     = `{"query":"query m() { update Person set { canary_pay: 7 } where name = \"ada\" }","branch":"B"}`
		ages    = `{"query":"query m() { update Person set { age: 70 } where name = \"ada\" }","branch":"B"}`
		removes = `{"query":"query m() { delete Person where name = \"ada\" }","branch":"B"}` // with a hidden edge and a hidden property
	)
	for name, tt := range map[string]struct {
		writes, onMain []string // by act-admin, each on the branch or on main
		whole          bool
		conflict       string // a part of the conflicts
	}{
		"what the actor sees":                     {writes: []string{insert, update}, whole: true},
		"a conflict about what the actor sees":    {writes: []string{update}, onMain: []string{strings.Replace(update, "37", "38", 1)}, whole: true, conflict: `"age"`},
		"a hidden entity":                         {writes: []string{insert, unseen}},
		"a hidden property":                       {writes: []string{pay}},
		"an entity that leaves the part":          {writes: []string{ages}},
		"an entity that main hides meanwhile":     {writes: []string{update}, onMain: []string{ages}},
		"a node with hidden edges and properties": {writes: []string{removes}},
		"hidden changes of main":                  {writes: []string{insert}, onMain: []string{unseen}, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartWorld(t)
			w.must("act-admin", "POST", "/branches", `{"name":"work","from":"main"}`)
			for branch, writes := range map[string][]string{"work": tt.writes, "main": tt.onMain} {
				for _, body := range writes {
					w.must("act-admin", "POST", "/mutate", strings.Replace(body, `"B"`, `"`+branch+`"`, 1))
				}
			}
			proposal := proposalID(w.must("act-admin", "POST", "/proposals", `{"source":"work","target":"main","title":"a title"}`).body)
			ask := func(method, path, body string) answer {
				t.Helper()
				a := w.send("the-token-of-"+clerk, exchange{method, "/graphs/people" + path, body, http.Header{"Content-Type": {"application/json"}}})
				if strings.Contains(strings.ToLower(a.body), canary) {
					t.Errorf("%s %s: %s", method, path, a.body)
				}
				return a
			}
			list := ask("GET", "/proposals", "")
			if strings.Contains(list.body, proposal) != tt.whole {
				t.Errorf("the list is %s", list.body)
			}
			own := `{"source":"work","target":"main","title":"another title"}`
			if tt.whole { // a branch has one open proposal for a target
				w.must("act-admin", "POST", "/proposals/"+proposal+"/close", `{}`)
			}
			opened := ask("POST", "/proposals", own)
			if tt.whole != (opened.status == http.StatusOK) {
				t.Fatalf("proposing: %d %s", opened.status, opened.body)
			}
			if tt.whole {
				proposal = proposalID(opened.body)
			}
			reads := []struct{ method, path, body string }{
				{"GET", "/proposals/" + proposal, ""},
				{"GET", "/proposals/" + proposal + "/changes", ""},
				{"POST", "/proposals/" + proposal + "/review", `{"decision":"comment","comment":"hm"}`},
				{"POST", "/branches/merge", `{"source":"work","target":"main","dry_run":true}`},
			}
			for _, r := range reads {
				a := ask(r.method, r.path, r.body)
				ok := a.status == http.StatusOK || tt.conflict != "" && a.status == http.StatusConflict
				if ok != tt.whole || !tt.whole && a.status != http.StatusForbidden {
					t.Errorf("%s %s: %d %s", r.method, r.path, a.status, a.body)
				}
				if strings.HasSuffix(r.path, proposal) && !strings.Contains(a.body, tt.conflict) {
					t.Errorf("the proposal lacks the conflict: %s", a.body)
				}
			}
			merged := ask("POST", "/proposals/"+proposal+"/merge", `{}`)
			switch {
			case !tt.whole && merged.status != http.StatusForbidden, tt.conflict != "" && merged.status != http.StatusConflict:
				t.Errorf("merging: %d %s", merged.status, merged.body)
			case tt.whole && tt.conflict == "":
				if merged.status != http.StatusOK {
					t.Fatalf("merging: %d %s", merged.status, merged.body)
				}
				for _, path := range []string{"/proposals/" + proposal, "/proposals/" + proposal + "/changes", "/commits/" + w.head("main") + "/changes"} {
					if a := ask("GET", path, ""); a.status != http.StatusOK || !strings.Contains(a.body, `"inserted":1`) && !strings.Contains(a.body, `"eve"`) {
						t.Errorf("%s: %d %s", path, a.status, a.body)
					}
				}
			}
		})
	}
}

// TestPartMergesWithoutChange tests that an actor with rights to a part merges only what it may change, also if it may change nothing of the
// target. An actor that may read all of it needs no other right than the one to merge.
func TestPartMergesWithoutChange(t *testing.T) {
	for name, tt := range map[string]struct {
		free   bool // clerk may read and change all of the source
		actor  string
		status int
	}{
		"a part":                      {false, clerk, http.StatusForbidden},
		"a part of the target":        {true, clerk, http.StatusForbidden},
		"the whole graph":             {false, "act-admin", http.StatusOK},
		"the whole graph, and a part": {true, "act-admin", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPartWorld(t)
			w.policy.free, w.policy.frozen = tt.free, true
			w.must("act-admin", "POST", "/branches", `{"name":"free","from":"main"}`)
			w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"free"}`)
			id := proposalID(w.must(clerk, "POST", "/proposals", `{"source":"free","target":"main","title":"a title"}`).body)
			for _, merge := range [][2]string{
				{"/branches/merge", `{"source":"free","target":"main","dry_run":true}`}, {"/proposals/" + id + "/merge", `{}`},
			} {
				a := w.send("the-token-of-"+tt.actor, exchange{"POST", "/graphs/people" + merge[0], merge[1], http.Header{"Content-Type": {"application/json"}}})
				if a.status != tt.status || a.status == http.StatusForbidden && !strings.Contains(a.body, "may not change branch main") {
					t.Errorf("%s: %d %s", merge[0], a.status, a.body)
				}
			}
		})
	}
}

// TestPartProposalFeed tests that an actor with rights to a part comes to its own events past more hidden ones than a page looks at.
func TestPartProposalFeed(t *testing.T) {
	w := newPartWorld(t)
	w.must("act-admin", "POST", "/branches", `{"name":"hidden","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"canary-new\", age: 70 } }","branch":"hidden"}`)
	p := engine.Proposal{Source: "hidden", Target: "main", Title: "a canary", Author: "act-admin", Events: []engine.ProposalEvent{{Kind: engine.EventOpened}}}
	for range 2100 {
		p.Events = append(p.Events, engine.ProposalEvent{Kind: engine.EventCommented, Text: "a canary"})
	}
	if _, err := w.whole.PutProposal(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	w.must("act-admin", "POST", "/branches", `{"name":"work","from":"main"}`)
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"work"}`)
	own := proposalID(w.must(clerk, "POST", "/proposals", `{"source":"work","target":"main","title":"a title"}`).body)
	cursor := ""
	for range 5 {
		a := w.must(clerk, "GET", "/proposals/events?cursor="+cursor, "")
		var feed client.ProposalFeed
		if err := json.Unmarshal([]byte(a.body), &feed); err != nil || strings.Contains(a.body, canary) {
			t.Fatalf("%s (%v)", a.body, err)
		}
		if feed.CaughtUp {
			if len(feed.Events) != 1 || feed.Events[0].ProposalID != own {
				t.Errorf("the last page is %s", a.body)
			}
			return
		}
		if feed.Cursor <= cursor {
			t.Fatalf("after %q: %s", cursor, a.body)
		}
		cursor = feed.Cursor
	}
	t.Error("the feed does not end")
}

// TestPartProposalList tests that a list of an actor with rights to a part compares the branches of the proposals that it may list, and of no
// others; that its pages end when they left out many; and that a failure is not taken for something hidden.
func TestPartProposalList(t *testing.T) {
	w := newPartWorld(t)
	const most = 200 // hidden proposals on a page
	w.must("act-admin", "POST", "/branches", `{"name":"hidden","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"canary-new\", age: 70 } }","branch":"hidden"}`)
	w.must("act-admin", "POST", "/branches", `{"name":"work","from":"main"}`)
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"work"}`)
	put := func(source string, closed bool) {
		p, err := w.whole.PutProposal(t.Context(), engine.Proposal{Source: source, Target: "main", Title: "a title", Author: "act-admin", Events: []engine.ProposalEvent{{Kind: engine.EventOpened}}})
		if err == nil && closed {
			p.State, p.Events = engine.ProposalClosed, append(p.Events, engine.ProposalEvent{Kind: engine.EventClosed})
			_, err = w.whole.PutProposal(t.Context(), *p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		put("work", true)
	}
	for range most + 50 {
		put("hidden", true)
	}
	put("work", false)
	list := func(query string) (page client.ProposalList, compared int64) {
		t.Helper()
		before := w.whole.compared.Load()
		a := w.must(clerk, "GET", "/proposals"+query, "")
		if err := json.Unmarshal([]byte(a.body), &page); err != nil {
			t.Fatal(err)
		}
		return page, w.whole.compared.Load() - before
	}
	for query, want := range map[string]int64{"?source=none": 0, "?source=work&state=open": 1, "?source=work&limit=2": 3, "?author=nobody": 0} {
		if _, compared := list(query); compared != want {
			t.Errorf("%s: %d comparisons, expected %d", query, compared, want)
		}
	}
	first, compared := list("")
	if len(first.Proposals) != 1 || first.NextPageToken == "" || compared > most+2 {
		t.Errorf("%d comparisons for the first page: %+v", compared, first)
	}
	if second, _ := list("?page_token=" + url.QueryEscape(first.NextPageToken)); len(second.Proposals) != 3 || second.NextPageToken != "" {
		t.Errorf("the second page is %+v", second)
	}
	if _, compared := list("?source=work"); compared != 4 {
		t.Errorf("%d comparisons", compared)
	}
	// A subscription looks at the proposals of the first page.
	before := w.whole.compared.Load()
	if state, err := w.graph.ProposalsState(t.Context(), access.Named(clerk, nil)); err != nil || state == "" {
		t.Errorf("the state of the proposals is %q, %v", state, err)
	}
	if compared := w.whole.compared.Load() - before; compared < most || compared > most+1 {
		t.Errorf("%d comparisons for the state of the proposals", compared)
	}
	w.whole.err = &engine.NotFound{What: "commit", Name: "c", Reclaimed: true}
	if page, _ := list("?source=work"); len(page.Proposals) != 0 {
		t.Errorf("a cleanup has removed the states of %+v", page)
	}
	a := w.send("the-token-of-"+clerk, exchange{"GET", "/graphs/people/proposals/" + first.Proposals[0].ID, "", nil})
	if a.status != http.StatusForbidden || !strings.Contains(a.body, "a cleanup has removed") {
		t.Errorf("a proposal whose states a cleanup has removed: %d %s", a.status, a.body)
	}
	w.whole.err = &engine.Unavailable{Reason: "the disk is gone"}
	for _, path := range []string{"/proposals", "/proposals/events"} {
		if a := w.send("the-token-of-"+clerk, exchange{"GET", "/graphs/people" + path, "", nil}); a.status != http.StatusServiceUnavailable {
			t.Errorf("%s of a graph that fails: %d %s", path, a.status, a.body)
		}
	}
}

// TestPartComments tests that a comment tells neither whether a hidden entity exists nor whether a hidden type does.
func TestPartComments(t *testing.T) {
	w := newPartWorld(t)
	w.must("act-admin", "POST", "/branches", `{"name":"work","from":"main"}`)
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"work"}`)
	id := proposalID(w.must(clerk, "POST", "/proposals", `{"source":"work","target":"main","title":"a title"}`).body)
	comment := func(kind, typ, on string) answer {
		body := `{"decision":"comment","comment":"hm","on":{"entity_kind":"` + kind + `","type_name":"` + typ + `","id":"` + on + `"}}`
		a := w.send("the-token-of-"+clerk, exchange{"POST", "/graphs/people/proposals/" + id + "/review", body, http.Header{"Content-Type": {"application/json"}}})
		a.body = strings.NewReplacer(typ, "TYPE", on, "ID").Replace(a.body)
		return a
	}
	none := comment("node", "Person", "cabary")
	if none.status != http.StatusBadRequest || !strings.Contains(none.body, "on: ") {
		t.Errorf("a comment on nothing: %d %s", none.status, none.body)
	}
	for typ, on := range map[string]string{"Person": "canary-old", "CanaryBox": "canary-box", "CabaryBox": "cabary"} {
		if a := comment("node", typ, on); a.status != none.status || a.body != none.body {
			t.Errorf("a comment on %s %s: %d %s, expected %d %s", typ, on, a.status, a.body, none.status, none.body)
		}
	}
	for _, on := range []string{"ada", "eve"} {
		if a := comment("node", "Person", on); a.status != http.StatusOK {
			t.Errorf("a comment on %s: %d %s", on, a.status, a.body)
		}
	}
	w.must("act-admin", "POST", "/proposals/"+id+"/review", `{"decision":"comment","comment":"hm","on":{"entity_kind":"node","type_name":"Person","id":"canary-old"}}`)
	if a := comment("node", "Person", "ada"); a.status != http.StatusForbidden {
		t.Errorf("a comment on a proposal that has become hidden: %d %s", a.status, a.body)
	}
}

// TestPartChecks tests that the checks of a proposal show the rows that its actor may see of the target, whatever it may see of the source.
func TestPartChecks(t *testing.T) {
	w := newPartWorld(t)
	w.policy.free = true
	w.must("act-admin", "POST", "/branches", `{"name":"free","from":"main"}`)
	w.must(clerk, "POST", "/mutate", `{"query":"query m() { insert Person { name: \"eve\", age: 30 } }","branch":"free"}`)
	opened := w.must(clerk, "POST", "/proposals", `{"source":"free","target":"main","title":"a title"}`)
	read := w.must(clerk, "GET", "/proposals/"+proposalID(opened.body), "")
	for _, a := range []answer{opened, read} {
		if strings.Contains(strings.ToLower(a.body), canary) || !strings.Contains(a.body, `"eve"`) {
			t.Errorf("the checks show %s", a.body)
		}
	}
}
