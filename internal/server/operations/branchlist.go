package operations

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
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
	Answer func(branches []engine.Branch, next string) any
}

// Grants returns the permission to read main.
func (*ListBranches) Grants() []tool.Grant { return []tool.Grant{access.ReadOn("")} }

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
	allowed := func(grant tool.Grant) bool { return env.Require(grant) == nil }
	branches, more, err := Readable(ctx, env.Graph, allowed, after, c.Limit)
	if err != nil {
		return nil, err
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
		case !allowed(access.ReadOn(b.Name)):
		case limit > 0 && len(branches) == limit:
			return branches, true, nil
		default:
			branches = append(branches, b)
		}
	}
	return branches, false, nil
}

// BranchHead describes a branch and its head in the form in which the REST API lists them.
func BranchHead(b engine.Branch) client.BranchHead {
	return client.BranchHead{Name: b.Name, GraphCommitID: b.Head.ID, ActorID: encoding.OrNil(b.Head.Actor), CreatedAt: b.Head.Time.UnixMicro()}
}
