package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

func TestHistory(t *testing.T) {
	writer, reader, bot := servedtest.Writer, servedtest.Reader, servedtest.Bot
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "snapshot", actor: reader, method: "GET", path: "/snapshot", status: 200, header: `ETag: "COMMIT"`,
			want: `{"graph_branch":"main","graph_manifest_version":2,"internal_schema_version":1,"graph_commit_id":"COMMIT","schema_digest":"sha256:`},
		{name: "datasets", actor: reader, method: "GET", path: "/snapshot?branch=main", status: 200,
			want: `"datasets":[{"type_name":"Person","entity_kind":"node","entity_count":3,"published_dataset_version":2,"dataset_path":"Person","native_dataset_branch":null},{"type_name":"Knows","entity_kind":"edge","entity_count":1,`},
		{name: "snapshot of a commit", actor: reader, method: "GET", path: "/snapshot?snapshot=COMMIT", status: 200, want: `"graph_branch":"main"`},
		{name: "snapshot of both", actor: reader, method: "GET", path: "/snapshot?snapshot=COMMIT&branch=main", status: 400, want: `snapshot: found together with branch`},
		{name: "snapshot denied", actor: bot, method: "GET", path: "/snapshot", status: 403, want: `read on branch main`},
		{name: "snapshot of no branch", actor: reader, method: "GET", path: "/snapshot?branch=nope", status: 404, want: `branch \"nope\" not found`},
		{name: "snapshot that is held", actor: reader, method: "GET", path: "/snapshot", send: `If-None-Match: "x", W/"COMMIT"`, status: 304, header: `ETag: "COMMIT"`},
		{name: "snapshot that is not held", actor: reader, method: "GET", path: "/snapshot", send: `If-None-Match: "COMMI"`, status: 200},
		{name: "held, but denied", actor: bot, method: "GET", path: "/snapshot", send: `If-None-Match: "COMMIT"`, status: 403},
		{name: "schema that is held", actor: reader, method: "GET", path: "/schema", send: `If-None-Match: *`, status: 304, header: `ETag: "COMMIT"`},
		{name: "schema of a commit", actor: reader, method: "GET", path: "/schema?snapshot=COMMIT", status: 200, want: `{"schema_source":"node Person`, header: `ETag: "COMMIT"`},
		{name: "head only", actor: reader, method: "HEAD", path: "/schema", status: 200, header: `ETag: "COMMIT"`},
		{name: "commits", actor: reader, method: "GET", path: "/commits", status: 200, header: `ETag: "COMMIT"`,
			want: `{"commits":[{"graph_commit_id":"COMMIT","graph_branch":"main","graph_manifest_version":2,"parent_commit_id":"`},
		{name: "the last page of commits", actor: reader, method: "GET", path: "/commits?branch=main&before=2", status: 200,
			want: `"parent_commit_id":null,"merged_parent_commit_id":null,"actor_id":null,"created_at":`, lacks: "COMMIT"},
		{name: "a page of commits", actor: reader, method: "GET", path: "/commits?limit=1", status: 200, want: `"next_before":2,"next_page_token":"`},
		{name: "no more commits", actor: reader, method: "GET", path: "/commits", status: 200, want: `"next_before":null}`},
		{name: "types, which stored queries change too", actor: reader, method: "GET", path: "/schema/types", send: `If-None-Match: *`, status: 200},
		{name: "commits that are held", actor: reader, method: "GET", path: "/commits", send: `If-None-Match: "COMMIT"`, status: 304},
		{name: "two places of commits", actor: reader, method: "GET", path: "/commits?before=2&page_token=x", status: 400, want: `page_token: found together with before, expected only one of them`},
		{name: "damaged token of commits", actor: reader, method: "GET", path: "/commits?page_token=x", status: 400, want: `page_token: it is damaged`},
		{name: "damaged token of changes", actor: reader, method: "GET", path: "/commits/COMMIT/changes?page_token=x", status: 400, want: `page_token: it is damaged`},
		{name: "damaged token denied", actor: bot, method: "GET", path: "/commits?page_token=x", status: 403},
		{name: "bad limit", actor: reader, method: "GET", path: "/commits?limit=0", status: 400, want: `limit: found \"0\", expected a whole number, 1 or more`},
		{name: "bad before", actor: reader, method: "GET", path: "/commits?before=x", status: 400, want: `before: found \"x\"`},
		{name: "commits denied", actor: bot, method: "GET", path: "/commits", status: 403},
		{name: "commits of no branch", actor: reader, method: "GET", path: "/commits?branch=nope", status: 404, want: `branch \"nope\" not found`},
		{name: "commit", actor: reader, method: "GET", path: "/commits/COMMIT", status: 200, want: `{"graph_commit_id":"COMMIT","graph_branch":"main","graph_manifest_version":2,`, header: `ETag: "COMMIT"`},
		{name: "commit that is held", actor: reader, method: "GET", path: "/commits/COMMIT", send: `If-None-Match: "COMMIT"`, status: 304},
		{name: "no commit", actor: reader, method: "GET", path: "/commits/zzz", status: 404, want: `{"error":"commit \"zzz\" not found","code":"not_found"}`},
		{name: "commit of another branch", actor: reader, method: "GET", path: "/commits/COMMIT?branch=nope", status: 404, want: `not found`},
		{name: "commit denied", actor: bot, method: "GET", path: "/commits/COMMIT", status: 403, want: `read on branch main`},
		{name: "changes", actor: reader, method: "GET", path: "/commits/COMMIT/changes?limit=1", status: 200, header: `ETag: "COMMIT"`,
			want: `{"cause":{"graph_commit_id":"COMMIT","parent_commit_id":"`},
		{name: "the cause of changes", actor: reader, method: "GET", path: "/commits/COMMIT/changes", status: 200, want: `"merged_parent_commit_id":null,"actor_id":null,"authored_at":`},
		{name: "inserted nodes", actor: reader, method: "GET", path: "/commits/COMMIT/changes?type=Person&limit=1", status: 200,
			want: `"authored_branch":"main"},"changes":[{"kind":"node","type":{"id":"`},
		{name: "the image of a node", actor: reader, method: "GET", path: "/commits/COMMIT/changes?limit=1", status: 200,
			want: `","name":"Person"},"id":"ada","op":"insert","before":null,"after":{"properties":{"age":36,"big":9007199254740993,"born":"1815-12-10","name":"ada","score":0.5,"seen":"2024-05-01T12:30:00.000Z","tags":["x","\"y\""]},"endpoints":null}}],"next_page_token":"`},
		{name: "the image of an edge", actor: reader, method: "GET", path: "/commits/COMMIT/changes?kind=edge&op=insert&op=update", status: 200,
			want: `"op":"insert","before":null,"after":{"properties":{},"endpoints":{"from":"ada","to":"bob"}}}],"next_page_token":null}`},
		{name: "no such changes", actor: reader, method: "GET", path: "/commits/COMMIT/changes?op=delete", status: 200, want: `"changes":[],"next_page_token":null}`},
		{name: "an edge type in another case", actor: reader, method: "GET", path: "/commits/COMMIT/changes?type=knows", status: 200, want: `"name":"Knows"},"id":"`, lacks: `"Person"`},
		{name: "no type", actor: reader, method: "GET", path: "/commits/COMMIT/changes?type=Persn&type=Person", status: 404, want: `type \"Persn\" not found`},
		{name: "no kind", actor: reader, method: "GET", path: "/commits/COMMIT/changes?kind=node&kind=vertex", status: 400, want: `kind: found \"vertex\", expected one of node, edge`},
		{name: "no op", actor: reader, method: "GET", path: "/commits/COMMIT/changes?op=inserted", status: 400, want: `op: found \"inserted\", expected one of insert, update, delete`},
		{name: "changes denied", actor: bot, method: "GET", path: "/commits/COMMIT/changes", status: 403, want: `read on branch main`},
		{name: "changes that are held", actor: reader, method: "GET", path: "/commits/COMMIT/changes", send: `If-None-Match: "COMMIT"`, status: 304},
		{name: "changes of no commit", actor: reader, method: "GET", path: "/commits/zzz/changes", status: 404},
		{name: "by name", actor: writer, method: "POST", path: "/load/ndjson", media: ndjson, body: `{"type":"Person","data":{"name":"cyd","age":1}}`, status: 200},
		{name: "update", actor: reader, method: "GET", path: "/commits/COMMIT/changes", status: 200,
			want: `"id":"cyd","op":"update","before":{"properties":{"age":null,"big":null,"born":null,"name":"cyd","score":null,"seen":null,"tags":null},"endpoints":null},"after":{"properties":{"age":1,"big":null,`},
	})
}

