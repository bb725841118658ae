// Package service implements the operations of a served graph, independent of transports;
// MCP and REST both call it. It asks its Authorizer before each operation. Typed errors
// become wire errors only in this package.
package service

import "github.com/omnigraph-go/omnigraph/server/tool"

// Actor is the sender of a request. Authentication resolves it once, before any transport.
type Actor struct {
	ID     string
	Groups []string
	Tenant string
	Source string // how the actor was authenticated: "token", "oidc", "local" or "none"
}

// Authorizer decides what actors may do on one graph. Implementations must be safe for
// concurrent use and must not block.
type Authorizer interface {
	// Allowed reports whether the actor has the grant.
	Allowed(actor *Actor, g tool.Grant) bool

	// Branches returns the branch names that the policy mentions. A check for a grant on
	// any branch tries these names too.
	Branches() []string

	// BranchClass returns the class of a branch name. The policy treats two names of the
	// same class alike in every respect, so that one decision serves thousands of branches.
	// It may also treat names of different classes alike.
	BranchClass(name string) string
}
