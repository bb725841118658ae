package servedtest

import (
	"fmt"
	"strings"
)

// Call is a call of a built-in tool on a graph that was filled by [Filling].
type Call struct {
	Tool string         // name of the tool
	Args map[string]any // arguments by name

	// Answer and Refused are the two possible results with a limit of MaxBytes. If the tool
	// answers, the answer contains Answer. If it refuses the call because the answer is too large,
	// the error contains Refused.
	Answer, Refused string
}

// MaxBytes is a limit on the bytes of an answer. The results in [Calls] are for this limit.
const MaxBytes = 600

// Filling returns calls that add 50 persons and 20 branches to a graph.
func Filling() []Call {
	calls := []Call{{Tool: "graph_load", Args: map[string]any{"data": people(), "mode": "merge"}}}
	for i := range 20 {
		calls = append(calls, Call{Tool: "branch_create", Args: map[string]any{"name": fmt.Sprintf("branch-%d", i)}})
	}
	return calls
}

// people returns the lines of 50 persons for a load.
func people() string {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"somebody-%d","tags":["a","b"]}}`+"\n", i)
	}
	return b.String()
}

// Calls returns at least one call of each built-in tool of a server. The argument `head` is the id
// of the last commit. Tests must run the calls in order, because each call relies on the ones
// before it.
func Calls(head string) []Call {
	type args = map[string]any
	var queries, schema, columns strings.Builder
	for i := range 60 {
		fmt.Fprintf(&queries, "query q%d($unused: I32) { match { $p: Person $p.age = $p.age } return { $p.name } }\n", i)
		fmt.Fprintf(&schema, "node Type%d { name: String @key }\n", i)
		fmt.Fprintf(&columns, "$p.name as c%d ", i)
	}
	wide := "query " + strings.Repeat("q", MaxBytes) + "() { match { $p: Person } return { " + columns.String() + " } }"
	return []Call{
		{Tool: "graph_health", Args: args{}, Answer: `"status":"ok"`},
		{Tool: "gq_reference", Args: args{"topic": "traversal"}, Refused: "ask for another topic"},
		{Tool: "type_describe", Args: args{"name": "Person"}, Refused: "describe one type by its name"},
		{Tool: "type_path", Args: args{"from": "Person", "to": "Person", "max_hops": 4}, Answer: `"paths"`},
		{Tool: "schema_get", Args: args{}, Answer: `"schema_source"`},
		{Tool: "query_validate", Args: args{"query": queries.String()}, Refused: "validate fewer queries at once"},
		{Tool: "query_validate", Args: args{"query": strings.Repeat(";", 100)}, Answer: `"more":100,"report":"cut: `},
		{Tool: "query_explain", Args: args{"query": wide}, Refused: "explain a query with fewer clauses and columns"},
		{Tool: "graph_query", Args: args{"query": "query q() { match { $p: Person } return { $p.name, $p.tags } }"}, Answer: `"truncated_by":"bytes"`},
		{Tool: "graph_snapshot", Args: args{}, Answer: head},
		{Tool: "branch_list", Args: args{}, Refused: "set a smaller limit"},
		{Tool: "commit_list", Args: args{"limit": 1}, Answer: `"commits"`},
		{Tool: "commit_get", Args: args{"commit": head}, Answer: `"graph_commit_id":"` + head},
		{Tool: "change_list", Args: args{"commit": head}, Answer: `"next_page_token"`},
		{Tool: "graph_mutate", Args: args{"query": `query m() { insert Person { name: "x" } }`}, Answer: `"affected_nodes":1`},
		{Tool: "graph_load", Args: args{"data": people(), "mode": "merge", "dry_run": true}, Answer: `"total_entities":50`},
		{Tool: "branch_create", Args: args{"name": "other"}, Answer: `"other"`},
		{Tool: "branch_delete", Args: args{"name": "branch-1"}, Answer: `"branch-1"`},
		{Tool: "branch_merge", Args: args{"source": "branch-2"}, Answer: `"outcome":"already_up_to_date"`},
		{Tool: "proposal_submit", Args: args{"source": "branch-3", "title": "t"}, Answer: `"state":"open","source":"branch-3"`},
		{Tool: "proposal_get", Args: args{"state": "open"}, Answer: `"source":"branch-3"`},
		{Tool: "proposal_resolve", Args: args{"proposal": "none", "resolutions": []any{map[string]any{"entity_kind": "node", "type_name": "Person", "id": "x", "property": "age", "take": "ours"}}}, Refused: `proposal "none" not found`},
		{Tool: "schema_apply", Args: args{"schema": Source + schema.String(), "dry_run": true}, Refused: "whose configuration sets its schema"},
	}
}
