package main

import (
	"context"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// exportParquet writes an export of the store as Parquet.
func (s *store) exportParquet(ctx context.Context, e *export) (commit string, err error) {
	_, err = s.served.Do(ctx, s.actor, "export", &operations.Look{Branch: tool.BranchName(e.at.Branch), Commit: e.at.Commit, Action: tool.Export, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		commit = c.ID
		_, err := parquet.Export(ctx, env.Graph, engine.Target{Commit: c.ID}, e.parquetOptions(), e.create)
		return nil, err
	}}, encoding.Options{})
	return commit, err
}

// exportParquet writes an export of the server as Parquet. The server sends NDJSON, and its schema
// gives the types of the values. exportParquet checks the requested types before the server sends
// data, and reads everything at one commit.
func (src *source) exportParquet(ctx context.Context, e *export) (string, error) {
	snap, err := src.graph.Snapshot(ctx, readOptions(e.at)...)
	if err != nil {
		return "", err
	}
	id := snap.GraphCommitID
	schema, err := src.graph.Schema(ctx, readOptions(engine.Target{Commit: id})...)
	if err != nil {
		return "", err
	}
	compiled, found := compile.StoredSchema(compile.Source{Name: "the server's schema", Text: schema.SchemaSource})
	if err := found.Err(); err != nil {
		return "", fmt.Errorf("this omnigraph cannot read the server's schema; if it is older than the server, install a newer version: %w", err)
	}
	if err := parquet.CheckTypes(compiled, e.types); err != nil {
		return "", err
	}
	commit, err := src.commitOf(ctx, e.at, id)
	if err != nil {
		return "", err
	}
	stream, err := src.graph.Export(ctx, client.ExportBody{Snapshot: id, TypeNames: e.types})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	of := engine.Commit{ID: id, Time: time.UnixMicro(commit.CreatedAt), Schema: snap.SchemaDigest}
	return id, parquet.Write(ctx, stream, of, compiled, e.parquetOptions(), e.create)
}

// commitOf returns the commit that the target resolves to, whose id is `id`. It requests the commit
// through the target's branch: a branch may have a commit that was made on another branch, and the
// actor may be allowed to read only the target's branch.
func (src *source) commitOf(ctx context.Context, at engine.Target, id string) (*client.CommitAnswer, error) {
	var options []client.ReadOption
	if at.Commit == "" || tool.IsInstant(at.Commit) {
		options = append(options, client.OnBranch(string(tool.BranchName(at.Branch).OrMain())))
	}
	return src.graph.Commit(ctx, id, options...)
}
