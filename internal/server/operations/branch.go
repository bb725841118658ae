package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CreateBranch is the call that creates a branch.
type CreateBranch struct {
	Name tool.BranchName // name of the new branch
	From tool.BranchName // the new branch starts at the head of this branch

	// Commit, if not empty, is the commit to start at instead. It must be in the history of From. If
	// From is empty, it may be any commit that the caller may read.
	Commit string
}

// BranchCreateResult is the answer of CreateBranch.
type BranchCreateResult struct {
	Name          string  `json:"name"` // name of the new branch
	From          string  `json:"from" jsonschema_description:"The branch that it starts from."`
	GraphCommitID string  `json:"graph_commit_id" jsonschema_description:"The commit that it starts from."`
	ActorID       *string `json:"actor_id"` // the caller; null if it has none
}

// OverREST returns the answer in the form of REST, without the URI.
func (r *BranchCreateResult) OverREST() *client.BranchCreated {
	return &client.BranchCreated{From: r.From, Name: r.Name, GraphCommitID: r.GraphCommitID, ActorID: r.ActorID}
}

// Needs returns the permissions to create the branch and to read its start. The second is
// needed because other actors may be able to read the same data on the new branch.
func (c *CreateBranch) Needs() []tool.Need {
	return append([]tool.Need{{Action: tool.BranchCreate, Branch: c.Name}}, c.start().Needs()...)
}

// start returns the lookup of the commit that the branch starts at.
func (c *CreateBranch) start() *Look {
	return &Look{Branch: c.From, Commit: c.Commit}
}

// Run creates the branch. The error is an *engine.NotFound if Commit is not in the history
// of From.
func (c *CreateBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	from := env.Branch(c.From)
	at := from.At()
	if c.Commit != "" {
		start, err := c.start().commit(ctx, env)
		if err != nil {
			return nil, err
		}
		if c.From == "" {
			from = tool.BranchNamed(start.Branch)
		}
		at = from.At()
		at.Commit = start.ID
	}
	made, err := newBranch("name", c.Name)
	if err != nil {
		return nil, err
	}
	pinned, bypassed, err := startOfProtected(ctx, env, made, at)
	if err != nil {
		return nil, err
	}
	b, err := env.Graph.CreateBranch(ctx, made.Name(), pinned)
	if err != nil {
		return nil, asArgument("name", err)
	}
	return &tool.Outcome{
		Value:  &BranchCreateResult{Name: b.Name, From: from.Name(), GraphCommitID: b.Head.ID, ActorID: encoding.ActorID(env.Actor)},
		Commit: b.Head.ID, Wrote: &tool.Written{Branch: &made, Bypassed: bypassed},
	}, nil
}

// DeleteBranch is the call that deletes a branch.
type DeleteBranch struct {
	Name tool.BranchName // the branch to delete
	At   string          // if not empty, the commit that must be the branch's head
}

// BranchDeleteResult is the answer of DeleteBranch.
type BranchDeleteResult struct {
	Name    string  `json:"name"`     // name of the deleted branch
	ActorID *string `json:"actor_id"` // the caller; null if it has none
}

// Needs returns the permission to delete the branch.
func (c *DeleteBranch) Needs() []tool.Need {
	return []tool.Need{{Action: tool.BranchDelete, Branch: c.Name}}
}

// Run deletes the branch. The error is an *engine.PreconditionFailed if At is set and is
// not the branch's head.
func (c *DeleteBranch) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branch := env.Branch(c.Name)
	name := branch.Name()
	what := "delete the branch " + name + ", with its changes that no other branch has"
	err := env.Confirmed(ctx, tool.Step{Action: tool.BranchDelete, What: what, Branches: []tool.Branch{branch}}, func(heads tool.Heads) error {
		at := heads.Require(0, c.At)
		if id, draft := branch.DraftID(); draft {
			err := env.Graph.EndDraft(ctx, id, engine.DraftEnd{State: engine.DraftDeleted, By: env.Actor, IfHead: at})
			if errors.As(err, new(*engine.NotFound)) {
				return &engine.NotFound{What: "branch", Name: string(c.Name)}
			}
			return err
		}
		if at == "" {
			return env.Graph.DeleteBranch(ctx, name)
		}
		return env.Graph.DeleteBranchAt(ctx, name, at)
	})
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &BranchDeleteResult{Name: name, ActorID: encoding.ActorID(env.Actor)}, Wrote: &tool.Written{Branch: &branch}}, nil
}

// newBranch returns the branch that a call creates. The error is a *tool.ArgumentError at path if no branch may
// have the name, because it stands for a draft of the caller.
func newBranch(path string, name tool.BranchName) (tool.Branch, error) {
	if name != access.DraftName && !strings.HasPrefix(string(name), engine.DraftPrefix) {
		return tool.BranchNamed(string(name)), nil
	}
	return tool.Branch{}, &tool.ArgumentError{Path: path, Detail: fmt.Sprintf("the name %q is reserved for drafts", name),
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

// asOwnArgument is like asArgument, for a call whose argument has the name of the parameter.
func asOwnArgument(err error) error {
	var bad *engine.BadArgument
	if errors.As(err, &bad) {
		return asArgument(bad.Param, err)
	}
	return err
}

// OnLine returns an *engine.NotFound unless the commit was made on the branch or is an ancestor of
// its head. An actor that may read a branch may read these commits; the id of a commit alone does
// not show which actors may read it. The error contains the name of the branch. It is the same
// whether the commit is on another branch or does not exist.
func OnLine(ctx context.Context, g engine.Graph, branch tool.Branch, commit string) error {
	c, err := g.Commit(ctx, commit)
	if err == nil {
		if c.Branch == branch.Name() {
			return nil
		}
		_, err = g.Schema(ctx, branch.Since(commit))
	}
	var missing *engine.NotFound
	if errors.As(err, &missing) && missing.Name == commit {
		return &engine.NotFound{What: "on branch " + branch.Name() + ", commit", Name: commit}
	}
	return err
}

// LogArguments returns the arguments of the call for the log.
func (c *CreateBranch) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Name), []byte(c.From), []byte(c.Commit)}
}

// LogArguments returns the arguments of the call for the log.
func (c *DeleteBranch) LogArguments() [][]byte { return [][]byte{[]byte(c.Name)} }
