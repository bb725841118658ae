package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newBranch, newMerge) }

// newBranch makes the command omnigraph branch.
func newBranch() *cobra.Command {
	return usage.Group("branch", "List, create and delete branches", newBranchList(), newBranchCreate(), newBranchDelete())
}

// newBranchList makes the command omnigraph branch list.
func newBranchList() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "list (--store DIR | --server URL --graph ID)",
		Short: "List the branches with their heads",
		Long: `List the branches with their heads.

For a draft, the list shows the owner, the name that the owner gave it, the state, and when it
expires. The state is open, or proposed if an open proposal needs the draft.`,
		Example: "  omnigraph branch list --store data/people",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				list, err := s.Branches(ctx)
				if err != nil {
					return nil, err
				}
				return branchReport(list), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// branchRow is a branch as a row of a table.
type branchRow struct {
	client.BranchHead
	Owner     string `json:"owner,omitempty"` // the members from here on describe a draft
	DraftName string `json:"draft_name,omitempty"`
	State     string `json:"state,omitempty"`
	ExpiresAt int64  `json:"expires_at,omitempty"`
}

// branchReport returns the report of a list of branches.
func branchReport(list []client.BranchHead) *report {
	rows := make([]branchRow, len(list))
	for i, b := range list {
		rows[i].BranchHead = b
		if d := b.Draft; d != nil {
			rows[i].Owner, rows[i].DraftName, rows[i].State, rows[i].ExpiresAt = d.Owner, d.Name, d.State, d.ExpiresAt
		}
	}
	return &report{doc: map[string]any{"branches": list}, objects: rowsOf(list), rows: rowsOf(rows),
		columns: columns("name", "graph_commit_id", "created_at", "actor_id", "owner", "draft_name", "state", "expires_at")}
}

// newBranchCreate makes the command omnigraph branch create.
func newBranchCreate() *cobra.Command {
	var f graphFlags
	var from engine.Target
	cmd := &cobra.Command{
		Use:     "create (--store DIR | --server URL --graph ID) NAME",
		Short:   "Create a branch from the head of a branch, or from a commit",
		Example: "  omnigraph branch create --store data/people try\n  omnigraph branch create --store data/people again --from feature",
		Args:    usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				b, err := s.graph.CreateBranch(ctx, client.BranchBody{Name: args[0], From: from.Branch, FromCommit: from.Commit})
				if err != nil {
					return nil, err
				}
				return single(only(b, "name", "from", "graph_commit_id", "actor_id"), "", "name", "from", "graph_commit_id"), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&from.Branch, "from", "", "the branch whose head the new branch starts from (default: main)")
	cmd.Flags().StringVar(&from.Commit, "at", "", "the id of the commit that the new branch starts from, instead of the head of a branch")
	return cmd
}

// newBranchDelete makes the command omnigraph branch delete.
func newBranchDelete() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "delete (--store DIR | --server URL --graph ID) NAME",
		Short:   "Delete a branch; other branches keep the data that they share with it",
		Example: "  omnigraph branch delete --store data/people feature",
		Args:    usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				if _, err := s.graph.DeleteBranch(ctx, args[0]); err != nil {
					return nil, err
				}
				return single(map[string]any{"name": args[0], "deleted": true}, "", "name", "deleted"), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newMerge makes the command omnigraph merge.
