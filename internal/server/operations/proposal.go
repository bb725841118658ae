package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Proposal is a call about proposals. If the call is about one proposal, its answer is a
// *client.ProposalAnswer, unless it lists the changes of the proposal.
//
// A call about a stored proposal learns the branches only when it reads the proposal. So it lists
// no grants beforehand, and asks the policy while it runs. If the caller may not read one of the
// branches, the error is the same *engine.NotFound as for a proposal that does not exist.
type Proposal struct {
	// Notes are the notes of the answer about conditions that the caller sent as null.
	Notes []string

	needs  []tool.Need
	writes bool     // the call may change a proposal or a branch
	step   Step     // what the call does to a proposal; empty for a read
	id     string   // the id of the proposal that the call names; empty for none
	logged string   // the id of the proposal for the log; empty if the proposal does not exist
	log    []string // the arguments that the log shows; nil for a list of proposals
	found  bool     // the call ran, and did not end because something does not exist
	run    func(ctx context.Context, env *tool.Env) (*tool.Outcome, error)
}

// Needs implements [tool.Call].
func (c *Proposal) Needs() []tool.Need { return c.needs }

// Run implements [tool.Call].
func (c *Proposal) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	if c.step != "" && c.id != "" {
		// The log names only proposals that exist, because it must not contain what a client made up.
		if p, err := env.Graph.Proposal(ctx, c.id); err == nil {
			c.logged = p.ID
		}
	}
	out, err := c.run(ctx, env)
	c.found = !errors.As(err, new(*engine.NotFound))
	if err != nil {
		return nil, err
	}
	if p, ok := out.Value.(*client.ProposalAnswer); ok {
		p.Notes = c.Notes
		if c.step == StepSubmit {
			c.logged = p.ID
		}
	}
	return out, nil
}

// Step is what a call does to a proposal. The texts are in the audit log.
type Step string

// The steps of a proposal.
const (
	StepSubmit  Step = "submit"
	StepChange  Step = "change" // the title or the description, or a comment of the author
	StepResolve Step = "resolve"
	StepApprove Step = "approve"
	StepRequest Step = "request_changes"
	StepComment Step = "comment"
	StepClose   Step = "close"
	StepMerge   Step = "merge"
)

// LogStep returns the step of a call that changes a proposal, or "", and the id of the proposal, or "" if there is
// no such proposal. The id of a new proposal is known after the call.
func (c *Proposal) LogStep() (step, proposal string) { return string(c.step), c.logged }

// Writes reports whether the call may change something. The grants of the call do not show that,
// because most of them are checked only while it runs.
func (c *Proposal) Writes() bool { return c.writes }

// LogEntities says that the answer about one proposal may have values of any entity: those of changes, conflicts and rows of checks.
func (c *Proposal) LogEntities() (ids []string, whole bool) { return nil, c.found && c.log != nil }

// LogArguments returns the arguments of the call that the log shows.
func (c *Proposal) LogArguments() [][]byte {
	all := make([][]byte, len(c.log))
	for i, s := range c.log {
		all[i] = []byte(s)
	}
	return all
}

// The limits of proposals.
const (
	maxTitle         = 200 // maximum number of characters of a title
	defaultProposals = 100 // number of proposals on a page if the request states no limit
	maxProposals     = 500 // maximum number of proposals on a page
	// MaxUnseen is the maximum number of proposals that a page leaves out because the caller may see only a part of them. Each takes a
	// comparison of two states.
	MaxUnseen = 200
)

// OpenProposal returns the call that opens a proposal. The caller must be allowed to change the
// source and to read both branches.
func OpenProposal(b client.ProposalBody) *Proposal {
	source, target := tool.BranchName(b.Source), tool.BranchName(b.Target)
	return &Proposal{
		needs:  []tool.Need{{Action: tool.Change, Branch: source, Via: tool.Proposed}, access.ToRead(source), access.ToRead(target)},
		writes: true, step: StepSubmit, log: []string{b.Source, b.Target, b.Title, b.Description},
		run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
			title, err := checkTitle(b.Title)
			if err != nil {
				return nil, err
			}
			p := &engine.Proposal{Source: env.Branch(source).Name(), Target: env.Branch(target).Name(), Title: title, Description: b.Description, Author: env.Actor,
				Events: []engine.ProposalEvent{event(env, engine.EventOpened, "")}}
			return putProposal(ctx, env, p)
		},
	}
}

