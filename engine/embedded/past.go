package embedded

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

const (
	// maxReplay bounds the records that are replayed to restore a commit from an earlier state.
	maxReplay = 2048
	// A line gets a new anchor when anchorRecords records, or anchorBytes bytes of operations,
	// follow its last anchor. anchorRecords is well below maxReplay, and replaying up to either
	// bound takes some tens of milliseconds. Until an anchor is stored, it keeps the memory
	// pages that its line has changed since: about a megabyte for a thousand changes far apart.
	anchorRecords = 1024
	anchorBytes   = 4 << 20
	// keptStates is how many restored states stay in memory for the next reader.
	keptStates = 8
)

// notKept is the What of a *engine.NotFound for a commit that is known but whose state has been
// removed.
const notKept = "state of commit"

// past holds the states of a graph before its heads. A state is restored from the nearest
// anchor at or before its commit, in the line of first parents, and from the records after that
// anchor. A commit whose record holds entity numbers is always an anchor, because a rewrite
// changes the numbers. All other records name entities by id.
type past struct {
	// files is held for reading while stored history is read, and for writing while a
	// checkpoint may remove files of it. It comes after Graph.shape and before Graph.lines in
	// the lock order.
	files sync.RWMutex

	// Guarded by Graph.lines:
	archive  []version.ArchiveSegment
	archived int                // the records of commits below this number are in the archive
	fresh    []version.Archived // the records of the commits from number archived on
	anchors  map[string]*anchor // by commit id
	removed  bool               // whether a branch was deleted since the last checkpoint
	// doubt reports a stale manifest: after a crash, a manifest may be in force that lacks some
	// of this. Recovery could then not restore a state of the past that a record needs.
	doubt bool

	building sync.WaitGroup // the goroutines that restore states
	mu       sync.Mutex
	epoch    uint64 // incremented when files or commits may have been removed
	flights  map[string]*flight
	states   []rebuilt // in order of use, the most recent last
}

// anchor is a complete state of the past, which is not restored from another state.
type anchor struct {
	version.Anchor                   // Name is empty until the anchor is stored
	snap           *version.Snapshot // nil when the state has to be read
	lsn            uint64
	branch         *branch
}

// run counts the commits of a line after its last anchor: their records and their bytes of
// operations.
type run struct {
	records int
	bytes   int
}

// rebuilt is a state that was restored from an anchor and records.
type rebuilt struct {
	snap *version.Snapshot
	// borrowed reports whether rows of snap may be in segments that only a head needs.
	borrowed bool
}

// flight is a state that is being restored, shared by all callers that wait for it.
type flight struct {
	done    chan struct{}
	epoch   uint64
	waiting int
	cancel  context.CancelFunc
	rebuilt
	err error
}

// note archives the record of a commit that has its place in the log, and makes the commit an
// anchor if needed. It is called right after the commit was added to the history. REQUIRES:
// g.lines is locked.
func (g *Graph) note(b *branch, c *commit, kind uint8, rest []byte, size int) {
	a := version.Archive(kind, rest)
	g.past.fresh = append(g.past.fresh, a)
	b.run.records++
	b.run.bytes += size
	if a.Kind == 0 || b.run.records >= anchorRecords || b.run.bytes >= anchorBytes {
		g.anchor(b, c)
	}
}

// anchor makes the state of a commit an anchor. REQUIRES: g.lines is locked, or g is not shared
// yet.
func (g *Graph) anchor(b *branch, c *commit) {
	id := c.snap.Commit.ID
	a := &anchor{Anchor: version.Anchor{Commit: id}, snap: c.snap, lsn: c.lsn, branch: b}
	g.past.anchors[id] = a
	b.anchors = append(b.anchors, a)
	b.run = run{}
}

// runTo counts the records between a commit and the last anchor in its line. ok is false if it
// finds no anchor within maxReplay records, or if a record is missing. REQUIRES: g.lines is
// locked, or g is not shared yet.
func (g *Graph) runTo(id string) (r run, ok bool) {
	g.history.LineNumbers(id, func(n int) bool {
		if g.past.anchors[g.history.ID(n)] != nil {
			ok = true
			return false
		}
		if n < g.past.archived {
			if _, _, there := version.FindArchive(g.past.archive, n); !there {
				return false
			}
		}
		r.records++
		return r.records < maxReplay
	})
	return r, ok
}

