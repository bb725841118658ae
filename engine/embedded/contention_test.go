package embedded_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/contention"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestContention runs 64 writers and 16 readers on a graph on disk. No acknowledged increment of a
// counter may be lost, no reader may see half a commit, and the graph must have the same content
// when it is opened again. make bench-writers is the long form.
func TestContention(t *testing.T) {
	for _, o := range []contention.Options{
		{Counters: 64},
		{Counters: 64, IfCommit: true},
		{Counters: 4, Branches: 64},
	} {
		t.Run(fmt.Sprintf("branches=%d,if_commit=%t", max(1, o.Branches), o.IfCommit), func(t *testing.T) {
			o.Writers, o.Readers, o.Duration, o.Most, o.Seed = 64, 16, 2*time.Second, 4000, 1
			dir := filepath.Join(t.TempDir(), "graph")
			// Checkpoints are frequent, so that they run concurrently with the writers.
			opts := embedded.Options{CheckpointBytes: 64 << 10, Failed: func(err error) { t.Errorf("checkpoint: %v", err) }}
			g, err := embedded.Create(t.Context(), fs.OS(), dir, contention.Source, contention.Schema(), opts)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := contention.Run(t.Context(), g, o)
			if closing := g.Close(); err == nil {
				err = closing
			}
			if err != nil {
				t.Fatal(err)
			}
			if rep.Raises == 0 || len(rep.Reads) == 0 {
				t.Errorf("%d raises and %d reads: the test shows nothing", rep.Raises, len(rep.Reads))
			}
			t.Logf("%d raises acknowledged, %d refused, %d reads in %s", rep.Raises, rep.Refused, len(rep.Reads), rep.Elapsed)
			if g, err = embedded.Open(t.Context(), fs.OS(), dir, opts); err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if err := g.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			if err := rep.Compare(t.Context(), g); err != nil {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}
