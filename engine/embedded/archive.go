package embedded

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// archiveBlock is the name of the block that holds commit records in an archive segment.
const archiveBlock = "records"

// archiveBytes is the size, in bytes, below which the last archive segment is extended: a
// checkpoint writes it again, together with the new records.
const archiveBytes = 1 << 20

// retained is the part of a cut that retention owns: the archived records and the anchors that a
// checkpoint keeps.
type retained struct {
	archive       []logrecord.ArchiveSegment // the stored segments of records
	archived      int                        // `archive` has the records of commits with lower numbers
	fresh         []logrecord.Archived       // records that no segment holds yet
	stored        []*anchor                  // anchors that are stored already
	anchors       []*anchor                  // anchors to store, newest first
	replacesAll   bool                       // drops all states that the cut lacks, even of live branches
	liveAncestors engine.Bitmap              // ancestors of live branches; nil if no branch was deleted
}

// collectRetained collects the records and anchors to keep for the commits with numbers below n, up
// to the log record at lsn. The parameter `heads` lists the commits at the tips of the branches.
// REQUIRES: branches.mu is locked, so that lsn, n and heads belong to one state.
func (r *retention) collectRetained(heads []string, n int, lsn uint64) retained {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := retained{archive: r.archive, archived: r.archived, fresh: r.fresh[: n-r.archived : n-r.archived]}
	if r.removed {
		c.liveAncestors = engine.NewBitmap(n)
		r.history.Ancestors(heads, "", func(ancestor int) bool {
			c.liveAncestors.Set(ancestor)
			return true
		})
		c.archive = slices.DeleteFunc(slices.Clone(c.archive), func(a logrecord.ArchiveSegment) bool { return !hasLiveRecord(a, c.liveAncestors) })
	}
	for _, id := range slices.Sorted(maps.Keys(r.anchors)) {
		a := r.anchors[id]
		at, known := r.history.Number(id)
		switch {
		case c.liveAncestors != nil && !(known && c.liveAncestors.Get(at)):
		case a.Name != "":
			c.stored = append(c.stored, a)
		case a.lsn <= lsn:
			c.anchors = append(c.anchors, a)
		}
	}
	slices.SortStableFunc(c.anchors, func(a, b *anchor) int { return cmp.Compare(b.lsn, a.lsn) })
	return c
}

// anchored adds an anchor to the anchors to store. It replaces any other anchor of the same
// commit.
func (c *retained) anchored(a *anchor) {
	same := func(b *anchor) bool { return a.Commit == b.Commit }
	c.stored = slices.DeleteFunc(c.stored, same)
	c.anchors = append([]*anchor{a}, slices.DeleteFunc(c.anchors, same)...)
}

// hasLiveRecord reports whether an archive segment holds the record of at least one live commit.
func hasLiveRecord(a logrecord.ArchiveSegment, live engine.Bitmap) bool {
	for _, r := range a.Runs {
		for n := r.First; n < r.First+r.N; n++ {
			if live.Get(n) {
				return true
			}
		}
	}
	return false
}