func newMerge() *cobra.Command {
	var f graphFlags
	var into string
	var remove bool
	var w writeFlags
	cmd := &cobra.Command{
		Use:   "merge (--store DIR | --server URL --graph ID) SOURCE --into TARGET",
		Short: "Merge a branch into another, property by property",
		Long: `Merge the changes of one branch into another branch, as one commit.

If both branches changed the same data in different ways, the command commits nothing,
prints the conflicts in the chosen format, and exits with code 4.

With --delete-branch the merge stays committed even if SOURCE cannot be deleted
afterwards: the answer then gives the reason, and the exit code is 1.`,
		Example: "  omnigraph merge --store data/people feature --into main --dry-run\n" +
			"  omnigraph merge --store data/people feature --into main --delete-branch\n" +
			"  omnigraph merge --server http://127.0.0.1:8080 --graph people feature --into main",
		Args: usage.Exactly("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "into"); err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				res, err := s.Merge(ctx, args[0], into, remove, engine.MergeOptions{Message: w.message, IfCommit: w.ifCommit, IdempotencyKey: w.key, DryRun: w.dryRun})
				var conflicts *conflicted
				switch {
				case errors.As(err, &conflicts):
					return conflicts.report(), err
				case err != nil:
					return nil, err
				}
				return mergeReport(res)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&into, "into", "", "the branch to merge into")
	cmd.Flags().BoolVar(&remove, "delete-branch", false, "delete SOURCE after the merge")
	w.flags(cmd)
	return cmd
}

// mergeReport returns the report of a merge, and an error if the source could not be deleted.
func mergeReport(a *client.MergeAnswer) (*report, error) {
	var notes []string
	if a.GraphCommitID == nil {
		notes = append(notes, "nothing was committed")
	}
	if a.BranchDeleted {
		notes = append(notes, "branch "+a.Source+" was deleted")
	}
	r := single(a, strings.Join(notes, "; "), "source", "target", "outcome", "affected_nodes", "affected_edges", "graph_commit_id")
	if a.BranchDeleteError != nil {
		return r, fmt.Errorf("branch %s was merged, but not deleted: %s", a.Source, *a.BranchDeleteError)
	}
	return r, nil
}

// conflicted is the error of a merge with conflicts that were already printed.
type conflicted struct {
	list []client.MergeConflict // the printed conflicts
	n    int                    // number of all conflicts; a server lists only the first ones
}

func (e *conflicted) Error() string {
	return "nothing was merged: " + plural(int64(e.n), "conflict")
}

// report lists the conflicts.
func (e *conflicted) report() *report {
	r := &report{doc: map[string]any{"merge_conflicts": e.list}, rows: rowsOf(e.list),
		columns: columns("kind", "entity_kind", "type_name", "id", "property", "message")}
	if more := e.n - len(e.list); more > 0 {
		r.note = fmt.Sprintf("and there are %d more", more)
	}
	return r
}

// mergeError converts the error of a merge to a *conflicted if there are conflicts.
func mergeError(err error) error {
	var here *engine.MergeConflicts // in a store
	var refused *client.Error       // by a server
	switch {
	case errors.As(err, &here):
		c := &conflicted{n: len(here.Conflicts), list: make([]client.MergeConflict, len(here.Conflicts))}
		for i, f := range here.Conflicts {
			c.list[i] = client.MergeConflict{Kind: f.Kind.String(), EntityKind: f.Entity, TypeName: f.Type, ID: f.ID, Property: f.Property, Message: f.Message, Edges: f.Edges}
		}
		return c
	case errors.As(err, &refused) && len(refused.MergeConflicts) > 0:
		return &conflicted{n: max(refused.MergeConflictCount, len(refused.MergeConflicts)), list: refused.MergeConflicts}
	}
	return err
}

// Branches lists all branches.
func (src *source) Branches(ctx context.Context) ([]client.BranchHead, error) {
	return collectPages(src.graph.AllBranches(ctx))
}

// Merge merges a branch, and then deletes it if `remove` is true. If there are conflicts, the error is a *conflicted.
func (src *source) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*client.MergeAnswer, error) {
	body := client.MergeBody{Source: from, Target: into, DeleteBranch: remove, DryRun: opts.DryRun}
	a, err := src.graph.MergeBranches(ctx, body, writeOptions(engine.WriteOptions{Message: opts.Message, IfCommit: opts.IfCommit, IdempotencyKey: opts.IdempotencyKey})...)
	return a, mergeError(err)
}
