package tool

import "context"

// Step is a step of a call that removes data or that changes a branch as a whole. A server may ask the
// caller to confirm it first, as a guard against slips.
type Step struct {
	Action   Action   // the permission that the step needs
	What     string   // what the step does, such as "delete the branch review"; it shows no stored values
	Branches []string // the branches that the step changes or merges; empty names mean main
}

// Confirmed returns nil if the call may take the step. The call has all permissions for the step, and has
// changed nothing yet.
func (e *Env) Confirmed(ctx context.Context, s Step) error {
	if e.Confirm == nil {
		return nil
	}
	return e.Confirm(ctx, s)
}
