package embedded

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// keptStates is how many restored states stay in memory for the next reader.
const keptStates = 8

// restorer restores the states of commits before the heads, from the anchors and records that
// retention keeps. Callers that need the same state at the same time share the work, and the last
// states stay in memory.
type restorer struct {
	history   *ancestry.History // the commits of all branches
	files     *segmentFiles     // reads stored states and rows
	branches  *branches         // the heads of the branches
	retention *retention        // the kept anchors and records

	// reading is held for reading while a state is read from files, and for writing while a
	// checkpoint may remove files.
	reading sync.RWMutex

	running sync.WaitGroup // the goroutines that restore states

	mu      sync.Mutex
	epoch   uint64              // incremented when files or commits may have been removed
	pending map[string]*pending // by commit id
	states  []restored          // in order of use, the most recent last
}

// restored is a state in memory.
type restored struct {
	snap *version.Snapshot // the state
	// borrowed reports whether rows of snap may be in segments that only a head needs.
	borrowed bool
}

// pending is a state that is being restored, shared by all callers that wait for it.
type pending struct {
	done    chan struct{}      // closed once the state is restored or err is set
	epoch   uint64             // restorer.epoch when the work began
	waiting int                // number of callers that wait
	cancel  context.CancelFunc // cancels the work when the last caller stops waiting
	restored
	err error // why the state was not restored
}

// state returns the state of a commit that is an ancestor of a live branch's head. For other
// commits it returns a *engine.NotFound.
func (r *restorer) state(ctx context.Context, id string) (*version.Snapshot, error) {
	if s := r.branches.headState(id); s != nil {
		return s, nil
	}
	if s, _ := r.recent(id); s != nil {
		return s, nil
	}
	if !r.reachable(id) {
		return nil, &engine.NotFound{What: "commit", Name: id}
	}
	return r.ancestor(ctx, id)
}

// ancestor does the same as state for a commit that is known to be an ancestor of a live head.
func (r *restorer) ancestor(ctx context.Context, id string) (*version.Snapshot, error) {
	s, epoch := r.recent(id)
	if s != nil {
		return s, nil
	}
	return r.share(ctx, id, epoch)
}

// reachable reports whether a commit is an ancestor of a live branch's head, or is that head.
func (r *restorer) reachable(id string) bool {
	n, known := r.history.Number(id)
	if !known {
		return false
	}
	found := false
	r.history.Ancestors(r.branches.heads(), id, func(ancestor int) bool {
		found = ancestor == n
		return !found
	})
	return found
}

// recent returns a state that was restored for another reader, or nil, and the current epoch.
func (r *restorer) recent(id string) (s *version.Snapshot, epoch uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cachedLocked(id), r.epoch
}

// cachedLocked returns a restored state, or nil, and marks it as the most recently used.
// REQUIRES: r.mu is locked.
func (r *restorer) cachedLocked(id string) *version.Snapshot {
	i := slices.IndexFunc(r.states, func(s restored) bool { return s.snap.Commit.ID == id })
	if i < 0 {
		return nil
	}
	s := r.states[i]
	r.states = append(slices.Delete(r.states, i, i+1), s)
	return s.snap
}

// keep adds a restored state to the states in memory.
func (r *restorer) keep(s restored) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepLocked(s)
}

// keepLocked does the work of keep. If there are keptStates states already, it drops the least
// recently used one. REQUIRES: r.mu is locked.
func (r *restorer) keepLocked(s restored) {
	if r.cachedLocked(s.snap.Commit.ID) != nil {
		return
	}
	if len(r.states) >= keptStates {
		r.states = slices.Delete(r.states, 0, 1)
	}
	r.states = append(r.states, s)
}

// forget drops restored states from memory: all states, or only the states with files that a
// checkpoint may have removed. If a state is still being restored, only the callers that already
// wait for it will get it.
func (r *restorer) forget(all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	clear(r.pending)
	r.states = slices.DeleteFunc(r.states, func(s restored) bool { return all || s.borrowed })
}

// replaceFiles runs f, which replaces or removes files. Until f returns, no state is read from
// files.
func (r *restorer) replaceFiles(f func() error) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	return f()
}

// share restores a state, or waits if another call is restoring it. The work stops when no
// caller waits for it.
func (r *restorer) share(ctx context.Context, id string, epoch uint64) (*version.Snapshot, error) {
	r.mu.Lock()
	p := r.pending[id]
	if p == nil {
		work, cancel := context.WithCancel(context.WithoutCancel(ctx))
		p = &pending{done: make(chan struct{}), epoch: epoch, cancel: cancel}
		if r.epoch == epoch {
			r.pending[id] = p
		}
		r.running.Go(func() {
			defer cancel()
			p.restored, p.err = r.restoreCaught(work, id)
			r.mu.Lock()
			if r.pending[id] == p {
				delete(r.pending, id)
			}
			if p.err == nil && r.epoch == p.epoch {
				r.keepLocked(p.restored)
			}
			r.mu.Unlock()
			close(p.done)
		})
	}
	p.waiting++
	r.mu.Unlock()
	select {
	case <-p.done:
		return p.snap, p.err
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		p.cancel()
		if r.pending[id] == p {
			delete(r.pending, id)
		}
	}
	return nil, ctx.Err()
}

// restoreCaught calls restore and turns a thrown corruption into an error.
func (r *restorer) restoreCaught(ctx context.Context, id string) (s restored, err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	return r.restore(ctx, id)
}

// route describes how to restore a state.
type route struct {
	from    restored             // where the route begins; its snap is nil if the anchor has to be read
	anchor  version.Anchor       // the anchor to begin with, if from.snap is nil
	commits []engine.Commit      // the commits to replay, last one first
	records []logrecord.Archived // the records of commits that are in memory
	numbers []int                // their numbers if the records are archived; else -1
}

