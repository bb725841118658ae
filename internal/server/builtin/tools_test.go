package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// step is a call and a part of the expected answer. The field `status` is the status of the
// expected fault, or 0 if no fault is expected.
type step struct {
	tool   string
	actor  *access.Actor
	args   map[string]any
	status int
	want   string
}

// run makes the calls of the steps on one graph.
func run(t *testing.T, c servedgraph.Config, steps []step) {
	t.Helper()
	g := servedtest.Graph(t, c)
	for _, s := range steps {
		if s.actor == nil {
			s.actor = servedtest.Writer
		}
		got, status := call(t, c, g, s.actor, s.tool, s.args)
		if status != s.status || !strings.Contains(got, s.want) {
			t.Errorf("%s %v by %s\ngot  %d %s\nwant %d %s", s.tool, s.args, s.actor.ID, status, got, s.status, s.want)
		}
	}
}

type args = map[string]any

func TestReference(t *testing.T) {
	r := servedtest.Reader
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"gq_reference", r, nil, 0, `{"topics":[{"topic":"overview","summary":"The form of a query, and what to read next."}`},
		{"gq_reference", r, args{"topic": "traversal"}, 0, `$person knows{1,3} $person2`},
		{"gq_reference", r, args{"topic": "search"}, 0, `"schema":"node Person {`}, // the graph has no vector
		{"gq_reference", r, args{"topic": "errors"}, 0, `T7 comparison of different`},
		{"gq_reference", r, args{"topic": "traversl"}, 400, `{"error":"topic: there is no topic traversl; did you mean traversal?","code":"bad_request"}`},
		{"gq_reference", r, args{"topic": "zzzzzzzz"}, 400, `the topics are overview, match, `},
		{"gq_reference", r, args{"branch": "none"}, 404, `branch \"none\" not found`},
		{"gq_reference", servedtest.Bot, nil, 404, `unknown tool: gq_reference`},
		{"gq_reference", servedtest.Drafter, nil, 403, `does not allow read on branch main`},
	})
}

func TestDescribe(t *testing.T) {
	r := servedtest.Reader
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"type_describe", r, nil, 0, `"nodes":["Person { name: String @key, age: I32?, `},
		{"type_describe", r, nil, 0, `"edges":["Knows: Person -> Person"]}`},
		{"type_describe", r, args{"name": "Person"}, 0, `"clause":"$person: Person","rules":["@key(name)"],"properties":[{"name":"name","type":"String","operators":["=","!=","<","<=",">",">=","in","contains","starts_with","matches","search(","match_text(","fuzzy("],"rankings":["bm25"],"example":"$person.name = $name"}`},
		{"type_describe", r, args{"name": "Person"}, 0, `"edges_out":[{"edge":"Knows","other":"Person","clause":"$person knows $person2"}],"edges_in":[`},
		{"type_describe", r, args{"name": "Person"}, 0, `"stored_queries":[{"query":"find_person","tool":"lookup_person","call":"lookup_person {\"params\":{\"name\":\"<String>\",\"min\":\"<I32?>\"}}","description":"Finds a person by name.","mutation":false},{"query":"everyone","tool":"everyone","call":"everyone {}"`},
		{"type_describe", r, args{"name": "knows"}, 0, `"kind":"edge","name":"Knows","from":"Person","to":"Person","clause":"$person $w:knows $person2"`},
		{"type_describe", r, args{"name": "Persn"}, 400, `{"error":"name: the schema has no type Persn; did you mean Person?","code":"bad_request"}`},
		{"type_describe", r, args{"name": "Zebra"}, 400, `there are Person, Knows`},
		{"type_describe", r, args{"name": 7}, 400, `name: found the number 7, expected a string`},
		{"type_describe", r, args{"branch": "none"}, 404, `branch \"none\" not found`},
		{"type_describe", servedtest.Nobody, nil, 404, `unknown tool: type_describe`},
		{"type_describe", servedtest.Drafter, nil, 403, `does not allow read on branch main`},
	})
}

// onlyFind is a policy that lets everybody read, and invoke only find_person.
type onlyFind struct{ servedtest.Policy }

