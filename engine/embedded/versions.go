package embedded

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
)

// versions holds records with an id that have versions, such as proposals and drafts, after the last
// record of the log, in the order of their ids. branches.mu guards it.
type versions[T any] struct {
	sorted []versioned[T]
}

// versioned is the last version of one record of [versions]. The log record of this version may not be
// durable yet.
type versioned[T any] struct {
	id   string
	last *T       // never changed in place, because readers share it
	out  *outcome // outcome of the log record; nil if recovery restored the version

	earlier *versioned[T] // the version before, until the log record is durable, which may not be durable either; nil for none

	// forgotten says that the log record removes the record. The caller of set drops the record once the
	// log record is durable.
	forgotten bool
}

// visible returns the version that readers see: the last one whose log record is durable. It returns
// nil if there is none.
func (v *versioned[T]) visible() *T {
	if v.out == nil {
		return v.last
	}
	select {
	case <-v.out.done:
		switch {
		case v.out.err == nil && v.forgotten:
			return nil
		case v.out.err == nil:
			return v.last
		}
	default:
	}
	if v.earlier == nil {
		return nil
	}
	return v.earlier.visible()
}

// before returns the version as the one before another: without the versions that readers cannot see any more, or nil if it says nothing.
func (v *versioned[T]) before() *versioned[T] {
	if v == nil {
		return nil
	}
	if v.out != nil {
		select {
		case <-v.out.done:
		default:
			b := *v
			b.earlier = v.earlier.before()
			return &b
		}
	}
	if last := v.visible(); last != nil {
		return &versioned[T]{id: v.id, last: last}
	}
	return nil
}

// find returns the entry with the given id, or nil. The next call that changes the list makes the entry
// invalid.
func (l *versions[T]) find(id string) *versioned[T] {
	if i, found := l.search(id); found {
		return &l.sorted[i]
	}
	return nil
}

// seen returns the version of a record that readers see, or nil if they see none.
func (l *versions[T]) seen(id string) *T {
	if v := l.find(id); v != nil {
		return v.visible()
	}
	return nil
}

// set adds a record or replaces its earlier version.
func (l *versions[T]) set(v versioned[T]) {
	i, found := l.search(v.id)
	if found {
		v.earlier = l.sorted[i].before()
		l.sorted[i] = v
		return
	}
	l.sorted = slices.Insert(l.sorted, i, v)
}

// drop removes the records with the given ids.
func (l *versions[T]) drop(ids ...string) {
	for _, id := range ids {
		if i, found := l.search(id); found {
			l.sorted = slices.Delete(l.sorted, i, i+1)
		}
	}
}

// dropIf removes the records whose last version satisfies a condition, and returns their ids.
func (l *versions[T]) dropIf(old func(*T) bool) (ids []string) {
	l.sorted = slices.DeleteFunc(l.sorted, func(v versioned[T]) bool {
		if !old(v.last) {
			return false
		}
		ids = append(ids, v.id)
		return true
	})
	return ids
}

// kept returns the last versions, without the records that are forgotten.
func (l *versions[T]) kept() (list []*T) {
	for _, v := range l.sorted {
		if !v.forgotten {
			list = append(list, v.last)
		}
	}
	return list
}

// clone returns a copy of the list. It shares the versions with the list.
func (l *versions[T]) clone() versions[T] { return versions[T]{slices.Clone(l.sorted)} }

// latestID returns the greatest id, or an empty text if the list is empty.
func (l *versions[T]) latestID() string {
	if n := len(l.sorted); n > 0 {
		return l.sorted[n-1].id
	}
	return ""
}

// search returns the position of an id in the list, and whether the list has it.
func (l *versions[T]) search(id string) (int, bool) {
	return slices.BinarySearchFunc(l.sorted, id, func(v versioned[T], id string) int { return strings.Compare(v.id, id) })
}

// watches holds the watches of a graph after the last record of its log. branches.mu guards it.
type watches struct {
	versions[engine.Watch]
}

// newWatchVersion returns the entry of [watches] for a watch. The outcome is nil in recovery.
func newWatchVersion(w *engine.Watch, out *outcome) versioned[engine.Watch] {
	return versioned[engine.Watch]{id: w.ID, last: w, out: out}
}

// checkNew returns a *engine.TooLarge if the owner has `most` watches already. 0 means no limit.
func (l *watches) checkNew(owner string, most int) error {
	n := 0
	for i := range l.sorted {
		if v := &l.sorted[i]; v.last.Owner == owner && !v.forgotten {
			n++
		}
	}
	if most > 0 && n >= most {
		return &engine.TooLarge{Resource: "watches of one actor", Limit: int64(most), Actual: int64(n) + 1, Hint: "delete watches that you do not need"}
	}
	return nil
}

// Watches lists watches in the order in which they were made.
func (g *Graph) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	return g.branches.watchesIn(r), nil
}

// watchesIn lists the watches in a range.
func (l *branches) watchesIn(r engine.WatchRange) (list []engine.Watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.watches.sorted {
		w := l.watches.sorted[i].visible()
		if w == nil || r.ID != "" && w.ID != r.ID || r.Owner != "" && w.Owner != r.Owner {
			continue
		}
		list = append(list, *w)
	}
	return list
}

