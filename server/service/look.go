package service

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Look is the call that reads one commit: what it made of the graph, or what is known of
// it. It holds the one rule of who may know of which commit.
type Look struct {
	// At is the head of a branch, main if it is empty; or a commit that was made on a
	// branch that the caller may read; or with both a commit of the branch's line, see
	// [OnLine].
	At engine.Target

	// Action is what is asked for; empty for Read.
	Action tool.Action

	// Unless, if it is set and holds for the commit, stops the call with an *Unchanged
	// before anything is read.
	Unless func(commit string) bool

	// Less says what to ask for when the answer is larger than it may be.
	Less string

	// Read reads the commit c and returns what to answer.
	Read func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error)
}

// Unchanged says that the caller has what a call would answer. It is no fault.
type Unchanged struct{ Commit string }

func (e *Unchanged) Error() string { return "the caller has the answer of commit " + e.Commit }

// Grants returns the permission for the branch, or for the commit.
func (c *Look) Grants() []tool.Grant {
	grant := tool.Grant{Action: c.Action, Branch: c.At.Branch, Commit: c.At.Commit}
	if grant.Action == "" {
		grant.Action = tool.Read
	}
	if grant.Action == tool.Read {
		grant.Via = tool.AdHoc
	}
	if grant.Branch != "" {
		grant.Commit = "" // that it is of the branch is seen to in Run
	}
	return []tool.Grant{grant}
}

// Run finds the commit and reads it. One that does not exist, or is not of the branch's
// line, is an *engine.NotFound.
func (c *Look) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	at, err := c.commit(ctx, env.Graph)
	if err != nil {
		return nil, err
	}
	if c.Unless != nil && c.Unless(at.ID) {
		return nil, &Unchanged{Commit: at.ID}
	}
	v, err := c.Read(ctx, env, at)
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: v, Commit: at.ID, Less: c.Less}, nil
}

func (c *Look) commit(ctx context.Context, g engine.Graph) (engine.Commit, error) {
	if c.At.Commit == "" {
		head, err := g.Commits(ctx, orMain(c.At.Branch), engine.CommitRange{Limit: 1})
		if err != nil {
			return engine.Commit{}, err
		}
		return head[0], nil
	}
	if c.At.Branch != "" {
		if err := OnLine(ctx, g, c.At.Branch, c.At.Commit); err != nil {
			return engine.Commit{}, err
		}
	}
	return g.Commit(ctx, c.At.Commit)
}
