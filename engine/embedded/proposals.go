package embedded

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/store"
)

// proposals holds the proposals of a graph after the last record of its log. branches.mu guards it.
type proposals struct {
	versions[engine.Proposal]

	// reclaimed is the id of the last event that a cleanup or a restore removed; empty for none.
	reclaimed string
}

// newProposalVersion returns the entry of [proposals] for a proposal. The outcome is nil in recovery.
func newProposalVersion(p *engine.Proposal, out *outcome) versioned[engine.Proposal] {
	return versioned[engine.Proposal]{id: p.ID, last: p, out: out}
}

// open calls `yield` for each open proposal.
func (l *proposals) open(yield func(*engine.Proposal) bool) {
	for _, p := range l.sorted {
		if p.last.State == engine.ProposalOpen && !yield(p.last) {
			return
		}
	}
}

// checkOpen checks a new proposal against the open ones. The error is a *engine.Conflict or a
// *engine.TooLarge.
func (l *proposals) checkOpen(source, target string) error {
	n := int64(0)
	for p := range l.open {
		if n++; source != "" && p.Source == source && p.Target == target {
			return &engine.Conflict{Reason: fmt.Sprintf("proposal %s from branch %s to branch %s is open already; change that proposal", p.ID, source, target)}
		}
	}
	if n >= engine.MaxOpenProposals {
		return &engine.TooLarge{Resource: "open proposals", Limit: engine.MaxOpenProposals, Actual: n + 1, Hint: "merge or close some of them"}
	}
	return nil
}

// checkDelete returns a *engine.Conflict if an open proposal needs the branch.
func (l *proposals) checkDelete(branch string) error { return l.checkNeeded(branch, "") }

// checkNeeded is like checkDelete, but ignores the proposal with the id `except`.
func (l *proposals) checkNeeded(branch, except string) error {
	for p := range l.open {
		if p.ID != except && (p.Source == branch || p.Target == branch) {
			return &engine.Conflict{Reason: fmt.Sprintf("the open proposal %s is from branch %s to branch %s; merge or close the proposal first", p.ID, p.Source, p.Target)}
		}
	}
	return nil
}

// next checks that a new version of a proposal follows the stored version, and returns the stored
// version. The error is a *engine.NotFound or a *engine.Conflict.
func (l *proposals) next(p *engine.Proposal) (*engine.Proposal, error) {
	stored := l.find(p.ID)
	if stored == nil {
		return nil, &engine.NotFound{What: "proposal", Name: p.ID}
	}
	was := stored.last
	switch {
	case was.State != engine.ProposalOpen:
		return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s is %s, which is final; open a new proposal", p.ID, was.State)}
	case was.Revision != p.Revision:
		return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s has revision %d, and this call is about revision %d; read the proposal again", p.ID, was.Revision, p.Revision)}
	}
	return was, nil
}

// commits lists the commits that cleanups and checkpoints keep readable for the proposals.
func (l *proposals) commits() (ids []string) {
	for _, p := range l.sorted {
		for _, id := range []string{p.last.Base, p.last.Head, p.last.TargetHead, p.last.Merge} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// forget drops the proposals that are final and whose last event is older than `keep`, and returns their
// ids. It also drops a final proposal without an event.
func (l *proposals) forget(now time.Time, keep time.Duration) (dropped []string) {
	return l.dropIf(func(p *engine.Proposal) bool {
		n := len(p.Events)
		old := p.State != engine.ProposalOpen && (n == 0 || now.Sub(p.Events[n-1].Time) > keep)
		if old {
			l.reclaimed = max(l.reclaimed, lastEvent(p))
		}
		return old
	})
}

// dropProposals removes the proposals with the given ids from memory.
func (l *branches) dropProposals(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if p := l.proposals.find(id); p != nil {
			l.proposals.reclaimed = max(l.proposals.reclaimed, lastEvent(p.last))
		}
	}
	l.proposals.drop(ids...)
}

// Proposals lists proposals, newest first.
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	return g.branches.proposalsIn(r), nil
}

// proposalsIn lists the proposals in a range, newest first.
func (l *branches) proposalsIn(r engine.ProposalRange) (list []engine.Proposal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range slices.Backward(l.proposals.sorted) {
		p := l.proposals.sorted[i].visible()
		if p == nil || r.Before != "" && p.ID >= r.Before || r.State != 0 && p.State != r.State {
			continue
		}
		if r.Limit > 0 && len(list) == r.Limit {
			break
		}
		list = append(list, unshared(p))
	}
	return list
}

