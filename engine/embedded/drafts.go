package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/receipts"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
)

// draftKeep is how long a cleanup keeps the record of a draft that has ended.
const draftKeep = engine.ProposalKeep

// drafts holds the drafts of a graph after the last record of its log. branches.mu guards it.
//
// The branch of a draft that has ended stays in the set of branches while it has a receipt that
// answers a repeated write. Such a branch is not listed, and only repeated writes find it.
type drafts struct {
	versions[engine.Draft]
}

// newDraftVersion returns the entry of [drafts] for a draft. The outcome is nil in recovery.
func newDraftVersion(d *engine.Draft, out *outcome) versioned[engine.Draft] {
	return versioned[engine.Draft]{id: d.ID, last: d, out: out}
}

// of returns the draft that a branch belongs to, or nil. A branch that is not named like a draft costs
// only the comparison of the prefix.
func (l *drafts) of(branch string) *versioned[engine.Draft] {
	id, ok := engine.DraftID(branch)
	if !ok {
		return nil
	}
	return l.find(id)
}

// closed returns a *engine.DraftClosed if a branch belongs to a draft that has ended, even if the
// record of the end is not durable yet.
func (l *drafts) closed(branch string) error {
	if d := l.of(branch); d != nil && d.last.State != engine.DraftOpen {
		return &engine.DraftClosed{Draft: *d.last}
	}
	return nil
}

// shut is like closed, but decides by the version of the draft that readers see.
func (l *drafts) shut(branch string) error {
	if d := l.of(branch); d != nil {
		if seen := d.visible(); seen != nil && seen.State != engine.DraftOpen {
			return &engine.DraftClosed{Draft: *seen}
		}
	}
	return nil
}

// openOf returns the open draft with the given owner and name, or nil, and the number of the owner's
// open drafts.
func (l *drafts) openOf(owner, name string) (found *versioned[engine.Draft], n int) {
	for i := range l.sorted {
		if d := &l.sorted[i]; d.last.Owner == owner && d.last.State == engine.DraftOpen {
			if n++; d.last.Name == name {
				found = d
			}
		}
	}
	return found, n
}

// checkNew checks a new draft against the open ones. It returns errDraftOpen if the owner has an open
// draft of that name, and a *engine.TooLarge if the owner has `most` drafts already.
func (l *drafts) checkNew(d *engine.Draft, most int) error {
	open, n := l.openOf(d.Owner, d.Name)
	switch {
	case open != nil:
		return errDraftOpen
	case most > 0 && n >= most:
		return &engine.TooLarge{Resource: "open drafts of one actor", Limit: int64(most), Actual: int64(n) + 1, Hint: "merge or delete drafts that you do not need"}
	}
	return nil
}

// forget drops the drafts that ended longer than draftKeep ago and have no branch any more. It
// returns their ids.
func (l *drafts) forget(now time.Time, hasBranch func(name string) bool) (dropped []string) {
	return l.dropIf(func(d *engine.Draft) bool {
		return d.State != engine.DraftOpen && now.Sub(d.Ended) > draftKeep && !hasBranch(d.Branch())
	})
}

// dropDrafts removes the drafts with the given ids from memory.
func (l *branches) dropDrafts(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drafts.drop(ids...)
}

// errDraftOpen is the error of create if the owner has an open draft of that name.
var errDraftOpen = errors.New("the draft is open already")

// Drafts lists drafts in the order in which they were opened.
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	list := g.branches.draftsIn(r)
	if r.Key != "" {
		var err error
		if list, err = g.branches.withKey(ctx, list, r.Key, g.opts.time()); err != nil {
			return nil, err
		}
	}
	for i := range list {
		g.branches.complete(&list[i], false)
	}
	return list, nil
}

// draftsIn lists the drafts in a range. It ignores r.Key.
func (l *branches) draftsIn(r engine.DraftRange) (list []engine.Draft) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, to := 0, len(l.drafts.sorted)
	if r.ID != "" {
		i, found := l.drafts.search(r.ID)
		if !found {
			return nil
		}
		from, to = i, i+1
	}
	for i := from; i < to; i++ {
		d := l.drafts.sorted[i].visible()
		if d == nil || r.Owner != "" && d.Owner != r.Owner || r.State != 0 && d.State != r.State {
			continue
		}
		list = append(list, *d)
	}
	return list
}