func (onlyFind) Allowed(_ *access.Actor, g tool.Grant) bool {
	return g.Action == tool.Read || g.Action == tool.InvokeQuery && g.Query == "find_person"
}

// TestDescribeHides checks that the answer contains the names of listed stored queries, and of no
// hidden or left-out queries.
func TestDescribeHides(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Authorizer = onlyFind{}
	g := servedtest.Graph(t, c)
	got, status := call(t, c, g, servedtest.Reader, "type_describe", args{"name": "Person"})
	if status != 0 || !strings.Contains(got, "lookup_person") {
		t.Errorf("%d %s", status, got)
	}
	for _, name := range []string{"everyone", "add_person", "secret", "misfit"} {
		if strings.Contains(got, name) {
			t.Errorf("%s is named: %s", name, got)
		}
	}
}

func TestPath(t *testing.T) {
	r := servedtest.Reader
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"type_path", r, args{"from": "Person", "to": "Person"}, 0, `"paths":[{"hops":1,"edges":["Knows"],"match":"$person: Person\n$person knows $person2"},{"hops":1,"edges":["<Knows"],"match":"$person: Person\n$person2 knows $person"}],"more":false}`},
		{"type_path", r, args{"from": "Person", "to": "Person", "limit": 1}, 0, `"more":true}`},
		{"type_path", r, args{"from": "Person"}, 400, `to: missing, expected a string`},
		{"type_path", r, args{"from": "Preson", "to": "Person"}, 400, `from: the schema has no node type Preson; did you mean Person?`},
		{"type_path", r, args{"from": "Person", "to": "Knows"}, 400, `to: the schema has no node type Knows; there are Person`},
		{"type_path", r, args{"from": "Person", "to": "Person", "max_hops": 9}, 400, `max_hops: found 9, expected 1 to 8`},
		{"type_path", r, args{"from": "Person", "to": "Person", "limit": 0}, 400, `limit: found 0, expected 1 to 100`},
		{"type_path", servedtest.Bot, nil, 404, `unknown tool: type_path`},
		{"type_path", servedtest.Drafter, args{"from": "Person", "to": "Person"}, 403, `does not allow read on branch main`},
	})
}

func TestValidate(t *testing.T) {
	r := servedtest.Reader
	good := `query q($n: String, $min: I32?) { match { $p: Person { name: $n } $p.age >= $min? } return { $p.age, $p } limit 3 }`
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"query_validate", r, args{"query": good}, 0, `{"valid":true,"queries":[{"name":"q","kind":"read","params":[{"name":"n","type":"String","optional":false},{"name":"min","type":"I32","optional":true}],"columns":[{"name":"p.age","type":"I32?"},{"name":"p","type":"{ id: String, name: String, `},
		{"query_validate", r, args{"query": `query m($n: String) { insert Person { name: $n } }`}, 0, `{"valid":true,"queries":[{"name":"m","kind":"mutation","params":[{"name":"n","type":"String","optional":false}],"columns":[]}],"diagnostics":[]}`},
		{"query_validate", r, args{"query": "query q() {\n  match { $p: Persn }\n  return { $p.name }\n  limit 3\n}"}, 0, `{"valid":false,"queries":[],"diagnostics":[{"code":"T1","severity":"error","line":2,"column":15,"end_line":2,"end_column":20,"message":"unknown node type Persn","help":"did you mean Person?"}],"report":"query:2:15: error T1`},
		{"query_validate", r, args{"query": "// gq:ignore L105 few\nquery q() { match { $p: Person } return { $p.name } order { $p.name } limit 3 }"}, 0, `"fixed":"query q() { match { $p: Person } return { $p.name } order { $p.name } limit 3 }"`},
		{"query_validate", r, args{"query": `query q() { match { $p: Person $p knows{1,2} $_ } return { $p.name } order { $p.name } limit 3 }`}, 0, `"diagnostics":[]`},
		{"query_validate", r, args{"query": `query q() { match { $p: Person $p knows{1,65} $_ } return { $p.name } limit 3 }`}, 0, `"code":"T15"`},
		{"query_validate", r, args{"query": `query q() { match { $p: Person } return { $p.name } }`}, 0, `"code":"L105","severity":"warning"`},
		{"query_validate", r, args{"query": `MATCH (p) RETURN p`}, 0, `{"valid":false,"queries":[],"diagnostics":[{"code":"P`},
		{"query_validate", r, args{"query": strings.Repeat("query q { }\n", 100)}, 0, `"more":`},
		{"query_validate", r, args{"query": ""}, 0, `{"valid":true,"queries":[],"diagnostics":[]}`},
		{"query_validate", r, args{}, 400, `query: missing`},
		{"query_validate", r, args{"query": good, "branch": "none"}, 404, `branch \"none\" not found`},
		{"query_validate", servedtest.Bot, args{"query": good}, 404, `unknown tool: query_validate`},
		{"query_validate", servedtest.Drafter, args{"query": good}, 403, `does not allow read on branch main`},
	})
}

