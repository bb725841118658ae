package embedded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// branches owns the state of a graph after the last record of its log: the set of branches, their
// tips, and the merge bases that they hold. A record gets its place in the log with mu locked, so
// the holder of mu sees one state of all branches.
type branches struct {
	store     store.Log         // the log of the graph
	history   *ancestry.History // all commits of the graph
	retention *retention        // owns the data about earlier commits
	main      *branch           // does not change after the graph was opened
	removed   func(name string) // is called with the name of each branch that is removed from memory, with mu locked

	// naming is held from the making of the ids of events of proposals until their record has its place in
	// the log. Lock it before mu.
	naming sync.Mutex

	mu        sync.Mutex           // held while a record gets its place in the log; guards the fields below
	byName    map[string]*branch   // by the name of the branch
	sorted    []*branch            // in name order
	tips      map[string][]*branch // by the id of the tip's commit
	bases     mergeBases           // the states that merges compare with
	proposals proposals            // the proposals to merge branches
	drafts    drafts               // the drafts, which own some of the branches
	watches   watches              // the watches
	stale     bool                 // at least one branch has the field `stale` set; only checkpoints set it
	lsn       uint64               // LSN of the last record
	last      *outcome             // nil if recovery restored the last record
}

// find returns a live branch by name. An empty name means main, for which find takes no lock.
func (l *branches) find(name string) (*branch, error) {
	if name == "" || name == engine.MainBranch {
		return l.main, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.drafts.shut(name); err != nil {
		return nil, err
	}
	if b := l.byName[name]; b != nil && b.live.Load() {
		return b, nil
	}
	return nil, &engine.NotFound{What: "branch", Name: name}
}

// findToWrite is like find, for a write. If the write has an idempotency key, it also finds the branch
// of a draft that has ended, because the write may repeat an earlier one. The method stage refuses
// every other write to such a branch.
func (l *branches) findToWrite(name, key string) (*branch, error) {
	b, err := l.find(name)
	var closed *engine.DraftClosed
	if key != "" && errors.As(err, &closed) {
		if ended := l.named(name); ended != nil {
			return ended, nil
		}
	}
	return b, err
}

// waitShown waits until the head of a branch is the commit with the record at lsn, or a later one.
// The record is durable already. There is nothing to wait for if the branch was deleted.
func (l *branches) waitShown(ctx context.Context, name string, lsn uint64) error {
	// A replay holds the lock from the entry in the history until the commit is the head.
	l.mu.Lock()
	b := l.byName[name]
	l.mu.Unlock()
	if b == nil || lsn <= b.head.Load().lsn {
		return nil
	}
	return b.waitDurable(ctx, lsn)
}

// waitLast waits until the last record that was given a place in the log is durable, and so all earlier ones. It
// returns errLogFailed if the record has failed.
func (l *branches) waitLast(ctx context.Context) error {
	l.mu.Lock()
	last := commit{out: l.last}
	l.mu.Unlock()
	return last.waitDurable(ctx)
}

// list lists the live branches by name, except those of drafts that have ended.
func (l *branches) list() []engine.Branch {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]engine.Branch, 0, len(l.sorted))
	for _, b := range l.sorted {
		if b.live.Load() && l.drafts.shut(b.name) == nil {
			all = append(all, engine.Branch{Name: b.name, Head: b.head.Load().snap.Commit})
		}
	}
	return all
}

// count returns the number of branches. It does not count branches that are being deleted, nor those
// of drafts that have ended.
func (l *branches) count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.sorted {
		if !b.deleted && l.drafts.closed(b.name) == nil {
			n++
		}
	}
	return n
}

// heads lists the durable heads of the live branches, and the commits that proposals keep readable.
func (l *branches) heads() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.sorted {
		if b.live.Load() && !b.deleted {
			ids = append(ids, b.head.Load().snap.Commit.ID)
		}
	}
	return append(ids, l.proposals.commits()...)
}