// state returns the state of a commit that is an ancestor of a live branch's head. For other
// commits the error is a *engine.NotFound.
func (g *Graph) state(ctx context.Context, id string) (*version.Snapshot, error) {
	if s, ok := g.atHand(id); ok {
		return s, nil
	}
	if s, _ := g.past.recent(id); s != nil {
		return s, nil
	}
	if !g.reachable(id) {
		return nil, &engine.NotFound{What: "commit", Name: id}
	}
	return g.stateOf(ctx, id)
}

// stateOf does the same as state for a commit that is known to be an ancestor of a live head.
func (g *Graph) stateOf(ctx context.Context, id string) (*version.Snapshot, error) {
	s, epoch := g.past.recent(id)
	if s != nil {
		return s, nil
	}
	return g.share(ctx, id, epoch)
}

// recent returns a state that was restored for another reader, or nil, and the current epoch.
func (p *past) recent(id string) (s *version.Snapshot, epoch uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cached(id), p.epoch
}

// atHand returns the state of a commit that is the head of a branch. It does not find a head
// while a write to its branch is in progress.
func (g *Graph) atHand(id string) (*version.Snapshot, bool) {
	g.lines.Lock()
	defer g.lines.Unlock()
	s := g.lines.head(id)
	return s, s != nil
}

// reachable reports whether a commit is an ancestor of a live branch's head, or is that head.
func (g *Graph) reachable(id string) bool {
	n, known := g.history.Number(id)
	if !known {
		return false
	}
	found := false
	g.history.Ancestors(g.heads(), id, func(ancestor int) bool {
		found = ancestor == n
		return !found
	})
	return found
}

// heads lists the durable heads of the live branches.
func (g *Graph) heads() (ids []string) {
	g.lines.Lock()
	defer g.lines.Unlock()
	for _, b := range g.lines.sorted {
		if b.live.Load() && !b.deleted {
			ids = append(ids, b.head.Load().snap.Commit.ID)
		}
	}
	return ids
}

// cached returns a restored state, or nil, and marks it as the most recently used. REQUIRES:
// p.mu is locked.
func (p *past) cached(id string) *version.Snapshot {
	i := slices.IndexFunc(p.states, func(r rebuilt) bool { return r.snap.Commit.ID == id })
	if i < 0 {
		return nil
	}
	r := p.states[i]
	p.states = append(slices.Delete(p.states, i, i+1), r)
	return r.snap
}

// keep adds a restored state to the states in memory. It drops the least recently used state if
// there are keptStates. REQUIRES: p.mu is locked.
func (p *past) keep(r rebuilt) {
	if p.cached(r.snap.Commit.ID) != nil {
		return
	}
	if len(p.states) >= keptStates {
		p.states = slices.Delete(p.states, 0, 1)
	}
	p.states = append(p.states, r)
}

// forget drops restored states from memory: all of them, or only those whose files a checkpoint
// may have removed. A state that is still being restored serves only the callers that wait for
// it already.
func (p *past) forget(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.epoch++
	clear(p.flights)
	p.states = slices.DeleteFunc(p.states, func(r rebuilt) bool { return all || r.borrowed })
}

// share restores a state, or waits if another call is restoring it. The work stops when no
// caller waits for it.
func (g *Graph) share(ctx context.Context, id string, epoch uint64) (*version.Snapshot, error) {
	p := &g.past
	p.mu.Lock()
	f := p.flights[id]
	if f == nil {
		work, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), epoch: epoch, cancel: cancel}
		if p.epoch == epoch {
			p.flights[id] = f
		}
		p.building.Go(func() {
			defer cancel()
			f.rebuilt, f.err = g.rebuilt(work, id)
			p.mu.Lock()
			if p.flights[id] == f {
				delete(p.flights, id)
			}
			if f.err == nil && p.epoch == f.epoch {
				p.keep(f.rebuilt)
			}
			p.mu.Unlock()
			close(f.done)
		})
	}
	f.waiting++
	p.mu.Unlock()
	select {
	case <-f.done:
		return f.snap, f.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if p.flights[id] == f {
			delete(p.flights, id)
		}
	}
	return nil, ctx.Err()
}

