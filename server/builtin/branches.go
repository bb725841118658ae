package builtin

import (
	"context"
	"encoding/json"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// BranchesAnswer is the answer of branch_list.
type BranchesAnswer struct {
	Branches []BranchAnswer `json:"branches" jsonschema_description:"In name order."`
}

// BranchAnswer is one branch.
type BranchAnswer struct {
	Name string     `json:"name"`
	Head HeadAnswer `json:"head" jsonschema_description:"The branch's last commit."`
}

// HeadAnswer is the commit at the head of a branch.
type HeadAnswer struct {
	Commit    string    `json:"commit" jsonschema_description:"The commit's id."`
	ActorID   *string   `json:"actor_id" jsonschema_description:"Who made it; null when nobody was named."`
	CreatedAt time.Time `json:"created_at"`
}

func branchList() tool.Tool {
	return &builtin{
		desc: reader[noArgs, BranchesAnswer](tool.Descriptor{
			Name:  "branch_list",
			Title: "List branches",
			Description: "Lists the graph's branches with the commit at the head of each. " +
				"A branch is a line of commits of its own; main always exists, and is what every tool uses when no branch is named.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			if err := tool.Members(args).Done(); err != nil {
				return nil, err
			}
			return &call{
				grants: gate(tool.Read),
				run: func(ctx context.Context, env *tool.Env) (any, string, error) {
					branches, err := env.Graph.Branches(ctx)
					if err != nil {
						return nil, "", err
					}
					answer := BranchesAnswer{Branches: make([]BranchAnswer, len(branches))}
					for i, b := range branches {
						answer.Branches[i] = BranchAnswer{Name: b.Name, Head: headAnswer(b.Head)}
					}
					return &answer, "", nil
				},
			}, nil
		},
	}
}

func headAnswer(c engine.Commit) HeadAnswer {
	h := HeadAnswer{Commit: c.ID, CreatedAt: c.Time.UTC()}
	if c.Actor != "" {
		h.ActorID = &c.Actor
	}
	return h
}
