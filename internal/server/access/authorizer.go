// Package access says who may do what on one graph: actors, the interface of the policy, the
// checks of grants, the tools that an actor sees, and what the answer to a write leaves out for an
// actor that may not read.
package access

import (
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Actor is the sender of a request. Authentication determines it once, before any transport handles
// the request.
type Actor struct {
	ID     string
	Groups []string // from the actor's token
	Tenant string   // distinguishes actors with the same id; empty unless an authenticator sets it
	Source string   // how the actor was authenticated: "token", "oidc", "local" or "none"

	// Expires is when the server stops accepting the actor's token; zero for a token that never
	// expires. Only requests that outlive their token need it.
	Expires time.Time

	Scopes *Scopes // of the actor's token; nil if scopes do not narrow what the actor may do

	// Claims are the claims of the actor's token that the configuration maps to names and types, by name. A claim that the
	// token lacks is absent. Agents have none: actor() in a query is always the actor for whom they act.
	Claims map[string]value.Value

	// Agents are the actors that act for this one, the current one first. An authorizer asks about the current one too, and
	// about the earlier ones if the configuration says so; all of them must be allowed.
	Agents []Agent
}

// Agent is an actor that acts for another.
type Agent struct {
	ID     string
	Groups []string // from the token, which says them apart from those of the actor
}

// Authorizer decides what actors may do on one graph. Implementations must be safe for
// concurrent use and must not block.
type Authorizer interface {
	// Allowed reports whether the actor has the grant.
	Allowed(actor *Actor, g tool.Grant) bool

	// Protection returns what a proposal needs before it can be merged into a branch that changes
	// only by merging proposals. It returns nil for other branches.
	Protection(tool.Branch) *tool.Protection

	// Owns reports whether an actor is an owner of another actor, such as the person who runs a bot.
	Owns(owner, actor string) bool

	// InGroup reports whether the actor is in a group of the policy.
	InGroup(actor *Actor, group string) bool

	// Branches returns the branch names that the policy mentions. A check for a grant on some branch
	// tries these names too.
	Branches() []string

	// BranchClass returns the class of a branch name. The policy treats two names of the same class
	// alike in every respect, so that one decision is enough for thousands of branches. The policy
	// may also treat names of different classes alike.
	BranchClass(name string) string
}

// Restrictor is an Authorizer whose rules may allow a part of a graph only.
type Restrictor interface {
	Authorizer

	// Restricts reports whether a rule allows any actor a part of a graph only. If it does not, Rights is always nil, and need not
	// be asked. It is cheap.
	Restricts() bool

	// Rights returns what the actor may read, or change, with a grant that Allowed allows; nil if nothing is restricted. For a grant
	// that it does not allow, Rights returns what the rules leave that deny a part. The grant's action is [tool.Read],
	// [tool.Change] or [tool.Export]. The schema is that of main.
	Rights(actor *Actor, g tool.Grant, schema *engine.Schema) *engine.Rights
}

// PartChecker is an Authorizer that can say which of its rules name parts of a graph that do not exist.
type PartChecker interface {
	// UnknownParts says, with places, which rules deny a type or a property that a schema lacks, also as a name from before a
	// rename. Such a rule hides nothing.
	UnknownParts(schema *engine.Schema) []string
}