// withKey selects the drafts to which the owner wrote with an idempotency key in the last day. It waits
// until such a write is durable, so that it neither misses a write in flight nor reports one that fails.
// The only possible error is that of the context.
func (l *branches) withKey(ctx context.Context, list []engine.Draft, key string, now time.Time) (found []engine.Draft, err error) {
	for _, d := range list {
		l.mu.Lock() // else the method commit could have added the key, but not the commit yet
		b := l.byName[d.Branch()]
		var first logrecord.Receipted
		ok := false
		if b != nil {
			first, ok = b.keys.Find(l.history, receipts.Key{Actor: d.Owner, Key: key})
		}
		l.mu.Unlock()
		if !ok || receipts.Outdated(now, first.Commit.Time) {
			continue
		}
		_, lsn, _ := l.history.Get(first.Commit.ID)
		switch err := b.waitDurable(ctx, lsn); {
		case err == nil:
			found = append(found, d)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
	return found, nil
}

// Draft returns the draft with the given id. The error is a *engine.NotFound.
func (g *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	d, err := g.branches.draft(id)
	if err != nil {
		return nil, err
	}
	g.branches.complete(&d, true)
	return &d, nil
}

// draft returns the version of a draft that readers see. The error is a *engine.NotFound.
func (l *branches) draft(id string) (engine.Draft, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.drafts.seen(id); d != nil {
		return *d, nil
	}
	return engine.Draft{}, &engine.NotFound{What: "draft", Name: id}
}

// draftOf returns the draft that owns a branch. The error is a *engine.NotFound.
func (l *branches) draftOf(branch string) (engine.Draft, error) {
	id, _ := engine.DraftID(branch)
	return l.draft(id)
}

// complete sets the fields of an open draft that depend on the heads of its branch and of main. It sets
// MainAhead only if `distance` is true, because that takes time in proportion to the commits since.
func (l *branches) complete(d *engine.Draft, distance bool) {
	if d.State != engine.DraftOpen {
		return
	}
	b := l.named(d.Branch())
	if b == nil {
		return // the draft has ended meanwhile
	}
	head, main := b.head.Load().snap.Commit, l.main.head.Load().snap.Commit
	d.Head, d.Written = head.ID, d.Made
	if head.Branch == b.name {
		d.Written = laterOf(head.Time, d.Made)
	}
	if distance {
		d.MainAhead = ahead(l.history, main, head)
	}
}

// ahead returns the number of commits in the line of `main` that are no ancestors of `head`.
func ahead(h *ancestry.History, main, head engine.Commit) (n uint64) {
	base, ok := h.CommonAncestor(main.ID, head.ID)
	if !ok {
		return main.Seq
	}
	if h.InLine(base, main.ID) {
		c, _, _ := h.Get(base)
		return main.Seq - c.Seq
	}
	h.Line(main.ID, func(c engine.Commit) bool {
		if low, ok := h.CommonAncestor(c.ID, head.ID); ok && low == c.ID {
			return false
		}
		n++
		return true
	})
	return n
}

// OpenDraft returns the open draft with an owner and a name, or makes it. It returns once the record
// of the draft is durable.
func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (_ *engine.Draft, made bool, err error) {
	if err := engine.CheckDraftName(n.Name); err != nil {
		return nil, false, err
	}
	if err := g.enter(ctx); err != nil {
		return nil, false, err
	}
	defer g.calls.Leave()
	d, made, err := g.writer.openDraft(ctx, n)
	if err != nil {
		return nil, false, err
	}
	g.branches.complete(&d, true)
	return &d, made, nil
}

// openDraft does the work of [Graph.OpenDraft].
func (r *writer) openDraft(ctx context.Context, n engine.NewDraft) (engine.Draft, bool, error) {
	for {
		if d, out := r.branches.openDraft(n.Owner, n.Name); d != nil {
			return *d, false, (&commit{out: out}).waitDurable(ctx)
		}
		if err := r.reclaimDrafts(ctx); err != nil {
			return engine.Draft{}, false, err
		}
		var at engine.Target
		if n.Commit != "" {
			main := r.branches.main.head.Load().snap.Commit.ID
			if !r.history.InLine(n.Commit, main) {
				return engine.Draft{}, false, &engine.PreconditionFailed{Expected: n.Commit, Actual: main}
			}
			at.Commit = n.Commit
		}
		d := engine.Draft{ID: r.ids.Next(), Owner: n.Owner, Name: n.Name, State: engine.DraftOpen, Made: r.opts.time()}
		err := r.finishBranch(r.fork(ctx, origin{name: d.Branch(), at: at, draft: &d, maxDrafts: n.Max}))
		var lost *engine.NotFound
		switch {
		case err == errDraftOpen:
			continue // another call opened the draft meanwhile
		case n.Commit != "" && errors.As(err, &lost):
			return d, false, &engine.PreconditionFailed{Expected: n.Commit, Actual: r.branches.main.head.Load().snap.Commit.ID}
		}
		return d, err == nil, err
	}
}

// openDraft returns the open draft with an owner and a name, and the outcome of its record, or nil.
func (l *branches) openDraft(owner, name string) (*engine.Draft, *outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, _ := l.drafts.openOf(owner, name)
	if d == nil {
		return nil, nil
	}
	return d.last, d.out
}

// EndDraft ends an open draft, and returns once the record of the end is durable.
func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	if !end.Unused && end.State != engine.DraftDeleted && end.State != engine.DraftExpired {
		return &engine.BadArgument{Param: "state", Detail: "found " + end.State.String() + ", expected deleted or expired; merge the draft to make it merged"}
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.calls.Leave()
	if err := g.writer.endDraft(ctx, id, end); err != nil {
		return err
	}
	return g.writer.reclaimDrafts(ctx)
}

// endDraft does the work of [Graph.EndDraft].
func (r *writer) endDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	r.layout.RLock()
	defer r.layout.RUnlock()
	r.layout.Merging.Lock()
	defer r.layout.Merging.Unlock()
	d, err := r.branches.draft(id)
	if err != nil {
		return err
	}
	b, err := r.branches.find(d.Branch())
	if err != nil {
		return err
	}
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.unlock()
	tip := b.tip.snap.Commit
	switch {
	case end.IfHead != "" && end.IfHead != tip.ID:
		return &engine.PreconditionFailed{Expected: end.IfHead, Actual: tip.ID}
	case end.Unused && tip.Branch == b.name:
		return &engine.Conflict{Reason: "draft " + b.name + " has commits; delete it instead"}
	}
	now := r.opts.time()
	d.State, d.Ended, d.By = end.State, now, end.By
	if end.Unused {
		d.State = engine.DraftDeleted
	}
	rec := logrecord.Drafting{Draft: &d, Forget: end.Unused}
	if end.Unused || !r.hasReceipts(b, now) {
		branching := logrecord.Branching{Delete: true, Name: b.name, Time: now}
		rec.Branch = branching.Append(nil)
	}
	return r.ended(b, &rec)
}

// ended writes the record that ends the draft of a branch, and returns once it is durable. REQUIRES:
// layout is locked for reading, layout.merging is locked, and the caller holds the write lock of b.
func (r *writer) ended(b *branch, rec *logrecord.Drafting) error {
	payload := rec.Append(nil)
	ticket, out, err := r.branches.endDraft(b, rec, payload)
	if err != nil {
		return err
	}
	out.err = r.store.Wait(ticket)
	// Readers must see the end before the branch is gone. Otherwise a call about the draft could get a
	// *engine.NotFound.
	close(out.done)
	switch {
	case out.err != nil:
		b.err = errLogFailed
	case rec.Forget:
		r.branches.remove(b)
		r.branches.dropDrafts([]string{rec.Draft.ID})
		r.restorer.forget(true)
		b.err = &engine.NotFound{What: "branch", Name: b.name}
	case rec.Branch != nil:
		r.branches.remove(b)
		r.restorer.forget(true)
		b.err = &engine.DraftClosed{Draft: *rec.Draft}
	}
	r.checkpoints.countLogged(len(payload))
	return out.err
}

// endDraft assigns the record that ends a draft its place in the log. REQUIRES: see the method ended of
// writer.
func (l *branches) endDraft(b *branch, rec *logrecord.Drafting, payload []byte) (*store.Ticket, *outcome, error) {
	out := &outcome{done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.drafts.closed(b.name); err != nil {
		return nil, nil, err
	}
	if err := l.proposals.checkDelete(b.name); err != nil {
		return nil, nil, err
	}
	ticket, err := l.store.Enqueue(logrecord.KindDraft, payload)
	if err != nil {
		return nil, nil, err
	}
	if rec.Branch != nil {
		b.deleted = true
		l.retention.branchDeleted()
	}
	ended := newDraftVersion(rec.Draft, out)
	ended.forgotten = rec.Forget
	l.drafts.set(ended)
	l.lsn, l.last = ticket.LSN, out
	return ticket, out, nil
}

// reclaimDrafts removes the branches of drafts that have ended and have no receipt any more.
func (r *writer) reclaimDrafts(ctx context.Context) error {
	for _, b := range r.branches.endedDrafts() {
		if r.hasReceipts(b, r.opts.time()) {
			continue
		}
		var gone *engine.NotFound
		if err := r.removeBranch(ctx, b, ""); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	return nil
}

// hasReceipts reports whether the branch of a draft must stay when the draft ends, because it has
// receipts that answer repeated writes.
func (r *writer) hasReceipts(b *branch, now time.Time) bool {
	return !fault.On(fault.DraftKeysLost) && len(b.keys.Current(r.history, now)) > 0
}

// endedDrafts lists the branches of drafts that have ended.
func (l *branches) endedDrafts() (list []*branch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.drafts.sorted {
		if seen := l.drafts.sorted[i].visible(); seen != nil && seen.State != engine.DraftOpen {
			if b := l.byName[seen.Branch()]; b != nil && !b.deleted {
				list = append(list, b)
			}
		}
	}
	return list
}

// checkWrite returns a *engine.DraftClosed if the branch belongs to a draft that has ended.
func (l *branches) checkWrite(b *branch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drafts.closed(b.name)
}

// draftMerge is the draft that a merge ends.
type draftMerge struct {
	draft *engine.Draft // after the merge
}

// newDraftMerge returns the draft that the merge with commit c ends, or nil if its source is no draft.
// It puts the draft into the log record of the commit.
func (r *writer) newDraftMerge(rec *record, c engine.Commit, w *write) *draftMerge {
	if w.from == nil {
		return nil
	}
	id, ok := engine.DraftID(w.from.name)
	if !ok {
		return nil
	}
	d, err := r.branches.draft(id)
	if err != nil {
		return nil
	}
	d.State, d.Ended, d.By, d.Merge = engine.DraftMerged, c.Time, c.Actor, c.ID
	kind, payload := rec.logged()
	wrapped := logrecord.Drafting{Draft: &d, Kind: kind, Merge: payload}
	rec.draft = wrapped.Append(nil)
	return &draftMerge{draft: &d}
}

// checkDraftMergeLocked checks that a merge may end the draft that is its source: that the draft is
// open, that its last commit is the one that the merge compared, and that no other proposal needs the
// draft. REQUIRES: l.mu is locked.
func (l *branches) checkDraftMergeLocked(w *write) error {
	if w.ends == nil {
		return nil
	}
	if err := l.drafts.closed(w.from.name); err != nil {
		return err
	}
	if tip, seen := w.from.tip.snap.Commit.ID, w.source.Commit.ID; tip != seen {
		return &sourceMoved{&engine.PreconditionFailed{Expected: seen, Actual: tip}}
	}
	except := ""
	if w.merging != nil {
		except = w.merging.proposal.ID
	}
	return l.proposals.checkNeeded(w.from.name, except)
}

// replayDraft stores or forgets a draft as a record of the log says.
func (l *branches) replayDraft(rec *logrecord.Drafting, lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rec.Forget {
		l.drafts.drop(rec.Draft.ID)
	} else {
		l.drafts.set(newDraftVersion(rec.Draft, nil))
	}
	l.lsn, l.last = lsn, nil
}
