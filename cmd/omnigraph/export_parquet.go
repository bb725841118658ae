package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

// exportParquet writes an export of the server as Parquet. The server sends NDJSON, and only a
// graph knows the types of the values and their order. So exportParquet loads the NDJSON into a
// temporary graph in the destination folder and removes that graph after it has written the files.
// It loads all types and selects the requested ones only when it writes the files, because a part
// of the data could break the rules of the schema.
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
		return "", fmt.Errorf("this omnigraph cannot read the server's schema; if it is older than the server, install a newer version: %w", err)
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