// rebuilt calls rebuild and turns a thrown corruption into an error.
func (g *Graph) rebuilt(ctx context.Context, id string) (r rebuilt, err error) {
	defer damage.Catch(damage.Watch(), &err)
	r.snap, r.borrowed, err = g.rebuild(ctx, id)
	return r, err
}

// route describes how to restore a state.
type route struct {
	from     *version.Snapshot // nil if the anchor has to be read
	borrowed bool
	anchor   version.Anchor
	commits  []engine.Commit    // the commits to replay, last one first
	records  []version.Archived // the records of commits that are in memory
	numbers  []int              // their numbers if the records are archived; else -1
}

// rebuild restores the state of a commit. borrowed reports whether its rows may be in segments
// that only a head needs. The error is a *engine.NotFound if the state is not kept.
func (g *Graph) rebuild(ctx context.Context, id string) (s *version.Snapshot, borrowed bool, err error) {
	g.past.files.RLock()
	defer g.past.files.RUnlock()
	r, ok := g.route(id)
	if !ok {
		return nil, false, &engine.NotFound{What: notKept, Name: id}
	}
	open := g.segments.opener(ctx)
	if s = r.from; s == nil {
		if s, err = g.readAnchor(ctx, &r.anchor); err != nil {
			return nil, false, err
		}
	}
	if len(r.commits) == 0 {
		return s, r.borrowed, nil
	}
	// One transaction replays all the records. It works on a fork of the state, because another
	// transaction may continue from the same state.
	tx := version.Begin(s.Fork())
	read := map[string][]version.Archived{}
	for i := range slices.Backward(r.commits) {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		rec := r.records[i]
		if n := r.numbers[i]; n >= 0 {
			if rec, ok, err = g.archivedRecord(ctx, n, read); err != nil {
				return nil, false, err
			}
		}
		if !ok || rec.Kind == 0 {
			return nil, false, &engine.NotFound{What: notKept, Name: id}
		}
		if err := g.apply(ctx, tx, rec.Kind, rec.Rest, open); err != nil {
			return nil, false, err
		}
	}
	return tx.Commit(r.commits[0]), r.borrowed, nil
}

// route returns the route to a commit from the nearest state at or before it. ok is false if
// there is none within maxReplay commits.
func (g *Graph) route(id string) (r route, ok bool) {
	g.lines.Lock()
	defer g.lines.Unlock()
	g.history.Line(id, func(c engine.Commit) bool {
		if from := g.inMemory(c.ID); from.snap != nil {
			r.from, r.borrowed, ok = from.snap, from.borrowed, true
			return false
		}
		if a := g.past.anchors[c.ID]; a != nil {
			r.anchor, ok = a.Anchor, true
			return false
		}
		n, _ := g.history.Number(c.ID)
		r.commits, r.numbers = append(r.commits, c), append(r.numbers, -1)
		r.records = append(r.records, version.Archived{})
		if k := len(r.commits) - 1; n >= g.past.archived {
			r.records[k] = g.past.fresh[n-g.past.archived]
		} else {
			r.numbers[k] = n
		}
		return len(r.commits) < maxReplay
	})
	return r, ok
}

// inMemory returns the state of a commit if it is in memory, and a zero rebuilt otherwise.
// REQUIRES: g.lines is locked.
func (g *Graph) inMemory(id string) rebuilt {
	if s := g.lines.head(id); s != nil {
		return rebuilt{s, true}
	}
	if base := g.lines.bases.at[id]; base != nil {
		return rebuilt{base.snap, true}
	}
	if a := g.past.anchors[id]; a != nil && a.snap != nil {
		return rebuilt{a.snap, a.Name == ""}
	}
	g.past.mu.Lock()
	defer g.past.mu.Unlock()
	for _, r := range g.past.states {
		if r.snap.Commit.ID == id {
			return r
		}
	}
	return rebuilt{}
}