func TestExplain(t *testing.T) {
	r := servedtest.Reader
	read := `query q($n: String) { match { $p: Person { name: $n } } return { $p.age } }`
	change := `query m($n: String) { delete Person where name = $n }`
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"query_explain", r, args{"query": read}, 0, `{"query_name":"q","kind":"read","branch":"main","graph_commit_id":"COMMIT","analyzed":false,"touches":[{"kind":"node","type":"Person","write":false},`},
		{"query_explain", r, args{"query": read, "analyze": true, "params": args{"n": "ada"}}, 0, `"analyzed":true`},
		{"query_explain", r, args{"query": read, "analyze": true, "params": args{"n": "ada"}}, 0, `"rows":1`},
		{"query_explain", r, args{"query": read, "analyze": true}, 400, `params.n: missing, expected a string`},
		{"query_explain", r, args{"query": change}, 0, `"kind":"mutation"`},
		{"query_explain", r, args{"query": change, "analyze": true, "params": args{"n": "ada"}}, 400, `analyze: found true, but m is a mutation`},
		{"query_explain", r, args{"query": read + change}, 400, `name: the name is missing, but the text has several queries`},
		{"query_explain", r, args{"query": read + change, "name": "m"}, 0, `"query_name":"m"`},
		{"query_explain", r, args{"query": "query"}, 400, `the query text has errors`},
		{"query_explain", r, args{"query": read + " query broken() { match { $p: Persn } return { $p } }"}, 400, `the query text has errors; nothing ran; the query q has no errors: send it alone`},
		{"graph_query", r, args{"query": read + change + " query broken() { match { $p: Persn } return { $p } }"}, 400, `nothing ran; the queries q, m have no errors: send them without the others`},
		{"query_validate", r, args{"query": read + " query broken() { match { $p: Persn } return { $p } }"}, 0, `"queries":[{"name":"q","kind":"read"`},
		{"query_explain", servedtest.Bot, args{"query": read}, 404, `unknown tool: query_explain`},
		{"query_explain", servedtest.Drafter, args{"query": read}, 403, `does not allow read on branch main`},
		{"graph_query", r, args{"query": `query q() { match { $p: Person } return { count($p) as n } }`}, 0, `{"n":3}`}, // query_explain deleted nothing
	})
}

