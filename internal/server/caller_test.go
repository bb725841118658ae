package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// callerQueries are stored queries about the caller.
const callerQueries = `
query mine() @description("Lists me, and the people of my groups.") {
  match { $p: Person  any { $p.name = actor().id  $p.name in actor().groups } }
  return { $p.name as name, actor().id as me } order { name }
}
`

// TestCallerOverTheWire calls one stored query, and its text, over REST and MCP, as two people and as an agent for each of them.
func TestCallerOverTheWire(t *testing.T) {
	w := newProposalWorldWith(t, chainPolicy+"  - { id: all-invoke, allow: { actors: any, actions: [invoke_query] } }\n", &tool.Catalog{Graph: "people", Queries: servedtest.Queries(t, callerQueries)})
	text := strings.TrimSpace(strings.Replace(callerQueries, `@description("Lists me, and the people of my groups.") `, "", 1))
	if _, err := w.person("act-ada").CreateBranch(t.Context(), client.BranchBody{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"act-ada", "act-bo", "bot"} {
		add := fmt.Sprintf("query q() { insert Person { name: %q } }", id)
		if _, err := w.person("act-ada").Mutate(t.Context(), client.MutateBody{Query: add, Branch: "work"}); err != nil {
			t.Fatal(err)
		}
	}
	for actor, want := range map[string]string{
		"act-ada": "act-ada (act-ada)", "act-bo": "act-bo (act-bo)", "act-ada-via-bot": "act-ada (act-ada)", "act-bo-via-aide": "act-bo (act-bo)",
		"act-bo-with-groups": "act-bo (act-bo), ada (act-bo)",
	} {
		check := func(how string, rows []client.Row, err error) {
			t.Helper()
			var texts []string
			for _, r := range rows {
				var p struct{ Name, Me string }
				if bad := json.Unmarshal(r, &p); bad != nil {
					t.Fatal(bad)
				}
				texts = append(texts, p.Name+" ("+p.Me+")")
			}
			if got := strings.Join(texts, ", "); err != nil || got != want {
				t.Errorf("%s %s: %s, %v; want %s", actor, how, got, err, want)
			}
		}
		g, mcp := w.person(actor), w.agent(actor)
		stored, err := g.Invoke(t.Context(), "mine", client.InvokeBody{Branch: "work"})
		if err != nil {
			t.Fatal(err)
		}
		check("over REST", stored.Read.Rows, nil)
		adHoc, err := g.Query(t.Context(), client.QueryBody{Query: text, Branch: "work"})
		if err != nil {
			t.Fatal(err)
		}
		check("with a text over REST", adHoc.Rows, nil)
		for tool, args := range map[string]map[string]any{"mine": {"branch": "work"}, "graph_query": {"query": text, "branch": "work"}} {
			var over struct{ Rows []client.Row }
			var err error
			if said := mcp(&over, tool, args); said != "" {
				err = fmt.Errorf("%s", said)
			}
			check("over MCP with "+tool, over.Rows, err)
		}
	}
}
