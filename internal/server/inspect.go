package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// ToolList is the answer of tools/list for one actor.
type ToolList struct {
	Tools json.RawMessage // a JSON array, as sent on the wire

	// Unopened says why ListTools did not read the graph's data folder: the folder does not exist
	// yet, or a server has it open. Unopened is empty if ListTools did read the folder. If it is
	// not empty, Tools is the list of an empty graph with the configured schema. That list can
	// differ from the live one in two cases. First, some queries may not fit the live schema.
	// Second, a branch may match a pattern in a .cedar file without being named in that file.
	Unopened string
}

// ListTools returns the tools that an actor sees in a graph of a cluster. It asks the handler
// that also serves the graph. It uses only the options Cluster, Catalogs and Version.
func ListTools(ctx context.Context, o Options, graph string, actor *access.Actor) (_ *ToolList, err error) {
	c := o.Cluster.Graph(graph)
	if c == nil {
		return nil, &engine.NotFound{What: "graph", Name: graph}
	}
	o.Log = slog.New(slog.DiscardHandler)
	mode := auth.ReadsOnly
	if hasPolicy(&o) {
		mode = auth.Governed
	}
	authorizer, err := graphPolicy(&o, c, mode)
	if err != nil {
		return nil, err
	}
	stored, done, err := CommandStorage(ctx, o.Cluster, o.engine())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	g, unopened, err := storedOrEmpty(ctx, stored, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	served, err := serve(ctx, &o, c, g, nil, nil, nil, servedgraph.WriterRole{}, authorizer, nil, nil, seal.Keys{}, audit.Trail{}, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	tools, err := listTools(access.WithActor(ctx, actor), mcp.Handler(served, mcp.Options{}))
	if err != nil {
		return nil, err
	}
	return &ToolList{Tools: tools, Unopened: unopened}, nil
}

// CommandStorage connects one command to the storage of a cluster. It also returns a function that
// ends the connection; the command must call that function after it has closed the graphs. If the
// storage is a folder, the engine `folders` opens the graphs.
func CommandStorage(ctx context.Context, c *cluster.Config, folders engine.Engine) (*reconcile.Cluster, func() error, error) {
	if c.Shared == nil {
		running, _ := control.Find(c.Storage) // without it, a graph that a server has open is in use
		return &reconcile.Cluster{FS: fs.OS(), Storage: c.Storage, Engine: folders, Server: running}, func() error { return nil }, nil
	}
	storage, done, err := replica.OpenForCommand(ctx, c.Shared.URL)
	if err != nil {
		return nil, nil, err
	}
	secret, err := control.SharedSecret(ctx, storage.Bucket, true)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the secret of the servers in the shared storage: %w", err), done())
	}
	return &reconcile.Cluster{Bucket: storage.Bucket, Engine: storage, Secret: secret, Token: storage.Node.Token}, done, nil
}

// Running returns the address of the server that serves the storage folder of a cluster, or "".
func Running(ctx context.Context, c *cluster.Config) string {
	s, err := control.Find(c.Storage)
	if c.Shared != nil || err != nil || s == nil {
		return ""
	}
	var stopped *control.Unreachable
	if _, err := s.Graph("").Schema(ctx, engine.Target{}); errors.As(err, &stopped) {
		return ""
	}
	return s.URL
}

// storedOrEmpty opens the store of a graph. If the store is missing or locked, it returns an
// empty graph in memory with the configured schema, and the reason.
func storedOrEmpty(ctx context.Context, stored *reconcile.Cluster, c *cluster.Graph) (g engine.Graph, unopened string, err error) {
	g, err = stored.Engine.Open(ctx, stored.Place(c.ID), engine.OpenOptions{})
	var missing *engine.NotFound
	var unavailable *engine.Unavailable
	if !errors.As(err, &missing) && !errors.As(err, &unavailable) {
		return g, "", err
	}
	unopened = err.Error()
	text, err := os.ReadFile(c.Schema)
	if err != nil {
		return nil, "", err
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: c.Schema, Text: string(text)})
	if err := faults.Err(); err != nil {
		return nil, "", err
	}
	g, err = embedded.Engine{FS: fs.NewMem()}.Create(ctx, c.ID, string(text), schema, engine.OpenOptions{})
	return g, unopened, err
}

// listTools sends tools/list to an MCP handler and returns the array of tools.
func listTools(ctx context.Context, h http.Handler) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	w := &recordedAnswer{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(w, r)
	var answer struct {
		Result struct {
			Tools json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.body.Bytes(), &answer); err != nil || answer.Result.Tools == nil {
		return nil, fmt.Errorf("tools/list answered with status %d: %s", w.status, w.body.Bytes())
	}
	return answer.Result.Tools, nil
}

// recordedAnswer is an http.ResponseWriter that records the answer.
type recordedAnswer struct {
	header http.Header
	status int          // HTTP status
	body   bytes.Buffer // the bytes written so far
}

func (w *recordedAnswer) Header() http.Header         { return w.header }
func (w *recordedAnswer) WriteHeader(status int)      { w.status = status }
func (w *recordedAnswer) Write(b []byte) (int, error) { return w.body.Write(b) }