func TestBranches(t *testing.T) {
	insert := func(name string, age int) args {
		return args{"query": `query m($n: String, $a: I32) { insert Person { name: $n, age: $a } }`, "params": args{"n": name, "a": age}}
	}
	on := func(branch string, a args) args { a["branch"] = branch; return a }
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"branch_create", nil, args{"name": "trial"}, 0, `{"name":"trial","from":"main","graph_commit_id":"COMMIT","actor_id":"act-writer"}`},
		{"branch_create", nil, args{"name": "trial"}, 409, `"code":"conflict"`},
		{"branch_create", nil, args{"name": "a//b"}, 400, `"error":"name: the branch name \"a//b\" has an empty segment`},
		{"branch_create", nil, args{"name": ""}, 400, `name: found an empty text`},
		{"branch_create", nil, args{"name": "other", "from": "none"}, 404, `branch \"none\" not found`},
		{"branch_create", nil, args{"name": "other", "from_commit": "01J00000000000000000000000"}, 404, `commit`},
		{"branch_create", servedtest.Reader, args{"name": "other"}, 404, `unknown tool: branch_create`},
		{"branch_create", servedtest.Drafter, args{"name": "other", "from": "trial"}, 0, `"from":"trial"`},
		{"branch_create", servedtest.Drafter, args{"name": "leak"}, 403, `does not allow read on branch main`},
		{"branch_merge", nil, args{"source": "trial"}, 0, `"outcome":"already_up_to_date","dry_run":false,"graph_commit_id":null,"head":"COMMIT"`},
		{"graph_mutate", nil, on("trial", insert("dan", 1)), 0, `"affected_nodes":1`},
		{"branch_merge", nil, args{"source": "trial", "dry_run": true}, 0, `"outcome":"fast_forward","dry_run":true,"graph_commit_id":null`},
		{"branch_merge", nil, args{"source": "trial"}, 0, `"outcome":"fast_forward","dry_run":false,"graph_commit_id":"COMMIT"`},
		{"graph_mutate", nil, on("trial", insert("dan", 2)), 0, `"affected_nodes":1`},
		{"graph_mutate", nil, insert("eve", 3), 0, `"affected_nodes":1`},
		{"branch_merge", nil, args{"source": "trial", "target": "main", "if_commit": "01J00000000000000000000000"}, 412, `"precondition_failure":{"expected":"01J00000000000000000000000","actual":"`},
		{"branch_merge", nil, args{"source": "trial"}, 0, `"outcome":"merged"`},
		{"graph_mutate", nil, on("trial", insert("dan", 4)), 0, `"affected_nodes":1`},
		{"graph_mutate", nil, insert("dan", 5), 0, `"affected_nodes":1`},
		{"branch_merge", nil, args{"source": "trial"}, 409, `"code":"conflict","merge_conflicts":[{"kind":"divergent_update","entity_kind":"node","type_name":"Person","id":"dan","property":"age","message":`},
		{"branch_merge", nil, args{"source": "main", "target": "main"}, 400, `"error":"source: `},
		{"branch_merge", nil, args{"source": "none"}, 404, `branch \"none\" not found`},
		{"branch_merge", nil, args{}, 400, `source: missing`},
		{"branch_merge", servedtest.Reader, args{"source": "trial"}, 404, `unknown tool: branch_merge`},
		{"branch_merge", servedtest.Drafter, args{"source": "trial"}, 403, `does not allow branch_merge on branch main`},
		{"branch_merge", servedtest.Drafter, args{"source": "main", "target": "trial"}, 403, `does not allow read on branch main`},
		{"branch_delete", servedtest.Reader, args{"name": "trial"}, 404, `unknown tool: branch_delete`},
		{"branch_delete", servedtest.Drafter, args{"name": "main"}, 403, `does not allow branch_delete on branch main`},
		{"branch_delete", nil, args{"name": "main"}, 409, `"code":"conflict"`},
		{"branch_delete", nil, args{"name": "trial"}, 0, `{"name":"trial","actor_id":"act-writer"}`},
		{"branch_delete", nil, args{"name": "trial"}, 404, `branch \"trial\" not found`},
		{"branch_delete", nil, args{"name": ""}, 400, `name: found an empty text`},
	})
}

func TestLoadFrom(t *testing.T) {
	load := func(data, branch, from string) args {
		return args{"data": data, "mode": "merge", "branch": branch, "from": from}
	}
	const dan = `{"type":"Person","data":{"name":"dan"}}`
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"graph_load", nil, load(dan, "june", "main"), 0, `{"branch":"june","base_branch":"main","branch_created":true,"mode":"merge"`},
		{"graph_load", nil, load(dan, "june", "main"), 0, `{"branch":"june","base_branch":null,"branch_created":false,"mode":"merge"`},
		{"graph_load", nil, load(`{"type":"Persn"}`, "july", "main"), 400, `line 1`},
		{"graph_snapshot", nil, args{"branch": "july"}, 404, `branch \"july\" not found`}, // the failed load deleted the branch
		{"graph_load", nil, load(dan, "a//b", "main"), 400, `"error":"branch: the branch name`},
		{"graph_load", nil, load(dan, "july", "none"), 404, `branch \"none\" not found`},
		{"graph_load", nil, args{"data": dan, "mode": "merge", "from": "main"}, 400, `from: found a branch to start from, but no branch to create`},
		{"graph_load", servedtest.Drafter, load(dan, "july", "main"), 403, `does not allow read on branch main`},
		{"graph_load", servedtest.Drafter, load(dan, "july", "june"), 0, `"base_branch":"june"`},
	})
}