// checkTitle returns a title without white space at its ends. The error is a *tool.ArgumentError.
func checkTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	switch n := len([]rune(title)); {
	case n == 0:
		return "", &tool.ArgumentError{Path: "title", Detail: "found an empty text, expected a title", Help: "say in one line what the changes do"}
	case n > maxTitle:
		return "", &tool.ArgumentError{Path: "title", Detail: fmt.Sprintf("found %d characters, expected at most %d", n, maxTitle), Help: "put the rest into description"}
	case strings.ContainsAny(title, "\r\n"):
		return "", &tool.ArgumentError{Path: "title", Detail: "found a line break, expected one line", Help: "put the rest into description"}
	}
	return title, nil
}

// event returns an event that the caller causes.
func event(env *tool.Env, kind engine.ProposalEventKind, comment string) engine.ProposalEvent {
	return engine.ProposalEvent{Kind: kind, Actor: env.Actor, Groups: env.Groups, Text: comment}
}

// putProposal stores a proposal and answers with it. Once the proposal is stored, there is no error: if
// the comparison fails, the answer has a blocker that says so.
func putProposal(ctx context.Context, env *tool.Env, p *engine.Proposal) (*tool.Outcome, error) {
	p, err := env.Graph.PutProposal(ctx, *p)
	if err != nil {
		return nil, asOwnArgument(err)
	}
	out := compareProposal(ctx, env, p).outcome(ctx)
	out.Wrote = &tool.Written{Branch: new(targetOf(p))}
	return out, nil
}

// proposalOutcome returns the answer about a proposal that this call did not change.
func proposalOutcome(ctx context.Context, env *tool.Env, p *engine.Proposal) (*tool.Outcome, error) {
	s := compareProposal(ctx, env, p)
	if s.fault != nil && !s.lasting() {
		return nil, s.fault
	}
	return s.outcome(ctx), nil
}

// sourceOf returns the branch whose changes a proposal merges.
func sourceOf(p *engine.Proposal) tool.Branch { return tool.BranchNamed(p.Source) }

// targetOf returns the branch that receives the changes of a proposal.
func targetOf(p *engine.Proposal) tool.Branch { return tool.BranchNamed(p.Target) }

// readProposal returns a proposal that the caller may read. Otherwise the error is an
// *engine.NotFound.
func readProposal(ctx context.Context, env *tool.Env, id string) (*engine.Proposal, error) {
	p, err := restricted.Whole(env.Graph).Proposal(ctx, id) // an error about a part would tell that the proposal exists
	if err != nil {
		return nil, err
	}
	err = env.Require(access.ReadOn(sourceOf(p)), access.ReadOn(targetOf(p)))
	var lacks *wireerror.InsufficientScope
	switch {
	case errors.As(err, &lacks):
		return nil, err // the policy lets the caller read it
	case err != nil:
		return nil, &engine.NotFound{What: "proposal", Name: id}
	}
	return env.Graph.Proposal(ctx, id)
}

// GetProposal returns the call that describes a proposal.
func GetProposal(id string) *Proposal {
	return &Proposal{log: []string{id}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		p, err := readProposal(ctx, env, id)
		if err != nil {
			return nil, err
		}
		return proposalOutcome(ctx, env, p)
	}}
}

