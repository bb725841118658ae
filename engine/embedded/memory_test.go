package embedded_test

import (
	"context"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMemory runs the suite and the random comparison without closing the graph, so reads get
// the data that transactions left in memory. Checkpoints run after every commit or never, and
// rows are in the log or in segments. The test takes every second way to store rows; all of them with -embedded.long.
func TestMemory(t *testing.T) {
	slow.Test(t)
	for i, c := range []struct {
		name string
		opts embedded.Options
	}{
		{"log alone", embedded.Options{LogSize: 1 << 16}},
		{"checkpoints", embedded.Options{LogSize: 1 << 16, CheckpointBytes: 1}},
		{"segments", embedded.Options{LogSize: 1 << 16, InlineBytes: -1}},
		{"segments and rewrites", embedded.Options{LogSize: 1 << 16, InlineBytes: -1, CheckpointBytes: 1}.Sparse(1)},
		{"rewrites", embedded.Options{LogSize: 1 << 16, CheckpointBytes: 1}.Sparse(1)},
		{"segments and checkpoints", embedded.Options{LogSize: 1 << 16, InlineBytes: -1, CheckpointBytes: 1}},
	} {
		if i%2 == 0 && !long() {
			continue
		}
		open := func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
			t.Helper()
			opts := c.opts
			opts.Failed = func(err error) { t.Errorf("checkpoint: %v", err) }
			g, err := embedded.Create(context.Background(), fs.NewMem(), "graph", source, schema, opts)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		t.Run(c.name, func(t *testing.T) {
			enginetest.Run(t, open)
			o := enginetest.FromFlags()
			o.Duration /= 10
			enginetest.RunRandom(t, open, o)
		})
	}
}
