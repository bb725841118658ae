package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
)

func newBranch() *cobra.Command {
	return group("branch", "List, make and delete branches", newBranchList(), newBranchCreate(), newBranchDelete())
}

func newBranchList() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "list (--store DIR | --server URL --graph ID)",
		Short:   "List the branches with their heads",
		Example: "  omnigraph branch list --store data/people",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				list, err := s.Branches(ctx)
				if err != nil {
					return nil, err
				}
				return &report{doc: map[string]any{"branches": list}, columns: columns("name", "graph_commit_id", "created_at", "actor_id"), rows: rowsOf(list)}, nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

func newBranchCreate() *cobra.Command {
	var f graphFlags
	var from engine.Target
	cmd := &cobra.Command{
		Use:     "create (--store DIR | --server URL --graph ID) NAME",
		Short:   "Make a branch; it shares what it holds with its origin",
		Example: "  omnigraph branch create --store data/people try\n  omnigraph branch create --store data/people again --from feature",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				b, err := s.CreateBranch(ctx, args[0], from)
				if err != nil {
					return nil, err
				}
				return single(b, "", "name", "graph_commit_id"), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&from.Branch, "from", "", "the branch whose head it starts at (default: main)")
	cmd.Flags().StringVar(&from.Commit, "at", "", "the id of the commit that it starts at, instead of a head")
	return cmd
}

func newBranchDelete() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "delete (--store DIR | --server URL --graph ID) NAME",
		Short:   "Delete a branch, and nothing that others share",
		Example: "  omnigraph branch delete --store data/people feature",
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				if err := s.DeleteBranch(ctx, args[0]); err != nil {
					return nil, err
				}
				return single(map[string]any{"name": args[0], "deleted": true}, "", "name", "deleted"), nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

func newMerge() *cobra.Command {
	var f graphFlags
	var into string
	var w writeFlags
	cmd := &cobra.Command{
		Use:   "merge (--store DIR | --server URL --graph ID) SOURCE --into TARGET",
		Short: "Merge a branch into another, property by property",
		Long: `Merge what a branch changed since it left another into that, as one commit.

If the two changed the same in different ways nothing is committed: the conflicts are
printed in the chosen format, and the exit code is 4.`,
		Example: "  omnigraph merge --store data/people feature --into main\n  omnigraph merge --store data/people feature --into main --dry-run",
		Args:    exactly("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "into"); err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				res, err := s.Merge(ctx, args[0], into, engine.MergeOptions{IfCommit: w.ifCommit, IdempotencyKey: w.key, DryRun: w.dry})
				var conflicts *engine.MergeConflicts
				switch {
				case errors.As(err, &conflicts):
					return conflictsReport(conflicts), &conflicted{n: len(conflicts.Conflicts), err: err}
				case err != nil:
					return nil, err
				}
				note := ""
				if res.Commit == nil {
					note = "nothing was committed"
				}
				return single(res, note, "source", "target", "outcome", "affected_nodes", "affected_edges", "commit"), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&into, "into", "", "the branch to merge into")
	w.flags(cmd)
	return cmd
}

// conflicted is the error of a merge whose conflicts are printed.
type conflicted struct {
	n   int
	err error
}

func (e *conflicted) Error() string {
	return "nothing was merged: " + plural(int64(e.n), "conflict")
}

// Unwrap returns the conflicts.
func (e *conflicted) Unwrap() error { return e.err }

type conflictAnswer struct {
	Kind     string `json:"kind"`
	Entity   string `json:"entity_kind"`
	Type     string `json:"type_name"`
	ID       string `json:"id"`
	Property string `json:"property,omitempty"`
	Message  string `json:"message"`
}

func conflictsReport(e *engine.MergeConflicts) *report {
	list := make([]conflictAnswer, len(e.Conflicts))
	for i, c := range e.Conflicts {
		list[i] = conflictAnswer{c.Kind.String(), c.Entity, c.Type, c.ID, c.Property, c.Message}
	}
	return &report{doc: map[string]any{"merge_conflicts": list}, rows: rowsOf(list),
		columns: columns("kind", "entity_kind", "type_name", "id", "property", "message")}
}