// ListProposals returns the call that lists a page of the proposals between branches that the caller
// may read. The answer is a *client.ProposalList.
func ListProposals(q client.ProposalQuery) *Proposal {
	return &Proposal{needs: []tool.Need{access.ToRead("")}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		r := engine.ProposalRange{}
		if q.State != "" {
			var ok bool
			if r.State, ok = engine.ParseProposalState(q.State); !ok {
				return nil, &tool.ArgumentError{Path: "state", Detail: fmt.Sprintf("found %q, expected open, merged or closed", q.State)}
			}
		}
		if q.PageToken != "" {
			place, err := env.OpenPage(q.PageToken, pagetoken.Proposals)
			if err != nil {
				return nil, err
			}
			r.Before = place.After
		}
		limit := q.Limit
		if limit <= 0 {
			limit = defaultProposals
		}
		limit = min(limit, maxProposals)
		all, err := restricted.Whole(env.Graph).Proposals(ctx, r)
		if err != nil {
			return nil, err
		}
		list, unseen := &client.ProposalList{Proposals: []client.ProposalSummary{}}, 0
		next := func(last string) {
			list.NextPageToken = env.SealPage(pagetoken.Place{List: pagetoken.Proposals, After: last})
		}
		for i := range all {
			p := &all[i]
			if !selects(&q, p) || env.Require(access.ReadOn(sourceOf(p)), access.ReadOn(targetOf(p))) != nil {
				continue
			}
			shown, err := restricted.Shows(ctx, env.Graph, p)
			if err != nil {
				return nil, err
			}
			if !shown {
				if unseen++; unseen == MaxUnseen && i+1 < len(all) {
					next(p.ID)
					break
				}
				continue
			}
			if len(list.Proposals) == limit {
				next(list.Proposals[limit-1].ID)
				break
			}
			list.Proposals = append(list.Proposals, summary(p))
		}
		return &tool.Outcome{Value: list, Less: "set a smaller limit"}, nil
	}}
}

// selects reports whether a proposal belongs in a list with the filters of q. It ignores the filter
// for the state.
func selects(q *client.ProposalQuery, p *engine.Proposal) bool {
	if q.Source != "" && q.Source != p.Source || q.Target != "" && q.Target != p.Target || q.Author != "" && q.Author != subject(p.Author) {
		return false
	}
	return q.Reviewer == "" || slices.ContainsFunc(p.Events, func(e engine.ProposalEvent) bool { return isReview(e.Kind) && subject(e.Actor) == q.Reviewer })
}

// summary returns the summary of a proposal.
func summary(p *engine.Proposal) client.ProposalSummary {
	s := client.ProposalSummary{ID: p.ID, Revision: int64(p.Revision), State: p.State.String(), QueryName: queryName(p), Source: p.Source, Target: p.Target, Title: p.Title, ActorID: encoding.ActorID(p.Author), Agents: encoding.Agents(p.Author)}
	if n := len(p.Events); n > 0 {
		s.CreatedAt, s.UpdatedAt = p.Events[0].Time.UnixMicro(), p.Events[n-1].Time.UnixMicro()
	}
	return s
}

// changing returns a call that changes an open proposal. The function `change` changes its copy of the
// proposal, which the call then stores. If another call stores a version first, this one starts again with it.
func changing(id string, step Step, log []string, change func(ctx context.Context, env *tool.Env, p *engine.Proposal) error) *Proposal {
	return &Proposal{writes: true, step: step, id: id, log: append([]string{id}, log...), run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		for {
			p, err := readProposal(ctx, env, id)
			if err != nil {
				return nil, err
			}
			if p.State != engine.ProposalOpen {
				return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s is %s, which is final; open a new proposal", p.ID, p.State)}
			}
			read := *p
			if err := change(ctx, env, p); err != nil {
				return nil, err
			}
			out, err := putProposal(ctx, env, p)
			if err != nil && revised(ctx, env, &read) {
				continue
			}
			return out, err
		}
	}}
}

// mayEdit returns an error if the caller may neither change the source of a proposal nor review the
// proposal. A proposed query has no source: its author and those who may publish it stand for those who may change one.
func mayEdit(env *tool.Env, p *engine.Proposal) error {
	if p.Query() != "" {
		if p.Author == env.Actor || env.Require(tool.Grant{Action: tool.QueryPublish}) == nil {
			return nil
		}
		return env.Require(tool.Grant{Action: tool.ProposalReview, Branch: targetOf(p)})
	}
	err := env.Require(tool.Grant{Action: tool.Change, Branch: sourceOf(p), Via: tool.Proposed})
	if err != nil && env.Require(tool.Grant{Action: tool.ProposalReview, Branch: targetOf(p)}) == nil {
		return nil
	}
	return err
}