// tipIDs lists the commits at the tips of live branches, each once.
func (l *branches) tipIDs() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, all := range l.tips {
		if slices.ContainsFunc(all, func(b *branch) bool { return !b.deleted }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// states lists the states at the heads of branches and the merge bases in memory.
func (l *branches) states() (all []*version.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.sorted {
		all = append(all, b.head.Load().snap)
	}
	return append(all, l.bases.states()...)
}

// tipStates lists the states at the tips of branches. REQUIRES: layout is locked.
func (l *branches) tipStates() (all []*version.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.sorted {
		all = append(all, b.tip.snap)
	}
	return all
}

// headState returns the state of a commit that is the head of a live branch, and nil otherwise.
// It does not find a head while a write to its branch is in progress.
func (l *branches) headState(id string) *version.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.headStateLocked(id)
}

// headStateLocked does the work of headState. REQUIRES: l.mu is locked.
func (l *branches) headStateLocked(id string) *version.Snapshot {
	for _, b := range l.tips[id] {
		if s := b.head.Load().snap; b.live.Load() && s.Commit.ID == id {
			return s
		}
	}
	return nil
}

// base returns the state of a merge base that is in memory, and nil otherwise.
func (l *branches) base(id string) *version.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if base := l.bases.at[id]; base != nil {
		return base.snap
	}
	return nil
}

// state returns the state of a commit that is a head or a merge base in memory, and nil
// otherwise.
func (l *branches) state(id string) *version.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.headStateLocked(id); s != nil {
		return s
	}
	if base := l.bases.at[id]; base != nil {
		return base.snap
	}
	return nil
}

// source returns the tip of the source of a merge. The error is a *engine.NotFound if one of the
// two branches was deleted. REQUIRES: layout is locked for reading, so that no checkpoint replaces
// the tip.
func (l *branches) source(from, to *branch) (*commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range []*branch{from, to} {
		if l.byName[b.name] != b {
			return nil, &engine.NotFound{What: "branch", Name: b.name}
		}
	}
	return from.tip, nil
}

// sparseBranches lists the branches that have more than n holes in a table, in name order.
// REQUIRES: layout is locked for writing.
func (l *branches) sparseBranches(n uint32) (sparse []*branch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.sorted {
		if !b.deleted && b.head.Load().snap.Sparse(n) {
			sparse = append(sparse, b)
		}
	}
	return sparse
}

// noteStale records in l.stale whether any branch has a stale manifest. A new branch takes its
// stale field from l.stale. REQUIRES: layout is locked for writing.
func (l *branches) noteStale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = slices.ContainsFunc(l.sorted, func(b *branch) bool { return b.stale })
}

// keepBases drops the merge bases in memory that are not in the set `commits`.
func (l *branches) keepBases(commits map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bases.keepOnly(commits)
}

// replaceBases replaces each merge base in memory with its new state in the map `after`.
func (l *branches) replaceBases(after map[*version.Snapshot]*version.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, base := range l.bases.at {
		if s := after[base.snap]; s != nil {
			base.snap = s
		}
	}
}

// commit assigns the record of a commit its place in the log and makes the commit the tip of its
// branch. REQUIRES: the caller holds the write lock of b.
func (l *branches) commit(b *branch, next *commit, rec record, w *write) (*store.Ticket, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.drafts.closed(b.name); err != nil {
		return nil, err
	}
	if err := l.checkMergingLocked(w.merging); err != nil {
		return nil, err
	}
	if err := l.checkDraftMergeLocked(w); err != nil {
		return nil, err
	}
	kind, payload := rec.logged()
	ticket, err := l.store.Enqueue(kind, payload, rec.segments...)
	if err != nil {
		return nil, err
	}
	c := next.snap.Commit
	next.lsn = ticket.LSN
	b.journal.note(logrecord.Commit{Commit: c, Number: w.number}, ticket.LSN, rec)
	l.advanceLocked(b, next)
	_ = l.history.Add(logrecord.Commit{Commit: c, Number: w.number}, next.lsn)
	b.keys.Add(l.history, c, w.receipt)
	l.retention.note(b, next, rec.kind, rec.afterHeader, len(rec.ops))
	l.lsn, l.last = next.lsn, next.out
	if w.source != nil {
		l.bases.merged(b, w.from, w.source)
	}
	if w.merging != nil {
		l.proposals.set(newProposalVersion(&w.merging.proposal, next.out))
	}
	if w.ends != nil {
		l.drafts.set(newDraftVersion(w.ends.draft, next.out))
	}
	b.stage(next)
	return ticket, nil
}

