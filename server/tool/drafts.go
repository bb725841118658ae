package tool

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Drafts resolves the branch names of one call, and describes the drafts of its caller.
type Drafts interface {
	// Branch returns the branch that a name of the call stands for. The names draft and draft/NAME
	// stand for a draft of the caller. An empty name stands for main, or for a draft if the policy
	// confines the writes of the caller to drafts.
	Branch(name BranchName) Branch

	// Describe returns the state of a draft, or nil if no draft owns the branch.
	Describe(ctx context.Context, branch Branch) *DraftState

	// Others returns the argument with which a call reads the caller's open draft, or "" if the caller
	// has none. It is for the answer of a read of main.
	Others(ctx context.Context) string

	// Open returns the states of the open drafts of all actors, by their branches. The field MainAhead is
	// not set.
	Open(ctx context.Context) (map[Branch]DraftState, error)
}

// DraftState is the state of an open draft, for answers.
type DraftState struct {
	Draft   engine.Draft
	Expires time.Time // when the draft ends if nobody writes to it
}

// Branch returns the branch that a name of the call stands for. An empty name stands for main, unless
// the call writes to a draft.
func (e *Env) Branch(name BranchName) Branch {
	if e.Drafts != nil {
		return e.Drafts.Branch(name)
	}
	return BranchNamed(string(name))
}

// DraftAt returns the state of the draft that owns a branch, or nil if there is none.
func (e *Env) DraftAt(ctx context.Context, branch Branch) *DraftState {
	if e.Drafts == nil {
		return nil
	}
	return e.Drafts.Describe(ctx, branch)
}
