package embedded_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const conformanceDir = "graph"

// conformanceOptions make checkpoints and rewrites frequent and log files short, and store
// every index.
var conformanceOptions = embedded.Options{Now: clocktest.Running(clocktest.Start), LogSize: 1 << 16, CheckpointBytes: 2048}.Indexed(1).Sparse(16)

func openInMemory(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	g, err := embedded.Create(context.Background(), fs.NewMem(), conformanceDir, source, schema, conformanceOptions)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return g
}

func TestConformance(t *testing.T) { enginetest.Run(t, openInMemory) }

func TestConformanceReopened(t *testing.T) {
	slow.Test(t)
	enginetest.Run(t, openReopening)
}

// TestConformanceSpilled runs the suite with loads that write all rows to runs and store each type
// in several segments. Counts run on several processors.
func TestConformanceSpilled(t *testing.T) {
	slow.Test(t)
	enginetest.Run(t, openSpilling)
}

func openSpilling(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	opts := conformanceOptions.Spilling(1, 256, 3).SplitAll()
	opts.InlineBytes = -1
	fsys := fs.NewMem()
	fsys.PoisonMappings()
	g, err := embedded.Create(context.Background(), fsys, conformanceDir, source, schema, opts)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return newReopening(t, g, fsys, opts)
}

func TestRandom(t *testing.T) { enginetest.RunRandom(t, openLagging, half()) }

// openLagging makes a graph whose schema changes find rows that were written meanwhile.
func openLagging(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	l := &embedded.Lagging{}
	g, err := embedded.Create(context.Background(), fs.NewMem(), conformanceDir, source, schema, l.Follow(conformanceOptions))
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	l.Graph = g
	return l
}

func TestRandomReopened(t *testing.T) {
	o := half()
	o.Seed += reopenedSeeds
	enginetest.RunRandom(t, openReopening, o)
}

func TestRandomSpilled(t *testing.T) {
	o := half()
	o.Seed += 2 * reopenedSeeds
	enginetest.RunRandom(t, openSpilling, o)
}

// reopenedSeeds is the difference between the seeds of the comparisons. Different seeds make them
// draw different graphs.
const reopenedSeeds = 1 << 32

// half returns the options for one of the comparisons: half of the time and half of the cases that
// the command-line flags state. With -short it is a quarter of the time.
func half() enginetest.Options {
	o := enginetest.FromFlags()
	o.Duration /= 2
	if testing.Short() {
		o.Duration /= 2
	}
	o.Cases = (o.Cases + 1) / 2
	return o
}

// reopening is a graph that is closed and opened again after every other write, so that reads
// get data that came back from the files. Open results stay open. After every eighth write it
// runs the garbage collector, so that mappings that nothing refers to are overwritten.
type reopening struct {
	t    testing.TB
	fsys fs.FS
	opts embedded.Options

	writes int
	serialized
}

// newReopening returns a graph that is closed and opened again from time to time.
func newReopening(t testing.TB, g engine.Graph, fsys fs.FS, opts embedded.Options) *reopening {
	r := &reopening{t: t, fsys: fsys, opts: opts}
	r.Graph, r.writer, r.wrote = g, g, r.reopen
	return r
}

func openReopening(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
	t.Helper()
	fsys := fs.NewMem()
	fsys.PoisonMappings()
	g, err := embedded.Create(context.Background(), fsys, conformanceDir, source, schema, conformanceOptions)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return newReopening(t, g, fsys, conformanceOptions)
}

// reopen closes and opens the graph after every other write. REQUIRES: r.mu is locked.
func (r *reopening) reopen() {
	r.t.Helper()
	if r.writes++; r.writes%2 != 0 {
		return
	}
	if err := r.Graph.Close(); err != nil {
		r.t.Fatalf("close: %v", err)
	}
	g, err := embedded.Open(context.Background(), r.fsys, conformanceDir, r.opts)
	if err != nil {
		r.t.Fatalf("open again: %v", err)
	}
	r.Graph, r.writer = g, g
	if r.writes%8 == 0 {
		runtime.GC()
		if err := g.Verify(context.Background()); err != nil {
			r.t.Errorf("verify: %v", err)
		}
	}
}

func FuzzLoad(f *testing.F) { enginetest.FuzzLoad(f, openInMemory) }