func TestLoadSync(t *testing.T) {
	feed := func(names string) string {
		var b strings.Builder
		for _, name := range strings.Fields(names) {
			b.WriteString(`{"type":"Person","data":{"name":"` + name + `"}}` + "\n")
		}
		return b.String()
	}
	sync := func(data string, more args) args {
		a := args{"data": data, "mode": "sync", "source": "crm", "types": []string{"Person"}}
		maps.Copy(a, more)
		return a
	}
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"graph_load", nil, args{"data": feed("dan"), "mode": "sync"}, 400, `source`},
		{"graph_load", nil, args{"data": feed("dan"), "mode": "merge", "source": "crm"}, 400, `source`},
		{"graph_load", nil, sync(feed("dan eve fay"), nil), 0, `"sync":{"overwritten":0,"released":0,"deleted":0,"cascaded":0,"kept":0`},
		{"graph_load", nil, sync(feed("dan"), nil), 409, `approve_deletes 2`},
		{"graph_load", nil, sync(feed("dan"), args{"approve_deletes": 2, "cascade": true, "yield": []string{"Person.age"}}), 0, `"deleted":2`},
		{"graph_load", nil, sync(feed("dan"), args{"approve_deletes": -1}), 400, `approve_deletes`},
		{"graph_load", servedtest.Reader, sync("", nil), 404, `unknown tool: graph_load`},
	})
}

// instant matches a time in an answer, in microseconds.
var instant = regexp.MustCompile(`"created_at":\d{16}\b`)

