package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// remote is a graph of a server, asked over REST.
type remote struct {
	base   string // the URL of the graph
	graph  string
	token  string // empty for none
	client *http.Client
}

func newRemote(server, graph, token string) *remote {
	// endpoint.check has parsed the URL.
	base, _ := url.JoinPath(server, "graphs", url.PathEscape(graph))
	return &remote{base: base, graph: graph, token: token, client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
}

// serverError is a refusal of a server.
type serverError struct {
	Status int // of HTTP
	Body   service.WireError
}

func (e *serverError) Error() string {
	switch {
	case e.Body.Error == "":
		return fmt.Sprintf("the server answered %d %s, and no error envelope; is there an omnigraph-server at this URL?", e.Status, http.StatusText(e.Status))
	case e.Status == http.StatusUnauthorized:
		return e.Body.Error + "; set " + tokenVar + ", or write the server's token to " + configName
	}
	return e.Body.Error
}

// missingRoute says that a server lacks what a verb, or one of its flags, needs.
type missingRoute struct{ Route, What string }

func (e *missingRoute) Error() string {
	return fmt.Sprintf("%s: the server lacks what this needs, %s; run the command on the machine of the store, with --store DIR", e.What, e.Route)
}

// maxAnswer bounds what is read of an answer: 1 GiB, far above what a server sends.
const maxAnswer = 1 << 30

// ask sends a request and returns the body of its answer. The error is a *serverError
// when the server refuses.
func (r *remote) ask(ctx context.Context, method, path, media string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", media)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", method, req.URL, err)
	case len(b) > maxAnswer:
		return nil, &engine.TooLarge{Resource: "bytes of the server's answer", Limit: maxAnswer, Actual: int64(len(b))}
	case resp.StatusCode != http.StatusOK:
		refused := &serverError{Status: resp.StatusCode}
		if json.Unmarshal(b, &refused.Body) != nil {
			refused.Body = service.WireError{} // of a proxy, say
		}
		return nil, refused
	}
	return b, nil
}

