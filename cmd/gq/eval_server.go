package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/evaluation"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// evalServer serves a graph in memory over MCP, as omnigraph mcp does, to the evaluation. It
// implements [evaluation.Server].
type evalServer struct {
	graph  string             // the name of the graph
	source string             // the text of the schema
	schema *catalog.Schema    // the compiled schema
	config servedgraph.Config // without the open graph
	data   string             // path of the NDJSON to load; "" for made-up nodes and edges
	empty  []string           // the types without made-up nodes or edges
	close  func() error       // ends the session and closes the graph; nil before the first one
	ask    func([]byte) error // sends a line
	lines  *bufio.Reader      // the answers

	received int // bytes of the last answer
}

// evalTime is the time on the clock of the graph, so that answers are equal from run to run.
var evalTime = time.Date(2026, time.May, 1, 12, 30, 0, 0, time.UTC)

// newEvalServer returns a server of a graph.
func newEvalServer(graph, source string, schema *catalog.Schema, queries []tool.StoredQuery, claims plan.Claims) *evalServer {
	now := func() time.Time { return evalTime }
	return &evalServer{
		graph: graph, source: source, schema: schema,
		config: servedgraph.Config{
			ID: graph, Catalog: &tool.Catalog{Graph: graph, Queries: queries}, Builtins: builtin.All(""), Authorizer: policy.Unrestricted(graph), Now: now, Claims: claims,
		},
	}
}

// Reset opens a new graph with the sample, and begins a session with it.
func (s *evalServer) Reset(ctx context.Context) (_ *evaluation.State, err error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	g, err := embedded.OpenMemory(ctx, s.source, s.schema, embedded.Options{Now: s.config.Now})
	if err != nil {
		return nil, err
	}
	if err := s.load(ctx, g); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	c := s.config
	c.Graph = g
	served, err := servedgraph.NewGraph(ctx, c)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.ServeStdio(access.WithActor(ctx, &access.Actor{ID: "author", Source: "local"}), served, mcp.Options{}, in, out)
	}()
	s.ask = func(line []byte) error { _, err := toServer.Write(append(line, '\n')); return err }
	s.lines = bufio.NewReader(fromServer)
	s.close = func() error { return errors.Join(toServer.Close(), <-ended, g.Close()) }
	return s.state(ctx, g)
}

// Close ends the session.
func (s *evalServer) Close() error {
	if s.close == nil {
		return nil
	}
	end := s.close
	s.close = nil
	return end()
}

// load loads the file, or the made-up nodes and edges of each type that the graph accepts.
func (s *evalServer) load(ctx context.Context, g engine.Graph) error {
	merge := engine.LoadOptions{Mode: engine.Merge}
	if s.data != "" {
		f, err := os.Open(s.data)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := g.Load(ctx, f, merge); err != nil {
			return fmt.Errorf("load %s: %w", s.data, err)
		}
		return nil
	}
	s.empty = s.empty[:0]
	for _, sample := range evaluation.Samples(s.schema) {
		if _, err := g.Load(ctx, strings.NewReader(sample.Data), merge); err != nil || sample.Data == "" {
			s.empty = append(s.empty, sample.Type)
		}
	}
	return nil
}

// state makes the branches and the proposal that example calls need.
func (s *evalServer) state(ctx context.Context, g engine.Graph) (*evaluation.State, error) {
	st := &evaluation.State{Schema: s.schema}
	steps := []struct {
		tool string
		args map[string]any
	}{
		{"branch_create", map[string]any{"name": evaluation.DraftBranch}},
		{"branch_create", map[string]any{"name": evaluation.ClashBranch}},
		{"branch_create", map[string]any{"name": evaluation.ProposeBranch}},
	}
	for _, step := range steps {
		if _, err := s.must(ctx, step.tool, step.args); err != nil {
			return nil, err
		}
	}
	if n, property := evaluation.Clash(s.schema); n != nil {
		update := fmt.Sprintf("query clash($to: String) {\n  update %s set { %s: $to } where %s = %q\n}", n.Name, property, evaluation.KeyOf(n), evaluation.SampleKey(0))
		for branch, to := range map[string]string{"main": "The first text.", evaluation.ClashBranch: "The second text."} {
			if _, err := s.must(ctx, "graph_mutate", map[string]any{"query": update, "params": map[string]any{"to": to}, "branch": branch}); err != nil {
				return nil, err
			}
		}
		answer, err := s.must(ctx, "proposal_submit", map[string]any{"source": evaluation.ClashBranch, "title": "Change a sample"})
		if err != nil {
			return nil, err
		}
		var p struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(answer, &p); err != nil {
			return nil, err
		}
		st.Proposal = p.ID
	}
	snapshot, err := g.Snapshot(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	st.Head = snapshot.Commit.ID
	return st, nil
}

// must makes a call that has to succeed.
func (s *evalServer) must(ctx context.Context, name string, args map[string]any) ([]byte, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	answer, fault, err := s.Call(ctx, name, raw)
	if err == nil && fault != "" {
		err = fmt.Errorf("%s: %s", name, fault)
	}
	return answer, err
}

// Call calls a tool over MCP.
func (s *evalServer) Call(_ context.Context, name string, args json.RawMessage) (answer []byte, fault string, err error) {
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	fault, err = s.request("tools/call", map[string]any{"name": name, "arguments": args}, &result)
	if err != nil || fault != "" {
		return nil, fault, err
	}
	var text strings.Builder
	for _, c := range result.Content {
		text.WriteString(c.Text)
	}
	if result.IsError {
		return nil, text.String(), nil
	}
	return []byte(text.String()), "", nil
}

// request sends a request and decodes its result. If the answer is a JSON-RPC error, the fault is its
// message.
func (s *evalServer) request(method string, params, result any) (fault string, err error) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	if err := s.ask(line); err != nil {
		return "", err
	}
	reply, err := s.lines.ReadBytes('\n')
	if err != nil {
		return "", err
	}
	s.received = len(reply) - 1
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply, &m); err != nil {
		return "", fmt.Errorf("the answer %q is no message: %w", reply, err)
	}
	if m.Error != nil {
		return m.Error.Message, nil
	}
	return "", json.Unmarshal(m.Result, result)
}

// tools returns the answer to tools/list and its size in bytes.
func (s *evalServer) tools() ([]evaluation.Tool, int, error) {
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
			Annotations struct {
				ReadOnly bool `json:"readOnlyHint"`
			} `json:"annotations"`
		} `json:"tools"`
	}
	fault, err := s.request("tools/list", map[string]any{}, &list)
	if err == nil && fault != "" {
		err = errors.New(fault)
	}
	var tools []evaluation.Tool
	for _, t := range list.Tools {
		tools = append(tools, evaluation.Tool{Descriptor: &tool.Descriptor{
			Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, ReadOnly: t.Annotations.ReadOnly,
		}})
	}
	return tools, s.received, err
}

// instructions returns the instructions that a client gets when it connects.
func (s *evalServer) instructions() (string, error) {
	var result struct {
		Instructions string `json:"instructions"`
	}
	fault, err := s.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "gq", "version": "1"},
	}, &result)
	if err == nil && fault != "" {
		err = errors.New(fault)
	}
	return result.Instructions, err
}
