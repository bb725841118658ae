package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CreateBranch is the call that creates a branch.
type CreateBranch struct {
	Name string // name of the new branch
	From string // the new branch starts at the head of this branch; empty for main

	// Commit, if not empty, is the commit to start at instead. It must be in the history of From. If
	// From is empty, it may be any commit that the caller may read.
	Commit string
}

// BranchCreateResult is the answer of CreateBranch.
type BranchCreateResult struct {
	Name    string  `json:"name"` // name of the new branch
	From    string  `json:"from" jsonschema_description:"The branch that it starts from."`
	Commit  string  `json:"commit" jsonschema_description:"The commit that it starts from."`
	ActorID *string `json:"actor_id"` // the caller; null if it has none
}

// OverREST returns the answer in the form of REST, without the URI.
func (r *BranchCreateResult) OverREST() *client.BranchCreated {
	return &client.BranchCreated{From: r.From, Name: r.Name, GraphCommitID: r.Commit, ActorID: r.ActorID}
}

// Grants returns the permissions to create the branch and to read its start. The second is
// needed because other actors may be able to read the same data on the new branch.
func (c *CreateBranch) Grants() []tool.Grant {
	return append([]tool.Grant{{Action: tool.BranchCreate, Branch: c.Name}}, c.start().Grants()...)
}

// start returns the lookup of the commit that the branch starts at.
func (c *CreateBranch) start() *Look {
	return &Look{At: engine.Target{Branch: c.From, Commit: c.Commit}}
}

// Run creates the branch. The error is an *engine.NotFound if Commit is not in the history
// of From.
func (c *CreateBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	from, at := env.Branch(c.From), engine.Target{Branch: env.Branch(c.From)}
	if c.Commit != "" {
		start, err := c.start().commit(ctx, env.Graph)
		if err != nil {
			return nil, err
		}
		at = engine.Target{Commit: start.ID}
		if c.From == "" {
			from = start.Branch
		}
	}
	if err := checkUnreserved("name", c.Name); err != nil {
		return nil, err
	}
	pinned, bypassed, err := startOfProtected(ctx, env, c.Name, at)
	if err != nil {
		return nil, err
	}
	b, err := env.Graph.CreateBranch(ctx, c.Name, pinned)
	if err != nil {
		return nil, asArgument("name", err)
	}
	return &tool.Outcome{
		Value:  &BranchCreateResult{Name: b.Name, From: from, Commit: b.Head.ID, ActorID: encoding.OrNil(env.Actor)},
		Commit: b.Head.ID, Wrote: &tool.Written{Branch: b.Name, Bypassed: bypassed},
	}, nil
}

// DeleteBranch is the call that deletes a branch.
type DeleteBranch struct {
	Name string // name of the branch to delete
	At   string // if not empty, the commit that must be the branch's head
}

// BranchDeleteResult is the answer of DeleteBranch.
type BranchDeleteResult struct {
	Name    string  `json:"name"`     // name of the deleted branch
	ActorID *string `json:"actor_id"` // the caller; null if it has none
}

// Grants returns the permission to delete the branch.
func (c *DeleteBranch) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.BranchDelete, Branch: c.Name}}
}

// Run deletes the branch. The error is an *engine.PreconditionFailed if At is set and is
// not the branch's head.
func (c *DeleteBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	name := env.Branch(c.Name)
	what := "delete the branch " + name + ", with its changes that no other branch has"
	err := env.Confirmed(ctx, tool.Step{Action: tool.BranchDelete, What: what, Branches: []string{name}}, func(heads tool.Heads) error {
		at := heads.Require(0, c.At)
		if id, draft := engine.DraftID(name); draft {
			err := env.Graph.EndDraft(ctx, id, engine.DraftEnd{State: engine.DraftDeleted, By: env.Actor, IfHead: at})
			if errors.As(err, new(*engine.NotFound)) {
				return &engine.NotFound{What: "branch", Name: c.Name}
			}
			return err
		}
		if at == "" {
			return env.Graph.DeleteBranch(ctx, c.Name)
		}
		return env.Graph.DeleteBranchAt(ctx, c.Name, at)
	})
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &BranchDeleteResult{Name: name, ActorID: encoding.OrNil(env.Actor)}, Wrote: &tool.Written{Branch: name}}, nil
}

// checkUnreserved returns a *tool.ArgumentError at path if a new branch must not have the name, because
// it stands for a draft of the caller.
func checkUnreserved(path, name string) error {
	if name != "draft" && !strings.HasPrefix(name, engine.DraftPrefix) {
		return nil
	}
	return &tool.ArgumentError{Path: path, Detail: fmt.Sprintf("the name %q is reserved for drafts", name),
		Help: "choose another name; a write with the branch draft or draft/NAME opens a draft by itself"}
}

// asArgument converts an *engine.BadArgument to a *tool.ArgumentError at path. The engine's text
// mentions a query's $parameter, but a caller that creates or merges branches has no query.
func asArgument(path string, err error) error {
	var bad *engine.BadArgument
	if errors.As(err, &bad) {
		return &tool.ArgumentError{Path: path, Detail: bad.Detail}
	}
	return err
}

// OnLine returns an *engine.NotFound unless the commit was made on the branch or is an ancestor of
// its head. An actor that may read a branch may read these commits; the id of a commit alone does
// not show which actors may read it. The error contains the name of the branch. It is the same
// whether the commit is on another branch or does not exist.
func OnLine(ctx context.Context, g engine.Graph, branch, commit string) error {
	c, err := g.Commit(ctx, commit)
	if err == nil {
		if c.Branch == orMain(branch) {
			return nil
		}
		_, err = g.Schema(ctx, engine.Target{Branch: branch, AtLeast: commit})
	}
	var missing *engine.NotFound
	if errors.As(err, &missing) && missing.Name == commit {
		return &engine.NotFound{What: "on branch " + orMain(branch) + ", commit", Name: commit}
	}
	return err
}

// orMain returns the branch, or main if it is empty.
func orMain(branch string) string {
	if branch == "" {
		return engine.MainBranch
	}
	return branch
}

// LogArguments returns the arguments of the call for the log.
func (c *CreateBranch) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Name), []byte(c.From), []byte(c.Commit)}
}

// LogArguments returns the arguments of the call for the log.
func (c *DeleteBranch) LogArguments() [][]byte { return [][]byte{[]byte(c.Name)} }