// open calls yield once for each table of the states in memory, with the table's schema.
// REQUIRES: g.lines is locked.
func (g *Graph) open(yield func(*version.Schema, *version.Table)) {
	seen := map[*version.Table]bool{}
	add := func(s *version.Snapshot) {
		for _, t := range s.Tables() {
			if !seen[t] {
				seen[t] = true
				yield(s.Schema, t)
			}
		}
	}
	for _, b := range g.lines.sorted {
		add(b.head.Load().snap)
	}
	for _, base := range g.lines.bases.at {
		add(base.snap)
	}
	for _, a := range g.past.anchors {
		if a.snap != nil {
			add(a.snap)
		}
	}
	g.past.mu.Lock()
	defer g.past.mu.Unlock()
	for _, r := range g.past.states {
		add(r.snap)
	}
}

// archivedRecord returns the archived record of the commit with number n. read caches the
// records of the segments that were read before.
func (g *Graph) archivedRecord(ctx context.Context, n int, read map[string][]version.Archived) (version.Archived, bool, error) {
	g.lines.Lock()
	archive := g.past.archive
	g.lines.Unlock()
	seg, at, ok := version.FindArchive(archive, n)
	if !ok {
		return version.Archived{}, false, nil
	}
	records, known := read[seg.Name]
	if !known {
		var err error
		if records, err = g.readArchive(ctx, seg); err != nil {
			return version.Archived{}, false, err
		}
		read[seg.Name] = records
	}
	return records[at], true, nil
}

// readAnchor reads the state of a stored anchor. The segments that it shares with states in
// memory are shared in memory too.
func (g *Graph) readAnchor(ctx context.Context, a *version.Anchor) (s *version.Snapshot, err error) {
	var schemas []*version.Schema
	open := g.segments.opener(ctx)
	g.lines.Lock()
	g.open(func(schema *version.Schema, t *version.Table) {
		if !slices.Contains(schemas, schema) {
			schemas = append(schemas, schema)
		}
		for _, seg := range t.Segs {
			open.has(t.Type, seg)
		}
	})
	g.lines.Unlock()
	err = g.segments.readBlock(ctx, a.Name, a.BlockName(), func(b []byte) (err error) {
		s, err = version.ReadState(b, catalog.Decode, schemas, open)
		return err
	})
	if err == nil && s.Commit.ID != a.Commit {
		err = &engine.Corrupt{Object: "segment " + a.Name, Detail: a.BlockName() + " is of commit " + s.Commit.ID + ", wanted " + a.Commit}
	}
	return s, err
}

// storedAnchors lists the stored anchors in the order of their commit ids.
func (g *Graph) storedAnchors() (all []version.Anchor) {
	g.lines.Lock()
	defer g.lines.Unlock()
	for _, a := range g.past.anchors {
		if a.Name != "" {
			all = append(all, a.Anchor)
		}
	}
	slices.SortFunc(all, func(a, b version.Anchor) int { return strings.Compare(a.Commit, b.Commit) })
	return all
}

// verifyAnchor reads an anchor and checks its state, unless the anchor was removed meanwhile.
// It holds past.files only while it opens the files, so a checkpoint waits for no more than
// that. Open files stay readable.
func (g *Graph) verifyAnchor(ctx context.Context, v *version.Verifier, a version.Anchor) (err error) {
	defer damage.Catch(damage.Watch(), &err)
	s, err := g.keptAnchor(ctx, &a)
	if s == nil || err != nil {
		return err
	}
	return v.Verify(ctx, s)
}

// keptAnchor calls readAnchor for an anchor that may have been removed. It returns nil if the
// anchor was removed.
func (g *Graph) keptAnchor(ctx context.Context, a *version.Anchor) (*version.Snapshot, error) {
	g.past.files.RLock()
	defer g.past.files.RUnlock()
	g.lines.Lock()
	now := g.past.anchors[a.Commit]
	kept := now != nil && now.Name == a.Name
	g.lines.Unlock()
	if !kept {
		return nil, nil
	}
	return g.readAnchor(ctx, a)
}
