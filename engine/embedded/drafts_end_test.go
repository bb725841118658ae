package embedded

import (
	"context"
	"errors"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestReadWhileDraftEnds reads the branch of a draft while the draft ends. The first error is that the
// draft is closed, not that there is no such branch.
func TestReadWhileDraftEnds(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	defer g.Close()
	for range 200 {
		d, _, err := g.OpenDraft(ctx, engine.NewDraft{Owner: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error)
		go func() {
			for {
				if _, err := g.Snapshot(ctx, engine.Target{Branch: d.Branch()}); err != nil {
					first <- err
					return
				}
			}
		}()
		if err := g.EndDraft(ctx, d.ID, engine.DraftEnd{State: engine.DraftDeleted}); err != nil {
			t.Fatal(err)
		}
		if err := <-first; !errors.As(err, new(*engine.DraftClosed)) {
			t.Fatalf("a read while the draft ended: %v, want a *engine.DraftClosed", err)
		}
	}
}
