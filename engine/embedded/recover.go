package embedded

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// recover makes the state of the graph of what the store found.
func (g *Graph) recover(ctx context.Context, found *store.Recovered) (*branch, error) {
	open := func(t *version.Type, name string) (*version.Segment, error) {
		var s *version.Segment
		err := g.segment(ctx, name, func(get func(string) ([]byte, error)) (err error) {
			s, err = version.ReadSegment(t, name, get)
			return err
		})
		return s, err
	}
	heads, err := version.ReadManifest(found.Manifest, catalog.Decode, open)
	if err != nil {
		return nil, err
	}
	if len(heads) != 1 || heads[0].Commit.Branch != engine.MainBranch {
		return nil, &engine.Corrupt{Object: "manifest", Detail: fmt.Sprintf("it holds %d branches, wanted main alone", len(heads))}
	}
	snap, lsn := heads[0], found.ManifestLSN
	for _, r := range found.Records {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if snap, err = g.replay(ctx, snap, r, open); err != nil {
			return nil, err
		}
		lsn = r.LSN
		g.logged.Add(int64(len(r.Payload)))
	}
	return newBranch(snap, lsn), nil
}

// replay makes the commit of a record.
func (g *Graph) replay(ctx context.Context, snap *version.Snapshot, r store.Record, open func(*version.Type, string) (*version.Segment, error)) (*version.Snapshot, error) {
	corrupt := func(format string, args ...any) error {
		return &engine.Corrupt{Object: fmt.Sprintf("log record %d", r.LSN), Detail: fmt.Sprintf(format, args...)}
	}
	c, rest, err := version.Header(r.Payload)
	if err != nil {
		return nil, err
	}
	if c.Seq != snap.Commit.Seq+1 || len(c.Parents) == 0 || c.Parents[0] != snap.Commit.ID {
		return nil, corrupt("commit %s, number %d, does not follow commit %s, number %d", c.ID, c.Seq, snap.Commit.ID, snap.Commit.Seq)
	}
	c.Schema = snap.Commit.Schema
	tx := version.Begin(snap)
	switch r.Kind {
	case version.KindRows:
		err = tx.ApplyOps(rest)
	case version.KindBulk:
		var parts []version.Part
		if parts, err = version.ReadParts(rest, snap.Schema, open); err == nil {
			for _, p := range parts {
				tx.PutSegment(p)
			}
		}
	case version.KindSpilled:
		var name string
		if name, err = version.ReadSpilled(rest); err != nil {
			break
		}
		err = g.segment(ctx, name, func(get func(string) ([]byte, error)) error {
			ops, err := get("ops")
			if err != nil {
				return err
			}
			return tx.ApplyOps(ops)
		})
	default:
		return nil, corrupt("kind %d is unknown", r.Kind)
	}
	if err != nil {
		return nil, err
	}
	return tx.Commit(c), nil
}

// segment opens a segment for the time of a call.
func (g *Graph) segment(ctx context.Context, name string, use func(get func(string) ([]byte, error)) error) error {
	id, err := segmentID(name)
	if err != nil {
		return err
	}
	seg, err := g.store.OpenSegment(ctx, id)
	if err != nil {
		return err
	}
	if err := use(seg.Block); err != nil {
		seg.Close()
		return err
	}
	return seg.Close()
}
