package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Compiled is a Set whose schema and queries were compiled.
type Compiled struct {
	*Set
	Catalog *catalog.Schema    // of Set.Schema
	Served  []tool.StoredQuery // of Set.Queries
}

// The actors of a try. Each may do everything, so that nothing but its own judgement keeps the agent from a wrong write.
const (
	agent = "act-agent"
	other = "act-other"
)

// server serves a graph for one try of a task, over MCP on a port of the loopback interface.
type server struct {
	graph   engine.Graph
	schema  *catalog.Schema
	address string // of the MCP endpoint
	http    http.Server
	served  sync.WaitGroup

	actor   atomic.Value // a string: who makes the calls now
	calls   atomic.Int64 // of tools
	answers atomic.Int64 // bytes of the answers to them

	base string // the head of main when the agent began
}

// serve opens a graph in memory with the data of the set, and serves it. The caller closes the server.
func serve(ctx context.Context, c *Compiled) (_ *server, err error) {
	g, err := embedded.OpenMemory(ctx, c.Schema, c.Catalog, embedded.Options{})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	if _, err := g.Load(ctx, bytes.NewReader(c.Data), engine.LoadOptions{Mode: engine.Append}); err != nil {
		return nil, fmt.Errorf("load the graph %s: %w", c.Graph, err)
	}
	served, err := servedgraph.NewGraph(ctx, servedgraph.Config{
		ID: c.Graph, Graph: g, Catalog: &tool.Catalog{Graph: c.Graph, Queries: c.Served}, Builtins: builtin.All(""), Authorizer: policy.Unrestricted(c.Graph),
	})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{graph: g, schema: c.Catalog, address: "http://" + l.Addr().String() + "/mcp"}
	s.actor.Store(other)
	s.http.Handler = s.counting(mcp.Handler(served, mcp.Options{}))
	s.served.Go(func() { _ = s.http.Serve(l) }) // the error says that close closed it
	return s, nil
}

// close ends the server and closes the graph.
func (s *server) close() error {
	err := s.http.Close()
	s.served.Wait()
	return errors.Join(err, s.graph.Close())
}

// maxRequest is the largest request that an agent may send, in bytes.
const maxRequest = 8 << 20

// counting serves requests as the actor of the moment, and counts the calls of tools and the bytes of their answers.
func (s *server) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(body, &m) == nil && m.Method == "tools/call" {
			s.calls.Add(1)
			w = &counted{w, &s.answers}
		}
		next.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: s.actor.Load().(string), Source: "local"})))
	})
}

// counted counts the bytes that are written to it.
type counted struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	c.bytes.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// Unwrap lets an http.ResponseController find the wrapped writer.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// prepare does what other actors did before the agent begins, and then lets the agent in.
func (s *server) prepare(ctx context.Context, t *Task) error {
	session, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for i, c := range t.Setup {
		if s.actor.Store(other); c.As == "agent" {
			s.actor.Store(agent)
		}
		if a, err := call(ctx, session, c.Tool, c.Arguments); err != nil || a.fault {
			return fmt.Errorf("setup %d of the task %s: %s%w", i, t.Name, a.text, err)
		}
	}
	s.actor.Store(agent)
	head, err := s.graph.Snapshot(ctx, engine.Target{})
	if err != nil {
		return err
	}
	s.base = head.Commit.ID
	s.calls.Store(0)
	s.answers.Store(0)
	return nil
}

// connect opens a session of MCP.
func (s *server) connect(ctx context.Context) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "gq", Version: "1"}, nil)
	return client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: s.address, DisableStandaloneSSE: true}, nil)
}

// answer is the answer to a call of a tool.
type answer struct {
	text  string
	fault bool // the tool answered with an error
}

// call calls a tool. The error says that there was no answer.
func call(ctx context.Context, session *sdk.ClientSession, name string, args any) (answer, error) {
	r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		if ctx.Err() == nil { // the server refused the call, for instance because no tool has the name
			return answer{err.Error(), true}, nil
		}
		return answer{}, err
	}
	a := answer{fault: r.IsError}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			a.text += t.Text
		}
	}
	return a, nil
}
