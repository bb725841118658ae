// Package parquet writes a graph as a folder of Parquet files, with a manifest:
//
//	manifest.json
//	nodes/Person/part-00000.parquet
//	nodes/Person/part-00001.parquet
//	edges/Knows/part-00000.parquet
//
// It reads the graph as an NDJSON export, entity by entity, so that the memory does not depend on
// the size of the graph and the graph may be on a server:
//
//	lines (NDJSON to entities) → rows (a batch of entities) → part (a file)
package parquet

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// The limits of a file if [Options] has none.
const (
	DefaultPartRows  = 1_000_000
	DefaultPartBytes = 128 << 20 // in bytes
)

// Options say what to export.
type Options struct {
	// Types lists the node and edge types to export, by name; empty means all.
	Types []string
	// PartRows is the maximum number of rows in a file; 0 means DefaultPartRows.
	PartRows int64
	// PartBytes is the size at which a file ends: a file exceeds it by at most a row group, of about
	// 16 MiB in memory, and a batch. 0 means DefaultPartBytes.
	PartBytes int64
	// Memory allocates the record batches and the buffers of the writer; nil means Go's allocator.
	Memory memory.Allocator
}

// Create makes a file of the export. The path is below the folder of the export and separated by
// slashes. The package closes each file exactly once, after an error too.
type Create func(path string) (io.WriteCloser, error)

// Export writes the entities at the target and returns their commit. The layout is that of [Write].
// The error is an *engine.BadArgument if a type is unknown, or an error of the function `create`,
// of a file or of the graph.
func Export(ctx context.Context, g engine.Graph, at engine.Target, opts Options, create Create) (engine.Commit, error) {
	snap, err := g.Snapshot(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	at = engine.Target{Branch: at.Branch, Commit: snap.Commit.ID}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	if err := CheckTypes(schema.Catalog, opts.Types); err != nil {
		return engine.Commit{}, err
	}
	r, w := io.Pipe()
	exported := make(chan struct{})
	go func() {
		defer close(exported)
		_, err := g.Export(ctx, w, at, engine.ExportOptions{Types: opts.Types})
		w.CloseWithError(err) // io.EOF for the reader if err is nil
	}()
	err = Write(ctx, r, snap.Commit, schema.Catalog, opts, create)
	r.Close() // ends the export if Write has failed
	<-exported
	if err != nil {
		return engine.Commit{}, err
	}
	return snap.Commit, nil
}

// Write writes the entities of an NDJSON export of the commit. The schema is that of the commit, and
// the export must have the types of opts.Types and no others.
//
// Each type has a folder with at least one file, so that readers see the columns of a type without
// entities. The files of a type have its entities in id order: the id and the properties of each
// node, and the id, from, to and properties of each edge. The columns are those of
// [engine.ArrowSchema], with three differences: a required column is not nullable, a nullable Vector
// is a List, and a Duration is an Int64 of nanoseconds. If a node type has a property called id, the
// files have only one column id. The manifest is the last file.
//
// The error is an *engine.BadArgument if a type is unknown, or an error of the function `create`,
// of a file or of the export.
func Write(ctx context.Context, export io.Reader, commit engine.Commit, s *catalog.Schema, opts Options, create Create) error {
	tables, err := tablesOf(s, opts.Types)
	if err != nil {
		return err
	}
	if opts.PartRows <= 0 {
		opts.PartRows = DefaultPartRows
	}
	if opts.PartBytes <= 0 {
		opts.PartBytes = DefaultPartBytes
	}
	if opts.Memory == nil {
		opts.Memory = memory.DefaultAllocator
	}
	w := &writer{opts: opts, create: create, left: tables}
	if err := w.write(ctx, newLines(export, tables)); err != nil {
		return err
	}
	m := Manifest{FormatVersion: FormatVersion, Commit: ManifestCommit{GraphCommitID: commit.ID, CreatedAt: commit.Time.UnixMicro()},
		SchemaDigest: commit.Schema, Types: w.types}
	return m.write(create)
}
