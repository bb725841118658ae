package replica

import (
	"context"
	"errors"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/handle"
)

// Call implements [handle.Opener]. A read fails if the copy is too old. A write of a command first makes this process
// the writer; in a server, a write does so if the writer has given the graph up.
func (g *Graph) Call(ctx context.Context, a handle.Access, call func(engine.Graph) error) error {
	if a != handle.Read && a != handle.Any {
		g.busy.Add(1)
		defer g.busy.Add(-1)
	}
	switch a {
	case handle.Read, handle.ReadStream:
		if err := g.tooOld(); err != nil {
			return err
		}
	case handle.Write, handle.WriteStream:
		if err := g.beforeWrite(ctx); err != nil {
			return err
		}
	}
	if a == handle.ReadStream || a == handle.WriteStream {
		return g.once(ctx, call)
	}
	return g.calling(ctx, call)
}

// beforeWrite makes this process the writer if a write should do so. It returns an error if the writer accepts no
// writes, because the storage is slow.
func (g *Graph) beforeWrite(ctx context.Context) error {
	if g.storage.Command {
		return g.takeOver(ctx, 0)
	}
	if err := g.Claim(ctx); err != nil {
		return err
	}
	return g.admit()
}

// once runs a call that must not run twice, because it consumes or writes a stream.
func (g *Graph) once(ctx context.Context, call func(engine.Graph) error) error {
	if err := g.hold(ctx); err != nil {
		return err
	}
	defer g.release()
	now := g.current.Load()
	if eg := now.graph(); eg != nil {
		return call(eg)
	}
	return now.err
}

// calling runs a call on the graph. If the graph refuses the call because its role changes, calling
// waits for the next role and runs the call again. It opens the graph if the graph is Idle.
func (g *Graph) calling(ctx context.Context, call func(engine.Graph) error) error {
	if err := g.hold(ctx); err != nil {
		return err
	}
	defer g.release()
	var limit <-chan time.Time
	for {
		now := g.current.Load()
		eg := now.graph()
		if eg == nil {
			return now.err
		}
		err := call(eg)
		var unavailable *engine.Unavailable
		if !errors.As(err, &unavailable) || !now.leaving.Load() {
			return err
		}
		if limit == nil {
			timer := time.NewTimer(changeTime)
			defer timer.Stop()
			limit = timer.C
		}
		select {
		case <-now.replaced:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return err
		}
	}
}

// Query implements [engine.Graph]. The graph stays open until the result is closed.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if err := g.hold(ctx); err != nil {
		return nil, err
	}
	return g.holding(g.Graph.Query(ctx, q, args, at))
}

// Preview implements [engine.Graph]. The reads of the preview keep the graph open.
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	p, err := g.Graph.Preview(ctx, source, target, resolutions)
	if err != nil {
		return nil, err
	}
	return &heldPreview{p, g}, nil
}

// Stats implements [engine.Graph].
func (g *Graph) Stats() engine.Stats {
	now := g.current.Load()
	s := now.stats
	state := g.State()
	shared := &engine.SharedStats{Writer: state.Role == Writer, Epoch: state.Epoch, Lag: state.Lag, Collected: g.collected.Load(), Pinned: g.pinned.Load()}
	if eg := now.graph(); eg != nil {
		shared.Open = true
		s = eg.Stats()
		shared.CacheBytes = eg.(interface{ CacheBytes() int64 }).CacheBytes()
	}
	s.Shared = shared
	return s
}

// Failure implements [engine.Graph]. A reader that knows the whole log reports no failure, because
// its server forwards writes to the writer.
func (g *Graph) Failure() error {
	now := g.current.Load()
	switch {
	case now.idle:
		return nil
	case now.written != nil:
		return now.written.Failure()
	case now.follower != nil:
		return g.tooOld()
	}
	return now.err
}

// MustReopen implements [engine.Graph]. It always returns false, because the graph reopens itself.
func (g *Graph) MustReopen() bool { return false }
