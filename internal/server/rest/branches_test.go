package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// steps sends requests to one graph, in order. It stops at the first request that fails.
func steps(t *testing.T, c servedgraph.Config, opts rest.Options, all []request) {
	t.Helper()
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, opts))
	for _, q := range all {
		if !t.Run(q.name, func(t *testing.T) { q.run(t, c, h) }) {
			return // later requests depend on it
		}
	}
}

const ndjson = "application/x-ndjson"

func TestBranches(t *testing.T) {
	writer, reader, drafter := servedtest.Writer, servedtest.Reader, servedtest.Drafter
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "main", actor: reader, method: "GET", path: "/branches", status: 200, want: `{"branches":["main"],"heads":[{"name":"main","graph_commit_id":"COMMIT",`},
		{name: "list denied", actor: servedtest.Bot, method: "GET", path: "/branches", status: 403, want: `read on branch main`},
		{name: "create", actor: writer, method: "POST", path: "/branches", body: `{"name":"review/june"}`, status: 200,
			want: `{"uri":"omnigraph://people","from":"main","name":"review/june","actor_id":"act-writer","graph_commit_id":"COMMIT"}`},
		{name: "exists", actor: writer, method: "POST", path: "/branches", body: `{"name":"review/june","from":"main"}`, status: 409, want: `"code":"conflict"`},
		{name: "create denied", actor: reader, method: "POST", path: "/branches", body: `{"name":"x"}`, status: 403, want: `branch_create on branch x`},
		{name: "create from what may not be read", actor: drafter, method: "POST", path: "/branches", body: `{"name":"x"}`, status: 403, want: `read on branch main`},
		{name: "create from a commit that may not be read", actor: drafter, method: "POST", path: "/branches", body: `{"name":"x","from_commit":"COMMIT"}`, status: 403, want: `read on branch main`},
		{name: "create at a commit", actor: writer, method: "POST", path: "/branches", body: `{"name":"merge","from_commit":"COMMIT"}`, status: 200, want: `"from":"main","name":"merge","actor_id":"act-writer","graph_commit_id":"COMMIT"`},
		{name: "create at no commit", actor: writer, method: "POST", path: "/branches", body: `{"name":"x","from_commit":"zzz"}`, status: 404, want: `commit \"zzz\" not found`},
		{name: "no name", actor: writer, method: "POST", path: "/branches", body: `{"name":""}`, status: 400, want: `name: found an empty text`},
		{name: "bad name", actor: writer, method: "POST", path: "/branches", body: `{"name":"a/../b"}`, status: 400, want: `choose another`},
		{name: "name of a dot", actor: writer, method: "POST", path: "/branches", body: `{"name":"a/."}`, status: 400, want: `has the segment \".\", which clients remove from URLs; choose another name`},
		{name: "dot to delete", actor: writer, method: "DELETE", path: "/branches/%2E", status: 404, want: `branch \".\" not found`},
		{name: "of no branch", actor: writer, method: "POST", path: "/branches", body: `{"name":"x","from":"nope"}`, status: 404, want: `branch \"nope\" not found`},
		{name: "heads that may be read", actor: writer, method: "GET", path: "/branches", status: 200, want: `{"branches":["main","merge","review/june"],"heads":[{"name":"main"`},
		{name: "write to it", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { update Person set { age: 1 } where name = \"ada\" }","branch":"review/june"}`, status: 200, want: `"branch":"review/june"`},
		{name: "first page", actor: writer, method: "GET", path: "/branches?limit=2", status: 200, want: `{"branches":["main","merge"],"heads":[{"name":"main"`},
		{name: "its token", actor: writer, method: "GET", path: "/branches?limit=2", status: 200, want: `],"next_page_token":"`},
		{name: "page of none", actor: writer, method: "GET", path: "/branches?limit=0", status: 400, want: `limit`},
		{name: "damaged token", actor: writer, method: "GET", path: "/branches?page_token=e30", status: 400, want: `page_token: it is damaged`},
		{name: "try a merge", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"review/june","dry_run":true,"delete_branch":true}`, status: 200,
			want: `"outcome":"fast_forward","branch_deleted":false,"branch_delete_error":null,"affected_nodes":1,"affected_edges":0,"graph_commit_id":null,"actor_id":"act-writer","dry_run":true}`},
		{name: "merge elsewhere", actor: writer, method: "POST", path: "/branches/merge", send: "Omnigraph-If-Graph-Commit: 01J00000000000000000000000", body: `{"source":"review/june"}`, status: 412,
			want: `"precondition_failure":{"expected":"01J00000000000000000000000","actual":"COMMIT"}}`},
		{name: "merge denied", actor: reader, method: "POST", path: "/branches/merge", body: `{"source":"review/june"}`, status: 403, want: `branch_merge on branch main`},
		{name: "merge", actor: writer, method: "POST", path: "/branches/merge", send: `Omnigraph-If-Graph-Commit: "COMMIT"`, body: `{"source":"review/june","target":"main","delete_branch":true}`, status: 200,
			want: `{"source":"review/june","target":"main","outcome":"fast_forward","branch_deleted":true,"branch_delete_error":null,"affected_nodes":1,"affected_edges":0,"graph_commit_id":"COMMIT",`},
		{name: "it is gone", actor: writer, method: "GET", path: "/branches", status: 200, want: `{"branches":["main","merge"]`},
		{name: "merge what is gone", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"review/june"}`, status: 404, want: `branch \"review/june\" not found`},
		{name: "up to date", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"merge"}`, status: 200, want: `"outcome":"already_up_to_date"`},
		{name: "merge main into a branch and delete it", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"main","target":"merge","delete_branch":true}`, status: 200,
			want: `"outcome":"fast_forward","branch_deleted":false,"branch_delete_error":"`},
		{name: "one side", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { update Person set { age: 2 } where name = \"ada\" }","branch":"merge"}`, status: 200},
		{name: "other side", actor: writer, method: "POST", path: "/mutate", body: `{"query":"query m() { update Person set { age: 3 } where name = \"ada\" }"}`, status: 200},
		{name: "conflict", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"merge"}`, status: 409,
			want: `"merge_conflicts":[{"kind":"divergent_update","entity_kind":"node","type_name":"Person","id":"ada","property":"age","message":`},
		{name: "slash", actor: writer, method: "POST", path: "/branches", body: `{"name":"a/b"}`, status: 200},
		{name: "delete with a slash", actor: writer, method: "DELETE", path: "/branches/a%2Fb", status: 200, want: `{"uri":"omnigraph://people","name":"a/b","actor_id":"act-writer"}`},
		{name: "delete a branch called merge", actor: writer, method: "DELETE", path: "/branches/merge", status: 200, want: `"name":"merge"`},
		{name: "delete again", actor: writer, method: "DELETE", path: "/branches/merge", status: 404, want: `branch \"merge\" not found`},
		{name: "delete denied", actor: reader, method: "DELETE", path: "/branches/merge", status: 403, want: `branch_delete on branch merge`},
		{name: "delete main", actor: writer, method: "DELETE", path: "/branches/main", status: 409, want: `"code":"conflict"`},
		{name: "delete under a condition", actor: writer, method: "DELETE", path: "/branches/x", send: "Omnigraph-If-Graph-Commit: x", status: 400, want: `does not apply`},
	})
}

