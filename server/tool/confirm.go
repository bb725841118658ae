package tool

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Step is a step of a call that removes data or that changes a branch as a whole. A server may ask the
// caller to confirm it first, as a guard against slips.
type Step struct {
	Action   Action   // the permission that the step needs
	What     string   // what the step does, such as "delete the branch review"; it shows no stored values
	Branches []Branch // the branches that the step changes or merges
}

// Heads are the commits that were the heads of the branches of a step, in their order, when the caller
// confirmed it. They are nil if the confirmation is for any heads.
type Heads []string

// Require returns the commit that must be the head of branch number i of the step: the one that the caller
// named, or else the one for which the caller confirmed the step. It is "" if there is neither.
func (h Heads) Require(i int, named string) string {
	if named == "" && i < len(h) {
		return h[i]
	}
	return named
}

// Confirmed runs a step if the call may take it. The call has all permissions for the step, and has changed
// nothing yet. The function write takes the step; it must make the heads a precondition of its write. If a
// head has moved since the caller confirmed the step, Confirmed asks the caller again.
func (e *Env) Confirmed(ctx context.Context, s Step, write func(Heads) error) error {
	heads, err := e.Confirm(ctx, s)
	if err != nil {
		return err
	}
	err = write(heads)
	if heads != nil && errors.As(err, new(*engine.PreconditionFailed)) {
		if _, again := e.Confirm(ctx, s); again != nil {
			return again
		}
	}
	return err
}