// changeLog returns the arguments of a call of ChangeProposal that the log shows.
func changeLog(b *client.ProposalChangeBody) []string {
	log := []string{b.Comment, b.Digest}
	for _, text := range []*string{b.Title, b.Description} {
		if text != nil {
			log = append(log, *text)
		}
	}
	for _, r := range b.Resolutions {
		log = append(log, r.EntityKind, r.TypeName, r.ID, r.Property, r.Take, string(r.Value))
	}
	return log
}

// ChangeProposal returns the call that changes the title, the description or the resolutions of an
// open proposal. The caller must be allowed to change the source. If the body has a digest, and the
// proposal has another one, the error is an *engine.Conflict.
func ChangeProposal(id string, b client.ProposalChangeBody) *Proposal {
	step := StepChange
	if len(b.Resolutions) > 0 {
		step = StepResolve
	}
	return changing(id, step, changeLog(&b), func(ctx context.Context, env *tool.Env, p *engine.Proposal) error {
		if p.Query() != "" {
			return &engine.Conflict{Reason: fmt.Sprintf("proposal %s is about the query %s; propose the query again under its name to change it", p.ID, queryName(p))}
		}
		if err := env.Require(tool.Grant{Action: tool.Change, Branch: sourceOf(p), Via: tool.Proposed}); err != nil {
			return err
		}
		if b.Title == nil && b.Description == nil && len(b.Resolutions) == 0 && b.Comment == "" {
			return &tool.ArgumentError{Detail: "found nothing to change, expected title, description, resolutions or comment"}
		}
		if b.Digest != "" {
			s := compareProposal(ctx, env, p)
			if s.fault != nil {
				return s.fault
			}
			if err := s.checkDigest(b.Digest); err != nil {
				return err
			}
		}
		if b.Title != nil {
			var err error
			if p.Title, err = checkTitle(*b.Title); err != nil {
				return err
			}
		}
		if b.Description != nil {
			p.Description = *b.Description
		}
		resolutions, err := readResolutions(ctx, env.Graph, targetOf(p), b.Resolutions)
		if err != nil {
			return err
		}
		if len(resolutions) > 0 {
			if err := checkConflicts(ctx, env, p, resolutions); err != nil {
				return err
			}
		}
		p.Resolutions = slices.Clone(p.Resolutions)
		for _, r := range resolutions {
			p.Resolutions = append(withoutPlaces(p.Resolutions, []engine.Resolution{r}), r)
		}
		// Store no resolution that the merge would refuse.
		comment := b.Comment
		if len(resolutions) == 0 || b.Title != nil || b.Description != nil {
			p.Events = append(p.Events, event(env, engine.EventChanged, comment))
			comment = ""
		}
		if len(resolutions) > 0 {
			s := compareProposal(ctx, env, p)
			if s.fault != nil {
				return asArgument("resolutions", s.fault)
			}
			resolved := event(env, engine.EventResolved, comment)
			resolved.Digest = s.comparison.Digest
			p.Events = append(p.Events, resolved)
		}
		return nil
	})
}

// CloseProposal returns the call that closes an open proposal without a merge. The caller must have
// opened it, or must be allowed to change the source or to review the proposal.
func CloseProposal(id string, b client.ProposalCloseBody) *Proposal {
	return changing(id, StepClose, []string{b.Comment}, func(_ context.Context, env *tool.Env, p *engine.Proposal) error {
		if err := mayEdit(env, p); err != nil && (!mayClose(env.Actor, p) || outOfScope(err)) {
			return err
		}
		p.State = engine.ProposalClosed
		p.Events = append(p.Events, event(env, engine.EventClosed, b.Comment))
		return nil
	})
}

// mayClose reports whether an actor opened a proposal, itself or through agents. An agent for the actor opened only what it opened for
// that actor.
func mayClose(actor string, p *engine.Proposal) bool {
	return actor != "" && (actor == p.Author || actor == subject(p.Author))
}

// outOfScope reports whether no scope of the caller's token covers the action that an error is about.
func outOfScope(err error) bool {
	var lacks *wireerror.InsufficientScope
	var denied *wireerror.Forbidden
	return errors.As(err, &lacks) || errors.As(err, &denied) && denied.OutOfScope
}

