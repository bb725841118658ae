package replica

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
)

// View opens a graph for reading only. It disturbs neither the writer of the graph nor the other servers.
// Until the Node leaves, its sign states what the View needs, so that the writer does not delete it. If the
// sign cannot be stored, for example because the credentials allow only reads, the View is still usable, but
// what it needs may be deleted after the retention.
func (s *Storage) View(ctx context.Context, id string, o engine.OpenOptions) (*embedded.View, error) {
	incarnation, err := s.incarnation(ctx, id)
	if err != nil {
		return nil, err
	}
	g := s.newGraph(id, o)
	g.locate(incarnation)
	v, err := embedded.ViewShared(ctx, g.at, g.opts)
	if err != nil {
		return nil, err
	}
	s.Node.pin(id, v.Needs)
	_ = s.Node.Start(ctx)
	return v, nil
}

// Copy makes a graph with everything that a View contains, and checks the copy. If `commit` is not empty,
// the new graph has only a branch main, which ends with that commit. Other processes find the graph only
// after the check. This process is then the writer of the graph.
func (s *Storage) Copy(ctx context.Context, id string, from *embedded.View, commit string, o engine.OpenOptions) (engine.Graph, error) {
	return s.publish(ctx, id, o, func(g *Graph) (*embedded.Graph, error) {
		w, err := from.CopyToShared(ctx, g.at, g.opts, commit)
		if err != nil {
			return nil, err
		}
		if err := from.Check(ctx, w, commit); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		return w, nil
	})
}
