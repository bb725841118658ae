package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Collected counts the objects that a collection deleted.
type Collected = sharedlog.Collected

// Collect deletes the objects of a graph in shared storage that the graph has not needed for the
// retention of its SharedPlace. It deletes none that another server still needs, at least for a day
// after the retention. On a graph in a folder it does nothing. Close does not wait for Collect,
// because what may be deleted does not depend on the server's role.
func (g *Graph) Collect(ctx context.Context) (Collected, error) {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Collect(ctx)
	}
	return Collected{}, nil
}

// Needs returns a number for the oldest checkpoint that this server needs, for Needed in the
// SharedPlace of other servers. It is 0 if there is none.
func (g *Graph) Needs() uint64 {
	if s, ok := g.store.(*store.Shared); ok {
		return s.Needs()
	}
	return 0
}

// Needs returns a number for the oldest checkpoint that this server needs; see Needs of [Graph].
func (f *Follower) Needs() uint64 { return f.store.Needs() }
