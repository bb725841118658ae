package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const adminToken = "the-token-of-the-administrator"

const seed = `{"type":"Package","data":{"path":"example.com/a","name":"a","files":2,"lines":300}}
{"type":"Package","data":{"path":"example.com/b","name":"b","files":1,"lines":40}}
{"type":"Symbol","data":{"path":"example.com/a.F","name":"F","kind":"func","exported":true,"line":7,"words":"f"}}
{"edge":"Holds","from":"example.com/a","to":"example.com/a.F","data":{}}
{"type":"Asset","data":{"name":"logo","content":"AQIDBA=="}}
`

// newStore creates the graph with the id code in a folder, and adds a type with a Blob to its
// schema. It returns the text of the schema.
func newStore(t testing.TB, dir string) string {
	t.Helper()
	text, err := os.ReadFile("../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	source := string(text) + "\nnode Asset {\n  name: String @key\n  content: Blob?\n}\n"
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(t.Context(), fs.OS(), dir, source, compiled, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context(), strings.NewReader(seed), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return source
}

// startServer starts a whole server in this process and returns its URL. The server accepts
// adminToken and the tokens of an issuer.
func startServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := newStore(t, filepath.Join(dir, "data", "code"))
	for name, text := range map[string]string{
		"schema.pg": source,
		"policy.yaml": "version: 1\nrules:\n  - { id: all, allow: { actors: { ids: [act-admin] }, " +
			"actions: [read, export, change, schema_apply, branch_create, branch_delete, branch_merge, invoke_query, admin, policy_read, audit_read] } }\n",
		"server.policy.yaml": "version: 1\nrules:\n  - { id: list, allow: { actors: { ids: [act-admin] }, actions: [graph_list] } }\n",
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  code: { schema: schema.pg }\npolicies:\n  base: { file: policy.yaml, applies_to: [code] }\n" +
			"  server: { file: server.policy.yaml, applies_to: [cluster] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	issuer := authtest.New(t, authtest.NewKey(t, "k1", jose.ES256))
	config.Server.OIDC = &cluster.OIDC{Issuer: issuer.URL, Audiences: []string{authtest.Audience}, ActorClaim: "sub"}
	tokens := &auth.Tokens{}
	if err := tokens.Add(adminToken, "act-admin"); err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{code.Catalog()}, Bind: "127.0.0.1:0", Tokens: tokens, Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ts.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts.URL
}

// startGraph serves the graph with the id code without a cluster, so that a test can change its
// schema.
func startGraph(t *testing.T) *client.Graph {
	t.Helper()
	dir := t.TempDir()
	newStore(t, dir)
	g, err := embedded.Open(t.Context(), fs.OS(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{ID: "code", Graph: g, Catalog: code.Catalog(), Authorizer: policy.Unrestricted("code")})
	if err != nil {
		t.Fatal(err)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"code": served}, rest.Options{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-admin", Source: "test"})))
	}))
	t.Cleanup(func() {
		ts.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph("code")
}

// recorder records which operations are requested, and the last answer.
type recorder struct {
	mux *http.ServeMux

	mu     sync.Mutex
	seen   map[string]int
	answer []byte // the body of the last answer that is JSON
}

type operation struct{ rest.Route }

func (operation) ServeHTTP(http.ResponseWriter, *http.Request) {}

func newRecorder() *recorder {
	r := &recorder{mux: http.NewServeMux(), seen: map[string]int{}}
	for _, route := range rest.Routes() {
		r.mux.Handle(route.Method+" "+route.Path, operation{route})
	}
	return r
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, _ := r.mux.Handler(req); h != nil {
		if route, ok := h.(operation); ok {
			r.seen[route.Operation]++
		}
	}
	r.answer = nil
	if resp.Header.Get("Content-Type") == "application/json" {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		resp.Body, r.answer = io.NopCloser(bytes.NewReader(b)), b
	}
	return resp, nil
}

// sameJSON reports whether two texts are the same JSON, apart from the order of members.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	read := func(text []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return v
	}
	return reflect.DeepEqual(read(a), read(b))
}

// streamed reads a stream to its end.
func streamed(s *client.Stream, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer s.Close()
	b, err := io.ReadAll(s)
	return string(b), err
}

// call describes the call of one method. do returns the decoded answer, or nil if the answer is a
// stream or a text.
type call struct {
	operation string
	do        func() (any, error)
	want      error // the expected error; nil for none
}

// TestEveryRoute calls every method against a server. The methods must cover every route of the
// server that is not deprecated, and decoding must lose no member of an answer.
func TestEveryRoute(t *testing.T) {
	rec := newRecorder()
	c, err := client.New(startServer(t), client.WithToken(adminToken), client.WithHTTPClient(&http.Client{Transport: rec}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, g := t.Context(), c.Graph("code")
	const all = "query q() { match { $p: Package } return { $p.path as path, $p.lines as lines } order { $p.path } }"
	add := func(slug string) client.MutateBody {
		return client.MutateBody{Query: `query m($s: String) { insert Note { slug: $s, text: "t", created: datetime("2024-05-01T12:30:00Z") } }`, Params: map[string]any{"s": slug}}
	}
	note := func(slug string) client.InvokeBody {
		return client.InvokeBody{Params: map[string]any{"slug": slug, "symbol": "example.com/a.F", "text": "t"}, ExpectMutation: new(true)}
	}
	head := func() string {
		s, err := g.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.GraphCommitID
	}
	var page *client.ReadAnswer
	propose := func(source string) (*client.ProposalAnswer, error) {
		return g.OpenProposal(ctx, client.ProposalBody{Source: source, Title: "a title"})
	}
	var proposal, other client.ProposalAnswer
	var upload, watch, table, packageMap string
	const packages = "path,name,files,lines\nexample.com/imported,imported,1,20\n"
	keep := func(into *client.ProposalAnswer) func(a *client.ProposalAnswer, err error) (any, error) {
		return func(a *client.ProposalAnswer, err error) (any, error) {
			if a != nil {
				*into = *a
			}
			return a, err
		}
	}
	for _, tt := range []call{
		{"health", func() (any, error) { return c.Health(ctx) }, nil},
		{"ready", func() (any, error) { return c.Ready(ctx) }, nil},
		{"metrics", func() (any, error) {
			r, err := c.Metrics(ctx)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			b, err := io.ReadAll(r)
			if !bytes.Contains(b, []byte("# HELP")) {
				t.Errorf("the metrics are %s", b)
			}
			return nil, err
		}, nil},
		{"get_actor", func() (any, error) { return c.Actor(ctx) }, nil},
		{"get_openapi", func() (any, error) {
			b, err := c.OpenAPI(ctx)
			if !bytes.Contains(b, []byte(`"openapi": "3.1`)) {
				t.Errorf("the document is %.100s", b)
			}
			return nil, err
		}, nil},
		{"get_graph_openapi", func() (any, error) {
			b, err := g.OpenAPI(ctx)
			if !bytes.Contains(b, []byte(`"openapi": "3.1`)) {
				t.Errorf("the document of the graph is %.100s", b)
			}
			return nil, err
		}, nil},
		{"get_resource_metadata", func() (any, error) { return c.ResourceMetadata(ctx) }, nil},
		{"get_graph_resource_metadata", func() (any, error) { return g.ResourceMetadata(ctx) }, nil},
		{"get_mcp_resource_metadata", func() (any, error) { return g.MCPMetadata(ctx) }, nil},
		{"list_graphs", func() (any, error) { return c.Graphs(ctx) }, nil},
		{"get_snapshot", func() (any, error) { return g.Snapshot(ctx) }, nil},
		{"get_snapshot", func() (any, error) { return g.Snapshot(ctx, client.OnBranch("none")) }, client.ErrNotFound},
		{"get_snapshot", func() (any, error) { return g.Snapshot(ctx, client.IfChanged(head())) }, client.ErrNotModified},
		{"get_schema", func() (any, error) { return g.Schema(ctx, client.AtSnapshot(head())) }, nil},
		{"query", func() (_ any, err error) {
			page, err = g.Query(ctx, client.QueryBody{Query: all, MaxRows: 1})
			return page, err
		}, nil},
		{"query", func() (any, error) {
			return g.Query(ctx, client.QueryBody{Query: all, MaxRows: 1, PageToken: page.NextPageToken})
		}, nil},
		{"query", func() (any, error) { return g.Query(ctx, client.QueryBody{Query: "query q() {"}) }, client.ErrInvalid},
		{"mutate", func() (any, error) { return g.Mutate(ctx, add("n1")) }, nil},
		{"mutate_if_graph_commit", func() (any, error) { return g.Mutate(ctx, add("n2"), client.IfCommit(head())) }, nil},
		{"mutate_if_graph_commit", func() (any, error) {
			return g.Mutate(ctx, add("n3"), client.IfCommit("01J00000000000000000000000"))
		}, client.ErrPrecondition},
		{"list_queries", func() (any, error) { return g.Queries(ctx) }, nil},
		{"describe_query", func() (any, error) {
			d, err := g.DescribeQuery(ctx, "add_note", client.OnBranch("main"))
			if err == nil && (!d.Mutation || d.InputSchema == nil || d.Plan == "") {
				t.Errorf("the description is %+v", d)
			}
			return d, err
		}, nil},
		{"invoke_query", func() (any, error) { return g.Invoke(ctx, "heaviest_packages", client.InvokeBody{}) }, nil},
		{"invoke_query", func() (any, error) { return g.Invoke(ctx, "add_note", note("n4")) }, nil},
		{"invoke_query", func() (any, error) { return g.Invoke(ctx, "no such query", client.InvokeBody{}) }, client.ErrNotFound},
		{"invoke_query_if_graph_commit", func() (any, error) {
			return g.Invoke(ctx, "add_note", note("n5"), client.IfCommit(head()))
		}, nil},
		{"load_ndjson", func() (any, error) {
			return g.Load(ctx, strings.NewReader(`{"type":"Package","data":{"path":"example.com/c","name":"c","files":1,"lines":1}}`), client.LoadQuery{Branch: "review/june", From: "main", Mode: client.ModeAppend})
		}, nil},
		{"load_ndjson", func() (any, error) {
			return g.Load(ctx, strings.NewReader(seed), client.LoadQuery{Mode: client.ModeAppend})
		}, client.ErrConflict},
		{"load", func() (any, error) {
			return g.LoadText(ctx, client.LoadBody{Data: seed, Mode: client.ModeMerge, DryRun: true})
		}, nil},
		{"export", func() (any, error) {
			text, err := streamed(g.Export(ctx, client.ExportBody{Branch: "review/june", TypeNames: []string{"Package"}}))
			if n := strings.Count(text, "\n"); n != 3 {
				t.Errorf("the export has %d lines: %s", n, text)
			}
			return nil, err
		}, nil},
		{"get_blob", func() (any, error) {
			text, err := streamed(g.Blob(ctx, client.BlobPlace{Entity: "node", Type: "Asset", ID: "logo", Property: "content"}))
			if text != "\x01\x02\x03\x04" {
				t.Errorf("the Blob is %q", text)
			}
			return nil, err
		}, nil},
		{"get_blob", func() (any, error) {
			text, err := streamed(g.Blob(ctx, client.BlobPlace{Entity: "node", Type: "Asset", ID: "logo", Property: "content"}, client.ByteRange(1, 2)))
			if text != "\x02\x03" {
				t.Errorf("the part of the Blob is %q", text)
			}
			return nil, err
		}, nil},
		{"apply_schema", func() (any, error) {
			return g.ApplySchema(ctx, client.SchemaBody{SchemaSource: "node A { a: String @key }"})
		}, client.ErrConflict}, // the schema comes from cluster.yaml
		{"create_branch", func() (any, error) { return g.CreateBranch(ctx, client.BranchBody{Name: "a/b"}) }, nil},
		{"list_branches", func() (any, error) { return g.Branches(ctx, client.BranchQuery{Limit: 2}) }, nil},
		{"delete_branch", func() (any, error) { return g.DeleteBranch(ctx, "a/b") }, nil},
		{"run_checks", func() (any, error) { return g.Checks(ctx, "review/june") }, nil},
		{"run_checks", func() (any, error) { return g.Checks(ctx, "none") }, client.ErrNotFound},
		{"open_proposal", func() (any, error) { return keep(&proposal)(propose("review/june")) }, nil},
		{"open_proposal", func() (any, error) { return propose("review/june") }, client.ErrConflict},
		{"list_proposals", func() (any, error) { return g.Proposals(ctx, client.ProposalQuery{State: "open", Limit: 5}) }, nil},
		{"get_proposal", func() (any, error) { return g.Proposal(ctx, proposal.ID) }, nil},
		{"get_proposal", func() (any, error) { return g.Proposal(ctx, "none") }, client.ErrNotFound},
		{"list_proposal_changes", func() (any, error) { return g.ProposalChanges(ctx, proposal.ID, client.ChangeQuery{Limit: 1}) }, nil},
		{"get_growth", func() (any, error) {
			a, err := g.Growth(ctx, 3, client.OnBranch("main"))
			if err == nil && (len(a.Points) == 0 || len(a.Points) > 3) {
				t.Errorf("the growth is %+v", a)
			}
			return a, err
		}, nil},
		{"compare", func() (any, error) {
			return g.Compare(ctx, client.CompareQuery{Source: "review/june", ChangeQuery: client.ChangeQuery{Limit: 1}})
		}, nil},
		{"get_proposal_feed", func() (any, error) { return g.ProposalFeed(ctx, client.ProposalFeedQuery{Limit: 1}) }, nil},
		{"get_proposal_feed", func() (any, error) {
			return g.ProposalFeed(ctx, client.ProposalFeedQuery{Start: client.StartLatest})
		}, nil},
		{"get_proposal_feed", func() (any, error) { return g.ProposalFeed(ctx, client.ProposalFeedQuery{Cursor: "none"}) }, client.ErrNotFound},
		{"create_watch", func() (any, error) {
			w, err := g.CreateWatch(ctx, client.WatchBody{Query: "get_package", Params: map[string]any{"path": "example.com/a"}})
			if w != nil {
				watch = w.ID
			}
			return w, err
		}, nil},
		{"list_watches", func() (any, error) { return g.Watches(ctx) }, nil},
		{"get_watch_event", func() (any, error) { return g.WatchEvent(ctx, watch, "") }, nil},
		{"get_watch_event", func() (any, error) { return g.WatchEvent(ctx, "none", "") }, client.ErrNotFound},
		{"redeliver_watch", func() (any, error) { return g.RedeliverWatch(ctx, watch) }, client.ErrInvalid},
		{"dismiss_undelivered", func() (any, error) { return g.DismissUndelivered(ctx, watch) }, client.ErrInvalid}, {"list_webhooks", func() (any, error) { return g.Webhooks(ctx) }, nil},
		{"end_webhook", func() (any, error) { return g.EndWebhook(ctx, watch) }, client.ErrInvalid}, {"delete_watch", func() (any, error) { return g.DeleteWatch(ctx, watch) }, nil},
		{"load", func() (any, error) { // a conflict for the resolution
			return g.LoadText(ctx, client.LoadBody{Data: `{"type":"Package","data":{"path":"example.com/c","name":"c","files":1,"lines":2}}`, Mode: client.ModeAppend})
		}, nil},
		{"change_proposal", func() (any, error) {
			return g.ChangeProposal(ctx, proposal.ID, client.ProposalChangeBody{Title: new("another title"), Resolutions: []client.ConflictResolution{
				{EntityKind: client.KindNode, TypeName: "Package", ID: "example.com/c", Property: "lines", Take: client.TakeValue, Value: json.RawMessage("7")}}})
		}, nil},
		{"review_proposal", func() (any, error) {
			return g.ReviewProposal(ctx, proposal.ID, client.ProposalReviewBody{Decision: client.DecisionComment, Comment: "hm",
				On: &client.CommentPlace{EntityKind: client.KindNode, TypeName: "Package", ID: "example.com/c"}})
		}, nil},
		{"review_proposal", func() (any, error) {
			return g.ReviewProposal(ctx, proposal.ID, client.ProposalReviewBody{Decision: client.DecisionApprove, Digest: "sha256:0"})
		}, client.ErrForbidden},
		{"make_review_key", func() (any, error) { return g.MakeReviewKey(ctx) }, nil}, {"revoke_review_keys", func() (any, error) { return g.RevokeReviewKeys(ctx) }, nil},
		{"merge_proposal", func() (any, error) { return g.MergeProposal(ctx, proposal.ID, client.ProposalMergeBody{}) }, nil},
		{"open_proposal", func() (any, error) { return keep(&other)(propose("review/june")) }, nil},
		{"close_proposal", func() (any, error) {
			return g.CloseProposal(ctx, other.ID, client.ProposalCloseBody{Comment: "not needed"})
		}, nil},
		{"merge_branches", func() (any, error) {
			return g.MergeBranches(ctx, client.MergeBody{Source: "review/june", DeleteBranch: true})
		}, nil},
		{"open_upload", func() (_ any, err error) { upload, err = g.OpenUpload(ctx, "main", -1); return nil, err }, nil},
		{"append_upload", func() (any, error) { return nil, g.AppendUpload(ctx, upload, 0, []byte(seed[:100]), -1) }, nil},
		{"append_upload", func() (any, error) { return nil, g.AppendUpload(ctx, upload, 0, []byte(seed), -1) }, client.ErrConflict},
		{"get_upload", func() (any, error) {
			u, err := g.Upload(ctx, upload)
			if err == nil && (u.Offset != 100 || u.Length != nil || u.Branch != "main") {
				t.Errorf("the upload is %+v", u)
			}
			return u, err
		}, nil},
		{"load_ndjson", func() (any, error) {
			return g.Load(ctx, nil, client.LoadQuery{Branch: "main", Upload: upload})
		}, client.ErrConflict},
		{"append_upload", func() (any, error) {
			return nil, g.AppendUpload(ctx, upload, 100, []byte(seed[100:]), int64(len(seed)))
		}, nil},
		{"load_ndjson", func() (any, error) { return g.Load(ctx, nil, client.LoadQuery{Upload: upload}) }, client.ErrInvalid},
		{"load_ndjson", func() (any, error) {
			return g.Load(ctx, nil, client.LoadQuery{Branch: "main", Upload: upload, DryRun: true})
		}, nil},
		{"delete_upload", func() (any, error) { return nil, g.DeleteUpload(ctx, upload) }, nil},
		{"append_upload", func() (any, error) {
			if table, err = g.OpenUpload(ctx, "", int64(len(packages))); err != nil {
				return nil, err
			}
			return nil, g.AppendUpload(ctx, table, 0, []byte(packages), -1)
		}, nil},
		{"infer_import", func() (any, error) {
			a, err := g.InferImport(ctx, table, client.InferBody{FileName: "packages.csv"})
			if err == nil {
				packageMap = a.Map
			}
			return a, err
		}, nil},
		{"infer_import", func() (any, error) {
			return g.InferImport(ctx, table, client.InferBody{FileName: "packages.xls"})
		}, client.ErrInvalid},
		{"import_upload", func() (any, error) {
			return g.ImportUpload(ctx, table, client.ImportBody{FileName: "packages.csv", Map: packageMap, DryRun: true})
		}, nil},
		{"import_upload", func() (any, error) {
			return g.ImportUpload(ctx, table, client.ImportBody{FileName: "packages.csv", Map: packageMap}, client.Message("import packages"))
		}, nil},
		{"get_upload", func() (any, error) { return g.Upload(ctx, upload) }, client.ErrNotFound},
		{"list_commits", func() (any, error) { return g.Commits(ctx, client.CommitQuery{Limit: 2}) }, nil},
		{"get_commit", func() (any, error) { return g.Commit(ctx, head(), client.OnBranch("main")) }, nil},
		{"list_changes", func() (any, error) { return g.Changes(ctx, head(), client.ChangeQuery{Limit: 1}) }, nil},
		{"get_change_feed", func() (any, error) { return g.ChangeFeed(ctx, client.FeedQuery{Branch: "main", Limit: 2}) }, nil},
		{"get_change_feed", func() (any, error) {
			return g.ChangeFeed(ctx, client.FeedQuery{Cursor: head(), Types: []string{"Package"}, Kinds: []string{client.KindNode}, Ops: []string{client.OpInsert}})
		}, nil},
		{"get_change_feed", func() (any, error) { return g.ChangeFeed(ctx, client.FeedQuery{Cursor: "none"}) }, client.ErrNotFound},
		{"get_change_baseline", func() (any, error) {
			text, err := streamed(g.Baseline(ctx, client.BaselineBody{Type: []string{"Package"}}))
			if last := text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]; !strings.HasPrefix(last, `{"baseline":`) {
				t.Errorf("the last line of the baseline is %s", last)
			}
			return nil, err
		}, nil},
		{"list_types", func() (any, error) {
			list, err := g.Types(ctx)
			if err == nil && len(list.Types) == 0 {
				t.Error("there are no types")
			}
			return list, err
		}, nil},
		{"get_node_history", func() (any, error) {
			h, err := g.History(ctx, client.HistoryQuery{Type: "Package", ID: "example.com/a", Branch: "main", Limit: 1000})
			if err == nil && (len(h.Versions) != 1 || h.Versions[0].Op != client.OpInsert) {
				t.Errorf("the history is %+v", h)
			}
			return h, err
		}, nil},
		{"audit_summary", func() (any, error) {
			s, err := g.AuditSummary(ctx)
			if err == nil && (!s.Complete || s.All.Calls == 0 || len(s.Hours) != 24 || len(s.Tools) == 0 || len(s.Actors) == 0) {
				t.Errorf("the summary is %+v", s)
			}
			return s, err
		}, nil},
		{"read_audit", func() (any, error) {
			a, err := g.Audit(ctx, client.AuditQuery{Actor: "act-admin", Decision: "allowed", From: time.Unix(0, 0), Limit: 2})
			if err == nil && (len(a.Records) != 2 || a.NextPageToken == nil || *a.Records[0].ActorID != "act-admin") {
				t.Errorf("the audit trail is %+v", a)
			}
			return a, err
		}, nil},
		{"explain_query", func() (any, error) {
			a, err := g.Explain(ctx, client.ExplainBody{Query: "query q($path: String) { match { $p: Package { path: $path } } return { $p.path } }", Params: map[string]any{"path": "example.com/a"}, Analyze: true})
			if err == nil && (!a.Analyzed || len(a.Plan) == 0 || a.Plan[0].Rows == nil || *a.Plan[0].Rows != 1) {
				t.Errorf("the plan is %+v", a)
			}
			return a, err
		}, nil},
		{"assist", func() (any, error) {
			a, err := g.Assist(ctx, client.AssistBody{Text: "query q() { match { $p: Pack", Ask: client.AskCompletion, Position: 28, Branch: "main"})
			if err == nil && (a.Completion == nil || a.Completion.From != 24 || len(a.Completion.Items) == 0) {
				t.Errorf("the completion is %+v", a.Completion)
			}
			return a, err
		}, nil},
		{"query_propose", func() (any, error) {
			return g.ProposeQuery(ctx, client.QueryProposalBody{Name: "q", Query: "query q() { match { $p: Package } return { $p.path } }", Description: "d", Why: "w"})
		}, client.ErrForbidden},
		{"list_proposed_queries", func() (any, error) { return g.PublishedQueries(ctx) }, nil},
		{"explain_access", func() (any, error) {
			a, err := g.Access(ctx, client.AccessQuery{Actor: "act-ada", Groups: []string{"staff"}, Branch: "main"})
			if err == nil && (a.Actor != "act-ada" || len(a.Decisions) == 0 || len(a.Tools) == 0) {
				t.Errorf("the access is %+v", a)
			}
			return a, err
		}, nil},
		{"verify", func() (any, error) { return g.Verify(ctx) }, nil},
		{"cleanup", func() (any, error) {
			return g.Cleanup(ctx, client.CleanupBody{KeepCommits: 3, KeepSince: new(time.Date(2024, 5, 1, 12, 30, 0, 123456789, time.FixedZone("", 3600)))})
		}, nil},
		{"cleanup", func() (any, error) { return g.Cleanup(ctx, client.CleanupBody{DryRun: true}) }, client.ErrInvalid},
	} {
		before := rec.seen[tt.operation]
		answer, err := tt.do()
		if rec.seen[tt.operation] == before {
			t.Errorf("%s was not requested", tt.operation)
		}
		if tt.want != nil {
			checkError(t, tt.operation, rec, err, tt.want)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.operation, err)
			continue
		}
		if answer == nil {
			continue
		}
		again, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, rec.answer, again) {
			t.Errorf("%s: the server wrote\n%s\nand the client decoded\n%s", tt.operation, rec.answer, again)
		}
		if _, either := answer.(*client.InvokeAnswer); either {
			continue // InvokeAnswer has its own decoder; the comparison above checks it
		}
		strict := json.NewDecoder(bytes.NewReader(rec.answer))
		strict.DisallowUnknownFields()
		if err := strict.Decode(reflect.New(reflect.TypeOf(answer).Elem()).Interface()); err != nil {
			t.Errorf("%s: %v", tt.operation, err)
		}
	}
	for _, route := range rest.Routes() {
		switch called := rec.seen[route.Operation] > 0; {
		case route.Successor != "" && called:
			t.Errorf("a method calls the deprecated route %s", route.Operation)
		case route.Successor == "" && !called:
			t.Errorf("no method calls the route %s; add one, and a call to this test", route.Operation)
		}
	}
}

// checkError checks that an error has the sentinel, and that decoding lost no member of the envelope.
func checkError(t *testing.T, operation string, rec *recorder, err, want error) {
	t.Helper()
	var refused *client.Error
	switch {
	case !asError(err, &refused) || !refused.Is(want):
		t.Errorf("%s: the error is %v, want %v", operation, err, want)
	case want == client.ErrNotModified: // the answer has no body
	default:
		again, err := json.Marshal(refused)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, rec.answer, again) {
			t.Errorf("%s: the server wrote\n%s\nand the client decoded\n%s", operation, rec.answer, again)
		}
	}
}
