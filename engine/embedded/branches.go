package embedded

import (
	"context"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// lines holds the branches of a graph as of the last log record. A writer holds the lock while
// its record gets its place in the log, so the holder sees the state after the last record.
type lines struct {
	sync.Mutex
	branches map[string]*branch
	sorted   []*branch            // by name
	tips     map[string][]*branch // by the id of the tip's commit
	bases    baseList
	doubtful bool     // whether a branch has doubt set; only checkpoints set it
	lsn      uint64   // of the last record
	last     *outcome // nil if recovery restored the last record
}

// add adds a branch.
func (l *lines) add(b *branch) {
	l.branches[b.name] = b
	i, _ := slices.BinarySearchFunc(l.sorted, b.name, byName)
	l.sorted = slices.Insert(l.sorted, i, b)
	l.enterTip(b)
}

// remove removes a branch.
func (l *lines) remove(b *branch) {
	delete(l.branches, b.name)
	if i, found := slices.BinarySearchFunc(l.sorted, b.name, byName); found {
		l.sorted = slices.Delete(l.sorted, i, i+1)
	}
	l.leaveTip(b)
	l.bases.release(b)
}

// advance makes a commit the tip of a branch.
func (l *lines) advance(b *branch, c *commit) {
	l.leaveTip(b)
	b.tip = c
	l.enterTip(b)
}

func (l *lines) enterTip(b *branch) {
	id := b.tip.snap.Commit.ID
	b.tipAt = len(l.tips[id])
	l.tips[id] = append(l.tips[id], b)
}

func (l *lines) leaveTip(b *branch) {
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

// atTip returns a branch that has the commit as its tip and is not deleted, or nil. It prefers
// the branch that made the commit.
func (l *lines) atTip(c engine.Commit) *branch {
	if b := l.branches[c.Branch]; b != nil && !b.deleted && b.tip.snap.Commit.ID == c.ID {
		return b
	}
	for _, b := range l.tips[c.ID] {
		if !b.deleted {
			return b
		}
	}
	return nil
}

// head returns the state of the commit if that is the head of a live branch, and nil otherwise.
func (l *lines) head(id string) *version.Snapshot {
	for _, b := range l.tips[id] {
		if s := b.head.Load().snap; b.live.Load() && s.Commit.ID == id {
			return s
		}
	}
	return nil
}

// CreateBranch makes a branch whose head is the target's commit. The commit may be any ancestor
// of a live branch's head. CreateBranch writes one log record. For a commit of the past, it
// also takes the time to restore that state. The error is a *engine.Conflict if the name is in
// use, a *engine.TooLarge above [Options.MaxBranches], and a *engine.NotFound if the target
// cannot be reached.
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (_ engine.Branch, err error) {
	defer damage.Catch(damage.Watch(), &err)
	if err := engine.CheckBranchName(name); err != nil {
		return engine.Branch{}, err
	}
	if err := g.enter(ctx); err != nil {
		return engine.Branch{}, err
	}
	defer g.calls.leave()
	b, out, ticket, err := g.fork(ctx, name, from)
	if err != nil {
		return engine.Branch{}, err
	}
	out.err = g.store.Wait(ticket)
	if out.err == nil {
		b.live.Store(true)
	}
	close(out.done)
	if out.err != nil {
		return engine.Branch{}, out.err
	}
	return engine.Branch{Name: name, Head: b.head.Load().snap.Commit}, nil
}

// DeleteBranch removes the named branch. It fails with a *engine.Conflict for main, and with a
// *engine.NotFound for a branch that does not exist.
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.DeleteBranchAt(ctx, name, "")
}

// DeleteBranchAt removes the named branch if its tip is the commit head; an empty head matches
// any tip. Another tip is a *engine.PreconditionFailed. Other errors are those of
// [Graph.DeleteBranch].
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	if name == engine.MainBranch {
		return &engine.Conflict{Reason: "branch main cannot be deleted"}
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.leave()
	g.shape.RLock()
	defer g.shape.RUnlock()
	g.merging.Lock()
	defer g.merging.Unlock()
	b, err := g.branch(name)
	if err != nil {
		return err
	}
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	if tip := b.tip.snap.Commit.ID; head != "" && head != tip {
		return &engine.PreconditionFailed{Expected: head, Actual: tip}
	}
	record := version.Branching{Delete: true, Name: name, Time: g.time()}
	payload := record.Append(nil)
	out := &outcome{done: make(chan struct{})}
	g.lines.Lock()
	ticket, err := g.store.Enqueue(version.KindBranch, payload)
	if err != nil {
		g.lines.Unlock()
		return err
	}
	b.deleted = true
	g.past.removed = true
	g.lines.lsn, g.lines.last = ticket.LSN, out
	g.lines.Unlock()
	out.err = g.store.Wait(ticket)
	if out.err == nil {
		g.lines.Lock()
		g.lines.remove(b)
		g.lines.Unlock()
		g.past.forget(true)
		b.err = &engine.NotFound{What: "branch", Name: name}
	} else {
		b.err = errPoisoned
	}
	close(out.done)
	g.logged.Add(int64(len(payload)))
	return out.err
}

// Branches lists the live branches, sorted by name.
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	g.lines.Lock()
	defer g.lines.Unlock()
	all := make([]engine.Branch, 0, len(g.lines.sorted))
	for _, b := range g.lines.sorted {
		if b.live.Load() {
			all = append(all, engine.Branch{Name: b.name, Head: b.head.Load().snap.Commit})
		}
	}
	return all, nil
}

