package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CommitResult is one commit.
type CommitResult struct {
	GraphCommitID string   `json:"graph_commit_id"` // id of the commit
	GraphBranch   string   `json:"graph_branch" jsonschema_description:"The branch that it was made on."`
	Parents       []string `json:"parents" jsonschema_description:"None of the first, two of a merge: the branch's own first."`
	ActorID       *string  `json:"actor_id" jsonschema_description:"Who made it; null when nobody was named."`
	Agents        []string `json:"agents,omitempty" jsonschema_description:"Who acted for the actor."`
	CreatedAt     int64    `json:"created_at" jsonschema_description:"In Unix microseconds."`
	SchemaDigest  string   `json:"schema_digest" jsonschema_description:"Of the schema in force after it."`
	Message       string   `json:"message,omitempty"`
}

// commitResult converts a commit of the engine.
func commitResult(c engine.Commit) CommitResult {
	a := CommitResult{
		GraphCommitID: c.ID, GraphBranch: c.Branch, Parents: append([]string{}, c.Parents...),
		ActorID: encoding.ActorID(c.Actor), Agents: encoding.Agents(c.Actor), CreatedAt: c.Time.UnixMicro(), SchemaDigest: c.Schema, Message: c.Message,
	}
	return a
}

// The default and the maximum of limit in commit_list.
const defaultCommits, maxCommits = 50, 500

// commitListArgs are the arguments of commit_list.
type commitListArgs struct {
	Branch    *string `json:"branch,omitempty" jsonschema_description:"Default main."`
	Limit     *int32  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_default:"50"`
	Grep      *string `json:"grep,omitempty"`
	PageToken *string `json:"page_token,omitempty"`
}

// CommitsAnswer is the answer of commit_list.
type CommitsAnswer struct {
	Branch        string         `json:"branch"` // the branch whose history is listed
	Commits       []CommitResult `json:"commits" jsonschema_description:"The newest first."`
	NextPageToken string         `json:"next_page_token,omitempty" jsonschema_description:"There are older ones; send it to see them."`
}

// commitList returns the tool commit_list.
func commitList() tool.Tool {
	return &builtin{
		desc: reader[commitListArgs, CommitsAnswer](tool.Descriptor{
			Name:        "commit_list",
			Title:       "List commits",
			Description: "Lists the recent commits on a branch such as main, the last ones first: its history, who made each commit and when, and so what is new since some day.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			branch, limit := named(o, "branch"), within(o, "limit", defaultCommits, maxCommits)
			token, grep := orEmpty(o.OptString("page_token")), orEmpty(o.OptString("grep"))
			if err := o.Done(); err != nil {
				return nil, err
			}
			return operations.LookCommits(branch, engine.CommitRange{Limit: limit}, token, grep, func(page *operations.ListedCommits) any {
				a := &CommitsAnswer{Branch: page.Branch.Name(), Commits: make([]CommitResult, len(page.Commits)), NextPageToken: page.NextPageToken}
				for i, c := range page.Commits {
					a.Commits[i] = commitResult(c)
				}
				return a
			}), nil
		},
	}
}

// commitGetArgs are the arguments of commit_get.
type commitGetArgs struct {
	Commit string  `json:"commit"`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Where the commit is; default main."`
}

// CommitDetail is the answer of commit_get.
type CommitDetail struct {
	CommitResult
	Nodes *CountsAnswer `json:"nodes" jsonschema_description:"How many nodes it changed against its first parent; null when these are not kept any more."`
	Edges *CountsAnswer `json:"edges" jsonschema_description:"How many edges it changed."`
}

// CountsAnswer counts the changes that a commit made to nodes or to edges.
type CountsAnswer struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
}

// commitGet returns the tool commit_get.
func commitGet() tool.Tool {
	return &builtin{
		desc: reader[commitGetArgs, CommitDetail](tool.Descriptor{
			Name:        "commit_get",
			Title:       "Get a commit",
			Description: "Shows the details of one commit, whose id is known: the person or agent who made it, the date, its parents, and the number of nodes and edges that it inserted, updated and deleted.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			commit, branch := o.String("commit"), named(o, "branch").OrMain()
			if err := o.Done(); err != nil {
				return nil, err
			}
			return &operations.Look{Branch: branch, Commit: commit, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
				d := &CommitDetail{CommitResult: commitResult(c)}
				changes, err := env.Graph.Changes(ctx, c.ID, engine.ChangeRange{Limit: 1})
				var reclaimed *engine.NotFound
				switch {
				case errors.As(err, &reclaimed): // a commit stays listed after its data was reclaimed
				case errors.As(err, new(*engine.NotAllowed)): // the numbers count what the caller may not see
				case err != nil:
					return nil, err
				default:
					nodes, edges := CountsAnswer(changes.Nodes), CountsAnswer(changes.Edges)
					d.Nodes, d.Edges = &nodes, &edges
					d.Message = changes.Commit.Message // the caller may see all of the commit
				}
				return d, nil
			}}, nil
		},
	}
}
