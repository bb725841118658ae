package embedded

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// Cleanup makes commits of the past unreadable and reclaims what only they need. The
// oldest commit that stays readable in each line becomes an anchor; the manifest that
// has it, and no longer what is reclaimed, makes it all durable at once.
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (_ *engine.CleanupResult, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if opts.KeepCommits < 0 {
		return nil, &engine.BadArgument{Param: "keep_commits", Detail: fmt.Sprintf("%d commits, wanted 0 or more", opts.KeepCommits)}
	}
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	g.checkMu.Lock()
	defer g.checkMu.Unlock()
	g.shape.Lock()
	defer g.shape.Unlock()
	defer g.countDoubts()
	if !opts.DryRun {
		// What is stored of the log's rows is no matter of the cleanup's.
		if err := g.flush(ctx, false); err != nil {
			return nil, err
		}
	}
	cut := g.cut()
	if err := cut.settled(ctx); err != nil {
		return nil, err
	}
	keep, err := g.chooseKept(ctx, cut, opts)
	if err != nil {
		return nil, err
	}
	cut.bases = slices.DeleteFunc(cut.bases, func(s *version.Snapshot) bool { return !keep.commits[s.Commit.ID] })
	out := &engine.CleanupResult{Commits: int64(keep.readable - len(keep.commits)), Kept: int64(len(keep.commits))}
	before := g.store.Sizes()
	if opts.DryRun {
		needed := g.needed(cut, keep)
		for id, size := range before {
			if name := segmentName(id); needed[name] == onlyPast {
				out.Segments++
				out.Bytes += size
			}
		}
		return out, nil
	}
	if err := g.reclaim(ctx, cut, keep); err != nil {
		return nil, err
	}
	after := g.store.Sizes()
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

// kept are the commits that a cleanup leaves readable.
type kept struct {
	commits  map[string]bool
	readable int // how many were readable
	// bare are those whose parent is not kept, and that are no anchors.
	bare []string
}

// record reports whether the record of a commit is needed: the state of its first parent
// stays.
func (k *kept) record(c engine.Commit) bool {
	return k.commits[c.ID] && len(c.Parents) > 0 && k.commits[c.Parents[0]]
}

// chooseKept finds the commits that stay readable.
func (g *Graph) chooseKept(ctx context.Context, cut *cut, opts engine.CleanupOptions) (*kept, error) {
	anchored := map[string]bool{}
	for _, list := range [][]*anchor{cut.past.stored, cut.past.anchors} {
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
		g.history.Line(b.Head.Commit.ID, func(c engine.Commit) bool {
			if n++; n > opts.KeepCommits {
				return false
			}
			k.commits[c.ID] = true
			return true
		})
	}
	for id := range cut.mergeBases(&g.history) {
		k.commits[id] = true
	}
	live := engine.NewBitmap(g.history.Len())
	g.history.Ancestors(heads, "", func(n int) bool {
		live.Set(n)
		return n%1024 > 0 || ctx.Err() == nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	readable := map[string]bool{}
	for n, c := range g.history.Slice(0, cut.commits) {
		if !live.Get(n) {
			continue
		}
		if !anchored[c.ID] && !inMemory[c.ID] && (len(c.Parents) == 0 || !readable[c.Parents[0]] || !cut.past.has(n)) {
			delete(k.commits, c.ID)
			continue
		}
		readable[c.ID] = true
		if !opts.Before.IsZero() && !c.Time.Before(opts.Before) {
			k.commits[c.ID] = true
		}
	}
	k.readable = len(readable)
	for _, c := range g.history.Slice(0, cut.commits) {
		if k.commits[c.ID] && !k.record(c) && !anchored[c.ID] {
			k.bare = append(k.bare, c.ID)
		}
	}
	return k, nil
}

// has reports whether the record of a commit is there.
func (c *cutPast) has(n int) bool {
	if n >= c.archived {
		return true
	}
	_, _, ok := version.FindArchive(c.archive, n)
	return ok
}

// use says who needs a segment.
type use uint8

const (
	onlyPast use = iota + 1 // what a cleanup reclaims
	others
)

// needed tells what a cleanup would leave of the files of a cut, by the names of segments.
func (g *Graph) needed(c *cut, k *kept) map[string]use {
	uses := map[string]use{}
	by := func(u use, names ...string) {
		for _, name := range names {
			file := fileOf(name)
			uses[file] = max(uses[file], u)
		}
	}
	for s := range c.states {
		by(others, s.Refs()...)
	}
	for _, h := range g.stored {
		by(others, h.Name)
	}
	for _, a := range c.past.archive {
		u := onlyPast
		for _, r := range a.Runs {
			for _, c := range g.history.Slice(r.First, r.First+r.N) {
				if k.record(c) {
					u = others
					break
				}
			}
		}
		by(u, append(a.Refs, a.Name)...)
	}
	for _, a := range c.past.stored {
		u := onlyPast
		if k.commits[a.Commit] {
			u = others
		}
		by(u, append(a.Refs, a.Name)...)
	}
	return uses
}

// reclaim makes what is kept all there is of the past of a cut.
func (g *Graph) reclaim(ctx context.Context, cut *cut, k *kept) error {
	states, err := g.bareStates(ctx, cut, k)
	if err != nil {
		return err
	}
	p := &cut.past
	dead := func(a *anchor) bool { return !k.commits[a.Commit] }
	p.stored, p.anchors = slices.DeleteFunc(p.stored, dead), slices.DeleteFunc(p.anchors, dead)
	for _, a := range states {
		p.anchored(a)
	}
	p.whole = true
	made, err := g.thinArchive(ctx, p, k)
	if err == nil {
		g.lines.Lock()
		g.past.doubt = true // until a manifest is in force for certain
		g.lines.bases.keep(k.commits)
		g.lines.Unlock()
		err = g.flushCut(ctx, cut)
	}
	if err != nil {
		g.discard(made)
	}
	return err
}

// bareStates makes the states that have to become anchors.
func (g *Graph) bareStates(ctx context.Context, cut *cut, k *kept) (all []*anchor, err error) {
	inMemory := map[string]anchor{}
	for _, s := range cut.bases {
		inMemory[s.Commit.ID] = anchor{snap: s}
	}
	for _, b := range cut.branches {
		inMemory[b.Head.Commit.ID] = anchor{snap: b.Head, lsn: b.tip.lsn, branch: b.branch}
	}
	for _, id := range k.bare {
		a := inMemory[id]
		a.Commit = id
		if a.snap == nil {
			r := rebuilt{}
			if r.snap, r.borrowed, err = g.rebuild(ctx, id); err != nil {
				return nil, err
			}
			a.snap = r.snap
			g.past.mu.Lock()
			g.past.keep(r) // the next one in its line is made of it
			g.past.mu.Unlock()
		}
		all = append(all, &a)
	}
	return all, nil
}

// thinArchive writes the segments of the archive again that have records which are not
// needed, and drops those that have no other.
func (g *Graph) thinArchive(ctx context.Context, p *cutPast, k *kept) (made []store.SegmentID, err error) {
	var archive []version.ArchiveSegment
	keep := func(numbers []int, records []version.Archived) error {
		if len(numbers) == 0 {
			return nil
		}
		seg, id, err := g.writeArchive(ctx, version.Runs(numbers), records)
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
			for n, c := range g.history.Slice(r.First, r.First+r.N) {
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
		records, err := g.readArchive(ctx, &seg)
		if err != nil {
			return made, err
		}
		var left []version.Archived
		for _, i := range places {
			left = append(left, records[i])
		}
		if err := keep(numbers, left); err != nil {
			return made, err
		}
	}
	var numbers []int
	var left []version.Archived
	for n, c := range g.history.Slice(p.archived, p.archived+len(p.fresh)) {
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
