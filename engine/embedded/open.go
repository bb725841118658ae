package embedded

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// OpenDir opens the graph in a folder. With [OrCreate] it creates a graph if the folder contains
// none. The error is a *engine.NotFound if the folder holds no graph, a *engine.Unavailable if
// another process has it open, and a *engine.Corrupt if the stored data is not as it was written.
//
// Closing the graph releases the folder. The schema of an existing graph stays as it is;
// [Graph.ApplySchema] changes it.
func OpenDir(ctx context.Context, dir string, options ...OpenOption) (*Graph, error) {
	o := newOpenOptions(options)
	g, err := Open(ctx, fs.OS(), dir, o.Options)
	var missing *engine.NotFound
	if o.schema == nil || !errors.As(err, &missing) {
		return g, err
	}
	g, err = Create(ctx, fs.OS(), dir, o.source, o.schema, o.Options)
	var made *engine.Conflict
	if errors.As(err, &made) { // another process made the graph since Open
		return Open(ctx, fs.OS(), dir, o.Options)
	}
	return g, err
}

// OpenOption is an option of [OpenDir], [OpenURL] and [FollowURL].
type OpenOption func(*openOptions)

// openOptions holds the values of the options; schema is nil without [OrCreate].
type openOptions struct {
	Options
	source string          // text of the schema; see OrCreate
	schema *catalog.Schema // see above
	cache  string          // see CacheIn
}

// newOpenOptions applies the options.
func newOpenOptions(options []OpenOption) openOptions {
	var o openOptions
	for _, option := range options {
		option(&o)
	}
	return o
}

// CacheIn sets the folder for copies of segments from shared storage. Only one process may use it, for one graph. What
// it holds is used again at the next opening. OpenDir has no such copies.
func CacheIn(dir string) OpenOption { return func(o *openOptions) { o.cache = dir } }

// OrCreate makes a graph with a schema if the folder or the storage holds none. OpenDir also makes the folder, in a
// parent folder that exists. The argument `source` is the text of the schema, which the graph keeps
// and never parses.
func OrCreate(source string, schema *catalog.Schema) OpenOption {
	return func(o *openOptions) { o.source, o.schema = source, schema }
}

// OpenMemory makes an empty graph with a schema in memory. Nothing of it is left once it is closed:
// it is for tests, and for graphs that a program can build again. The argument `source` is the text
// of the schema.
func OpenMemory(ctx context.Context, source string, schema *catalog.Schema, opts Options) (*Graph, error) {
	return Create(ctx, fs.NewMem(), "graph", source, schema, opts)
}

// With sets the options of the graph.
func With(opts Options) OpenOption { return func(o *openOptions) { o.Options = opts } }

// Engine makes and opens embedded graphs; a place is a folder. It implements [engine.Engine]. The
// zero Engine uses the file system of the operating system.
type Engine struct {
	FS fs.FS // nil means fs.OS(); other modules get the file system in memory from NewMemoryEngine
	// Options are the options of every graph, as far as engine.OpenOptions do not set them.
	Options Options
}

var _ engine.Engine = Engine{}

// NewMemoryEngine returns an engine that keeps its graphs in memory. A graph that was closed can be
// opened again from the same engine. Nothing is left once the program ends.
func NewMemoryEngine() Engine { return Engine{FS: fs.NewMem()} }

// Create makes a graph in a folder that holds none; see [Create].
func (e Engine) Create(ctx context.Context, dir, source string, schema *catalog.Schema, opts engine.OpenOptions) (engine.Graph, error) {
	g, err := Create(ctx, e.fs(), dir, source, schema, e.Options.with(opts))
	if err != nil {
		return nil, err // not g, because a nil *Graph is not a nil engine.Graph
	}
	return g, nil
}

// Open opens the graph in a folder; see [Open].
func (e Engine) Open(ctx context.Context, dir string, opts engine.OpenOptions) (engine.Graph, error) {
	g, err := Open(ctx, e.fs(), dir, e.Options.with(opts))
	if err != nil {
		return nil, err
	}
	return g, nil
}

// fs returns the file system; the operating system's by default.
func (e Engine) fs() fs.FS {
	if e.FS == nil {
		return fs.OS()
	}
	return e.FS
}

// Create makes a graph with a schema and opens it. The directory must not contain a graph already.
// Create keeps the text `source` together with the schema and never parses it. The error is a
// *engine.Conflict if the directory holds a graph, a *engine.SchemaMismatch if the engine cannot
// represent the schema, and a *engine.Unavailable if the directory cannot be used.
func Create(ctx context.Context, fsys fs.FS, dir, source string, declared *catalog.Schema, opts Options) (*Graph, error) {
	s, err := schema.New(source, catalog.Digest(declared), declared)
	if err != nil {
		return nil, &engine.SchemaMismatch{Detail: err.Error()}
	}
	g := newGraph(opts.complete())
	manifest := g.begin(s)
	st, err := store.Create(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Manifest: manifest, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.attachStore(st)
	g.start()
	return g, nil
}

// begin gives a new graph its first commit. It returns the manifest with this commit.
func (g *Graph) begin(s *schema.Schema) (manifest []byte) {
	first := version.NewSnapshot(s, engine.Commit{ID: g.ids.Next(), Seq: 1, Branch: engine.MainBranch, Time: g.opts.time(), Schema: s.Digest})
	_ = g.history.Add(logrecord.Commit{Commit: first.Commit}, 0)
	b := recoveredBranch(engine.MainBranch, first, 0)
	g.branches.addLocked(b)
	g.branches.main = b
	g.retention.begin(b)
	initial := version.Manifest{Branches: []version.ManifestBranch{{Name: engine.MainBranch, Head: first}}}
	return initial.Append(nil, encode)
}

// Open opens the graph in a directory. The error is a *engine.NotFound if the directory holds
// no graph, a *engine.Unavailable if another process has it open, and a *engine.Corrupt if the
// stored data is not as it was written.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Graph, error) {
	g := newGraph(opts.complete())
	st, found, err := store.Open(ctx, fsys, dir, store.Options{LogSize: opts.LogSize, Failed: opts.LogFailed})
	if err != nil {
		return nil, err
	}
	g.attachStore(st)
	if err := g.recovery(ctx, found); err != nil {
		var missing *engine.NotFound
		if errors.As(err, &missing) { // NotFound is for a directory without a graph
			err = &engine.Corrupt{Object: missing.What + " " + missing.Name, Detail: "it is missing"}
		}
		return nil, errors.Join(err, st.Close())
	}
	g.checkpoints.lsn = found.ManifestLSN
	g.start()
	return g, nil
}

// recovery calls recover and turns a thrown corruption into an error.
func (g *Graph) recovery(ctx context.Context, found *store.Recovered) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	return g.recover(ctx, found)
}