// CreateWatch stores a new watch, and returns once its record is durable.
func (g *Graph) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	if n := len(w.Arguments); n > engine.MaxWatchBytes {
		return nil, &engine.TooLarge{Resource: "bytes of the arguments of one watch", Limit: engine.MaxWatchBytes, Actual: int64(n), Hint: "watch a query with smaller arguments"}
	}
	if err := checkState(w.State); err != nil {
		return nil, err
	}
	if w.Debounce < 0 || w.Debounce%time.Millisecond != 0 {
		return nil, &engine.BadArgument{Param: "debounce", Detail: fmt.Sprintf("found %s, expected whole milliseconds", w.Debounce)}
	}
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	if w.Branch == "" {
		w.Branch = engine.MainBranch
	}
	if _, err := g.branches.find(w.Branch); err != nil {
		return nil, err
	}
	r := &g.writer
	w.ID, w.Made = r.ids.Next(), r.opts.time()
	if err := r.putWatch(&logrecord.Watching{Watch: &w}, most); err != nil {
		return nil, err
	}
	return &w, nil
}

// checkState returns a *engine.TooLarge if the state of a watch is too large.
func checkState(state []byte) error {
	if n := len(state); n > engine.MaxWatchBytes {
		return &engine.TooLarge{Resource: "bytes of the state of one watch", Limit: engine.MaxWatchBytes, Actual: int64(n)}
	}
	return nil
}

// ChangeWatch replaces the state of a watch, and returns once the record of that is durable.
func (g *Graph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.Leave()
	r := &g.writer
	n, ticket, out, err := r.branches.changeWatch(id, change)
	if err != nil || ticket == nil {
		return err
	}
	r.checkpoints.countLogged(n)
	out.err = r.store.Wait(ticket)
	close(out.done)
	return out.err
}

// changeWatch assigns the record of a changed watch, of n bytes, its place in the log. The ticket is nil if nothing changes.
func (l *branches) changeWatch(id string, change func([]byte) ([]byte, error)) (n int, ticket *store.Ticket, out *outcome, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.watches.find(id)
	if v == nil || v.forgotten {
		return 0, nil, nil, &engine.NotFound{What: "watch", Name: id}
	}
	w := *v.last
	if w.State, err = change(bytes.Clone(w.State)); err != nil || bytes.Equal(w.State, v.last.State) {
		return 0, nil, nil, err
	}
	if err = checkState(w.State); err != nil {
		return 0, nil, nil, err
	}
	rec := &logrecord.Watching{Watch: &w}
	payload := rec.Append(nil)
	ticket, out, err = l.enqueueWatchLocked(rec, payload)
	return len(payload), ticket, out, err
}

// DeleteWatch deletes a watch, and returns once the record of that is durable.
func (g *Graph) DeleteWatch(ctx context.Context, id string) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.Leave()
	list := g.branches.watchesIn(engine.WatchRange{ID: id})
	if len(list) == 0 {
		return &engine.NotFound{What: "watch", Name: id}
	}
	return g.writer.putWatch(&logrecord.Watching{Watch: &list[0], Delete: true}, 0)
}

// putWatch writes a record about a watch, and returns once it is durable.
func (r *writer) putWatch(rec *logrecord.Watching, most int) error {
	payload := rec.Append(nil)
	ticket, out, err := r.branches.putWatch(rec, payload, most)
	if err != nil {
		return err
	}
	r.checkpoints.countLogged(len(payload))
	out.err = r.store.Wait(ticket)
	close(out.done)
	if out.err == nil && rec.Delete {
		r.branches.dropWatch(rec.Watch.ID)
	}
	return out.err
}

// putWatch assigns the record its place in the log.
func (l *branches) putWatch(rec *logrecord.Watching, payload []byte, most int) (*store.Ticket, *outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rec.Delete {
		if v := l.watches.find(rec.Watch.ID); v == nil || v.forgotten {
			return nil, nil, &engine.NotFound{What: "watch", Name: rec.Watch.ID}
		}
	} else if err := l.watches.checkNew(rec.Watch.Owner, most); err != nil {
		return nil, nil, err
	}
	return l.enqueueWatchLocked(rec, payload)
}

// enqueueWatchLocked appends the record with its payload to the log. REQUIRES: l.mu is locked.
func (l *branches) enqueueWatchLocked(rec *logrecord.Watching, payload []byte) (*store.Ticket, *outcome, error) {
	ticket, err := l.store.Enqueue(logrecord.KindWatch, payload)
	if err != nil {
		return nil, nil, err
	}
	out := &outcome{done: make(chan struct{})}
	kept := *rec.Watch
	v := newWatchVersion(&kept, out)
	v.forgotten = rec.Delete
	l.watches.set(v)
	l.lsn, l.last = ticket.LSN, out
	return ticket, out, nil
}

// dropWatch removes a watch from memory.
func (l *branches) dropWatch(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watches.drop(id)
}

// replayWatch stores or removes a watch as a record of the log says.
func (l *branches) replayWatch(rec *logrecord.Watching, lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rec.Delete {
		l.watches.drop(rec.Watch.ID)
	} else {
		l.watches.set(newWatchVersion(rec.Watch, nil))
	}
	l.lsn, l.last = lsn, nil
}

// onMain drops the watches of other branches than main.
func (l *watches) onMain() watches {
	l.dropIf(func(w *engine.Watch) bool { return w.Branch != engine.MainBranch })
	return *l
}
