package tool

import (
	"cmp"
	"errors"

	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
)

// PageTokens makes and opens page tokens.
type PageTokens interface {
	Seal(*pagetoken.Place) string

	// Open returns the place of a token. The error is a *[pagetoken.Invalid].
	Open(token string) (*pagetoken.Place, error)
}

// SealPage returns the token for a place of the caller in this graph. It sets the graph and the
// actor of the place. If page tokens are not available, it returns "".
func (e *Env) SealPage(p pagetoken.Place) string {
	if e.PageTokens == nil {
		return ""
	}
	p.Graph, p.Actor = e.GraphID, e.pageOwner()
	return e.PageTokens.Seal(&p)
}

// pageOwner returns the owner of the page tokens of the call.
func (e *Env) pageOwner() string { return cmp.Or(e.PageOwner, e.Actor) }

// OpenPage returns the place of a token. The token must have been made for this caller and graph.
// If the argument `list` is not empty, the token must be for that list, and otherwise for the rows
// of a read. The error is an *ArgumentError if the token is not valid here.
//
// The token proves no permission: the caller of OpenPage must ask the policy for each page.
func (e *Env) OpenPage(token string, list pagetoken.List) (*pagetoken.Place, error) {
	if e.PageTokens == nil {
		return nil, BadPageToken("cannot be opened by this server")
	}
	p, err := e.PageTokens.Open(token)
	var invalid *pagetoken.Invalid
	switch {
	case errors.As(err, &invalid):
		return nil, BadPageToken(invalid.Reason)
	case err != nil:
		return nil, err
	case p.Graph != e.GraphID:
		return nil, BadPageToken("belongs to another graph")
	case p.Actor != e.pageOwner():
		return nil, BadPageToken("belongs to another actor")
	case p.List != list && p.List == "":
		return nil, BadPageToken("belongs to the rows of a query")
	case p.List != list:
		return nil, BadPageToken("belongs to the list of " + string(p.List))
	}
	return p, nil
}

// BadPageToken returns the error for a page token that is not valid for a call.
func BadPageToken(reason string) error {
	return &ArgumentError{
		Path: "page_token", Detail: "it " + reason,
		Help: "send next_page_token unchanged, with the arguments of the first page; or leave page_token out to get the first page",
	}
}
