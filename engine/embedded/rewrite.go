package embedded

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

const (
	// catchUps is how often at most a rewrite takes in what was committed meanwhile:
	// the last time it stops the writers.
	catchUps = 5
	// fewCommits are done again in less time than the manifest takes to write.
	fewCommits = 64
)

// journal keeps the commits that are made while a rewrite is under way. It is guarded by
// the branch's turn.
type journal struct {
	entries []journalEntry
	bulk    bool // one of them holds numbers of entities, which the rewrite changes
}

type journalEntry struct {
	commit engine.Commit
	lsn    uint64
	ops    []byte
}

func (j *journal) note(c engine.Commit, lsn uint64, rec record) {
	switch {
	case j == nil:
	case rec.ops == nil:
		j.entries, j.bulk = nil, true
	case !j.bulk:
		j.entries = append(j.entries, journalEntry{c, lsn, rec.ops})
	}
}

// rewrite lays the tip out anew, without holes, stores it and makes it the state that an
// Open begins with; then it does again what was committed meanwhile, as that Open would
// do, and puts the outcome in the place of the head and the tip. Readers are not
// touched; writers wait while the manifest is written. done is false when a bulk commit
// came between, whose record would not fit the rewrite. It is called with checkMu and
// shape held, on a graph whose only branch is main: other branches share ordinals.
func (g *Graph) rewrite(ctx context.Context) (done bool, err error) {
	b := g.main
	b.hold()
	if b.err != nil {
		b.unlock()
		return false, nil
	}
	base, j := b.tip, &journal{}
	cut := g.cut()
	b.journal = j
	b.unlock()
	inTurn := false
	var segments []store.SegmentID
	defer func() {
		if !inTurn {
			b.hold()
		}
		b.journal = nil
		b.unlock()
		if !done {
			g.discard(segments)
		}
	}()
	if err := cut.settled(ctx); err != nil {
		return false, err
	}
	logged := g.logged.Load()
	snap, fresh, err := base.snap.Rewrite(ctx, g.opts.sparse)
	if err != nil {
		return false, err
	}
	for _, f := range fresh {
		id, err := g.storeSegment(ctx, f.Type, f.Segment)
		if err != nil {
			return false, err
		}
		segments = append(segments, id)
	}
	made := []*commit{{snap: snap, lsn: base.lsn}}
	for round := 1; !inTurn; round++ {
		b.hold()
		entries := j.entries
		j.entries = nil
		inTurn = j.bulk || round == catchUps || len(entries) <= fewCommits
		if j.bulk {
			return false, nil
		}
		if !inTurn {
			b.unlock()
		}
		if made, err = b.redo(ctx, made, entries); err != nil {
			return false, err
		}
	}
	// If the manifest fails it may be in force all the same after the next Open.
	b.doubt = true
	if err := g.manifest(ctx, cut, map[*version.Snapshot]*version.Snapshot{base.snap: snap}); err != nil {
		return false, err
	}
	b.doubt = false
	g.logged.Add(-logged)
	byLSN := make(map[uint64]*version.Snapshot, len(made))
	for _, c := range made {
		byLSN[c.lsn] = c.snap
	}
	b.replace(func(c *commit) *version.Snapshot { return byLSN[c.lsn] })
	return true, nil
}

// redo does commits again on the last of the states, and returns those states that the
// head or a pending commit may need.
func (b *branch) redo(ctx context.Context, made []*commit, entries []journalEntry) ([]*commit, error) {
	for i, e := range entries {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			made = b.needed(made)
		}
		tx := version.Begin(made[len(made)-1].snap)
		if err := tx.ApplyOps(e.ops); err != nil {
			return nil, err
		}
		made = append(made, &commit{snap: tx.Commit(e.commit), lsn: e.lsn})
	}
	return b.needed(made), nil
}

// needed drops the states before the head's, the last one excepted.
func (b *branch) needed(made []*commit) []*commit {
	head, n := b.head.Load().lsn, 0
	for n < len(made)-1 && made[n].lsn < head {
		made[n] = nil
		n++
	}
	return made[n:]
}
