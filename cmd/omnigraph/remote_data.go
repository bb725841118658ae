package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

func (r *remote) Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*client.LoadAnswer, error) {
	load := client.LoadQuery{Branch: opts.Branch, From: data.from, Mode: opts.Mode.String(), DryRun: opts.DryRun}
	a, err := answered(r.graph.Load(ctx, data, load, conditions(opts.WriteOptions)...))
	var refused *client.Error
	if errors.As(err, &refused) && errors.Is(err, client.ErrTooLarge) && refused.ResourceLimit == nil {
		err = fmt.Errorf("%w\n%s", err, tooLargeToLoad)
	}
	return a, err
}

// tooLargeToLoad is the advice if a load is too large for the server.
const tooLargeToLoad = "Load it where the store is, with --store DIR; or split it at the ends of lines and load the parts, nodes before the edges\n" +
	"between them, into a branch of their own (--branch NAME --from main): merge --into main --delete-branch then shows all of it at once."

func (r *remote) Export(ctx context.Context, e *export) (commit string, err error) {
	if e.format == "parquet" {
		return r.exportParquet(ctx, e)
	}
	stream, err := answered(r.graph.Export(ctx, client.ExportBody{Branch: e.at.Branch, Snapshot: e.at.Commit, TypeNames: e.types}))
	if err != nil {
		return "", err
	}
	defer stream.Close()
	_, err = io.Copy(e.w, stream)
	return stream.Commit, err
}

// exportParquet writes an export of the server as Parquet. The server sends NDJSON, and only a
// graph knows the types of its values and their order. So exportParquet loads the NDJSON into a
// temporary graph in the destination folder and removes it when the files are written. It selects
// types only in that graph, so that the graph satisfies the rules of its schema.
func (r *remote) exportParquet(ctx context.Context, e *export) (commit string, err error) {
	stream, err := answered(r.graph.Export(ctx, client.ExportBody{Branch: e.at.Branch, Snapshot: e.at.Commit}))
	if err != nil {
		return "", err
	}
	defer stream.Close()
	commit = stream.Commit
	schema, err := r.Schema(ctx, engine.Target{Commit: commit})
	if err != nil {
		return "", err
	}
	compiled, found := gq.CompileStoredSchema(gq.Source{Name: "the server's schema", Text: schema.SchemaSource})
	if err := found.Err(); err != nil {
		return "", fmt.Errorf("this program does not understand the server's schema; is it older than the server? %w", err)
	}
	if err := knownTypes(compiled, e.types); err != nil {
		return "", err
	}
	dir := filepath.Join(e.dir, ".graph")
	g, err := embedded.Create(ctx, fs.OS(), dir, schema.SchemaSource, compiled, embedded.Options{})
	if err != nil {
		return "", err
	}
	_, err = g.Load(ctx, stream, engine.LoadOptions{Mode: engine.Append})
	if err == nil {
		_, err = parquet.Export(ctx, g, engine.Target{}, parquet.Options{Types: e.types}, e.create)
	}
	return commit, errors.Join(err, g.Close(), os.RemoveAll(dir))
}

// knownTypes reports a type that the schema does not have, before any data is loaded.
func knownTypes(s *catalog.Schema, types []string) error {
	for _, name := range types {
		if s.Node(name) == nil && s.Edge(name) == nil {
			return &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
		}
	}
	return nil
}

func (r *remote) Blob(ctx context.Context, p operations.BlobPlace, at engine.Target) ([]byte, error) {
	stream, err := answered(r.graph.Blob(ctx, client.BlobPlace{Entity: p.Entity.String(), Type: p.Type, ID: p.ID, Property: p.Property}, place(at)...))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	b, err := io.ReadAll(io.LimitReader(stream, maxBlob+1))
	if err == nil && len(b) > maxBlob {
		err = &engine.TooLarge{Resource: "bytes of the server's answer", Limit: maxBlob, Actual: int64(len(b))}
	}
	return b, err
}

// maxBlob bounds the memory in bytes that the answer of a server takes: 1 GiB, far more than a
// server stores in one Blob.
const maxBlob = 1 << 30