// store stores the records and the anchors of a cut. The map `after` gives the stored form of each
// state. store returns the segments it wrote, also when it fails.
func (r *retention) store(ctx context.Context, cut *cut, after map[*version.Snapshot]*version.Snapshot) (made []store.SegmentID, err error) {
	p := &cut.retained
	made, err = r.storeArchive(ctx, p)
	if err != nil || len(p.anchors) == 0 {
		return made, err
	}
	id, err := r.files.store.WriteSegment(ctx, func(w *store.SegmentWriter) error {
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

// storeArchive stores the fresh records of a cut. If the last archive segment is small, it
// merges the records into that segment by writing a new one.
func (r *retention) storeArchive(ctx context.Context, p *retained) (made []store.SegmentID, err error) {
	if len(p.fresh) == 0 {
		return nil, nil
	}
	runs := []logrecord.Run{{First: p.archived, N: len(p.fresh)}}
	records, bytes := p.fresh, 0
	for _, a := range p.fresh {
		bytes += len(a.Rest)
	}
	archive := p.archive
	if k := len(archive) - 1; k >= 0 && archive[k].Bytes < 2*max(bytes, 1<<10) && archive[k].Bytes+bytes < archiveBytes {
		before, err := r.files.readArchive(ctx, &archive[k])
		if err != nil {
			return nil, err
		}
		runs = appendRun(archive[k].Runs, runs[0])
		records = slices.Concat(before, records)
		archive = archive[:k:k]
	}
	seg, id, err := r.files.writeArchive(ctx, runs, records)
	if err != nil {
		return nil, err
	}
	p.archive = append(archive[:len(archive):len(archive)], seg)
	return []store.SegmentID{id}, nil
}

// appendRun returns `runs` with the run `next` appended. If `next` directly follows the last run,
// appendRun extends the last run instead.
func appendRun(runs []logrecord.Run, next logrecord.Run) []logrecord.Run {
	runs = slices.Clone(runs)
	if last := &runs[len(runs)-1]; last.First+last.N == next.First {
		last.N += next.N
		return runs
	}
	return append(runs, next)
}

// writeArchive writes records as one archive segment.
func (f *segmentFiles) writeArchive(ctx context.Context, runs []logrecord.Run, records []logrecord.Archived) (logrecord.ArchiveSegment, store.SegmentID, error) {
	seg := logrecord.ArchiveSegment{Runs: runs}
	for _, a := range records {
		name, ok, err := a.Segment()
		if err != nil {
			return seg, 0, err
		}
		if ok {
			seg.Refs = append(seg.Refs, name)
		}
	}
	b := logrecord.AppendArchive(nil, runs, records)
	id, err := f.store.WriteSegment(ctx, func(w *store.SegmentWriter) error { return w.AddBlock(archiveBlock, b) })
	seg.Name, seg.Bytes = segmentName(id), len(b)
	return seg, id, err
}

// readArchive reads the records of an archive segment. It returns a *engine.Corrupt if the commits
// in the segment differ from seg.Runs.
func (f *segmentFiles) readArchive(ctx context.Context, seg *logrecord.ArchiveSegment) (records []logrecord.Archived, err error) {
	err = f.readBlock(ctx, seg.Name, archiveBlock, func(b []byte) (err error) {
		var runs []logrecord.Run
		runs, records, err = logrecord.ReadArchive(bytes.Clone(b)) // cloned because the records alias it
		if err == nil && !slices.Equal(runs, seg.Runs) {
			err = &engine.Corrupt{Object: "segment " + seg.Name, Detail: fmt.Sprintf("the segment holds the commits %v, but its manifest entry lists %v", runs, seg.Runs)}
		}
		return err
	})
	return records, err
}

// describe adds the kept archive and anchors to m, the manifest of a checkpoint. It also adds to
// the map `named` the names of the segments that the archive and the anchors need.
func (c *retained) describe(m *version.Manifest, named map[string]bool) {
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

// replace calls f for each anchor of the branch that is not stored yet, and makes the result the
// state of the anchor. REQUIRES: b.writing is held.
func (r *retention) replace(b *branch, f func(*anchor) *version.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range b.line.anchors {
		if r.anchors[a.Commit] == a && a.Name == "" {
			a.snap = f(a)
		}
	}
}

// adopt replaces the graph's archive and anchors with those of a new manifest. The last anchor of
// each live branch stays in memory, because it shares nearly all its memory with the branch's head.
// The result `dropped` reports whether a restored state may read files that are no longer kept.
// REQUIRES: restorer.reading and layout are locked for writing.
func (r *retention) adopt(c *cut) (dropped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := map[string]string{} // the segments of the stored anchors, by commit
	for id, a := range r.anchors {
		if a.Name == "" && a.lsn > c.lsn {
			continue
		}
		if delete(r.anchors, id); a.Name != "" {
			was[id] = a.Name
		}
	}
	for _, list := range [][]*anchor{c.retained.stored, c.retained.anchors} {
		for _, a := range list {
			r.anchors[a.Commit] = a
		}
	}
	latest := map[*branch]*anchor{}
	for _, a := range r.anchors {
		if l := latest[a.branch]; a.snap != nil && a.branch != nil && (l == nil || l.lsn < a.lsn) {
			latest[a.branch] = a
		}
	}
	for _, a := range r.anchors {
		if a.Name != "" && a.snap != nil && (latest[a.branch] != a || a.branch.deleted) {
			a.snap = nil
		}
		if a.Name != "" && a.snap == nil {
			a.branch = nil // or else it would keep the states of the branch's head and tip in memory
		}
	}
	for _, b := range c.branches {
		b.line.anchors = slices.DeleteFunc(b.line.anchors, func(a *anchor) bool { return r.anchors[a.Commit] != a || a.Name != "" })
	}
	r.fresh = slices.Clone(r.fresh[c.commits-r.archived:])
	r.archive, r.archived, r.stale = c.retained.archive, c.commits, false
	dropped = c.retained.liveAncestors != nil || c.retained.replacesAll
	if dropped {
		r.removed = false
	}
	for id, name := range was {
		// A state restored from an anchor that is gone, or that is stored elsewhere, reads the
		// old segments.
		dropped = dropped || r.anchors[id] == nil || r.anchors[id].Name != name
	}
	return dropped
}

// archivedRecord returns the archived record of the commit with number n. The map `read` caches the
// records of segments that were read before. REQUIRES: restorer.reading is locked for reading.
func (r *retention) archivedRecord(ctx context.Context, n int, read map[string][]logrecord.Archived) (logrecord.Archived, bool, error) {
	r.mu.Lock()
	archive := r.archive
	r.mu.Unlock()
	seg, at, ok := logrecord.FindArchive(archive, n)
	if !ok {
		return logrecord.Archived{}, false, nil
	}
	records, known := read[seg.Name]
	if !known {
		var err error
		if records, err = r.files.readArchive(ctx, seg); err != nil {
			return logrecord.Archived{}, false, err
		}
		read[seg.Name] = records
	}
	return records[at], true, nil
}
