package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newSnapshot, newCommit) }

// newCommit makes the command omnigraph commit.
func newCommit() *cobra.Command {
	return usage.Group("commit", "List and show commits", newCommitList(), newCommitShow())
}

// newCommitList makes the command omnigraph commit list.
func newCommitList() *cobra.Command {
	var f graphFlags
	var branch, grep string
	var r engine.CommitRange
	cmd := &cobra.Command{
		Use:     "list (--store DIR | --server URL --graph ID)",
		Short:   "List the commits of a branch, newest first",
		Example: "  omnigraph commit list --store data/people\n  omnigraph commit list --store data/people --branch feature --limit 10 --format csv",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.Limit < 0 {
				return usage.Errorf("--limit is %d; it must be 1 or more", r.Limit)
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				list, err := s.Commits(ctx, branch, grep, r)
				if err != nil {
					return nil, err
				}
				if list == nil {
					list = []client.CommitAnswer{}
				}
				return &report{doc: map[string]any{"commits": list}, columns: commitColumns, rows: rowsOf(list)}, nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&branch, "branch", "", "the branch whose commits to list (default: main)")
	cmd.Flags().IntVar(&r.Limit, "limit", 0, "the maximum number of commits to list (default: no maximum)")
	cmd.Flags().StringVar(&grep, "grep", "", "list only commits whose message contains this text")
	cmd.Flags().Uint64Var(&r.Before, "before", 0, "list only commits before this graph_manifest_version")
	return cmd
}

// newCommitShow makes the command omnigraph commit show.
func newCommitShow() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:     "show (--store DIR | --server URL --graph ID) COMMIT",
		Short:   "Show a commit",
		Example: "  omnigraph commit show --store data/people $HEAD",
		Args:    usage.Exactly("COMMIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				c, err := s.graph.Commit(ctx, args[0])
				if err != nil {
					return nil, err
				}
				return &report{doc: c, columns: commitColumns, rows: []any{c}}, nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// newSnapshot makes the command omnigraph snapshot.
func newSnapshot() *cobra.Command {
	var f graphFlags
	var at engine.Target
	cmd := &cobra.Command{
		Use:     "snapshot (--store DIR | --server URL --graph ID)",
		Short:   "Show the head of a branch, and count its entities by type",
		Example: "  omnigraph snapshot --store data/people\n  omnigraph snapshot --store data/people --branch feature --json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				snap, err := s.graph.Snapshot(ctx, readOptions(at)...)
				if err != nil {
					return nil, err
				}
				doc := struct {
					*client.SnapshotAnswer
					Datasets []json.RawMessage `json:"datasets"`
				}{SnapshotAnswer: snap}
				for _, d := range snap.Datasets {
					doc.Datasets = append(doc.Datasets, only(d, "type_name", "entity_kind", "entity_count"))
				}
				return &report{doc: only(doc, "graph_branch", "graph_commit_id", "schema_digest", "datasets"),
					columns: columns("type_name", "entity_kind", "entity_count"), rows: rowsOf(doc.Datasets),
					note: fmt.Sprintf("branch %s at commit %s", snap.GraphBranch, snap.GraphCommitID)}, nil
			})
		},
	}
	f.flags(cmd)
	atFlags(cmd, &at.Branch, &at.Commit)
	return cmd
}

// Commits lists the commits of a branch whose message contains the text `grep`.
func (src *source) Commits(ctx context.Context, branch, grep string, c engine.CommitRange) ([]client.CommitAnswer, error) {
	return collectPages(src.graph.AllCommits(ctx, client.CommitQuery{Branch: branch, Before: c.Before, Limit: c.Limit, Grep: grep}))
}
