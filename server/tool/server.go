package tool

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Server is what a call asks of the server that runs it, about its caller and about the graph.
type Server interface {
	// Queries returns the stored queries that the caller may see, in source order.
	Queries(ctx context.Context) []StoredQuery

	// Require returns an error if the caller lacks one of the grants. A call uses it for
	// grants that turn out to be needed only while the call runs.
	Require(grants ...Grant) error

	// MayRead reports whether the caller may read, with ad-hoc queries, each branch that this call
	// reads.
	MayRead() bool

	// AsOf returns the id of the commit that a target with an instant selects. The commit may have been made on another
	// branch than the target's; the caller then needs the right to read there, and from then on Env.Graph
	// shows what the caller may see at commits of that branch.
	AsOf(ctx context.Context, at engine.Target) (commit string, err error)

	// AllowedAs reports whether another actor, with the given groups in its token, has a grant.
	AllowedAs(actor string, groups []string, g Grant) bool

	// InGroup reports whether an actor, with the given groups in its token, is in a group of the
	// policy.
	InGroup(actor string, groups []string, group string) bool

	// Owns reports whether an actor is an owner of another actor, such as the person who runs a bot.
	Owns(owner, actor string) bool

	// Protection returns what a proposal needs before it can be merged into the branch. It returns
	// nil if the branch may also change in other ways.
	Protection(Branch) *Protection

	// Text admits a text from the caller that is to be compiled. It checks the text's size,
	// waits for a free compile slot, and reserves memory. The caller calls done after
	// compiling.
	Text(ctx context.Context, argument, text string) (done func(), err error)

	// Confirms reports whether a step with the action may need a confirmation by the caller.
	Confirms(Action) bool

	// Confirm returns nil if the call may take a step that removes data, as long as the branches have
	// the heads. Otherwise the call must not take the step, and returns the error. See [Env.Confirmed].
	Confirm(ctx context.Context, s Step) (Heads, error)
}

// Alone is the Server of a call that a program runs without a server. The caller has no grants beyond the needs of
// the call, there are no stored queries and no protected branches, and texts have no limits.
type Alone struct{}

var _ Server = Alone{}

// Queries implements [Server].
func (Alone) Queries(context.Context) []StoredQuery { return nil }

// Require implements [Server].
func (Alone) Require(...Grant) error {
	return errors.New("the call needs a further permission, and runs without a server that could grant it")
}

// MayRead implements [Server].
func (Alone) MayRead() bool { return false }

// AsOf implements [Server].
func (Alone) AsOf(context.Context, engine.Target) (string, error) {
	return "", errors.New("the call reads as of an instant, and runs without a server that could find the commit; set AsOf of the target")
}

// AllowedAs implements [Server].
func (Alone) AllowedAs(string, []string, Grant) bool { return false }

// InGroup implements [Server].
func (Alone) InGroup(string, []string, string) bool { return false }

// Owns implements [Server].
func (Alone) Owns(string, string) bool { return false }

// Protection implements [Server].
func (Alone) Protection(Branch) *Protection { return nil }

// Text implements [Server].
func (Alone) Text(context.Context, string, string) (func(), error) { return func() {}, nil }

// Confirms implements [Server].
func (Alone) Confirms(Action) bool { return false }

// Confirm implements [Server].
func (Alone) Confirm(context.Context, Step) (Heads, error) { return nil, nil }
