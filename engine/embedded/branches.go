package embedded

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/damage"
	"github.com/omnigraph-go/omnigraph/engine/embedded/store"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
)

// lines are the branches of a graph as its log has them. The lock is held for the time
// that it takes to give a record its place in the log, so that whoever holds it sees
// the state after the last record.
type lines struct {
	sync.Mutex
	branches map[string]*branch
	bases    map[pair]*version.Snapshot // of every two branches: their lowest common ancestor
	lsn      uint64                     // of the last record
	last     *outcome                   // nil when it was recovered
}

// pair names two branches, in order.
type pair [2]string

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// add enters a branch that begins at a state: that of the tip of the branch from, or
// of any commit when from is empty. When the states of lowest common ancestors with
// other branches are neither kept nor among those that are made, it returns their
// commits and enters nothing.
func (l *lines) add(h *version.History, b *branch, from string, origin *version.Snapshot, made map[string]*version.Snapshot) (missing []string) {
	bases := map[pair]*version.Snapshot{}
	for name, other := range l.branches {
		switch {
		case name == from:
			bases[pairOf(b.name, name)] = origin
		case from != "":
			bases[pairOf(b.name, name)] = l.bases[pairOf(from, name)]
		default:
			id, _ := h.CommonAncestor(origin.Commit.ID, other.tip.snap.Commit.ID)
			base := l.kept(id, origin)
			if base == nil {
				base = made[id]
			}
			if base == nil && !slices.Contains(missing, id) {
				missing = append(missing, id)
			}
			bases[pairOf(b.name, name)] = base
		}
	}
	if len(missing) > 0 {
		return missing
	}
	for p, s := range bases {
		l.bases[p] = s
	}
	l.branches[b.name] = b
	return nil
}

// remove takes a branch out.
func (l *lines) remove(name string) {
	delete(l.branches, name)
	for p := range l.bases {
		if p[0] == name || p[1] == name {
			delete(l.bases, p)
		}
	}
}

// join takes note that a branch has the source among its ancestors. Ancestors are
// looked up in found first, by branch.
func (l *lines) join(h *version.History, target string, source *version.Snapshot, found map[string]string) {
	for name, other := range l.branches {
		if name == target {
			continue
		}
		id, ok := found[name]
		if !ok {
			id, _ = h.CommonAncestor(source.Commit.ID, other.tip.snap.Commit.ID)
		}
		p := pairOf(target, name)
		if id <= l.bases[p].Commit.ID {
			continue
		}
		if base := l.kept(id, source); base != nil {
			l.bases[p] = base
		}
	}
}

// kept returns the state of a commit if it is s or a base.
func (l *lines) kept(id string, s *version.Snapshot) *version.Snapshot {
	if s != nil && s.Commit.ID == id {
		return s
	}
	for _, base := range l.bases {
		if base.Commit.ID == id {
			return base
		}
	}
	return nil
}

// CreateBranch makes a branch whose head is the target's commit: any that is an ancestor
// of a live branch. It takes one log record, and the time that it takes to reach a
// commit of the past.
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

// DeleteBranch removes a branch.
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.DeleteBranchAt(ctx, name, "")
}

// DeleteBranchAt removes a branch whose head is a commit; "" stands for any.
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
		g.lines.remove(name)
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

