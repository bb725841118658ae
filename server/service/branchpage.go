package service

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// BranchPage is a part of the branches of a graph in name order.
type BranchPage struct {
	After string // the name that the page comes after; empty for the first page
	Limit int    // the most branches; 0 for all
}

// List returns the branches of the page, and the token of the next page, empty at the end.
func (p BranchPage) List(ctx context.Context, g engine.Graph) (list []engine.Branch, next string, err error) {
	list, err = g.Branches(ctx)
	if err != nil {
		return nil, "", err
	}
	if p.After != "" {
		i, found := slices.BinarySearchFunc(list, p.After, func(b engine.Branch, name string) int { return strings.Compare(b.Name, name) })
		if found {
			i++
		}
		list = list[i:]
	}
	if p.Limit > 0 && len(list) > p.Limit {
		list = list[:p.Limit]
		next = base64.RawURLEncoding.EncodeToString([]byte(branchToken + list[p.Limit-1].Name))
	}
	return list, next, nil
}

// branchToken begins a page token, so that tokens of other lists are refused.
const branchToken = "branch:"

// OpenBranchToken returns the After of the page that a token stands for. The branch may be
// deleted by now.
func OpenBranchToken(token string) (after string, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	after, ok = strings.CutPrefix(string(b), branchToken)
	return after, ok && after != ""
}