// MergeProposal returns the call that merges an open proposal. The call commits exactly the result
// that it checked: if one of the branches changes in the meantime, the call checks again, until it merges or
// its time ends. If the proposal has been merged already, the answer is that proposal.
func MergeProposal(id string, b client.ProposalMergeBody) *Proposal {
	return &Proposal{writes: true, step: StepMerge, id: id, log: []string{id, b.Digest, b.Comment}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		for {
			p, err := readProposal(ctx, env, id)
			if err != nil {
				return nil, err
			}
			if p.Query() != "" {
				out, err := mergeQuery(ctx, env, p, &b)
				if err != nil && p.State == engine.ProposalOpen && revised(ctx, env, p) {
					continue
				}
				return out, err
			}
			if err := env.Require(tool.Grant{Action: tool.BranchMerge, Branch: targetOf(p), Via: tool.Proposed}); err != nil {
				return nil, err
			}
			switch p.State {
			case engine.ProposalMerged:
				return proposalOutcome(ctx, env, p)
			case engine.ProposalClosed:
				return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s is closed, which is final; open a new proposal", p.ID)}
			}
			commit, err := mergeProposal(ctx, env, p, &b)
			var moved *engine.PreconditionFailed
			if errors.As(err, &moved) || err != nil && revised(ctx, env, p) {
				continue // another call has committed meanwhile; this ends at the latest with the time of the call
			}
			if err != nil {
				return nil, err
			}
			// The merge is stored, so the end of the call's time must not hide it.
			if p, err = env.Graph.Proposal(context.WithoutCancel(ctx), id); err != nil {
				return nil, err
			}
			out := compareProposal(ctx, env, p).outcome(ctx)
			out.Commit, out.Wrote = commit.ID, &tool.Written{Branch: new(targetOf(p)), Commit: commit}
			return out, nil
		}
	}}
}

// revised reports whether another call has stored a newer version of a proposal since `p` was read.
func revised(ctx context.Context, env *tool.Env, p *engine.Proposal) bool {
	now, err := env.Graph.Proposal(ctx, p.ID)
	return err == nil && now.Revision != p.Revision
}

// mergeProposal checks a proposal and merges it. The merge fails if one of the branches has changed
// after the check.
func mergeProposal(ctx context.Context, env *tool.Env, p *engine.Proposal, b *client.ProposalMergeBody) (*engine.Commit, error) {
	s := compareProposal(ctx, env, p)
	if s.fault != nil {
		return nil, s.fault
	}
	if err := s.checkDigest(b.Digest); err != nil {
		return nil, err
	}
	if s.comparison.ConflictCount > 0 {
		if s = compareProposalUpTo(ctx, env, p, 0); s.fault != nil {
			return nil, s.fault
		}
		return nil, &engine.MergeConflicts{Conflicts: s.comparison.Conflicts}
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	if need := s.protection(); need != nil && need.Checks {
		s.runChecks(ctx)
	}
	if blockers := s.blockers(); len(blockers) > 0 {
		return nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s cannot be merged yet: %s", p.ID, strings.Join(blockers, "; "))}
	}
	merged := *p
	done := event(env, engine.EventMerged, b.Comment)
	done.Digest = s.comparison.Digest
	merged.Events = append(slices.Clone(p.Events), done)
	res, err := env.Graph.Merge(ctx, p.Source, p.Target, engine.MergeOptions{Actor: env.Actor, Tool: env.Tool, Message: mergeMessage(p, b), IfCommit: s.comparison.Target.ID, IfSource: s.comparison.Source.ID,
		Resolutions: p.Resolutions, Proposal: &merged, Approvers: s.approvers()})
	if err != nil {
		return nil, err
	}
	if res.Commit == nil {
		return nil, &engine.Conflict{Reason: nothingToMerge(p)}
	}
	return res.Commit, nil
}

// mergeMessage returns the message of the commit that merges a proposal: that of the request, or else the title.
func mergeMessage(p *engine.Proposal, b *client.ProposalMergeBody) string {
	if b.Message != "" || engine.CheckMessage(p.Title) != nil {
		return b.Message
	}
	return p.Title
}

// nothingToMerge returns the reason why a proposal whose source would not change the target cannot
// be merged.
func nothingToMerge(p *engine.Proposal) string {
	return fmt.Sprintf("branch %s would not change branch %s; write to %s or close the proposal", p.Source, p.Target, p.Source)
}