func (r *remote) get(ctx context.Context, path string, into any) error {
	b, err := r.ask(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func (r *remote) post(ctx context.Context, path string, body any) ([]byte, error) {
	b, err := service.JSON(body)
	if err != nil {
		return nil, err
	}
	return r.ask(ctx, http.MethodPost, path, "application/json", bytes.NewReader(b))
}

type queryBody struct {
	Query   string          `json:"query"`
	Name    string          `json:"name,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Branch  string          `json:"branch,omitempty"`
	MaxRows int             `json:"max_rows,omitempty"`
}

// statement posts the text of a statement. Its faults come back as those of a local
// graph do: with the name of the file.
func (r *remote) statement(ctx context.Context, path string, s *statement, branch string) ([]byte, error) {
	b, err := r.post(ctx, path, queryBody{Query: s.text, Name: s.name, Params: s.params, Branch: branch, MaxRows: s.rows})
	if refused, ok := err.(*serverError); ok && len(refused.Body.Diagnostics) > 0 {
		found := diag.List(refused.Body.Diagnostics)
		for i := range found {
			found[i].Span.File = s.file
		}
		return nil, &service.Rejected{Diagnostics: found, Sources: map[string]string{s.file: s.text}}
	}
	return b, err
}

func (r *remote) Query(ctx context.Context, s *statement) (*rowsAnswer, error) {
	if s.at.Commit != "" {
		return nil, &missingRoute{"snapshot in POST …/query", "reading at a commit"}
	}
	b, err := r.statement(ctx, "/query", s, s.at.Branch)
	if err != nil {
		return nil, err
	}
	return readRows(b)
}

// plain returns a *missingRoute for conditions that servers do not take yet: what was
// meant to be conditional is not to be done without the condition.
func plain(opts engine.WriteOptions) error {
	switch {
	case opts.IfCommit != "":
		return &missingRoute{"the header Omnigraph-If-Graph-Commit", "--if-commit"}
	case opts.IdempotencyKey != "":
		return &missingRoute{"the header Idempotency-Key", "--idempotency-key"}
	case opts.DryRun:
		return &missingRoute{"a parameter of the route", "--dry-run"}
	}
	return nil
}

func (r *remote) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*changeAnswer, error) {
	if err := plain(opts); err != nil {
		return nil, err
	}
	b, err := r.statement(ctx, "/mutate", s, opts.Branch)
	if err != nil {
		return nil, err
	}
	a := &changeAnswer{}
	return a, json.Unmarshal(b, a)
}

func (r *remote) Queries(ctx context.Context) ([]queryAnswer, error) {
	var list struct {
		Queries []queryAnswer `json:"queries"`
	}
	err := r.get(ctx, "/queries", &list)
	return list.Queries, err
}

type invokeBody struct {
	Params json.RawMessage `json:"params,omitempty"`
	Branch string          `json:"branch,omitempty"`
}

func (r *remote) Invoke(ctx context.Context, s *statement) (*rowsAnswer, *changeAnswer, error) {
	if s.rows != 0 {
		return nil, nil, &missingRoute{"max_rows in POST …/queries/{name}", "--max-rows of a stored query"}
	}
	b, err := r.post(ctx, "/queries/"+url.PathEscape(s.name), invokeBody{Params: s.params, Branch: s.at.Branch})
	if err != nil {
		return nil, nil, err
	}
	return readEither(b)
}

func (r *remote) Load(ctx context.Context, data io.Reader, opts engine.LoadOptions) (*service.LoadAnswer, error) {
	if err := plain(opts.WriteOptions); err != nil {
		return nil, err
	}
	query := url.Values{"mode": {opts.Mode.String()}}
	if opts.Branch != "" {
		query.Set("branch", opts.Branch)
	}
	// The reader is not the transport's to close, which would also tell it apart from
	// others by its type.
	b, err := r.ask(ctx, http.MethodPost, "/load/ndjson?"+query.Encode(), "application/x-ndjson", io.MultiReader(data))
	if err != nil {
		return nil, err
	}
	a := &service.LoadAnswer{}
	return a, json.Unmarshal(b, a)
}

func (r *remote) Schema(ctx context.Context, at engine.Target) (*schemaAnswer, error) {
	if at != (engine.Target{}) {
		return nil, &missingRoute{"branch and snapshot in GET …/schema", "the schema of a branch or commit"}
	}
	a := &schemaAnswer{}
	return a, r.get(ctx, "/schema", a)
}

func (r *remote) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// What follows waits for routes.

func (r *remote) Export(context.Context, *export) (string, error) {
	return "", &missingRoute{"POST …/export", "exports"}
}

func (r *remote) ApplySchema(context.Context, *schemaFile, engine.SchemaOptions) (*schemaChange, error) {
	return nil, &missingRoute{"POST …/schema/apply", "changes of the schema"}
}

func (r *remote) Snapshot(context.Context, engine.Target) (*snapshotAnswer, error) {
	return nil, &missingRoute{"GET …/snapshot", "snapshots"}
}

func (r *remote) Branches(context.Context) ([]branchAnswer, error) {
	return nil, &missingRoute{"GET …/branches", "the list of branches"}
}

func (r *remote) CreateBranch(context.Context, string, engine.Target) (*branchAnswer, error) {
	return nil, &missingRoute{"POST …/branches", "making a branch"}
}

func (r *remote) DeleteBranch(context.Context, string) error {
	return &missingRoute{"DELETE …/branches/{branch}", "deleting a branch"}
}

func (r *remote) Commits(context.Context, string, engine.CommitRange) ([]commitAnswer, error) {
	return nil, &missingRoute{"GET …/commits", "the list of commits"}
}

func (r *remote) Commit(context.Context, string) (*commitAnswer, error) {
	return nil, &missingRoute{"GET …/commits/{id}", "a commit"}
}

func (r *remote) Merge(context.Context, string, string, engine.MergeOptions) (*mergeAnswer, error) {
	return nil, &missingRoute{"POST …/branches/merge", "merges"}
}

func (r *remote) Changes(context.Context, string, engine.ChangeRange) (*changesAnswer, error) {
	return nil, &missingRoute{"GET …/commits/{id}/changes", "the changes of a commit"}
}

func (r *remote) Cleanup(context.Context, engine.CleanupOptions) (*cleanupAnswer, error) {
	return nil, &missingRoute{"a route that cleans up", "a cleanup"}
}

func (r *remote) Verify(context.Context) ([]faultAnswer, error) {
	return nil, &missingRoute{"a route that verifies", "verifying what is stored"}
}
