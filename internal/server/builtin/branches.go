package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// BranchListResult is the answer of branch_list: the members of client.BranchList without the list of names.
type BranchListResult struct {
	Heads         []client.BranchHead `json:"heads" jsonschema_description:"The branches in name order, each with its last commit."`
	NextPageToken string              `json:"next_page_token,omitempty" jsonschema_description:"There are more; send it to see them."`
}

// The default and the maximum of limit in branch_list.
const defaultBranches, maxBranches = 100, 500

// branchListArgs are the arguments of branch_list.
type branchListArgs struct {
	Limit     *int32  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_default:"100"`
	PageToken *string `json:"page_token,omitempty"`
}

// branchList returns the tool branch_list.
func branchList() tool.Tool {
	return &builtin{
		desc: reader[branchListArgs, BranchListResult](tool.Descriptor{
			Name:        "branch_list",
			Title:       "List branches",
			Description: "Lists every branch that exists in the graph and that you may read: main, drafts and copies, each with the head of the branch, its latest commit.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			list := &operations.ListBranches{Limit: within(o, "limit", defaultBranches, maxBranches), PageToken: orEmpty(o.OptString("page_token"))}
			if err := o.Done(); err != nil {
				return nil, err
			}
			list.Answer = func(branches []operations.ListedBranch, next string) any {
				answer := BranchListResult{Heads: make([]client.BranchHead, len(branches)), NextPageToken: next}
				for i, b := range branches {
					answer.Heads[i] = operations.BranchHead(b)
				}
				return &answer
			}
			return list, nil
		},
	}
}

// branchCreateArgs are the arguments of branch_create.
type branchCreateArgs struct {
	Name       string  `json:"name" jsonschema_description:"Letters, digits, _ - . and / between segments."`
	From       *string `json:"from,omitempty" jsonschema_description:"Branch to copy; default main."`
	FromCommit *string `json:"from_commit,omitempty" jsonschema_description:"Or a commit of it."`
}

// branchCreate returns the tool branch_create.
func branchCreate() tool.Tool {
	return &builtin{
		desc: writer[branchCreateArgs, operations.BranchCreateResult](tool.Descriptor{
			Name:  "branch_create",
			Title: "Create a branch",
			Description: "Makes a new branch: a copy of main or of an earlier commit, on which you start to collect edits before you publish them with branch_merge. " +
				"Others do not see them.",
		}),
		gates: gate(tool.BranchCreate), elsewhere: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &operations.CreateBranch{Name: tool.BranchName(o.String("name")), From: named(o, "from").OrMain(), Commit: orEmpty(o.OptString("from_commit"))}
			checkName(o, "name", c.Name)
			return c, o.Done()
		},
	}
}

// branchDeleteArgs are the arguments of branch_delete.
type branchDeleteArgs struct {
	Name string `json:"name" jsonschema_description:"Not main."`
}

// branchDelete returns the tool branch_delete.
func branchDelete() tool.Tool {
	return &builtin{
		desc: writer[branchDeleteArgs, operations.BranchDeleteResult](tool.Descriptor{
			Name:        "branch_delete",
			Title:       "Delete a branch",
			Description: "Deletes a branch or draft that you no longer need, and throws away its changes that no other branch has.",
			Destructive: true,
		}),
		gates: gate(tool.BranchDelete),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &operations.DeleteBranch{Name: tool.BranchName(o.String("name"))}
			checkName(o, "name", c.Name)
			return c, o.Done()
		},
	}
}

// branchMergeArgs are the arguments of branch_merge.
type branchMergeArgs struct {
	Source         string  `json:"source"`
	Target         *string `json:"target,omitempty" jsonschema_description:"Default main."`
	DryRun         *bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing."`
	IfCommit       *string `json:"if_commit,omitempty" jsonschema_description:"Fail unless the target's head."`
	IdempotencyKey *string `json:"idempotency_key,omitempty" jsonschema_description:"A repeat within a day changes nothing."`
	Message        *string `json:"message,omitempty"`
}

// branchMerge returns the tool branch_merge.
func branchMerge() tool.Tool {
	return &builtin{
		desc: writer[branchMergeArgs, operations.BranchMergeResult](tool.Descriptor{
			Name:  "branch_merge",
			Title: "Merge a branch",
			Description: "Merges a branch into another, such as main, to publish a draft, property by property, as one commit or not at all. " +
				"If both changed the same data differently, the error lists the conflicts: settle each on a branch and merge again.",
			Destructive: true,
		}),
		gates: append(gate(tool.BranchMerge), gate(tool.Read)...),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &operations.MergeBranches{Source: tool.BranchName(o.String("source")), Target: named(o, "target")}
			checkName(o, "source", c.Source)
			c.Options.DryRun = isTrue(o.OptBool("dry_run"))
			c.Options.IfCommit, c.Options.IdempotencyKey = o.Guard("if_commit"), o.Guard("idempotency_key")
			c.Options.Message = orEmpty(o.OptString("message"))
			c.Notes = o.Unguarded("if_commit", "idempotency_key")
			return c, o.Done()
		},
	}
}

// checkName notes a fault if a member that must name a branch is empty. Without this check, the
// call would be about main.
func checkName(o *arguments.Object, member string, name tool.BranchName) {
	if o.Has(member) && name == "" {
		o.Fail(member, "found an empty text, expected the name of a branch", "")
	}
}
