package operations

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ListBranches is the call that lists the branches that the caller may read, or a page of them. It
// leaves out other branches, because the name of a branch reveals what other actors work on, and
// the head reveals who wrote and when.
type ListBranches struct {
	PageToken string // the token of the page; empty for the first page
	Limit     int    // maximum number of branches; 0 for all

	// Answer makes the answer from the branches, which are in name order. The argument `next` is
	// the token of the next page; it is empty on the last page.
	Answer func(branches []ListedBranch, next string) any
}

// ListedBranch is a branch in the answer of ListBranches.
type ListedBranch struct {
	engine.Branch
	Draft *client.BranchDraft // nil unless the branch is a draft
}

// Needs returns the permission to read main.
func (*ListBranches) Needs() []tool.Need { return []tool.Need{access.ToRead("")} }

// Run lists the branches. It asks the policy only about branches of the page.
func (c *ListBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	after := ""
	if c.PageToken != "" {
		p, err := env.OpenPage(c.PageToken, pagetoken.Branches)
		if err != nil {
			return nil, err
		}
		after = p.After
	}
	drafts, err := openDrafts(ctx, env) // before the branches, because it ends the drafts that have expired
	if err != nil {
		return nil, err
	}
	allowed := func(grant tool.Grant) bool { return env.Require(grant) == nil }
	readable, more, err := Readable(ctx, env.Graph, allowed, after, c.Limit)
	if err != nil {
		return nil, err
	}
	branches := make([]ListedBranch, len(readable))
	for i, b := range readable {
		branches[i] = ListedBranch{Branch: b, Draft: drafts[b.Name]}
	}
	next := ""
	if more {
		next = env.SealPage(pagetoken.Place{List: pagetoken.Branches, After: branches[len(branches)-1].Name})
	}
	return &tool.Outcome{Value: c.Answer(branches, next), Less: "set a smaller limit"}, nil
}

// Readable lists the branches that the caller may read and that come after the name `after`, in
// name order. It lists at most `limit` branches, or all if `limit` is 0, and reports whether there
// are more. Every list of branches uses this function.
func Readable(ctx context.Context, g engine.Graph, allowed func(tool.Grant) bool, after string, limit int) (branches []engine.Branch, more bool, err error) {
	all, err := g.Branches(ctx)
	if err != nil {
		return nil, false, err
	}
	if after != "" {
		i, found := slices.BinarySearchFunc(all, after, func(b engine.Branch, name string) int { return strings.Compare(b.Name, name) })
		if found {
			i++
		}
		all = all[i:]
	}
	for _, b := range all {
		switch {
		case !allowed(access.ReadOn(tool.BranchNamed(b.Name))):
		case limit > 0 && len(branches) == limit:
			return branches, true, nil
		default:
			branches = append(branches, b)
		}
	}
	return branches, false, nil
}

// openDrafts describes the open drafts of all actors, by their branches. A draft counts as proposed only
// if the caller may read the target of the proposal.
func openDrafts(ctx context.Context, env *tool.Env) (map[string]*client.BranchDraft, error) {
	if env.Drafts == nil {
		return nil, nil
	}
	open, err := env.Drafts.Open(ctx)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	drafts := make(map[string]*client.BranchDraft, len(open))
	for branch, d := range open {
		owner, agents := engine.SplitActor(d.Draft.Owner)
		drafts[branch.Name()] = &client.BranchDraft{Owner: owner, Agents: agents, Name: d.Draft.Name, State: client.DraftIsOpen, ExpiresAt: d.Expires.UnixMicro()}
	}
	proposals, err := restricted.Whole(env.Graph).Proposals(ctx, engine.ProposalRange{State: engine.ProposalOpen})
	if err != nil {
		return nil, err
	}
	for i := range proposals {
		p := &proposals[i]
		d := drafts[p.Source]
		if d == nil || env.Require(access.ReadOn(targetOf(p))) != nil {
			continue
		}
		shown, err := restricted.Shows(ctx, env.Graph, p)
		if err != nil {
			return nil, err
		}
		if shown {
			d.State, d.ExpiresAt = client.DraftIsProposed, 0
		}
	}
	return drafts, nil
}

// BranchHead describes a branch and its head in the form in which the REST API lists them.
func BranchHead(b ListedBranch) client.BranchHead {
	return client.BranchHead{Name: b.Name, GraphCommitID: b.Head.ID, ActorID: encoding.ActorID(b.Head.Actor), Agents: encoding.Agents(b.Head.Actor), CreatedAt: b.Head.Time.UnixMicro(), Draft: b.Draft}
}