func TestCommits(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.PageKeys.List = [][]byte{make([]byte, 32)} // run opens the graph again
	g := servedtest.Graph(t, c)
	w := servedtest.Writer
	for _, name := range []string{"dan", "eve", "fay"} {
		call(t, c, g, w, "graph_mutate", args{"query": `query m($n: String) { insert Person { name: $n } }`, "params": args{"n": name}})
	}
	call(t, c, g, w, "branch_create", args{"name": "trial"})
	call(t, c, g, w, "graph_mutate", args{"query": `query m() { insert Person { name: "gus" } }`, "branch": "trial"})
	head, err := c.Graph.Snapshot(context.Background(), engine.Target{Branch: "trial"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Graph.Commits(context.Background(), "main", engine.CommitRange{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	token, pages := "", 0
	for {
		a := args{"limit": 2}
		if token != "" {
			a["page_token"] = token
		}
		raw, _ := json.Marshal(a)
		answer, err := g.Call(context.Background(), servedtest.Reader, "commit_list", raw, encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if times := instant.FindAll(answer.JSON, -1); len(times) == 0 || len(times) != strings.Count(string(answer.JSON), "created_at") {
			t.Errorf("found %s, expected times in microseconds", answer.JSON)
		}
		var page builtin.CommitsAnswer
		if err := json.Unmarshal(answer.JSON, &page); err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Commits {
			seen = append(seen, c.GraphCommitID)
		}
		if pages++; page.NextPageToken == "" {
			break
		}
		token = page.NextPageToken
	}
	var want []string
	for _, c := range all {
		want = append(want, c.ID)
	}
	if strings.Join(seen, " ") != strings.Join(want, " ") || pages != (len(want)+1)/2 {
		t.Errorf("%d pages: %v, want %v", pages, seen, want)
	}
	r := servedtest.Reader
	run(t, c, []step{
		{"commit_list", r, args{"limit": 1}, 0, `{"branch":"main","commits":[{"graph_commit_id":"COMMIT","graph_branch":`},
		{"commit_list", r, args{"branch": "trial", "limit": 1}, 0, head.Commit.ID},
		{"commit_list", r, args{"limit": 501}, 400, `limit: found 501, expected 1 to 500`},
		{"commit_list", r, args{"page_token": "zzz"}, 400, `page_token: it is damaged, or this server did not make it; send next_page_token unchanged, with the arguments of the first page; or leave page_token out to get the first page`},
		{"commit_list", r, args{"page_token": token, "branch": "trial"}, 400, `page_token: it belongs to the branch main`},
		{"commit_list", r, args{"branch": "none"}, 404, `branch \"none\" not found`},
		{"commit_list", servedtest.Bot, nil, 404, `unknown tool: commit_list`},
		{"commit_list", servedtest.Drafter, nil, 403, `does not allow read on branch main`},

		{"commit_get", r, args{"commit": want[0]}, 0, `"nodes":{"inserted":1,"updated":0,"deleted":0},"edges":{"inserted":0,"updated":0,"deleted":0}}`},
		{"commit_get", r, args{"commit": want[0], "branch": "trial"}, 0, `"graph_branch":"main"`}, // the history of trial includes its origin
		{"commit_get", r, args{"commit": head.Commit.ID, "branch": "trial"}, 0, `"graph_branch":"trial"`},
		// A commit of another branch does not belong to main, so a grant on main shows
		// nothing of trial.
		{"commit_get", r, args{"commit": head.Commit.ID}, 404, `{"error":"on branch main, commit \"` + head.Commit.ID + `\" not found","code":"not_found"}`},
		{"commit_get", r, args{"commit": "x"}, 404, `{"error":"on branch main, commit \"x\" not found","code":"not_found"}`},
		{"commit_get", r, args{}, 400, `commit: missing`},
		{"commit_get", servedtest.Bot, args{"commit": want[0]}, 404, `unknown tool: commit_get`},
		{"commit_get", servedtest.Drafter, args{"commit": want[0]}, 403, `does not allow read on branch main`},
	})
}

func TestChanges(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	write := func(query string, branch string) string {
		got, status := call(t, c, g, servedtest.Writer, "graph_mutate", args{"query": query, "branch": branch})
		var a struct {
			GraphCommitID string `json:"graph_commit_id"`
		}
		if err := json.Unmarshal([]byte(got), &a); err != nil || status != 0 {
			t.Fatal(status, got, err)
		}
		if a.GraphCommitID == "COMMIT" {
			head, err := c.Graph.Snapshot(context.Background(), engine.Target{})
			if err != nil {
				t.Fatal(err)
			}
			a.GraphCommitID = head.Commit.ID
		}
		return a.GraphCommitID
	}
	updated := write(`query m() { update Person set { age: 37, big: 9007199254740995 } where name = "ada" insert Person { name: "dan", tags: ["a"], score: 1.5, born: date("2024-05-01") } insert Knows { from: "dan", to: "ada" } }`, "main")
	deleted := write(`query m() { delete Person where name = "bob" }`, "main")
	call(t, c, g, servedtest.Writer, "branch_create", args{"name": "trial"})
	drafted := write(`query m() { insert Person { name: "gus" } }`, "trial")
	r := servedtest.Reader
	run(t, c, []step{
		{"change_list", r, args{"commit": updated}, 0, `"nodes":{"inserted":1,"updated":1,"deleted":0},"edges":{"inserted":1,"updated":0,"deleted":0},"changes":[` +
			`{"kind":"node","op":"update","type":"Person","id":"ada","properties":[{"name":"age","old":36,"new":37},{"name":"big","old":"9007199254740993","new":"9007199254740995"}]},` +
			`{"kind":"node","op":"insert","type":"Person","id":"dan","properties":[{"name":"name","old":null,"new":"dan"},{"name":"score","old":null,"new":1.5},{"name":"born","old":null,"new":"2024-05-01"},{"name":"tags","old":null,"new":["a"]}]},` +
			`{"kind":"edge","op":"insert","type":"Knows","id":"`},
		{"change_list", r, args{"commit": deleted}, 0, `"nodes":{"inserted":0,"updated":0,"deleted":1},"edges":{"inserted":0,"updated":0,"deleted":1}`},
		{"change_list", r, args{"commit": drafted, "branch": "trial"}, 0, `"id":"gus"`},
		{"change_list", r, args{"commit": drafted}, 404, `on branch main, commit \"` + drafted + `\" not found`},
		{"change_list", r, args{"commit": "x"}, 404, `on branch main, commit \"x\" not found`},
		{"change_list", r, args{}, 400, `commit: missing`},
		{"change_list", r, args{"commit": updated, "page_token": "e30"}, 400, `page_token`},
		{"change_list", r, args{"commit": updated, "limit": 1001}, 400, `limit: found 1001`},
		{"change_list", servedtest.Bot, args{"commit": updated}, 404, `unknown tool: change_list`},
		{"change_list", servedtest.Drafter, args{"commit": updated}, 403, `does not allow read on branch main`},
	})

	// Pages of one change each must together equal the whole list.
	page := func(token string, limit int) *builtin.ChangeListResult {
		a := args{"commit": updated, "limit": limit}
		if token != "" {
			a["page_token"] = token
		}
		raw, _ := json.Marshal(a)
		answer, err := g.Call(context.Background(), r, "change_list", raw, encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := &builtin.ChangeListResult{}
		if err := json.Unmarshal(answer.JSON, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, _ := json.Marshal(page("", 10).Changes)
	var joined []builtin.ChangeAnswer
	for token := ""; ; {
		p := page(token, 1)
		joined = append(joined, p.Changes...)
		if token = p.NextPageToken; token == "" {
			break
		}
		if len(p.Changes) != 1 || len(joined) > 3 {
			t.Fatalf("pages: %+v", joined)
		}
	}
	if got, _ := json.Marshal(joined); string(got) != string(whole) {
		t.Errorf("pages: %s\nwhole: %s", got, whole)
	}
}

// TestChangesBytes checks that a page of large values ends early and that no change is
// lost.
func TestChangesBytes(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	g := servedtest.Graph(t, c)
	var data strings.Builder
	for i := range 5 {
		fmt.Fprintf(&data, `{"type":"Person","data":{"name":"big%d","tags":["%s"]}}`+"\n", i, strings.Repeat("x", 400_000))
	}
	call(t, c, g, servedtest.Writer, "graph_load", args{"mode": "merge", "data": data.String()})
	head, err := c.Graph.Snapshot(context.Background(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	seen, token := 0, ""
	for pages := 0; ; pages++ {
		raw, _ := json.Marshal(args{"commit": head.Commit.ID, "page_token": token})
		if token == "" {
			raw, _ = json.Marshal(args{"commit": head.Commit.ID})
		}
		answer, err := g.Call(context.Background(), servedtest.Reader, "change_list", raw, encoding.Options{})
		if err != nil || len(answer.JSON) > 3<<19 {
			t.Fatalf("%d bytes, %v", len(answer.JSON), err)
		}
		var p builtin.ChangeListResult
		if err := json.Unmarshal(answer.JSON, &p); err != nil {
			t.Fatal(err)
		}
		seen += len(p.Changes)
		if token = p.NextPageToken; token == "" {
			break
		}
	}
	if seen != 5 {
		t.Errorf("saw %d changes, want 5", seen)
	}
}

func TestSchemaApply(t *testing.T) {
	wider := strings.Replace(servedtest.Source, "age: I32?", "age: I32? height: F64?", 1)
	narrower := strings.Replace(servedtest.Source, "  age: I32?\n", "", 1)
	run(t, servedtest.Config(t, builtin.Local("1", nil)...), []step{
		{"schema_apply", nil, args{"schema": wider, "dry_run": true}, 0, `"supported":true,"applied":false,"destructive":false,"step_count":1`},
		{"schema_apply", nil, args{"schema": wider}, 0, `"supported":true,"applied":true,"destructive":false,"step_count":1`},
		{"type_describe", nil, args{"name": "Person"}, 0, `"name":"height"`},
		{"schema_apply", nil, args{"schema": wider}, 0, `"applied":false,"destructive":false,"step_count":0,"steps":[]`},
		{"schema_apply", nil, args{"schema": "interface Named { name: String }\n" + strings.Replace(wider, "node Person {", "node Person implements Named {", 1)}, 0, `"applied":true`},
		{"type_describe", nil, args{"name": "Person"}, 0, `"implements":["Named"]`},
		{"type_describe", nil, args{"name": "Named"}, 400, `name: Named is an interface, which this tool does not describe; name a type that implements it: Person`},
		{"schema_apply", nil, args{"schema": narrower}, 409, `allow data loss`},
		{"schema_apply", nil, args{"schema": narrower, "allow_data_loss": true}, 0, `"applied":true,"destructive":true`},
		{"schema_apply", nil, args{"schema": "node person {}"}, 400, `the schema has errors`},
		{"schema_apply", nil, args{"schema": wider, "if_commit": "01J00000000000000000000000"}, 412, `"precondition_failure"`},
		{"schema_apply", nil, args{}, 400, `schema: missing`},
		{"schema_apply", servedtest.Reader, args{"schema": wider}, 404, `unknown tool: schema_apply`},
		{"schema_apply", servedtest.Drafter, args{"schema": wider}, 403, `does not allow schema_apply on branch main`},
	})
	run(t, servedtest.Config(t, builtin.All("1")...), []step{
		{"schema_apply", nil, args{"schema": wider}, 409, `run omnigraph cluster apply","code":"conflict"}`},
		{"schema_apply", servedtest.Drafter, args{"schema": wider}, 403, `does not allow schema_apply on branch main`},
		{"schema_apply", servedtest.Reader, args{"schema": wider}, 404, `unknown tool: schema_apply`},
	})
}

func TestCodeIndex(t *testing.T) {
	text, err := os.ReadFile("../../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	s, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	read := func(ctx context.Context, dir string, deps bool) (*codegraph.Graph, error) {
		return gocode.Read(ctx, gocode.Options{Dir: dir, Deps: deps, Env: append(os.Environ(), "GOWORK=off", "GOPROXY=off")})
	}
	c := servedtest.Config(t, builtin.Local("1", read)...)
	run(t, c, []step{{"code_index", nil, args{"dir": "."}, 400, `branch: the graph has no node type Symbol`}})
	g := naive.New(string(text), s, naive.Sound)
	t.Cleanup(func() { g.Close() })
	c.Graph, c.Catalog = g, nil
	shop, err := filepath.Abs("../../source/gocode/testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, []step{
		{"code_index", nil, args{"dir": shop}, 0, `"mode":"merge","nodes":[{"name":"Module"`},
		{"code_index", nil, args{"dir": shop, "mode": "overwrite"}, 0, `"mode":"overwrite"`},
		{"code_index", nil, args{"dir": shop, "mode": "append"}, 400, `mode: found the string \"append\", expected`},
		{"code_index", nil, args{"dir": t.TempDir()}, 400, `dir: `},
		{"code_index", servedtest.Reader, args{"dir": shop}, 404, `unknown tool: code_index`},
		{"code_index", servedtest.Drafter, args{"dir": shop}, 403, `does not allow change on branch main`},
		{"type_path", nil, args{"from": "Module", "to": "Symbol"}, 0, `"match":"$module: Module\n$module provides $package\n$package holds $symbol"`},
		{"gq_reference", nil, args{"topic": "overview"}, 0, `$module: Module { path: $path }`},
	})
	for _, tl := range builtin.All("1") {
		if tl.Descriptor().Name == "code_index" {
			t.Error("a cluster serves code_index, which reads the server's own disk")
		}
	}
}

// TestReferenceTopics checks that the description names every topic.
func TestReferenceTopics(t *testing.T) {
	for _, tl := range builtin.All("1") {
		d := tl.Descriptor()
		if d.Name != "gq_reference" {
			continue
		}
		for _, topic := range guide.Topics() {
			if !strings.Contains(d.Description, topic.Name) {
				t.Errorf("the description does not name %s", topic.Name)
			}
		}
	}
}