// allow is an authorizer that calls a function.
type allow func(a *access.Actor, g tool.Grant) bool

func (f allow) Allowed(a *access.Actor, g tool.Grant) bool { return f(a, g) }
func (allow) Branches() []string                           { return nil }
func (allow) BranchClass(name string) string               { return name }
func (allow) Protection(tool.Branch) *tool.Protection      { return nil }
func (allow) InGroup(*access.Actor, string) bool           { return false }
func (allow) Owns(string, string) bool                     { return false }

// TestMergeWithoutDelete checks that a caller who may not delete the source gets 403 before
// anything is merged.
func TestMergeWithoutDelete(t *testing.T) {
	c := servedtest.Config(t)
	c.Authorizer = allow(func(_ *access.Actor, g tool.Grant) bool { return g.Action != tool.BranchDelete })
	writer := servedtest.Writer
	steps(t, c, rest.Options{}, []request{
		{name: "branch", actor: writer, method: "POST", path: "/branches", body: `{"name":"trial"}`, status: 200},
		{name: "write", actor: writer, method: "POST", path: "/load/ndjson?branch=trial", media: ndjson, body: `{"type":"Person","data":{"name":"eve"}}`, status: 200},
		{name: "merge", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"trial","delete_branch":true}`, status: 403, want: `branch_delete on branch trial`},
		{name: "nothing merged", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"trial"}`, status: 200, want: `"outcome":"fast_forward"`},
	})
}