// errStaleRetention is the error of create while retention has a stale manifest.
var errStaleRetention = &engine.Unavailable{Reason: "a cleanup failed, so a branch cannot start from an old commit until the next checkpoint; try again later"}

// errNeedsState is the error of create for a commit that is the tip of no branch, if the caller
// has not restored its state.
var errNeedsState = errors.New("the caller must first restore the state of the commit")

// created is a new branch. The record that creates it has a place in the log already.
type created struct {
	branch *branch       // the branch that was created
	out    *outcome      // tells when the record is durable
	ticket *store.Ticket // place of the record in the log
	bytes  int           // size of the record in bytes
}

// origin says which branch to create.
type origin struct {
	name      string        // name of the branch
	at        engine.Target // where the branch begins
	draft     *engine.Draft // the draft that owns the branch, or nil
	maxDrafts int           // maximum number of open drafts of the owner; 0 for no limit
}

// create makes a branch and assigns its record a place in the log. The parameter `restored` is the
// state of the target if the target's commit is the tip of no branch; if it is nil then, the error is
// errNeedsState. There may be at most `most` branches; 0 means no limit. REQUIRES: layout is locked
// for reading.
func (l *branches) create(o origin, restored *version.Snapshot, now time.Time, most int) (made created, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := o.name
	if o.draft != nil {
		if err := l.drafts.checkNew(o.draft, o.maxDrafts); err != nil {
			return made, err
		}
	}
	if l.byName[name] != nil {
		return made, &engine.Conflict{Reason: "branch " + name + " exists already"}
	}
	if n := len(l.byName); most > 0 && n >= most {
		return made, &engine.TooLarge{Resource: "live branches", Limit: int64(most), Actual: int64(n) + 1, Hint: "delete branches that you do not need"}
	}
	parent, err := l.originLocked(o.at)
	if err != nil {
		return made, err
	}
	from, state := "", restored
	if parent != nil {
		from, state = parent.name, parent.tip.snap
	}
	switch {
	case state == nil:
		return made, errNeedsState
	case parent == nil && l.retention.isStale():
		return made, errStaleRetention
	}
	out := &outcome{done: make(chan struct{})}
	b := newBranch(name, state.Fork(), 0)
	b.stale = l.stale
	b.tip.out = out
	if b.line.run, err = l.retention.runOf(parent, state); err != nil {
		return made, err
	}
	record := logrecord.Branching{Name: name, From: from, Commit: state.Commit.ID, Time: now}
	kind, payload := logrecord.KindBranch, record.Append(nil)
	if o.draft != nil {
		opened := logrecord.Drafting{Draft: o.draft, Branch: payload}
		kind, payload = logrecord.KindDraft, opened.Append(nil)
	}
	ticket, err := l.store.Enqueue(kind, payload)
	if err != nil {
		return made, err
	}
	b.tip.lsn = ticket.LSN
	l.addLocked(b)
	l.bases.hold(b, state)
	if o.draft != nil {
		kept := *o.draft
		l.drafts.set(newDraftVersion(&kept, out))
	}
	l.lsn, l.last = ticket.LSN, out
	return created{b, out, ticket, len(payload)}, nil
}