// Branches lists the branches in name order.
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.leave()
	g.lines.Lock()
	defer g.lines.Unlock()
	all := make([]engine.Branch, 0, len(g.lines.branches))
	for name, b := range g.lines.branches {
		if b.live.Load() {
			all = append(all, engine.Branch{Name: name, Head: b.head.Load().snap.Commit})
		}
	}
	slices.SortFunc(all, func(a, b engine.Branch) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// fork gives a branch its place in the log. No checkpoint comes between the making of a
// state of the past and the branch that begins there: it might remove what only that
// state needs.
func (g *Graph) fork(ctx context.Context, name string, at engine.Target) (*branch, *outcome, *store.Ticket, error) {
	g.shape.RLock()
	defer g.shape.RUnlock()
	if _, err := g.snapshot(ctx, at); err != nil {
		return nil, nil, nil, err
	}
	made := map[string]*version.Snapshot{}
	for {
		b, out, ticket, missing, err := g.enroll(name, at, made)
		if len(missing) == 0 {
			return b, out, ticket, err
		}
		for _, id := range missing {
			if made[id], err = g.state(ctx, id); err != nil {
				return nil, nil, nil, err
			}
		}
	}
}

// enroll makes a branch and enqueues its record, or returns the commits whose states are
// missing among those that are made.
func (g *Graph) enroll(name string, at engine.Target, made map[string]*version.Snapshot) (b *branch, out *outcome, ticket *store.Ticket, missing []string, err error) {
	g.lines.Lock()
	defer g.lines.Unlock()
	if g.lines.branches[name] != nil {
		return nil, nil, nil, nil, &engine.Conflict{Reason: "branch " + name + " exists already"}
	}
	from, origin, err := g.origin(at, made)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if origin == nil {
		return nil, nil, nil, []string{at.Commit}, nil
	}
	if g.past.doubt && len(made) > 0 {
		g.requestCheckpoint()
		return nil, nil, nil, nil, &engine.Unavailable{Reason: "a cleanup failed, and branches from commits of the past wait for the next checkpoint"}
	}
	out = &outcome{done: make(chan struct{})}
	b = newBranch(name, origin.Fork(), 0)
	b.doubt = g.doubtful()
	b.tip.out = out
	if b.run, err = g.runOf(from, origin); err != nil {
		return nil, nil, nil, nil, err
	}
	if missing = g.lines.add(&g.history, b, from, origin, made); missing != nil {
		return nil, nil, nil, missing, nil
	}
	record := version.Branching{Name: name, From: from, Commit: origin.Commit.ID, Time: g.time()}
	payload := record.Append(nil)
	ticket, err = g.store.Enqueue(version.KindBranch, payload)
	if err != nil {
		g.lines.remove(name)
		return nil, nil, nil, nil, err
	}
	b.tip.lsn = ticket.LSN
	g.lines.lsn, g.lines.last = ticket.LSN, out
	g.logged.Add(int64(len(payload)))
	return b, out, ticket, nil, nil
}

// runOf counts the records since the last anchor before the beginning of a branch. It is
// called with g.lines locked.
func (g *Graph) runOf(from string, origin *version.Snapshot) (run, error) {
	if from != "" {
		return g.lines.branches[from].run, nil
	}
	r, ok := g.runTo(origin.Commit.ID)
	if !ok {
		return run{}, &engine.NotFound{What: notKept, Name: origin.Commit.ID}
	}
	return r, nil
}

// doubtful reports whether a branch is in doubt, as then are those that begin at it. It
// is called with g.lines locked, in g.shape: a checkpoint alone changes doubts.
func (g *Graph) doubtful() bool {
	for _, b := range g.lines.branches {
		if b.doubt {
			return true
		}
	}
	return false
}

// origin finds the state that a branch is to begin at, and the branch of which it is
// the tip, if it is one. The state is nil when it is not among those that are kept or
// made. It is called with g.lines locked.
func (g *Graph) origin(at engine.Target, made map[string]*version.Snapshot) (from string, s *version.Snapshot, err error) {
	if at.Commit == "" {
		name := at.Branch
		if name == "" {
			name = engine.MainBranch
		}
		b := g.lines.branches[name]
		if b == nil || b.deleted {
			return "", nil, &engine.NotFound{What: "branch", Name: name}
		}
		return name, b.tip.snap, nil
	}
	for name, b := range g.lines.branches {
		if b.tip.snap.Commit.ID == at.Commit && !b.deleted {
			return name, b.tip.snap, nil
		}
	}
	if base := g.lines.kept(at.Commit, nil); base != nil {
		return "", base, nil
	}
	return "", made[at.Commit], nil
}
