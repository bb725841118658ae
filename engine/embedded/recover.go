package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// recover restores the state of the graph from the manifest and the log records that the store
// found. No other goroutine has access to the graph yet, so recovery of the manifest does not lock
// the graph's parts.
func (g *Graph) recover(ctx context.Context, found *store.Recovered) error {
	open := g.files.opener(ctx)
	m, err := version.ReadManifest(found.Manifest, catalog.Decode, open)
	if err != nil {
		return err
	}
	if err := g.recoverHistory(ctx, m); err != nil {
		return err
	}
	g.branches.lsn = found.ManifestLSN
	for _, mb := range m.Branches {
		_ = g.history.Add(logrecord.Commit{Commit: mb.Head.Commit}, 0)
		b := recoveredBranch(mb.Name, mb.Head, found.ManifestLSN)
		for r := range mb.Receipts {
			c, _, known := g.history.Get(r.Commit.ID)
			if !known {
				return &engine.Corrupt{Object: "manifest", Detail: fmt.Sprintf("branch %s has an idempotency key that names the unknown commit %s", mb.Name, r.Commit.ID)}
			}
			b.keys.Add(&g.history, c, &r.Receipt)
		}
		g.branches.addLocked(b)
	}
	if g.branches.byName[engine.MainBranch] == nil {
		return &engine.Corrupt{Object: "manifest", Detail: fmt.Sprintf("branch main is missing; the manifest holds %d other branches", len(m.Branches))}
	}
	g.branches.proposals.reclaimed = m.ReclaimedEvent
	for _, p := range m.Proposals {
		g.branches.proposals.set(newProposalVersion(p, nil))
	}
	for _, d := range m.Drafts {
		g.branches.drafts.set(newDraftVersion(d, nil))
	}
	for _, w := range m.Watches {
		g.branches.watches.set(newWatchVersion(w, nil))
	}
	g.branches.main = g.branches.byName[engine.MainBranch]
	g.retention.recover(m, g.branches.sorted)
	if err := g.replayAll(ctx, found.Records, open); err != nil {
		return err
	}
	return g.ids.Resume(g.branches.latestID())
}

// recoverHistory reads the segments of the history that the manifest lists.
func (g *Graph) recoverHistory(ctx context.Context, m *version.Manifest) error {
	n := 0
	for _, h := range m.History {
		err := g.files.readBlock(ctx, h.Name, historyBlock, g.history.ReadHistory)
		if err != nil {
			return err
		}
		if n += h.N; g.history.Len() != n {
			return &engine.Corrupt{Object: "segment " + h.Name, Detail: fmt.Sprintf("the history now has %d commits, expected %d", g.history.Len(), n)}
		}
	}
	g.checkpoints.stored = m.History
	return nil
}

// replay replays the records of a log, for a graph that is being opened and for a graph that
// follows a writer. It takes the locks that a writer takes, because a graph that follows is read
// meanwhile. Only one goroutine replays records, and no writer or checkpoint runs at the same time.
type replay struct {
	g    *Graph
	open *opener // opens the segments that records name
	// wanted has an entry for each commit at which a record of the log makes a branch: its
	// state, or nil until the replay has reached it. It is nil for a graph that follows a writer.
	wanted map[string]*version.Snapshot
}

