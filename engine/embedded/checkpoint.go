package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// closeBytes is how much log makes a checkpoint at Close worth its while: to replay as
// much takes some milliseconds.
const closeBytes = 256 << 10

// checkpoints makes checkpoints when they are asked for, until the context ends.
func (g *Graph) checkpoints(ctx context.Context) {
	defer close(g.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.kick:
			if err := g.checkpoint(ctx); err != nil && ctx.Err() == nil && g.opts.Failed != nil {
				g.opts.Failed(err)
			}
		}
	}
}

// requestCheckpoint asks for a checkpoint in the background.
func (g *Graph) requestCheckpoint() {
	if g.opts.quiet {
		return
	}
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// checkpoint writes a manifest over the head, or over a rewrite of it if that has many
// holes.
func (g *Graph) checkpoint(ctx context.Context) error {
	g.checkMu.Lock()
	defer g.checkMu.Unlock()
	if g.main.head.Load().snap.Sparse(g.opts.sparse) {
		if done, err := g.rewrite(ctx); done || err != nil {
			return err
		}
	}
	return g.flush(ctx)
}

// flush stores the rows of the head that lie in the log alone, writes a manifest over
// it, and gives the tables of the tip the stored segments and their indexes. It is
// called with checkMu held.
func (g *Graph) flush(ctx context.Context) error {
	b := g.main
	head := b.head.Load()
	if head.lsn == g.checkedTo {
		return nil
	}
	logged := g.logged.Load()
	flushes, segments, err := g.storeFlushes(ctx, head.snap)
	if err != nil {
		g.discard(segments)
		return err
	}
	flushed := head.snap.Flushed(flushes)
	if err := g.manifest(ctx, flushed, head.lsn); err != nil {
		g.discard(segments)
		return err
	}
	g.checkedTo = head.lsn
	g.logged.Add(-logged)
	// Whatever the context says: a state without the stored segments would name, at
	// the next checkpoint, segments that this one has made superfluous.
	b.hold()
	defer b.unlock()
	b.doubt = false
	b.replace(func(c *commit) *version.Snapshot { return c.snap.Adopt(flushes, flushed) })
	return nil
}

// manifest makes a state whose rows are all stored the one that an Open begins with.
func (g *Graph) manifest(ctx context.Context, s *version.Snapshot, lsn uint64) error {
	named, err := namedSegments(s)
	if err != nil {
		return err
	}
	return g.store.Checkpoint(ctx, version.AppendManifest(nil, []*version.Snapshot{s}, encode), lsn, named)
}

// storeFlushes stores the rows of a snapshot that lie in no stored segment.
func (g *Graph) storeFlushes(ctx context.Context, snap *version.Snapshot) (flushes []version.Flush, segments []store.SegmentID, err error) {
	for _, t := range snap.Tables() {
		f, ok, err := t.Flush()
		if err != nil {
			return nil, segments, err
		}
		if !ok {
			continue
		}
		id, err := g.storeSegment(ctx, t.Type, f.Segment)
		if err != nil {
			return nil, segments, err
		}
		segments = append(segments, id)
		flushes = append(flushes, f)
	}
	return flushes, segments, nil
}

func namedSegments(snap *version.Snapshot) ([]store.SegmentID, error) {
	var ids []store.SegmentID
	for _, t := range snap.Tables() {
		for _, s := range t.Segs {
			id, err := segmentID(s.Name)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}
