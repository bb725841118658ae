package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxProposalConflicts is the maximum number of conflicts in the answer about a proposal. The values of
// all but the first one also stay within maxChangeBytes.
const maxProposalConflicts = 100

// comparedProposal is a proposal together with the result that a merge of it would have.
type comparedProposal struct {
	env        *tool.Env
	proposal   *engine.Proposal
	comparison *engine.Comparison // if the branches cannot be compared, only the ids of the commits of the last event
	// fault says why the comparison failed, or is nil. If only the changes of the merge cannot be read, the comparison is there too.
	fault error
	// contributors are the actors whose changes the proposal would merge; nil until readContributors.
	contributors map[string]string
	outcomes     []tool.CheckOutcome // of the checks on the result of the merge; nil until runChecks

	query *client.ProposedQuery // nil for a proposal of a branch, and until describeQuery
	unfit string                // why the query cannot be published, or ""
}

// compareProposal compares the branches of an open proposal, and lists the first conflicts. For a merged
// or closed proposal, it compares the last commits that the branches had while the proposal was open. For a merged
// proposal, the changes of the merge are those of the merge commit.
func compareProposal(ctx context.Context, env *tool.Env, p *engine.Proposal) *comparedProposal {
	return compareProposalUpTo(ctx, env, p, maxProposalConflicts)
}

// compareProposalUpTo is like compareProposal. It lists at most maxConflicts conflicts, or all if that is 0.
func compareProposalUpTo(ctx context.Context, env *tool.Env, p *engine.Proposal, maxConflicts int) *comparedProposal {
	if p.Query() != "" {
		return comparedQuery(env, p)
	}
	source, target := proposalTargets(p)
	s := &comparedProposal{env: env, proposal: p}
	s.comparison, s.fault = env.Graph.Compare(ctx, source, target, engine.CompareOptions{Resolutions: p.Resolutions, MaxConflicts: maxConflicts})
	if s.fault != nil {
		s.comparison = &engine.Comparison{Source: engine.Commit{ID: p.Head}, Target: engine.Commit{ID: p.TargetHead}, Base: engine.Commit{ID: p.Base}}
	} else if p.Merge != "" {
		var made *engine.Changes
		if made, s.fault = env.Graph.Changes(ctx, p.Merge, engine.ChangeRange{Limit: 1}); s.fault == nil { // only the totals are wanted
			s.comparison.MergedNodes, s.comparison.MergedEdges = made.Nodes, made.Edges
		}
	}
	return s
}

// lasting reports whether each comparison has the fault until somebody changes a branch or the
// proposal: the schemas diverge, or a resolution does not fit the schema.
func (s *comparedProposal) lasting() bool {
	return errors.As(s.fault, new(*engine.SchemasDiverge)) || errors.As(s.fault, new(*engine.BadArgument))
}

// faultBlocker says in a sentence why the branches cannot be compared, and what to do.
func (s *comparedProposal) faultBlocker() string {
	p, reason, next := s.proposal, s.fault.Error(), "read the proposal again"
	var unfit *engine.BadArgument
	switch {
	case errors.As(s.fault, &unfit):
		reason, next = unfit.Detail, "close the proposal and open another, without this resolution"
	case errors.As(s.fault, new(*engine.SchemasDiverge)):
		next = "or close the proposal"
	}
	return fmt.Sprintf("branches %s and %s cannot be compared: %s; %s", p.Source, p.Target, reason, next)
}

// proposalTargets returns the two states that the answers about a proposal compare.
func proposalTargets(p *engine.Proposal) (source, target engine.Target) {
	if p.State == engine.ProposalOpen {
		return sourceOf(p).At(), targetOf(p).At()
	}
	return engine.Target{Commit: p.Head}, engine.Target{Commit: p.TargetHead}
}

// isReview reports whether an event is the decision of a reviewer.
func isReview(k engine.ProposalEventKind) bool {
	return k == engine.EventApproved || k == engine.EventRejected
}

// reviews returns the last decision of each reviewer, in the order of the events. A decision through an agent is one of the actor for
// whom the agent acts, but an agent's approval does not end the actor's own request for changes. reviews leaves out a decision that is about another digest than that of the comparison.
func (s *comparedProposal) reviews() (last []engine.ProposalEvent) {
	for _, e := range s.proposal.Events {
		if !isReview(e.Kind) {
			continue
		}
		last = slices.DeleteFunc(last, func(o engine.ProposalEvent) bool {
			ownRefusal := o.Kind == engine.EventRejected && o.Actor == subject(o.Actor)
			return subject(o.Actor) == subject(e.Actor) && (!ownRefusal || e.Kind == engine.EventRejected || e.Actor == subject(e.Actor))
		})
		last = append(last, e)
	}
	return slices.DeleteFunc(last, func(e engine.ProposalEvent) bool { return e.Digest != s.comparison.Digest })
}

