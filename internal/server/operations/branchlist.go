package operations

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ListBranches is the call that lists the branches that the caller may read, or a page of
// them. It leaves out the others, because a branch name reveals what others work on, and
// the head reveals who wrote and when.
type ListBranches struct {
	After string // the last name of the previous page; empty for the first page
	Limit int    // maximum number of branches; 0 for all

	// Answer makes the answer from the branches, which are in name order. next is the token
	// of the next page; it is empty on the last page.
	Answer func(branches []engine.Branch, next string) any
}

// Grants returns the permission to read main.
func (*ListBranches) Grants() []tool.Grant { return []tool.Grant{access.ReadOn("")} }

// Run lists the branches. It asks the policy only about branches of the page.
func (c *ListBranches) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	allowed := func(grant tool.Grant) bool { return env.Require(grant) == nil }
	branches, more, err := Readable(ctx, env.Graph, allowed, c.After, c.Limit)
	if err != nil {
		return nil, err
	}
	next := ""
	if more {
		next = branchPageToken(branches[len(branches)-1].Name)
	}
	return &tool.Outcome{Value: c.Answer(branches, next), Less: "set a smaller limit"}, nil
}

// Readable lists, in name order, up to limit branches after a name that the caller may
// read, and reports whether there are more. A limit of 0 means none. Every list of branches
// uses this function.
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

// branchToken is the prefix of page tokens for branches. Tokens of other lists lack it and
// are refused.
const branchToken = "branch:"

func branchPageToken(after string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(branchToken + after))
}

// OpenBranchToken returns the value of After that a token encodes. The branch may have been
// deleted since.
func OpenBranchToken(token string) (after string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	after, ok = strings.CutPrefix(string(b), branchToken)
	return after, ok && after != ""
}