// unshared returns a copy of a proposal. If a caller appends to a list of the copy, the list gets an
// array of its own.
func unshared(p *engine.Proposal) engine.Proposal {
	c := *p
	c.Events, c.Resolutions = slices.Clip(c.Events), slices.Clip(c.Resolutions)
	return c
}

// Proposal returns the proposal with the given id. If a new version of it is in the log but not durable yet,
// Proposal waits for that version: otherwise a caller could see the commit of a merge, and the proposal still
// open. The error is a *engine.NotFound.
func (g *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	if out := g.branches.pendingProposal(id); out != nil {
		select {
		case <-out.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p, err := g.branches.proposal(id)
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// latestID returns the greatest id of the commits, the drafts, the watches, and the proposals and their events, compared
// as texts.
func (l *branches) latestID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.history.Latest(), l.proposals.latestEvent(), l.proposals.latestID(), l.drafts.latestID(), l.watches.latestID())
}

// pendingProposal returns the outcome of the last version of a proposal. It returns nil if recovery restored
// that version, or if there is no such proposal.
func (l *branches) pendingProposal(id string) *outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.proposals.find(id); p != nil {
		return p.out
	}
	return nil
}

// proposal returns the version of a proposal that readers see. The error is a *engine.NotFound.
func (l *branches) proposal(id string) (engine.Proposal, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.proposals.seen(id); p != nil {
		return unshared(p), nil
	}
	return engine.Proposal{}, &engine.NotFound{What: "proposal", Name: id}
}

// PutProposal opens, changes or closes a proposal, and returns once its record is durable.
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	return g.writer.putProposal(ctx, p)
}

// putProposal does the work of [Graph.PutProposal].
func (r *writer) putProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	if p.State == 0 {
		p.State = engine.ProposalOpen
	}
	var was *engine.Proposal
	if p.ID != "" {
		var err error
		if was, err = r.branches.nextProposal(&p); err != nil {
			return nil, err
		}
		p.Source, p.Target, p.Author = was.Source, was.Target, was.Author
	}
	ofQuery := p.Query() != ""
	if p.State != engine.ProposalOpen && p.State != engine.ProposalClosed && !(ofQuery && p.State == engine.ProposalMerged) {
		return nil, &engine.BadArgument{Param: "state", Detail: "found " + p.State.String() + ", expected open or closed; merge the proposal to make it merged"}
	}
	if ofQuery {
		p.Target = engine.MainBranch
	} else if err := r.compareHeads(&p); err != nil {
		return nil, err
	}
	stampEvents(&p, r.opts.time())
	if was == nil {
		p.ID = r.ids.Next()
	}
	out, ticket, n, err := r.enqueueProposal(&p, was)
	if err != nil {
		return nil, err
	}
	r.checkpoints.countLogged(n)
	out.err = r.store.Wait(ticket)
	close(out.done)
	if out.err != nil {
		return nil, out.err
	}
	stored := unshared(&p)
	return &stored, nil
}

// compareHeads sets the names of the branches of a proposal, their heads and the merge base.
func (r *writer) compareHeads(p *engine.Proposal) error {
	source, err := r.branches.find(p.Source)
	if err != nil {
		return err
	}
	target, err := r.branches.find(p.Target)
	if err != nil {
		return err
	}
	if source == target {
		return &engine.BadArgument{Param: "source", Detail: fmt.Sprintf("branch %s is both the source and the target; name another source", source.name)}
	}
	p.Source, p.Target = source.name, target.name
	p.Head, p.TargetHead = source.head.Load().snap.Commit.ID, target.head.Load().snap.Commit.ID
	p.Base, _ = r.history.CommonAncestor(p.Head, p.TargetHead)
	return nil
}

// enqueueProposal names the new events of a proposal and puts its record into the log. `was` is the stored
// version; nil for a new proposal.
func (r *writer) enqueueProposal(p, was *engine.Proposal) (out *outcome, ticket *store.Ticket, n int, err error) {
	r.branches.naming.Lock()
	defer r.branches.naming.Unlock()
	nameEvents(p, was, r.ids.Next)
	return r.branches.putProposal(p, was == nil)
}

// stampEvents sets the time of each event that has none.
func stampEvents(p *engine.Proposal, now time.Time) {
	p.Events = slices.Clone(p.Events)
	for i := range p.Events {
		if p.Events[i].Time.IsZero() {
			p.Events[i].Time = now
		}
	}
}