// protection returns what the proposal needs before it can be merged into the target, or nil if the
// target is not protected.
func (s *comparedProposal) protection() *tool.Protection {
	return s.env.Protection(targetOf(s.proposal))
}

// approvers lists the reviewers whose approval counts. They must have approved the current digest,
// and must still be allowed to review proposals for the target. If the protection of the target
// names a group, they must also be in that group. They must not be contributors, and if the protection
// forbids the approvals of owners, they must not own a contributor. REQUIRES: prepare has run.
func (s *comparedProposal) approvers() []string {
	actors, group := []string{}, ""
	if s.contributors == nil {
		return actors // there are no approvals, or the contributors could not be read
	}
	if p := s.protection(); p != nil {
		group = p.Group
	}
	took := map[string]bool{} // the actors and agents that took part in an approval that counts
	for _, e := range s.reviews() {
		// An approver can become a contributor: later commits can restore the digest of the approval.
		if s.contributor(e.Actor) != nil {
			continue
		}
		_, owned := s.ownedBy(e.Actor)
		if e.Kind == engine.EventApproved && s.mayReview(&e) && (group == "" || s.env.InGroup(e.Actor, e.Groups, group)) && owned == "" {
			all := participants(e.Actor)
			if slices.ContainsFunc(all, func(a string) bool { return took[a] }) {
				continue // one agent does not approve twice, for two actors
			}
			for _, a := range all {
				took[a] = true
			}
			actors = append(actors, subject(e.Actor))
		}
	}
	return actors
}

// rejecters lists the reviewers whose last decision about the current digest asks for changes.
func (s *comparedProposal) rejecters() []string {
	actors := []string{}
	for _, e := range s.reviews() {
		if e.Kind == engine.EventRejected {
			actors = append(actors, subject(e.Actor))
		}
	}
	return actors
}

// subject returns the actor in a name, without its agents.
func subject(name string) string {
	actor, _ := engine.SplitActor(name)
	return actor
}

// mayReview reports whether the policy allows the actor of a review to review proposals for the
// target.
func (s *comparedProposal) mayReview(e *engine.ProposalEvent) bool {
	return s.env.AllowedAs(e.Actor, e.Groups, tool.Grant{Action: tool.ProposalReview, Branch: targetOf(s.proposal)})
}

// checkDigest returns an *engine.Conflict if `digest` is not the digest of the comparison: the
// caller then saw other changes or other resolutions. An empty digest is not checked.
func (s *comparedProposal) checkDigest(digest string) error {
	if digest == "" || digest == s.comparison.Digest {
		return nil
	}
	return &engine.Conflict{Reason: fmt.Sprintf("the changes of proposal %s now have the digest %s, not %s; read the proposal again", s.proposal.ID, s.comparison.Digest, digest)}
}

// blockers lists what must happen before the proposal can be merged, as sentences.
func (s *comparedProposal) blockers() []string {
	p, c, list := s.proposal, s.comparison, []string{}
	if p.State != engine.ProposalOpen {
		return list
	}
	if s.fault != nil {
		return append(list, s.faultBlocker())
	}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if s.unfit != "" {
		list = append(list, s.unfit)
	}
	if c.Source.Schema != c.Target.Schema {
		add("branches %s and %s have different schemas, and a proposal carries no change of the schema; merge %s into %s first", p.Source, p.Target, p.Target, p.Source)
	}
	switch n := c.ConflictCount; {
	case n == 1:
		add("resolve the conflict that has no resolution")
	case n > 1:
		add("resolve the %d conflicts that have no resolution", n)
	case c.Outcome == engine.AlreadyUpToDate:
		list = append(list, nothingToMerge(p))
	}
	if need := s.protection(); need != nil {
		if missing := need.Approvals - len(s.approvers()); missing > 0 {
			from := ""
			if need.Group != "" {
				from = " from group " + need.Group
			}
			approvals := "1 approval"
			if need.Approvals > 1 {
				approvals = fmt.Sprintf("%d more of %d approvals", missing, need.Approvals)
			}
			add("branch %s needs %s%s for these changes", p.Target, approvals, from)
		}
	}
	if need := s.protection(); need != nil && need.Checks && c.ConflictCount == 0 {
		list = append(list, s.failedChecks()...)
	}
	if by := s.rejecters(); len(by) > 0 && p.Query() != "" {
		add("%s asked for changes; propose the query again under its name", strings.Join(by, ", "))
	} else if len(by) > 0 {
		add("%s asked for changes; write to branch %s, or ask for another review", strings.Join(by, ", "), p.Source)
	}
	return list
}