// fork makes a branch and gives its record a place in the log. It holds shape for reading, so
// no checkpoint can run between restoring a state of the past and enqueuing the branch that
// begins there. Such a checkpoint could remove files that only that state needs.
func (g *Graph) fork(ctx context.Context, name string, at engine.Target) (*branch, *outcome, *store.Ticket, error) {
	g.shape.RLock()
	defer g.shape.RUnlock()
	if _, err := g.snapshot(ctx, at); err != nil {
		return nil, nil, nil, err
	}
	b, out, ticket, err := g.enroll(name, at, nil)
	if b != nil || err != nil {
		return b, out, ticket, err
	}
	// A merge, or another branch from the past, could add merge bases meanwhile.
	g.merging.Lock()
	defer g.merging.Unlock()
	made, err := g.state(ctx, at.Commit)
	if err == nil {
		err = g.readableWith(at.Commit)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return g.enroll(name, at, made)
}

// enroll makes a branch and enqueues its record. If the commit is the tip of no branch, enroll
// needs the commit's state in made. Without it, all its results are nil.
func (g *Graph) enroll(name string, at engine.Target, made *version.Snapshot) (b *branch, out *outcome, ticket *store.Ticket, err error) {
	g.lines.Lock()
	defer g.lines.Unlock()
	if g.lines.branches[name] != nil {
		return nil, nil, nil, &engine.Conflict{Reason: "branch " + name + " exists already"}
	}
	if n := len(g.lines.branches); g.opts.MaxBranches > 0 && n >= g.opts.MaxBranches {
		return nil, nil, nil, &engine.TooLarge{Resource: "live branches", Limit: int64(g.opts.MaxBranches), Actual: int64(n) + 1, Hint: "delete branches that are not needed"}
	}
	parent, err := g.origin(at)
	if err != nil {
		return nil, nil, nil, err
	}
	from, origin := "", made
	if parent != nil {
		from, origin = parent.name, parent.tip.snap
	}
	switch {
	case origin == nil:
		return nil, nil, nil, nil
	case parent == nil && g.past.doubt:
		g.requestCheckpoint()
		return nil, nil, nil, &engine.Unavailable{Reason: "a cleanup failed, and branches from commits of the past wait for the next checkpoint"}
	}
	out = &outcome{done: make(chan struct{})}
	b = newBranch(name, origin.Fork(), 0)
	b.doubt = g.lines.doubtful
	b.tip.out = out
	if b.run, err = g.runOf(parent, origin); err != nil {
		return nil, nil, nil, err
	}
	record := version.Branching{Name: name, From: from, Commit: origin.Commit.ID, Time: g.time()}
	payload := record.Append(nil)
	ticket, err = g.store.Enqueue(version.KindBranch, payload)
	if err != nil {
		return nil, nil, nil, err
	}
	b.tip.lsn = ticket.LSN
	g.lines.add(b)
	g.lines.bases.hold(b, origin)
	g.lines.lsn, g.lines.last = ticket.LSN, out
	g.logged.Add(int64(len(payload)))
	return b, out, ticket, nil
}

// runOf returns the counts since the last anchor before the beginning of a branch. If the
// branch has a parent, it begins at the parent's tip. REQUIRES: g.lines is locked.
func (g *Graph) runOf(parent *branch, origin *version.Snapshot) (run, error) {
	if parent != nil {
		return parent.run, nil
	}
	r, ok := g.runTo(origin.Commit.ID)
	if !ok {
		return run{}, &engine.NotFound{What: notKept, Name: origin.Commit.ID}
	}
	return r, nil
}

// countDoubts records in g.lines.doubtful whether a branch has doubt set. A new branch inherits
// that. REQUIRES: g.shape is locked for writing.
func (g *Graph) countDoubts() {
	g.lines.Lock()
	defer g.lines.Unlock()
	g.lines.doubtful = slices.ContainsFunc(g.lines.sorted, func(b *branch) bool { return b.doubt })
}

// origin returns the branch at whose tip a new branch is to begin. It returns nil for a commit
// that is the tip of no branch. REQUIRES: g.lines is locked.
func (g *Graph) origin(at engine.Target) (*branch, error) {
	if at.Commit != "" {
		c, _, _ := g.history.Get(at.Commit)
		return g.lines.atTip(c), nil
	}
	name := at.Branch
	if name == "" {
		name = engine.MainBranch
	}
	b := g.lines.branches[name]
	if b == nil || b.deleted {
		return nil, &engine.NotFound{What: "branch", Name: name}
	}
	return b, nil
}
