package embedded

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// Cleanup makes commits of the past unreadable and reclaims the files that only they need. In each
// line of commits, the oldest commit that stays readable becomes an anchor. The whole cleanup takes
// effect at once, with a manifest that contains the new anchors and omits the reclaimed segments.
// With opts.DryRun, Cleanup only computes the result. The error is a *engine.BadArgument if
// opts.KeepCommits is negative.
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (_ *engine.CleanupResult, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	if opts.KeepCommits < 0 {
		return nil, &engine.BadArgument{Param: "keep_commits", Detail: fmt.Sprintf("found %d, expected 0 or more", opts.KeepCommits)}
	}
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	if !opts.DryRun {
		if err := g.writer.reclaimDrafts(ctx); err != nil {
			return nil, err
		}
	}
	return g.checkpoints.cleanup(ctx, opts)
}

// cleanup does the work of [Graph.Cleanup].
func (c *checkpoints) cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.layout.Lock()
	defer c.layout.Unlock()
	defer c.branches.noteStale()
	if !opts.DryRun {
		// Flush first, so that the result does not count the rows that are only in the log.
		if err := c.flushLocked(ctx, false); err != nil {
			return nil, err
		}
	}
	cut := c.branches.cut(c.opts.time())
	if err := cut.waitDurable(ctx); err != nil {
		return nil, err
	}
	if opts.DryRun {
		// The branches that reclaimDrafts removes before a cleanup.
		cut.branches = slices.DeleteFunc(cut.branches, func(b cutBranch) bool { return len(b.receipts) == 0 && cut.drafts.closed(b.name) != nil })
	}
	dropped := cut.proposals.forget(c.opts.time(), cmp.Or(opts.ProposalKeep, c.opts.ProposalKeep))
	endedDrafts := cut.drafts.forget(c.opts.time(), func(name string) bool { return c.branches.named(name) != nil })
	keep, err := c.chooseKept(ctx, cut, opts)
	if err != nil {
		return nil, err
	}
	cut.bases = slices.DeleteFunc(cut.bases, func(s *version.Snapshot) bool { return !keep.commits[s.Commit.ID] })
	out := &engine.CleanupResult{Commits: int64(keep.readable - len(keep.commits)), Kept: int64(len(keep.commits))}
	before := c.store.Sizes()
	if opts.DryRun {
		needed := c.neededLocked(cut, keep)
		for id, size := range before {
			if name := segmentName(id); needed[name] == usedByReclaimed {
				out.Segments++
				out.Bytes += size
			}
		}
		return out, nil
	}
	if err := c.reclaimLocked(ctx, cut, keep); err != nil {
		return nil, err
	}
	c.branches.dropProposals(dropped)
	c.branches.dropDrafts(endedDrafts)
	after := c.store.Sizes()
	out.Segments = max(0, int64(len(before)-len(after)))
	for _, size := range before {
		out.Bytes += size
	}
	for _, size := range after {
		out.Bytes -= size
	}
	out.Bytes = max(0, out.Bytes)
	return out, nil
}

// kept is the set of commits that stay readable after a cleanup.
type kept struct {
	commits  map[string]bool // by id: the commits that stay readable
	readable int             // how many commits were readable before
	// unanchored lists those kept commits that are not anchors and have a parent that is not kept.
	unanchored []string
}

// record reports whether the record of a commit is needed: whether the commit and its first
// parent both stay readable.
func (k *kept) record(c engine.Commit) bool {
	return k.commits[c.ID] && len(c.Parents) > 0 && k.commits[c.Parents[0]]
}

