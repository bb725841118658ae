package embedded

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// cut is the state of a graph after one of its log records.
type cut struct {
	lsn       uint64              // LSN of the last record
	last      *outcome            // outcome of the record at lsn
	branches  []cutBranch         // the state of each branch
	bases     []*version.Snapshot // the merge bases in memory
	commits   int                 // number of commits in the history
	proposals proposals           // the proposals; a cleanup removes the old ones
	drafts    drafts              // the drafts; a cleanup removes the old ones
	watches   watches             // the watches
	retained  retained            // the archive and the anchors that the manifest must contain
	rewrite   bool                // whether the checkpoint is one for Rewrite of store.Checkpoints
}

// cutBranch is the state of one branch in a cut.
type cutBranch struct {
	*branch
	tip      *commit           // the branch's last commit in the cut
	receipts []receipts.Packed // positions, and receipts of the branch's commits of the last day
	version.ManifestBranch
}

// cut returns the state after the last record, which may not be durable yet. The cut does not
// contain receipts that have expired. REQUIRES: layout is locked for writing.
func (l *branches) cut(now time.Time) *cut {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &cut{lsn: l.lsn, last: l.last, commits: l.history.Len()}
	var heads []string
	for _, b := range l.sorted {
		if b.deleted {
			continue
		}
		cb := cutBranch{branch: b, tip: b.tip, ManifestBranch: version.ManifestBranch{Name: b.name, Head: b.tip.snap}}
		cb.receipts = b.keys.Stored(l.history, now)
		c.branches = append(c.branches, cb)
		heads = append(heads, b.tip.snap.Commit.ID)
	}
	c.bases = l.bases.states()
	c.proposals.versions, c.drafts.versions, c.watches.versions = l.proposals.clone(), l.drafts.clone(), l.watches.clone()
	c.proposals.reclaimed = l.proposals.reclaimed
	c.retained = l.retention.collectRetained(append(heads, l.proposals.commits()...), c.commits, c.lsn)
	return c
}

// waitDurable waits until every record of the cut is durable. Then the head of each branch is at
// least as new as in the cut.
func (c *cut) waitDurable(ctx context.Context) error {
	for _, b := range c.branches {
		if err := b.tip.waitDurable(ctx); err != nil {
			return err
		}
	}
	return (&commit{out: c.last}).waitDurable(ctx)
}

// states calls `yield` once for each distinct state of the cut.
func (c *cut) states(yield func(*version.Snapshot) bool) {
	seen := map[*version.Snapshot]bool{}
	for _, b := range c.branches {
		if seen[b.Head] = true; !yield(b.Head) {
			return
		}
	}
	for _, b := range c.bases {
		if !seen[b] && !yield(b) {
			return
		}
		seen[b] = true
	}
}
