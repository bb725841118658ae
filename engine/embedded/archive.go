package embedded

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// archiveBlock is the block of a segment that holds records of commits.
const archiveBlock = "records"

// archiveBytes bounds the segments of the archive that are written again with what comes
// behind them.
const archiveBytes = 1 << 20

// cutPast is what a checkpoint keeps of the past. It is made under g.lines.
type cutPast struct {
	archive  []version.ArchiveSegment
	archived int
	fresh    []version.Archived
	stored   []*anchor
	anchors  []*anchor     // to be stored, the newest first
	whole    bool          // nothing else of the past stays, of live branches either
	live     engine.Bitmap // the ancestors of live branches, by number, if others are to go; else nil
}

// cutPast finds what there is to keep of the commits before number n, up to a record.
func (g *Graph) cutPast(branches []cutBranch, n int, lsn uint64) cutPast {
	p := &g.past
	c := cutPast{archive: p.archive, archived: p.archived, fresh: p.fresh[: n-p.archived : n-p.archived]}
	if p.removed {
		var heads []string
		for _, b := range branches {
			heads = append(heads, b.Head.Commit.ID)
		}
		c.live = engine.NewBitmap(n)
		g.history.Ancestors(heads, "", func(ancestor int) bool {
			c.live.Set(ancestor)
			return true
		})
		c.archive = slices.DeleteFunc(slices.Clone(c.archive), func(a version.ArchiveSegment) bool { return !alive(a, c.live) })
	}
	for _, id := range slices.Sorted(maps.Keys(p.anchors)) {
		a := p.anchors[id]
		at, known := g.history.Number(id)
		switch {
		case c.live != nil && !(known && c.live.Get(at)):
		case a.Name != "":
			c.stored = append(c.stored, a)
		case a.lsn <= lsn:
			c.anchors = append(c.anchors, a)
		}
	}
	slices.SortStableFunc(c.anchors, func(a, b *anchor) int { return cmp.Compare(b.lsn, a.lsn) })
	return c
}

// anchored adds an anchor to those that are to be stored, in the place of another of its
// commit.
func (c *cutPast) anchored(a *anchor) {
	same := func(b *anchor) bool { return a.Commit == b.Commit }
	c.stored = slices.DeleteFunc(c.stored, same)
	c.anchors = append([]*anchor{a}, slices.DeleteFunc(c.anchors, same)...)
}

// anchored reports whether the state of a commit is kept.
func (g *Graph) anchored(commit string) bool {
	g.lines.Lock()
	defer g.lines.Unlock()
	return g.past.anchors[commit] != nil
}

// alive reports whether a segment of the archive has a record of one of the commits.
func alive(a version.ArchiveSegment, live engine.Bitmap) bool {
	for _, r := range a.Runs {
		for n := r.First; n < r.First+r.N; n++ {
			if live.Get(n) {
				return true
			}
		}
	}
	return false
}

// storePast stores the records and the anchors of a cut, whose states after has in the
// form in which they are stored.
func (g *Graph) storePast(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) (made []store.SegmentID, err error) {
	p := &cut.past
	made, err = g.storeArchive(ctx, p)
	if err != nil || len(p.anchors) == 0 {
		return made, err
	}
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
		for i, a := range p.anchors {
			if err := ctx.Err(); err != nil {
				return err
			}
			described := version.Anchor{Block: i}
			if err := w.AddBlock(described.BlockName(), version.AppendState(nil, after[a.snap], encode)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return made, err
	}
	made = append(made, id)
	for i, a := range p.anchors {
		n := *a
		s := after[a.snap]
		n.Name, n.Block, n.Refs, n.snap = segmentName(id), i, s.Refs(), s
		p.anchors[i] = &n
	}
	return made, nil
}

// storeArchive stores the records of a cut, together with the last segment of the archive
// if that is small.
func (g *Graph) storeArchive(ctx context.Context, p *cutPast) (made []store.SegmentID, err error) {
	if len(p.fresh) == 0 {
		return nil, nil
	}
	runs := []version.Run{{First: p.archived, N: len(p.fresh)}}
	records, bytes := p.fresh, 0
	for _, a := range p.fresh {
		bytes += len(a.Rest)
	}
	archive := p.archive
	if k := len(archive) - 1; k >= 0 && archive[k].Bytes < 2*max(bytes, 1<<10) && archive[k].Bytes+bytes < archiveBytes {
		before, err := g.readArchive(ctx, &archive[k])
		if err != nil {
			return nil, err
		}
		runs = joined(archive[k].Runs, runs[0])
		records = slices.Concat(before, records)
		archive = archive[:k:k]
	}
	seg, id, err := g.writeArchive(ctx, runs, records)
	if err != nil {
		return nil, err
	}
	p.archive = append(archive[:len(archive):len(archive)], seg)
	return []store.SegmentID{id}, nil
}

func joined(runs []version.Run, next version.Run) []version.Run {
	runs = slices.Clone(runs)
	if last := &runs[len(runs)-1]; last.First+last.N == next.First {
		last.N += next.N
		return runs
	}
	return append(runs, next)
}

// writeArchive stores records as a segment of the archive.
func (g *Graph) writeArchive(ctx context.Context, runs []version.Run, records []version.Archived) (version.ArchiveSegment, store.SegmentID, error) {
	seg := version.ArchiveSegment{Runs: runs}
	for _, a := range records {
		name, ok, err := a.Segment()
		if err != nil {
			return seg, 0, err
		}
		if ok {
			seg.Refs = append(seg.Refs, name)
		}
	}
	b := version.AppendArchive(nil, runs, records)
	id, err := g.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock(archiveBlock, b) })
	seg.Name, seg.Bytes = segmentName(id), len(b)
	return seg, id, err
}