// replayAll applies the log records after the manifest, in their order.
func (g *Graph) replayAll(ctx context.Context, records []store.Record, open *opener) error {
	p := &replay{g: g, open: open, wanted: map[string]*version.Snapshot{}}
	for _, r := range records {
		payload := r.Payload
		switch r.Kind {
		case logrecord.KindBranch:
		case logrecord.KindDraft:
			d, err := logrecord.ReadDrafting(r.Payload)
			if err != nil {
				return err
			}
			if payload = d.Branch; payload == nil {
				continue
			}
		default:
			continue
		}
		b, err := logrecord.ReadBranching(payload)
		if err != nil {
			return err
		}
		p.wanted[b.Commit] = nil
	}
	for _, b := range g.branches.sorted {
		p.reached(b.tip.snap)
	}
	for _, r := range records {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.apply(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// apply replays one record.
func (p *replay) apply(ctx context.Context, r store.Record) (err error) {
	switch r.Kind {
	case logrecord.KindBranch:
		err = p.branching(ctx, r)
	case logrecord.KindProposal:
		var put *engine.Proposal
		if put, err = logrecord.ReadProposal(r.Payload); err == nil {
			p.g.branches.replayProposal(put, r.LSN)
		}
	case logrecord.KindWatch:
		var put *logrecord.Watching
		if put, err = logrecord.ReadWatching(r.Payload); err == nil {
			p.g.branches.replayWatch(put, r.LSN)
		}
	case logrecord.KindProposalMerge:
		err = p.proposalMerge(r)
	case logrecord.KindDraft:
		return p.drafting(ctx, r)
	default:
		err = p.commit(r)
	}
	if err != nil {
		return err
	}
	p.g.checkpoints.countLogged(len(r.Payload))
	return nil
}

// proposalMerge replays a record that holds a merge commit and the proposal that it merges.
func (p *replay) proposalMerge(r store.Record) error {
	merged, kind, payload, err := logrecord.ReadProposalMerge(r.Payload)
	if err != nil {
		return err
	}
	if err := p.commit(store.Record{LSN: r.LSN, Kind: kind, Payload: payload}); err != nil {
		return err
	}
	p.g.branches.replayProposal(merged, r.LSN)
	return nil
}

// drafting replays a record that opens or ends a draft.
func (p *replay) drafting(ctx context.Context, r store.Record) error {
	d, err := logrecord.ReadDrafting(r.Payload)
	switch {
	case err != nil:
		return err
	case d.Branch != nil:
		err = p.branching(ctx, store.Record{LSN: r.LSN, Kind: logrecord.KindBranch, Payload: d.Branch})
	case d.Kind == logrecord.KindDraft || d.Kind == logrecord.KindBranch || d.Kind == logrecord.KindProposal || d.Kind == logrecord.KindWatch:
		return corruptRecord(r, "the merge of a draft has the kind %d", d.Kind)
	case d.Kind != 0:
		err = p.apply(ctx, store.Record{LSN: r.LSN, Kind: d.Kind, Payload: d.Merge})
	}
	if err != nil {
		return err
	}
	p.g.branches.replayDraft(d, r.LSN)
	p.g.checkpoints.countLogged(len(r.Payload) - len(d.Merge))
	return nil
}

// reached records a state that a later record may need.
func (p *replay) reached(s *version.Snapshot) {
	if _, ok := p.wanted[s.Commit.ID]; ok {
		p.wanted[s.Commit.ID] = s
	}
}

// branching replays a record that makes or deletes a branch.
func (p *replay) branching(ctx context.Context, r store.Record) error {
	b, err := logrecord.ReadBranching(r.Payload)
	if err != nil {
		return err
	}
	named := p.g.branches.named(b.Name)
	if known := named != nil; known != b.Delete || b.Name == engine.MainBranch {
		return corruptRecord(r, "branch %q: deleted %t, known %t", b.Name, b.Delete, known)
	}
	if b.Delete {
		named.hold()
		defer named.unlock()
		p.g.branches.replayDelete(named, r.LSN)
		p.g.restorer.forget(true)
		named.err = &engine.NotFound{What: "branch", Name: b.Name}
		return nil
	}
	origin, err := p.origin(ctx, r, b)
	if err != nil {
		return err
	}
	if err := p.g.branches.replayCreate(b, origin, r.LSN); err != nil {
		return corruptRecord(r, "branch %q starts at commit %s, whose state is not stored", b.Name, b.Commit)
	}
	return nil
}

// origin returns the state at which a new branch begins.
func (p *replay) origin(ctx context.Context, r store.Record, b *logrecord.Branching) (*version.Snapshot, error) {
	if b.From != "" {
		from := p.g.branches.named(b.From)
		if from == nil || from.tip.snap.Commit.ID != b.Commit {
			return nil, corruptRecord(r, "branch %q starts at commit %s, which is not the head of %q", b.Name, b.Commit, b.From)
		}
		return from.tip.snap, nil
	}
	if s := p.wanted[b.Commit]; s != nil {
		return s, nil
	}
	s, err := p.g.restorer.restore(ctx, b.Commit)
	if missing := (*engine.NotFound)(nil); errors.As(err, &missing) {
		return nil, corruptRecord(r, "the record needs the state of commit %s, which is not stored", b.Commit)
	}
	return s.snap, err
}

// commit replays the record of a commit.
func (p *replay) commit(r store.Record) error {
	c, receipt, rest, err := logrecord.Header(r.Payload)
	if err != nil {
		return err
	}
	b := p.g.branches.named(c.Branch)
	if b == nil {
		return corruptRecord(r, "commit %s is on branch %q, which is unknown", c.ID, c.Branch)
	}
	b.hold()
	defer b.unlock()
	snap := b.tip.snap
	if c.Seq != snap.Commit.Seq+1 || len(c.Parents) == 0 || c.Parents[0] != snap.Commit.ID {
		return corruptRecord(r, "commit %s with number %d does not follow commit %s with number %d", c.ID, c.Seq, snap.Commit.ID, snap.Commit.Seq)
	}
	tx := version.Begin(snap)
	tx.Replay(c.Number)
	if err := p.open.apply(tx, r.Kind, rest); err != nil {
		return err
	}
	c.Schema = tx.Schema().Digest
	next := &commit{snap: tx.Commit(c.Commit), lsn: r.LSN}
	// Clone `rest`, because it would keep the whole log file of the record in memory.
	if err := p.g.branches.replayCommit(b, next, c.Number, receipt, r.Kind, bytes.Clone(rest)); err != nil {
		return err
	}
	p.reached(next.snap)
	if len(c.Parents) > 1 {
		if _, known := p.g.history.Number(c.Parents[1]); !known {
			return corruptRecord(r, "commit %s merges commit %s, which is unknown", c.ID, c.Parents[1])
		}
	}
	return nil
}

// corruptRecord returns the *engine.Corrupt of a record of the log.
func corruptRecord(r store.Record, format string, args ...any) error {
	return &engine.Corrupt{Object: fmt.Sprintf("log record %d", r.LSN), Detail: fmt.Sprintf(format, args...)}
}

// replayCommit makes a commit that was read from the log the tip and the head of its branch. The
// argument `rest` is the commit's record after its header. REQUIRES: the caller holds the write
// lock of b.
func (l *branches) replayCommit(b *branch, next *commit, number uint32, receipt *logrecord.Receipt, kind uint8, rest []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := next.snap.Commit
	l.advanceLocked(b, next)
	err := l.history.Add(logrecord.Commit{Commit: c, Number: number}, next.lsn)
	b.keys.Add(l.history, c, receipt)
	l.retention.note(b, next, kind, rest, len(rest))
	l.lsn, l.last = next.lsn, nil
	b.show(next)
	return err
}

// replayCreate makes a branch for a record that was read from the log. It returns a
// *engine.NotFound if it is impossible to restore the state `origin`, at which the branch begins.
func (l *branches) replayCreate(made *logrecord.Branching, origin *version.Snapshot, lsn uint64) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := recoveredBranch(made.Name, origin.Fork(), lsn)
	if b.line.run, err = l.retention.runOf(l.byName[made.From], origin); err != nil {
		return err
	}
	l.addLocked(b)
	l.bases.hold(b, origin)
	l.lsn, l.last = lsn, nil
	return nil
}

// replayDelete removes a branch for a record that was read from the log.
func (l *branches) replayDelete(b *branch, lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(b)
	l.retention.branchDeleted()
	l.lsn, l.last = lsn, nil
}