// originLocked returns the branch that has the first commit of a new branch as its tip. If the
// commit is not the tip of any branch, it returns nil. REQUIRES: l.mu is locked.
func (l *branches) originLocked(at engine.Target) (*branch, error) {
	if at.Commit != "" {
		c, _, _ := l.history.Get(at.Commit)
		return l.atTipLocked(c), nil
	}
	name := at.Branch
	if name == "" {
		name = engine.MainBranch
	}
	if err := l.drafts.closed(name); err != nil {
		return nil, err
	}
	b := l.byName[name]
	if b == nil || b.deleted {
		return nil, &engine.NotFound{What: "branch", Name: name}
	}
	return b, nil
}

// delete assigns the record that deletes a branch its place in the log. The branch stays in the set
// until the method remove removes it. REQUIRES: layout is locked for reading, and the caller holds
// the write lock of b.
func (l *branches) delete(b *branch, record []byte) (*store.Ticket, *outcome, error) {
	out := &outcome{done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.proposals.checkDelete(b.name); err != nil {
		return nil, nil, err
	}
	ticket, err := l.store.Enqueue(logrecord.KindBranch, record)
	if err != nil {
		return nil, nil, err
	}
	b.deleted = true
	l.retention.branchDeleted()
	l.lsn, l.last = ticket.LSN, out
	return ticket, out, nil
}

// remove removes a branch from memory, after its deletion has become durable.
func (l *branches) remove(b *branch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(b)
}

// addLocked adds a branch. REQUIRES: l.mu is locked.
func (l *branches) addLocked(b *branch) {
	l.byName[b.name] = b
	i, _ := slices.BinarySearchFunc(l.sorted, b.name, byName)
	l.sorted = slices.Insert(l.sorted, i, b)
	l.enterTipLocked(b)
}

// removeLocked removes a branch. REQUIRES: l.mu is locked.
func (l *branches) removeLocked(b *branch) {
	delete(l.byName, b.name)
	if i, found := slices.BinarySearchFunc(l.sorted, b.name, byName); found {
		l.sorted = slices.Delete(l.sorted, i, i+1)
	}
	l.leaveTipLocked(b)
	l.bases.release(b)
	l.removed(b.name)
}

// advanceLocked makes a commit the tip of a branch. REQUIRES: l.mu is locked.
func (l *branches) advanceLocked(b *branch, c *commit) {
	l.leaveTipLocked(b)
	b.tip = c
	l.enterTipLocked(b)
}

// enterTipLocked enters a branch in l.tips. REQUIRES: l.mu is locked.
func (l *branches) enterTipLocked(b *branch) {
	id := b.tip.snap.Commit.ID
	b.tipAt = len(l.tips[id])
	l.tips[id] = append(l.tips[id], b)
}

// leaveTipLocked removes a branch from l.tips. REQUIRES: l.mu is locked.
func (l *branches) leaveTipLocked(b *branch) {
	id := b.tip.snap.Commit.ID
	all := l.tips[id]
	last := len(all) - 1
	all[b.tipAt], all[last].tipAt = all[last], b.tipAt
	all[last] = nil
	if all = all[:last]; last == 0 {
		delete(l.tips, id)
		return
	}
	l.tips[id] = all
}

// atTipLocked returns a branch that has the commit as its tip and is not deleted, or nil. It
// prefers the branch that made the commit. REQUIRES: l.mu is locked.
func (l *branches) atTipLocked(c engine.Commit) *branch {
	if b := l.byName[c.Branch]; b != nil && !b.deleted && b.tip.snap.Commit.ID == c.ID {
		return b
	}
	for _, b := range l.tips[c.ID] {
		if !b.deleted {
			return b
		}
	}
	return nil
}

// byName orders branches by name for a binary search.
func byName(b *branch, name string) int { return strings.Compare(b.name, name) }

// named returns a branch by name, or nil.
func (l *branches) named(name string) *branch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name]
}