// nextProposal locks branches.mu and calls the method next of proposals.
func (l *branches) nextProposal(p *engine.Proposal) (*engine.Proposal, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proposals.next(p)
}

// putProposal puts the record of a new version of a proposal into the log, but does not wait until
// the record is durable. It increments the revision of p.
func (l *branches) putProposal(p *engine.Proposal, isNew bool) (out *outcome, ticket *store.Ticket, n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	branches := []string{p.Source, p.Target}
	if p.Source == "" {
		branches = nil // a proposed query; main always exists
	}
	for _, name := range branches {
		if err := l.drafts.closed(name); err != nil {
			return nil, nil, 0, err
		}
		if b := l.byName[name]; b == nil || b.deleted {
			return nil, nil, 0, &engine.NotFound{What: "branch", Name: name}
		}
	}
	if isNew {
		err = l.proposals.checkOpen(p.Source, p.Target)
		p.Revision, p.State = 0, engine.ProposalOpen
	} else {
		_, err = l.proposals.next(p)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	p.Revision++
	payload := logrecord.AppendProposal(nil, p)
	if err := checkProposalSize(len(payload)); err != nil {
		return nil, nil, 0, err
	}
	if ticket, err = l.store.Enqueue(logrecord.KindProposal, payload); err != nil {
		return nil, nil, 0, err
	}
	out = &outcome{done: make(chan struct{})}
	kept := *p
	l.proposals.set(newProposalVersion(&kept, out))
	l.lsn, l.last = ticket.LSN, out
	return out, ticket, len(payload), nil
}

// checkProposalSize returns a *engine.TooLarge if n, the size of a proposal in bytes, is greater
// than [engine.MaxProposalBytes].
func checkProposalSize(n int) error {
	if n <= engine.MaxProposalBytes {
		return nil
	}
	return &engine.TooLarge{Resource: "bytes of one proposal", Limit: engine.MaxProposalBytes, Actual: int64(n), Hint: "shorten the description or the comments, or close the proposal and open another"}
}

// replayProposal stores a version of a proposal that was read from the log.
func (l *branches) replayProposal(p *engine.Proposal, lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proposals.set(newProposalVersion(p, nil))
	l.lsn, l.last = lsn, nil
}

// proposalMerge is the proposal that a merge completes.
type proposalMerge struct {
	proposal engine.Proposal // the merged proposal, once the commit has its id
	revision uint64          // the revision that the caller read
}

// newProposalMerge checks that the proposal in the options of a merge has the same source and
// target as the merge. It returns nil for a merge without a proposal.
func (r *writer) newProposalMerge(p *engine.Proposal, source, target string) (*proposalMerge, error) {
	if p == nil {
		return nil, nil
	}
	if p.Source != source || p.Target != target {
		return nil, &engine.BadArgument{Param: "proposal", Detail: fmt.Sprintf("proposal %s is from branch %s to branch %s", p.ID, p.Source, p.Target)}
	}
	m := &proposalMerge{proposal: *p, revision: p.Revision}
	stampEvents(&m.proposal, r.opts.time())
	return m, nil
}

// completeMerge sets the outcome of the merge in the proposal, and puts the proposal into the log record
// of the commit. REQUIRES: branches.naming is locked until the record has its place in the log.
func (r *writer) completeMerge(m *proposalMerge, rec *record, c engine.Commit, base string) error {
	p := &m.proposal
	p.Revision = m.revision
	was, err := r.branches.nextProposal(p)
	if err != nil {
		return err
	}
	nameEvents(p, was, r.ids.Next)
	p.State, p.Revision, p.Merge = engine.ProposalMerged, m.revision+1, c.ID
	p.TargetHead, p.Head, p.Base = c.Parents[0], c.Parents[1], base
	rec.proposal = logrecord.AppendProposalMerge(nil, p, rec.kind, rec.payload)
	return checkProposalSize(len(rec.proposal) - len(rec.payload))
}

// checkMerging locks branches.mu and calls checkMergingLocked.
func (l *branches) checkMerging(m *proposalMerge) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkMergingLocked(m)
}

// checkMergingLocked checks that the stored proposal is the one that the caller of the merge read.
// REQUIRES: l.mu is locked.
func (l *branches) checkMergingLocked(m *proposalMerge) error {
	if m == nil {
		return nil
	}
	at := m.proposal
	at.Revision = m.revision
	_, err := l.proposals.next(&at)
	return err
}
