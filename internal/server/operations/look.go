package operations

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Look is the call that reads one commit: its data or its metadata. The rule about which commits a
// caller may see is implemented in this file only.
type Look struct {
	// Branch and Commit say what is read: the head of a branch; or a commit made on a branch that
	// the caller may read; or, if both are set, a commit in the history of the branch (see [OnLine]). Commit
	// may also be an instant (see [tool.IsInstant]).
	Branch tool.BranchName
	Commit string

	// Action is the action that the caller needs a grant for; empty for Read.
	Action tool.Action

	// Token is the page token of a list of a branch; empty for the first page and for all other calls.
	Token string

	// If Unless is not nil and returns true for the commit and the digest of the rights of the caller, the call ends with a
	// *wireerror.Unchanged before it reads anything.
	Unless func(commit, rights string) bool

	// Less is advice on how to get a smaller answer, for when the answer is larger than the
	// limit.
	Less string

	// Entities are the ids of the entities that the answer is about. Whole says that it may have values of any entity of the branch.
	Entities []string
	Whole    bool

	// Read reads the commit c and returns the answer.
	Read func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error)
}

// Needs returns the permission for the branch or for the commit.
func (c *Look) Needs() []tool.Need {
	need := tool.Need{Action: c.Action, Branch: c.Branch, Commit: c.Commit}
	if need.Action == "" {
		need.Action = tool.Read
	}
	if need.Action == tool.Read {
		need.Via = tool.AdHoc
	}
	if need.Branch != "" || tool.IsInstant(need.Commit) {
		need.Commit = "" // the method Run checks that the commit is in the history of the branch
	}
	return []tool.Need{need}
}

// PageToken returns the page token of a list of a branch, or "".
func (c *Look) PageToken() string { return c.Token }

// LogEntities returns the entities of the answer for the audit trail.
func (c *Look) LogEntities() (ids []string, whole bool) { return c.Entities, c.Whole }

// Run finds the commit and reads it. The error is an *engine.NotFound if the commit does
// not exist or is not in the history of the branch.
func (c *Look) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	at, err := c.commit(ctx, env)
	if err != nil {
		return nil, err
	}
	if c.Unless != nil {
		rights := restricted.Digest(env.Graph)
		if c.Unless(at.ID, rights) {
			return nil, &wireerror.Unchanged{Commit: at.ID, Rights: rights}
		}
	}
	v, err := c.Read(ctx, env, at)
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: v, Commit: at.ID, Less: c.Less}, nil
}

// commit returns the commit to read.
func (c *Look) commit(ctx context.Context, env *tool.Env) (engine.Commit, error) {
	branch := env.Branch(c.Branch)
	if c.Commit == "" {
		return commitOf(ctx, env.Graph, branch.At())
	}
	if tool.IsInstant(c.Commit) {
		id, err := env.Past(ctx, c.Branch, c.Commit)
		if err != nil {
			return engine.Commit{}, err
		}
		return commitOf(ctx, env.Graph, engine.Target{Commit: id})
	}
	if c.Branch != "" {
		if err := OnLine(ctx, env.Graph, branch, c.Commit); err != nil {
			return engine.Commit{}, err
		}
	}
	return commitOf(ctx, env.Graph, engine.Target{Commit: c.Commit})
}

// commitOf returns the commit of a target: the one that it names, or the head of its branch.
func commitOf(ctx context.Context, g engine.Graph, at engine.Target) (engine.Commit, error) {
	if at.Commit != "" {
		return g.Commit(ctx, at.Commit)
	}
	head, err := g.Commits(ctx, at.Branch, engine.CommitRange{Limit: 1})
	if err != nil {
		return engine.Commit{}, err
	}
	return head[0], nil
}