// undeletable is a graph that cannot delete its branches because of a fault of the server.
type undeletable struct{ engine.Graph }

func (undeletable) DeleteBranchAt(context.Context, string, string) error {
	return errors.New("disk on fire")
}

// TestMergeThenFail merges a source that cannot be deleted. The merge must succeed, and the reason
// in the answer must reveal no internals of the server.
func TestMergeThenFail(t *testing.T) {
	c := servedtest.Config(t)
	c.Graph = undeletable{c.Graph}
	writer := servedtest.Writer
	steps(t, c, rest.Options{}, []request{
		{name: "branch", actor: writer, method: "POST", path: "/branches", body: `{"name":"trial"}`, status: 200},
		{name: "merge", actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"trial","delete_branch":true}`, status: 200,
			want: `"branch_deleted":false,"branch_delete_error":"internal error (id `, lacks: "fire"},
	})
}

// contended is a graph. After every merge, it immediately writes to the source of the merge, as
// another writer could.
type contended struct {
	engine.Graph
	write func()
}

func (c contended) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	r, err := c.Graph.Merge(ctx, source, target, opts)
	c.write()
	return r, err
}

// TestMergeKeepsWhatFollowed checks that a merge deletes its source only if the head is still
// the merged one. Later writes to the source were acknowledged, so they must not be lost.
func TestMergeKeepsWhatFollowed(t *testing.T) {
	c := servedtest.Config(t)
	inner, names := c.Graph, 0
	write := func() {
		names++
		l := strings.NewReader(fmt.Sprintf(`{"type":"Person","data":{"name":"late%d"}}`, names))
		if _, err := inner.Load(t.Context(), l, engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "trial"}}); err != nil {
			t.Error(err)
		}
	}
	c.Graph = contended{inner, write}
	writer := servedtest.Writer
	merge := request{actor: writer, method: "POST", path: "/branches/merge", body: `{"source":"trial","delete_branch":true}`, status: 200}
	kept := func(name, outcome string) request {
		q := merge
		q.name, q.want = name, `"outcome":"`+outcome+`","branch_deleted":false,"branch_delete_error":"branch trial is at commit `
		return q
	}
	steps(t, c, rest.Options{}, []request{
		{name: "branch", actor: writer, method: "POST", path: "/branches", body: `{"name":"trial"}`, status: 200},
		kept("nothing to merge", "already_up_to_date"),
		kept("merged", "fast_forward"),
		{name: "it is there", actor: writer, method: "GET", path: "/branches", status: 200, want: `"trial"`},
	})
}

// TestRepeatedMerge sends a merge again with the same idempotency key, as if the answer was lost.
// It must get the same answer, and must not delete a newer branch of the same name.
func TestRepeatedMerge(t *testing.T) {
	c := servedtest.Config(t)
	writer := servedtest.Writer
	merge := request{actor: writer, method: "POST", path: "/branches/merge", send: "Idempotency-Key: m1", body: `{"source":"trial","delete_branch":true}`, status: 200,
		want: `"outcome":"fast_forward","branch_deleted":true,"branch_delete_error":null,"affected_nodes":1,`}
	first, again, later := merge, merge, merge
	first.name, again.name, later.name = "merge", "repeat", "repeat when there is another"
	later.want = `"outcome":"fast_forward","branch_deleted":false,"branch_delete_error":"branch trial is at commit `
	write := request{name: "write", actor: writer, method: "POST", path: "/load/ndjson?branch=trial&from=main", media: ndjson, status: 200}
	one, two := write, write
	one.body, two.body = `{"type":"Person","data":{"name":"eve"}}`, `{"type":"Person","data":{"name":"flo"}}`
	steps(t, c, rest.Options{}, []request{
		one, first, again, two, later,
		{name: "it is there", actor: writer, method: "GET", path: "/branches", status: 200, want: `"trial"`},
	})
}

