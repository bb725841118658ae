package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/stored"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// servePolicy allows the actor of the benchmark to call the stored queries.
const servePolicy = `version: 1
rules:
  - id: bench
    allow: { actors: { ids: [act-bench] }, actions: [read, change, invoke_query] }
`

// serve serves the graph in a folder until the context ends. The token is that of the only actor. Once
// the server listens, serve prints its address as OMNIGRAPH_LISTEN_ADDR=host:port.
func serve(ctx context.Context, graph, addr, token string, stdout io.Writer) (err error) {
	schema, plans, err := stored.Compile()
	if err != nil {
		return err
	}
	graph, err = filepath.Abs(graph)
	if err != nil {
		return err
	}
	policy, err := os.CreateTemp("", "snb-policy-*.yaml")
	if err != nil {
		return err
	}
	defer os.Remove(policy.Name())
	_, err = policy.WriteString(servePolicy)
	if closed := policy.Close(); err != nil || closed != nil {
		return fmt.Errorf("writing %s: %w", policy.Name(), err)
	}
	tokens := &auth.Tokens{}
	if err := tokens.Add(token, "act-bench"); err != nil {
		return err
	}
	id := filepath.Base(graph)
	s, err := server.Open(ctx, server.Options{
		Cluster: &cluster.Config{Storage: filepath.Dir(graph), Graphs: []cluster.Graph{{
			ID: id, Policy: policy.Name(), MaxRows: cluster.DefaultMaxRows, MaxBytes: cluster.DefaultMaxBytes,
		}}},
		Catalogs: []*tool.Catalog{catalogOf(id, catalog.Digest(schema), plans)}, Bind: addr, Tokens: tokens, Version: "bench",
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "OMNIGRAPH_LISTEN_ADDR=%s\n", ln.Addr())
	if err := s.Serve(ctx, ln); err != nil {
		return err
	}
	return s.Close()
}

// catalogOf returns the stored queries as tools. Unlike a generated package, they have no schemas of
// their arguments.
func catalogOf(graph, digest string, plans map[string]*plan.Query) *tool.Catalog {
	c := &tool.Catalog{Graph: graph, SchemaDigest: digest}
	for name, q := range plans {
		c.Queries = append(c.Queries, &tool.Compiled{
			Query:   tool.QueryInfo{Name: name, Exposed: true, Mutation: q.Mutation != nil, ParamDocs: make([]string, len(q.Params))},
			Tool:    tool.Descriptor{Name: name, Title: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: q.Mutation == nil},
			Encoded: plan.Encode(q),
		})
	}
	return c
}
