package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// partTools says how clerk meets each tool, with arguments of a call. {H} is the head of main.
var partTools = map[string]struct {
	how   meets
	args  string
	wants string // a part of the answer
}{
	"graph_health":     {elsewhere, `{}`, "ok"},
	"gq_reference":     {filtered, `{"topic":"traversal"}`, "Person"},
	"type_describe":    {filtered, `{"name":"Person"}`, `"Person"`},
	"type_path":        {filtered, `{"from":"Person","to":"Person"}`, `"paths"`},
	"schema_get":       {refused, `{}`, ""},
	"query_validate":   {filtered, `{"query":"query q() { match { $p: Person } return { $p } }"}`, `"valid":true`},
	"query_explain":    {filtered, `{"query":"query q() { match { $p: Person $p knows $q } return { $p } }","analyze":true}`, `"estimate":0`},
	"graph_query":      {filtered, `{"query":"query q() { match { $p: Person } return { $p } }"}`, `"row_count":2`},
	"graph_snapshot":   {filtered, `{}`, `"Person"`},
	"branch_list":      {own, `{}`, "release"},
	"commit_list":      {own, `{}`, "graph_commit_id"},
	"commit_get":       {own, `{"commit":"{H}"}`, `"nodes":null`},
	"change_list":      {refused, `{"commit":"{H}"}`, ""},
	"graph_mutate":     {refused, `{"query":"query m() { insert Person { name: \"x\" } }"}`, ""},
	"graph_load":       {refused, `{"data":"{\"type\":\"Person\",\"data\":{\"name\":\"x\"}}","mode":"merge"}`, ""},
	"branch_create":    {own, `{"name":"made"}`, "made"},
	"branch_delete":    {own, `{"name":"made"}`, "made"},
	"branch_merge":     {filtered, `{"source":"release"}`, "already_up_to_date"},
	"proposal_submit":  {refused, `{"source":"proposed","title":"t"}`, "about changes of which you may see only a part"},
	"proposal_get":     {filtered, `{}`, `{}`},
	"proposal_resolve": {refused, `{"proposal":"{R}","resolutions":[{"entity_kind":"node","type_name":"Person","id":"ada","property":"age","take":"ours"}]}`, ""},
	"schema_apply":     {elsewhere, `{"schema":"node Person { name: String @key }","dry_run":true}`, "cluster"},
	"find_person":      {filtered, `{"params":{"name":"ada"}}`, `"row_count":1`},
	"everyone":         {filtered, `{}`, `"row_count":2`},
	"add_person":       {own, `{"params":{"name":"dan"}}`, `"affected_nodes":1`},
	"known":            {filtered, `{}`, `"row_count":1`},
	"nested":           {filtered, `{}`, `"friends"`},
	"nobody_is_old":    {filtered, `{}`, `"row_count":0`},
	"nobody_is_young":  {filtered, `{}`, `"row_count"`},
}

func TestPartOverMCP(t *testing.T) {
	w := newPartWorld(t)
	head := w.head("main")
	w.must("act-admin", "POST", "/branches", `{"name":"proposed","from":"main"}`)
	w.must("act-admin", "POST", "/mutate", `{"query":"query m() { insert Person { name: \"canary-new\" } }","branch":"proposed"}`)
	proposal := proposalID(w.must("act-admin", "POST", "/proposals", `{"source":"proposed","target":"main","title":"a title"}`).body)
	ask := func(actor, method, params string) string {
		header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		a := w.send("the-token-of-"+actor, exchange{"POST", "/graphs/people/mcp", `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`, header})
		return a.body
	}
	check := func(what, text string) {
		t.Helper()
		if strings.Contains(strings.ToLower(text), canary) || strings.Contains(text, `"code":-32603`) {
			t.Errorf("%s: %s", what, text)
		}
	}
	var names []string
	for _, d := range w.graph.Descriptors() {
		if !strings.Contains(d.Name, canary) {
			names = append(names, d.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Index(orderOfTools, a) - strings.Index(orderOfTools, b) })
	for _, name := range names {
		row, ok := partTools[name]
		if !ok {
			t.Errorf("tool %s: say in partTools how an actor with rights to a part of the graph meets it", name)
			continue
		}
		answer := ask(clerk, "tools/call", `{"name":"`+name+`","arguments":`+strings.NewReplacer("{H}", head, "{R}", proposal).Replace(row.args)+`}`)
		check(name, answer)
		var result struct {
			Result struct {
				IsError           bool
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(answer), &result); err != nil || len(result.Result.Content) == 0 {
			t.Errorf("%s: %s", name, answer)
			continue
		}
		text := result.Result.Content[0].Text
		switch {
		case row.how == refused && !(result.Result.IsError && strings.Contains(text, `"forbidden"`)), row.how != refused && row.how != elsewhere && result.Result.IsError, !strings.Contains(text, row.wants):
			t.Errorf("%s, which is %s: %s", name, row.how, answer)
		}
	}
	for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list"} {
		check(list, ask(clerk, list, "{}"))
	}
	if !strings.Contains(ask("act-admin", "tools/list", "{}"), canary) {
		t.Error("nobody sees the tools with a canary")
	}
	check("initialize", ask(clerk, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
	for _, uri := range []string{"omnigraph://schema", "omnigraph://branches", "omnigraph://gq-reference", "omnigraph://catalog", "omnigraph://proposals", "omnigraph://branches/main"} {
		check(uri, ask(clerk, "resources/read", `{"uri":"`+uri+`"}`))
	}
	check("write_query", ask(clerk, "prompts/get", `{"name":"write_query","arguments":{"intent":"who is there"}}`))
	check("write_filter", ask(clerk, "prompts/get", `{"name":"write_filter","arguments":{"type":"Person"}}`))

	// The files of the skill, one actor after the other, so that a cache could mix them up.
	for _, actor := range []string{"act-admin", clerk, trainee} {
		var list struct {
			Result struct {
				Skills []struct{ Resources []struct{ URI string } }
			}
		}
		if err := json.Unmarshal([]byte(ask(actor, "skills/list", "{}")), &list); err != nil || len(list.Result.Skills) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		all := ""
		for _, r := range list.Result.Skills[0].Resources {
			text := ask(actor, "resources/read", `{"uri":"`+r.URI+`"}`)
			if all += text; actor != "act-admin" {
				check(r.URI, text)
			}
		}
		if strings.Contains(all, "Photo") != (actor != trainee) {
			t.Errorf("the skill of %s: %s", actor, all)
		}
		if actor == "act-admin" && !strings.Contains(all, canary) {
			t.Error("the skill of act-admin has no canary")
		}
	}
}

// orderOfTools makes a branch before it deletes it.
const orderOfTools = "branch_create branch_delete"