// failedChecks says in a sentence for each check that did not pass what must happen. REQUIRES: runChecks
// has run.
func (s *comparedProposal) failedChecks() (list []string) {
	for _, o := range s.outcomes {
		switch title := o.Query.Info().MustBeEmpty; o.Result {
		case tool.CheckPassed:
		case tool.CheckFailed:
			list = append(list, fmt.Sprintf("the result of the merge does not pass the check %q; correct the data on branch %s", title, s.proposal.Source))
		case tool.CheckUnfinished:
			list = append(list, fmt.Sprintf("the check %q is unfinished: %s", title, o.Reason))
		}
	}
	return list
}

// prepare reads the contributors if there is an approval of the current digest, which counts only if its
// actor is not one of them.
func (s *comparedProposal) prepare(ctx context.Context) error {
	approved := func(e engine.ProposalEvent) bool { return e.Kind == engine.EventApproved }
	if s.fault != nil || !slices.ContainsFunc(s.reviews(), approved) {
		return nil
	}
	_, err := s.readContributors(ctx)
	return err
}

// outcome runs the checks, and answers with the proposal. If the contributors cannot be read, no approval
// counts in the answer.
func (s *comparedProposal) outcome(ctx context.Context) *tool.Outcome {
	_ = s.prepare(ctx) // before the checks, which may use up the time of the call
	if s.proposal.Query() != "" {
		s.describeQuery(ctx)
	} else {
		s.runChecks(ctx)
	}
	return &tool.Outcome{Value: s.answer(), Less: "read the changes and the comments over REST"}
}

// answer returns the answer about the proposal.
func (s *comparedProposal) answer() *client.ProposalAnswer {
	p, c := s.proposal, s.comparison
	nodes, edges := c.Nodes, c.Edges
	if c.ConflictCount == 0 {
		nodes, edges = c.MergedNodes, c.MergedEdges
	}
	a := &client.ProposalAnswer{
		ProposalSummary: summary(p), Description: p.Description, MergeCommitID: encoding.OrNil(p.Merge),
		Resolutions: []client.ProposalResolution{}, Events: []client.ProposalEvent{},
		SourceCommitID: c.Source.ID, TargetCommitID: c.Target.ID, BaseCommitID: c.Base.ID, Digest: c.Digest,
		Nodes: client.ChangeCounts(nodes), Edges: client.ChangeCounts(edges), Conflicts: []client.ProposalConflict{}, ConflictCount: c.ConflictCount,
		Query:  s.query,
		Checks: checkResults(s.env, s.outcomes, targetOf(p)), ApprovedBy: s.approvers(), RequestedBy: s.rejecters(), Blockers: s.blockers(),
	}
	for _, r := range p.Resolutions {
		w := client.ProposalResolution{EntityKind: r.Entity, TypeName: r.Type, ID: r.ID, Property: r.Property, Take: r.Take.String()}
		w.Value = encoding.ChangedJSON(r.Entity, r.Property, r.Value, encoding.ValuesIn(s.env))
		a.Resolutions = append(a.Resolutions, w)
	}
	for _, e := range p.Events {
		a.Events = append(a.Events, client.ProposalEvent{Kind: e.Kind.String(), ActorID: encoding.ActorID(e.Actor), Agents: encoding.Agents(e.Actor), CreatedAt: e.Time.UnixMicro(),
			Comment: e.Text, Digest: e.Digest, On: wirePlace(e.On)})
	}
	bytes := 0
	for _, f := range c.Conflicts {
		w := client.ProposalConflict{Kind: f.Kind.String(), EntityKind: f.Entity, TypeName: f.Type, ID: f.ID, Property: f.Property, Message: f.Message, Edges: f.Edges, Resolvable: f.Resolvable()}
		var base, ours, theirs int
		w.Base, base = encoding.Image(f.Entity, f.Base, encoding.ValuesIn(s.env))
		w.Ours, ours = encoding.Image(f.Entity, f.Ours, encoding.ValuesIn(s.env))
		w.Theirs, theirs = encoding.Image(f.Entity, f.Theirs, encoding.ValuesIn(s.env))
		if bytes += base + ours + theirs; bytes > maxChangeBytes && len(a.Conflicts) > 0 {
			break
		}
		a.Conflicts = append(a.Conflicts, w)
	}
	return a
}

// wirePlace returns the wire form of the entity that a comment is about, or nil for the whole proposal.
func wirePlace(on engine.ChangePosition) *client.EntityPlace {
	if on == (engine.ChangePosition{}) {
		return nil
	}
	return &client.EntityPlace{EntityKind: on.Entity, TypeName: on.Type, ID: on.ID}
}