// chooseKept selects the commits that stay readable.
func (c *checkpoints) chooseKept(ctx context.Context, cut *cut, opts engine.CleanupOptions) (*kept, error) {
	anchored := map[string]bool{}
	for _, list := range [][]*anchor{cut.retained.stored, cut.retained.anchors} {
		for _, a := range list {
			anchored[a.Commit] = true
		}
	}
	k := &kept{commits: map[string]bool{}}
	var heads []string
	inMemory := map[string]bool{}
	for _, b := range cut.branches {
		heads = append(heads, b.Head.Commit.ID)
		inMemory[b.Head.Commit.ID] = true
		k.commits[b.Head.Commit.ID] = true
		n := 0
		c.history.Line(b.Head.Commit.ID, func(made engine.Commit) bool {
			if n++; n > opts.KeepCommits {
				return false
			}
			k.commits[made.ID] = true
			return true
		})
	}
	for id := range cut.mergeBases(c.history) {
		k.commits[id] = true
	}
	for _, id := range cut.proposals.commits() {
		heads = append(heads, id)
		k.commits[id] = true
	}
	live := engine.NewBitmap(c.history.Len())
	c.history.Ancestors(heads, "", func(n int) bool {
		live.Set(n)
		return n%1024 > 0 || ctx.Err() == nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	readable := map[string]bool{}
	for n, c := range c.history.Slice(0, cut.commits) {
		if !live.Get(n) {
			continue
		}
		if !anchored[c.ID] && !inMemory[c.ID] && (len(c.Parents) == 0 || !readable[c.Parents[0]] || !cut.retained.has(n)) {
			delete(k.commits, c.ID)
			continue
		}
		readable[c.ID] = true
		if !opts.Before.IsZero() && !c.Time.Before(opts.Before) {
			k.commits[c.ID] = true
		}
	}
	k.readable = len(readable)
	for _, c := range c.history.Slice(0, cut.commits) {
		if k.commits[c.ID] && !k.record(c) && !anchored[c.ID] {
			k.unanchored = append(k.unanchored, c.ID)
		}
	}
	return k, nil
}

// has reports whether the cut has the record of the commit with number n.
func (c *retained) has(n int) bool {
	if n >= c.archived {
		return true
	}
	_, _, ok := logrecord.FindArchive(c.archive, n)
	return ok
}

// segmentUse is the reason why a segment is needed.
type segmentUse uint8

const (
	usedByReclaimed segmentUse = iota + 1 // needed only by reclaimed commits
	usedByKept                            // needed after the cleanup
)

// neededLocked maps the name of each file of the cut to its use: either the file is still needed
// after the cleanup, or only the commits that the cleanup reclaims need it. REQUIRES: c.mu is
// locked.
func (c *checkpoints) neededLocked(cut *cut, k *kept) map[string]segmentUse {
	uses := map[string]segmentUse{}
	by := func(u segmentUse, names ...string) {
		for _, name := range names {
			file := fileOf(name)
			uses[file] = max(uses[file], u)
		}
	}
	for s := range cut.states {
		by(usedByKept, s.Refs()...)
	}
	for _, h := range c.stored {
		by(usedByKept, h.Name)
	}
	for _, a := range cut.retained.archive {
		u := usedByReclaimed
		for _, r := range a.Runs {
			for _, c := range c.history.Slice(r.First, r.First+r.N) {
				if k.record(c) {
					u = usedByKept
					break
				}
			}
		}
		by(u, append(a.Refs, a.Name)...)
	}
	for _, a := range cut.retained.stored {
		u := usedByReclaimed
		if k.commits[a.Commit] {
			u = usedByKept
		}
		by(u, append(a.Refs, a.Name)...)
	}
	return uses
}

// reclaimLocked drops the whole past of the cut except for the kept commits, and writes a manifest
// of the result. REQUIRES: c.mu is locked, and c.layout for writing.
func (c *checkpoints) reclaimLocked(ctx context.Context, cut *cut, k *kept) error {
	states, err := c.bareStates(ctx, cut, k)
	if err != nil {
		return err
	}
	p := &cut.retained
	dead := func(a *anchor) bool { return !k.commits[a.Commit] }
	p.stored, p.anchors = slices.DeleteFunc(p.stored, dead), slices.DeleteFunc(p.anchors, dead)
	for _, a := range states {
		p.anchored(a)
	}
	p.replacesAll = true
	cut.rewrite = true // so that servers that follow the log forget the past, too
	made, err := c.thinArchive(ctx, p, k)
	if err == nil {
		c.retention.setStale() // stale until a new manifest is certainly in force
		c.branches.keepBases(k.commits)
		err = c.flushCutLocked(ctx, cut)
	}
	if err != nil {
		c.files.discard(made)
	}
	return err
}

// bareStates returns a new anchor for each unanchored commit. It restores the states that are not
// in memory.
func (c *checkpoints) bareStates(ctx context.Context, cut *cut, k *kept) (all []*anchor, err error) {
	inMemory := map[string]anchor{}
	for _, s := range cut.bases {
		inMemory[s.Commit.ID] = anchor{snap: s}
	}
	for _, b := range cut.branches {
		inMemory[b.Head.Commit.ID] = anchor{snap: b.Head, lsn: b.tip.lsn, branch: b.branch}
	}
	for _, id := range k.unanchored {
		a := inMemory[id]
		a.Commit = id
		if a.snap == nil {
			s, err := c.restorer.restore(ctx, id)
			if err != nil {
				return nil, err
			}
			a.snap = s.snap
			c.restorer.keep(s) // the next state in this line is restored from it
		}
		all = append(all, &a)
	}
	return all, nil
}

// thinArchive removes the unneeded records from the archive. It rewrites the segments that hold
// both needed and unneeded records, and drops the segments that hold no needed record. It returns
// the segments that it made, also when it fails.
func (c *checkpoints) thinArchive(ctx context.Context, p *retained, k *kept) (made []store.SegmentID, err error) {
	var archive []logrecord.ArchiveSegment
	keep := func(numbers []int, records []logrecord.Archived) error {
		if len(numbers) == 0 {
			return nil
		}
		seg, id, err := c.files.writeArchive(ctx, logrecord.Runs(numbers), records)
		if err != nil {
			return err
		}
		made, archive = append(made, id), append(archive, seg)
		return nil
	}
	for _, seg := range p.archive {
		var numbers []int
		var places []int
		at := 0
		for _, r := range seg.Runs {
			for n, c := range c.history.Slice(r.First, r.First+r.N) {
				if k.record(c) {
					numbers, places = append(numbers, n), append(places, at)
				}
				at++
			}
		}
		switch len(numbers) {
		case 0:
			continue
		case at:
			archive = append(archive, seg)
			continue
		}
		records, err := c.files.readArchive(ctx, &seg)
		if err != nil {
			return made, err
		}
		var left []logrecord.Archived
		for _, i := range places {
			left = append(left, records[i])
		}
		if err := keep(numbers, left); err != nil {
			return made, err
		}
	}
	var numbers []int
	var left []logrecord.Archived
	for n, c := range c.history.Slice(p.archived, p.archived+len(p.fresh)) {
		if k.record(c) {
			numbers, left = append(numbers, n), append(left, p.fresh[n-p.archived])
		}
	}
	if err := keep(numbers, left); err != nil {
		return made, err
	}
	p.archive, p.fresh = archive, nil
	return made, nil
}