// restore restores the state of a commit. It returns a *engine.NotFound if the state is not kept.
func (r *restorer) restore(ctx context.Context, id string) (s restored, err error) {
	r.reading.RLock()
	defer r.reading.RUnlock()
	way, ok := r.route(id)
	if !ok {
		return s, &engine.NotFound{What: notKept, Name: id, Reclaimed: true}
	}
	if s = way.from; s.snap == nil {
		if s.snap, err = r.readAnchor(ctx, &way.anchor); err != nil {
			return restored{}, err
		}
	}
	if len(way.commits) == 0 {
		return s, nil
	}
	open := r.files.opener(ctx)
	// One transaction replays all the records. It works on a fork of the state, because another
	// transaction may continue from the same state.
	tx := version.Begin(s.snap.Fork())
	read := map[string][]logrecord.Archived{}
	for i := range slices.Backward(way.commits) {
		if err := ctx.Err(); err != nil {
			return restored{}, err
		}
		rec := way.records[i]
		if n := way.numbers[i]; n >= 0 {
			if rec, ok, err = r.retention.archivedRecord(ctx, n, read); err != nil {
				return restored{}, err
			}
		}
		if !ok || rec.Kind == 0 {
			return restored{}, &engine.NotFound{What: notKept, Name: id, Reclaimed: true}
		}
		n, _ := r.history.Number(way.commits[i].ID)
		tx.Replay(r.history.OriginOf(n))
		if err := open.apply(tx, rec.Kind, rec.Rest); err != nil {
			return restored{}, err
		}
	}
	s.snap = tx.Commit(way.commits[0])
	return s, nil
}

// route returns the route to a commit from the nearest state at or before it. ok is false if there
// is none within maxReplay commits. REQUIRES: r.reading is locked for reading, so that no
// checkpoint removes a record after route has passed it.
func (r *restorer) route(id string) (way route, ok bool) {
	r.history.Line(id, func(c engine.Commit) bool {
		if s := r.branches.state(c.ID); s != nil {
			way.from, ok = restored{s, true}, true
			return false
		}
		kept := r.retention.find(c.ID)
		if kept.snap != nil {
			way.from, ok = restored{kept.snap, kept.anchor.Name == ""}, true
			return false
		}
		if s := r.inMemory(c.ID); s.snap != nil {
			way.from, ok = s, true
			return false
		}
		if kept.anchored {
			way.anchor, ok = kept.anchor, true
			return false
		}
		way.commits, way.numbers, way.records = append(way.commits, c), append(way.numbers, kept.number), append(way.records, kept.record)
		return len(way.commits) < maxReplay
	})
	return way, ok
}

// inMemory returns a restored state that is in memory, and a zero value otherwise. It does not
// mark the state as used.
func (r *restorer) inMemory(id string) restored {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.states {
		if s.snap.Commit.ID == id {
			return s
		}
	}
	return restored{}
}

// snapshots lists the states in memory: heads, merge bases, anchors and restored states.
func (r *restorer) snapshots() []*version.Snapshot {
	all := append(r.branches.states(), r.retention.states()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.states {
		all = append(all, s.snap)
	}
	return all
}

// readAnchor reads the state of a stored anchor. The segments that it shares with states in
// memory are shared in memory too. REQUIRES: r.reading is locked for reading.
func (r *restorer) readAnchor(ctx context.Context, a *version.Anchor) (s *version.Snapshot, err error) {
	var schemas []*schema.Schema
	open := r.files.opener(ctx)
	seen := map[*version.Table]bool{}
	for _, s := range r.snapshots() {
		for _, t := range s.Tables() {
			if seen[t] {
				continue
			}
			seen[t] = true
			if !slices.Contains(schemas, s.Schema) {
				schemas = append(schemas, s.Schema)
			}
			for _, seg := range t.Segs {
				open.register(t.Type, seg)
			}
		}
	}
	err = r.files.readBlock(ctx, a.Name, a.BlockName(), func(b []byte) (err error) {
		s, err = version.ReadState(b, catalog.Decode, schemas, open)
		return err
	})
	if err == nil && s.Commit.ID != a.Commit {
		err = &engine.Corrupt{Object: "segment " + a.Name, Detail: a.BlockName() + " is of commit " + s.Commit.ID + ", expected " + a.Commit}
	}
	return s, err
}

// verify reads and checks every stored anchor. The error joins a *engine.Corrupt for each fault.
func (r *restorer) verify(ctx context.Context, v *version.Verifier) error {
	var faults []error
	for _, a := range r.retention.stored() {
		faults = append(faults, r.verifyAnchor(ctx, v, a))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// verifyAnchor reads an anchor and checks its state, unless the anchor was removed meanwhile. It
// holds r.reading only while it opens the files, so a checkpoint waits for no more than that.
// Open files stay readable.
func (r *restorer) verifyAnchor(ctx context.Context, v *version.Verifier, a version.Anchor) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	s, err := r.keptAnchor(ctx, &a)
	if s == nil || err != nil {
		return err
	}
	return v.Verify(ctx, s)
}

// keptAnchor calls readAnchor for an anchor that may have been removed. It returns nil if the
// anchor was removed.
func (r *restorer) keptAnchor(ctx context.Context, a *version.Anchor) (*version.Snapshot, error) {
	r.reading.RLock()
	defer r.reading.RUnlock()
	if !r.retention.keeps(a) {
		return nil, nil
	}
	return r.readAnchor(ctx, a)
}
