// Package service holds the operations of a served graph, free of transports: what
// MCP and REST both call. It asks its Authorizer before everything it does, and it
// is the one place where typed errors become wire errors.
package service

import "github.com/omnigraph-go/omnigraph/server/tool"

// Actor is who a request comes from, resolved once in front of every transport.
type Actor struct {
	ID     string
	Groups []string
	Tenant string
	Source string // which verifier vouched for it: "token", "oidc", "local", "none"
}

// Authorizer decides for one graph. Implementations are safe for concurrent use and
// do not block.
type Authorizer interface {
	// Allowed reports whether the actor may do what the grant says.
	Allowed(actor *Actor, g tool.Grant) bool

	// Branches are the branch names that the policy treats in some way of its own;
	// whoever asks "on any branch" asks for these too.
	Branches() []string

	// BranchClass returns a text that is the same for branch names which the policy treats
	// alike in every respect, so that one decision serves thousands of branches. Names of two
	// classes may be treated alike too.
	BranchClass(name string) string
}