// readArchive reads the records of a segment of the archive.
func (g *Graph) readArchive(ctx context.Context, seg *version.ArchiveSegment) (records []version.Archived, err error) {
	err = g.readBlock(ctx, seg.Name, archiveBlock, func(b []byte) (err error) {
		var runs []version.Run
		runs, records, err = version.ReadArchive(bytes.Clone(b)) // which the records alias
		if err == nil && !slices.Equal(runs, seg.Runs) {
			err = &engine.Corrupt{Object: "segment " + seg.Name, Detail: fmt.Sprintf("it holds the commits %v, wanted %v", runs, seg.Runs)}
		}
		return err
	})
	return records, err
}

// describe adds what a checkpoint keeps of the past to its manifest, and the segments
// that it needs to those that are named.
func (c *cutPast) describe(m *version.Manifest, named map[string]bool) {
	m.Archive = c.archive
	for _, a := range c.archive {
		named[a.Name] = true
		for _, ref := range a.Refs {
			named[ref] = true
		}
	}
	for _, list := range [][]*anchor{c.stored, c.anchors} {
		for _, a := range list {
			named[a.Name] = true
			for _, ref := range a.Refs {
				named[ref] = true
			}
			m.Anchors = append(m.Anchors, a.Anchor)
		}
	}
}

// readopt gives the anchors of a branch that are not stored another form. It is called in
// the branch's turn.
func (g *Graph) readopt(b *branch, f func(*anchor) *version.Snapshot) {
	g.lines.Lock()
	defer g.lines.Unlock()
	for _, a := range b.anchors {
		if g.past.anchors[a.Commit] == a && a.Name == "" {
			a.snap = f(a)
		}
	}
}

// keepPast makes what a manifest has of the past what is kept. Of each live branch the
// last anchor stays in memory, where it shares nearly all with the head.
func (g *Graph) keepPast(c *cut) {
	g.lines.Lock()
	p := &g.past
	was := map[string]string{} // the segments of those that were stored, by commit
	for id, a := range p.anchors {
		if a.Name == "" && a.lsn > c.lsn {
			continue
		}
		if delete(p.anchors, id); a.Name != "" {
			was[id] = a.Name
		}
	}
	for _, list := range [][]*anchor{c.past.stored, c.past.anchors} {
		for _, a := range list {
			p.anchors[a.Commit] = a
		}
	}
	latest := map[*branch]*anchor{}
	for _, a := range p.anchors {
		if l := latest[a.branch]; a.snap != nil && a.branch != nil && (l == nil || l.lsn < a.lsn) {
			latest[a.branch] = a
		}
	}
	for _, a := range p.anchors {
		if a.Name != "" && a.snap != nil && (latest[a.branch] != a || a.branch.deleted) {
			a.snap = nil
		}
		if a.Name != "" && a.snap == nil {
			a.branch = nil // which holds the states of its head and tip
		}
	}
	for _, b := range g.lines.sorted {
		b.anchors = slices.DeleteFunc(b.anchors, func(a *anchor) bool { return p.anchors[a.Commit] != a || a.Name != "" })
	}
	p.fresh = slices.Clone(p.fresh[c.commits-p.archived:])
	p.archive, p.archived, p.doubt = c.past.archive, c.commits, false
	all := c.past.live != nil || c.past.whole
	if all {
		p.removed = false
	}
	for id, name := range was {
		// What was made of an anchor that is gone, or has another layout, lies in its segments.
		all = all || p.anchors[id] == nil || p.anchors[id].Name != name
	}
	g.lines.Unlock()
	p.forget(all)
}
