package embedded_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

const conformanceDir = "graph"

// conformanceOptions make checkpoints frequent and log files short.
var conformanceOptions = embedded.Options{LogSize: 1 << 16, CheckpointBytes: 2048}

func openInMemory(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	g, err := embedded.Create(context.Background(), fs.NewMem(), conformanceDir, source, schema, conformanceOptions)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return g
}

func TestConformance(t *testing.T) { enginetest.Run(t, openInMemory) }

func TestConformanceReopened(t *testing.T) { enginetest.Run(t, openReopening) }

func TestRandom(t *testing.T) { enginetest.RunRandom(t, openInMemory, halfTheTime()) }

func TestRandomReopened(t *testing.T) { enginetest.RunRandom(t, openReopening, halfTheTime()) }

// halfTheTime are the options of the flags for one of two comparisons.
func halfTheTime() enginetest.Options {
	o := enginetest.FromFlags()
	o.Duration /= 2
	return o
}

// reopening is a graph that is closed and opened again after every other write, unless
// a result is open, so that what is read has come back from the files.
type reopening struct {
	t    testing.TB
	fsys fs.FS

	mu     sync.RWMutex // held for reading by calls
	writes int
	open   atomic.Int64 // results
	engine.Graph
}

func openReopening(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	fsys := fs.NewMem()
	g, err := embedded.Create(context.Background(), fsys, conformanceDir, source, schema, conformanceOptions)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return &reopening{Graph: g, t: t, fsys: fsys}
}

func (r *reopening) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	res, err := r.Graph.Query(ctx, q, args, at)
	if err != nil {
		return nil, err
	}
	r.open.Add(1)
	return &countedResult{Result: res, open: &r.open}, nil
}

func (r *reopening) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.Mutate(ctx, q, args, opts)
}

func (r *reopening) Load(ctx context.Context, in io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.Load(ctx, in, opts)
}

func (r *reopening) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.CreateBranch(ctx, name, from)
}

func (r *reopening) DeleteBranch(ctx context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.DeleteBranch(ctx, name)
}

func (r *reopening) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.Merge(ctx, source, target, opts)
}

func (r *reopening) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.reopen()
	return r.Graph.Cleanup(ctx, opts)
}

// reopen is called with the lock held.
func (r *reopening) reopen() {
	r.t.Helper()
	if r.writes++; r.writes%2 != 0 || r.open.Load() > 0 {
		return
	}
	if err := r.Graph.Close(); err != nil {
		r.t.Fatalf("close: %v", err)
	}
	g, err := embedded.Open(context.Background(), r.fsys, conformanceDir, conformanceOptions)
	if err != nil {
		r.t.Fatalf("open again: %v", err)
	}
	r.Graph = g
}

type countedResult struct {
	engine.Result
	open   *atomic.Int64
	closed bool
}

func (c *countedResult) Close() error {
	if !c.closed {
		c.closed = true
		c.open.Add(-1)
	}
	return c.Result.Close()
}

func FuzzLoad(f *testing.F) { enginetest.FuzzLoad(f, openInMemory) }
