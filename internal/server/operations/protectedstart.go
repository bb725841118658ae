package operations

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// startOfProtected returns the state with which a new branch may start. For a branch without a protection
// this is `at`. A branch with a protection may start only with a reviewed state: one that another such
// branch has or had as its head. Then the result names the commit of `at`, so that a write to the source
// meanwhile does not count. `bypassed` says that the state is not reviewed and the caller has
// protection_bypass. Without that permission, the error is a *wireerror.Protected.
func startOfProtected(ctx context.Context, env *tool.Env, branch tool.Branch, at engine.Target) (start engine.Target, bypassed bool, err error) {
	if env.Protection(branch) == nil {
		return at, false, nil
	}
	commit, err := commitOf(ctx, env.Graph, at)
	if err != nil {
		return at, false, err
	}
	start = at // with the name of its branch, whose rights hold for the commit
	start.Commit = commit.ID
	if at.Commit == "" && reviewed(env, branch, tool.BranchNamed(at.Branch)) {
		return start, false, nil
	}
	if made := tool.BranchNamed(commit.Branch); reviewed(env, branch, made) {
		// A branch of the same name may have been deleted since the commit was made.
		_, err := env.Graph.Schema(ctx, made.Since(commit.ID))
		if err == nil || !errors.As(err, new(*engine.NotFound)) {
			return start, false, err
		}
	}
	err = env.Require(tool.Grant{Action: tool.ProtectionBypass, Branch: branch})
	if err == nil || errors.As(err, new(*wireerror.InsufficientScope)) {
		return start, err == nil, err
	}
	refusal := &wireerror.Protected{Action: tool.BranchCreate, Branch: branch, Start: fmt.Sprintf("commit %s of branch %s", commit.ID, commit.Branch)}
	if at.Commit == "" {
		refusal.Start = fmt.Sprintf("the head of branch %s, commit %s,", at.Branch, commit.ID)
	}
	if main := (tool.Branch{}); reviewed(env, branch, main) {
		refusal.From = &main
	}
	return at, false, refusal
}

// reviewed reports whether the states of a branch are reviewed well enough for a new branch with a
// protection: the other branch has a protection too, and if the new one asks for approvals, so does the other.
func reviewed(env *tool.Env, branch, other tool.Branch) bool {
	need, has := env.Protection(branch), env.Protection(other)
	return other != branch && has != nil && (has.Approvals > 0 || need.Approvals == 0)
}