// TestFreshBranch checks the answers about a new branch. They must contain the name of the new
// branch, even while its head is a commit of the branch that it was made from.
func TestFreshBranch(t *testing.T) {
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "make", actor: servedtest.Writer, method: "POST", path: "/branches", body: `{"name":"trial"}`, status: 200},
		{name: "snapshot", actor: servedtest.Drafter, method: "GET", path: "/snapshot?branch=trial", status: 200, want: `{"graph_branch":"trial",`},
		{name: "commits", actor: servedtest.Drafter, method: "GET", path: "/commits?branch=trial", status: 200, want: `"graph_branch":"main"`},
		{name: "commit", actor: servedtest.Drafter, method: "GET", path: "/commits/COMMIT?branch=trial", status: 200},
		{name: "commit of main", actor: servedtest.Drafter, method: "GET", path: "/commits/COMMIT", status: 403, want: `read on branch main`},
	})
}

// TestPages checks that the pages of commits together form the whole list.
func TestPages(t *testing.T) {
	c := servedtest.Config(t)
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	var lines strings.Builder
	for i := range 25 {
		fmt.Fprintf(&lines, "{\"type\":\"Person\",\"data\":{\"name\":\"p/%02d\"}}\n", i)
		if _, err := c.Graph.Load(t.Context(), strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Merge}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for before := ""; ; {
		var page client.CommitList
		get(t, h, "/commits?limit=4"+before, &page)
		for _, c := range page.Commits {
			ids = append(ids, c.GraphCommitID)
		}
		if page.NextBefore == nil {
			break
		}
		before = fmt.Sprint("&before=", *page.NextBefore)
	}
	var whole client.CommitList
	get(t, h, "/commits", &whole)
	if len(ids) != len(whole.Commits) || len(ids) != 27 {
		t.Errorf("the pages have %d commits, the whole has %d", len(ids), len(whole.Commits))
	}
	for i, c := range whole.Commits {
		if ids[i] != c.GraphCommitID {
			t.Errorf("commit %d is %s on its page, and %s in the whole", i, ids[i], c.GraphCommitID)
		}
	}
}

// TestPageTokens follows the page tokens of all lists, and compares the pages with the whole lists.
// A token of one list must not be valid in another.
func TestPageTokens(t *testing.T) {
	c := servedtest.Config(t)
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	for i := range 5 {
		if _, err := c.Graph.CreateBranch(t.Context(), fmt.Sprintf("trial/%d", i), engine.Target{}); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("{\"type\":\"Person\",\"data\":{\"name\":\"p/%02d\"}}\n", i)
		if _, err := c.Graph.Load(t.Context(), strings.NewReader(line), engine.LoadOptions{Mode: engine.Merge}); err != nil {
			t.Fatal(err)
		}
	}
	var commits client.CommitList
	get(t, h, "/commits", &commits)
	lists := map[string]string{
		"branches": "/branches?", "commits": "/commits?",
		"changes": "/commits/" + commits.Commits[len(commits.Commits)-2].GraphCommitID + "/changes?",
	}
	items := map[string]string{"branches": "heads", "commits": "commits", "changes": "changes"}
	tokens := map[string]string{}
	for list, path := range lists {
		read := func(query string) (found []string, token string) {
			var page map[string]json.RawMessage
			get(t, h, path+query, &page)
			var all []json.RawMessage
			if err := json.Unmarshal(page[items[list]], &all); err != nil {
				t.Fatal(err)
			}
			for _, item := range all {
				found = append(found, string(item))
			}
			if b := page["next_page_token"]; b != nil && string(b) != "null" {
				if err := json.Unmarshal(page["next_page_token"], &token); err != nil || token == "" {
					t.Fatalf("%s: token %q, %v", list, token, err)
				}
			}
			return found, token
		}
		want, last := read("")
		if last != "" || len(want) < 4 {
			t.Errorf("the whole list of %s has %d items and the token %q", list, len(want), last)
		}
		got, token := read("limit=1")
		for tokens[list] = token; token != ""; {
			var more []string
			if more, token = read("limit=2&page_token=" + token); len(more) == 0 {
				t.Fatalf("a page of %s is empty", list)
			}
			got = append(got, more...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the pages of %s have %v, expected %v", list, got, want)
		}
	}
	for list, path := range lists {
		for of, token := range tokens {
			w := do(h, servedtest.Writer, "GET", "/graphs/people"+path+"page_token="+token, "")
			if wrong := "page_token: it belongs to the list of " + of; of != list && (w.Code != 400 || !strings.Contains(w.Body.String(), wrong)) {
				t.Errorf("a token of %s in the list of %s: %d %s", of, list, w.Code, w.Body)
			}
		}
		other := do(h, servedtest.Reader, "GET", "/graphs/people"+path+"page_token="+tokens[list], "")
		if other.Code != 400 || !strings.Contains(other.Body.String(), "it belongs to another actor") {
			t.Errorf("the token of another actor in the list of %s: %d %s", list, other.Code, other.Body)
		}
	}
}

func get(t *testing.T, h http.Handler, path string, into any) {
	t.Helper()
	w := do(h, servedtest.Writer, "GET", "/graphs/people"+path, "")
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
}