// TestRepeatedEmptyMerge repeats a merge that has nothing to commit. It must not delete a newer
// branch of the same name, because that branch may have other commits.
func TestRepeatedEmptyMerge(t *testing.T) {
	c := servedtest.Config(t)
	writer := servedtest.Writer
	merge := request{name: "merge", actor: writer, method: "POST", path: "/branches/merge", send: "Idempotency-Key: m1", body: `{"source":"trial","delete_branch":true}`, status: 200,
		want: `"outcome":"already_up_to_date","branch_deleted":true,`}
	later := merge
	later.name, later.want = "repeat when there is another", ``
	steps(t, c, rest.Options{}, []request{
		{name: "branch", actor: writer, method: "POST", path: "/branches", body: `{"name":"trial"}`, status: 200},
		merge,
		{name: "another", actor: writer, method: "POST", path: "/load/ndjson?branch=trial&from=main", media: ndjson, body: `{"type":"Person","data":{"name":"flo"}}`, status: 200},
		later,
		{name: "what it had is there", actor: writer, method: "POST", path: "/query", body: `{"query":"query q() { match { $p: Person { name: \"flo\" } } return { $p.name as name } }"}`, status: 200, want: `"flo"`},
	})
}

// TestCommitsStayHidden checks that an actor cannot learn of a commit by its id without the right
// to read a branch that contains it. The answer must be the same as for an unknown commit.
func TestCommitsStayHidden(t *testing.T) {
	c := servedtest.Config(t)
	outsider := &access.Actor{ID: "act-outsider"}
	c.Authorizer = allow(func(a *access.Actor, g tool.Grant) bool {
		return a.ID == servedtest.Writer.ID || g.Branch.Name() != "secret"
	})
	h := resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))
	if _, err := c.Graph.CreateBranch(t.Context(), "secret", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	l, err := c.Graph.Load(t.Context(), strings.NewReader(`{"type":"Person","data":{"name":"eve"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	hidden, unknown := l.Commit.ID, "01J00000000000000000000000"
	paths := []string{"/commits/COMMIT", "/commits/COMMIT?branch=main", "/commits/COMMIT?branch=secret", "/commits/COMMIT/changes", "/snapshot?snapshot=COMMIT", "/schema?snapshot=COMMIT",
		"/blob?entity=node&type=Person&id=eve&property=age&snapshot=COMMIT"}
	bodies := map[string]string{
		"/query":            `{"query":"query q() { match { $p: Person } return { $p.name } }","snapshot":"COMMIT"}`,
		"/queries/everyone": `{"snapshot":"COMMIT"}`,
		"/export":           `{"snapshot":"COMMIT"}`,
		"/branches":         `{"name":"mine","from_commit":"COMMIT"}`,
	}
	answer := func(actor *access.Actor, path, body, commit string) (int, string) {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		w := do(h, actor, method, "/graphs/people"+strings.ReplaceAll(path, "COMMIT", commit), strings.ReplaceAll(body, "COMMIT", commit))
		return w.Code, strings.ReplaceAll(w.Body.String(), commit, "COMMIT")
	}
	check := func(path, body string) {
		status, got := answer(outsider, path, body, hidden)
		wantStatus, want := answer(outsider, path, body, unknown)
		if status != wantStatus || got != want || status < 400 {
			t.Errorf("%s: a hidden commit is %d %s, an unknown one %d %s", path, status, got, wantStatus, want)
		}
		if status, got := answer(servedtest.Writer, path, body, hidden); status == 403 || status == 404 && !strings.Contains(path, "main") {
			t.Errorf("%s: the writer is answered %d %s", path, status, got)
		}
	}
	for _, p := range paths {
		check(p, "")
	}
	for p, b := range bodies {
		check(p, b)
	}
	// The writer has made a branch that starts at the commit. Actors who may read that branch may
	// see its head and all ancestors of the head.
	for _, p := range []string{"/commits/COMMIT", "/commits/COMMIT/changes"} {
		if status, got := answer(outsider, p+"?branch=mine", "", hidden); status != 200 {
			t.Errorf("%s of the line of another branch: %d %s", p, status, got)
		}
	}
	if err := c.Graph.DeleteBranch(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	if w := do(h, outsider, "GET", "/graphs/people/branches", ""); strings.Contains(w.Body.String(), hidden) {
		t.Errorf("the list of branches tells the head of one that may not be read: %s", w.Body)
	}
}
