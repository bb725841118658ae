package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

func init() { graphVerbs = append(graphVerbs, newChanges, newCleanup) }

func newChanges() *cobra.Command {
	var f graphFlags
	var r engine.ChangeRange
	var after string
	cmd := &cobra.Command{
		Use:   "changes (--store DIR | --server URL --graph ID) COMMIT",
		Short: "List what a commit changed against its first parent",
		Long: `List what a commit changed against its first parent: nodes, then edges, by type and id.
A table and CSV have a row for each property; JSON and NDJSON an object for each entity.`,
		Example: "  omnigraph changes --store data/people $HEAD\n  omnigraph changes --store data/people $HEAD --limit 1 --after node/Person/ada",
		Args:    exactly("COMMIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.Limit < 0 {
				return usageError{fmt.Errorf("--limit is %d, expected 1 or more", r.Limit)}
			}
			var ok bool
			if r.After, ok = parsePosition(after); !ok {
				return usageError{fmt.Errorf("--after is %q, expected the kind, type and id of an entity, such as node/Person/ada", after)}
			}
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				a, err := s.Changes(ctx, args[0], r)
				if err != nil {
					return nil, err
				}
				return changesReport(a), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().IntVar(&r.Limit, "limit", 0, "the most entities to list (default: all)")
	cmd.Flags().StringVar(&after, "after", "", "list only the entities after this `ENTITY`: its kind, type and id, separated by /")
	return cmd
}

// parsePosition parses an entity such as node/Person/ada. The id may contain a slash.
func parsePosition(s string) (engine.ChangePosition, bool) {
	if s == "" {
		return engine.ChangePosition{}, true
	}
	parts := strings.SplitN(s, "/", 3)
	if len(parts) != 3 || parts[0] != "node" && parts[0] != "edge" {
		return engine.ChangePosition{}, false
	}
	return engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]}, true
}

// changeRow describes one property of a changed entity, or a changed entity without properties.
type changeRow struct {
	Kind     string          `json:"kind"`
	Entity   string          `json:"entity"`
	Property string          `json:"property"`
	Old      json.RawMessage `json:"old"`
	New      json.RawMessage `json:"new"`
}

// changesReport returns the report of the changes of a commit.
func changesReport(a *client.ChangesAnswer) *report {
	r := &report{doc: a, columns: columns("kind", "entity", "property", "old", "new"), objects: rowsOf(a.Changes),
		note: "nodes: " + counted(a.Nodes) + "; edges: " + counted(a.Edges)}
	for _, c := range a.Changes {
		row := changeRow{Kind: c.Kind, Entity: c.EntityKind + "/" + c.TypeName + "/" + c.ID}
		if c.EntityKind == "edge" && c.Kind != "updated" {
			row.Property = c.From + " -> " + c.To
		}
		if len(c.Properties) == 0 || row.Property != "" {
			r.rows = append(r.rows, row)
		}
		for _, p := range c.Properties {
			row.Property, row.Old, row.New = p.Name, p.Old, p.New
			r.rows = append(r.rows, row)
		}
	}
	if a.More {
		r.note += "; there are more"
	}
	return r
}

// counted returns the counts of changes as text.
func counted(c client.ChangeCounts) string {
	return fmt.Sprintf("%d inserted, %d updated, %d deleted", c.Inserted, c.Updated, c.Deleted)
}

func newCleanup() *cobra.Command {
	var f graphFlags
	var opts engine.CleanupOptions
	var within time.Duration
	cmd := &cobra.Command{
		Use:   "cleanup (--store DIR | --server URL --graph ID) (--keep N | --keep-within DURATION)",
		Short: "Make old commits unreadable, and reclaim the storage that only they need",
		Long: `Make old commits unreadable, and reclaim the storage that only they need. The heads of
branches and the merge base of every two branches always stay readable. With both flags,
a commit stays readable if either flag keeps it. commit list still shows the commits that
can no longer be read.`,
		Example: "  omnigraph cleanup --store data/people --keep 10 --dry-run\n  omnigraph cleanup --store data/people --keep-within 720h",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			keep, period := cmd.Flags().Changed("keep"), cmd.Flags().Changed("keep-within")
			switch {
			case !keep && !period:
				return usageError{fmt.Errorf("--keep or --keep-within is missing; say which commits to keep, because a cleanup cannot be undone")}
			case keep && opts.KeepCommits < 1:
				return usageError{fmt.Errorf("--keep is %d, expected 1 or more, because a head is always kept", opts.KeepCommits)}
			case period && within <= 0:
				return usageError{fmt.Errorf("--keep-within is %v, expected a positive duration, such as 720h", within)}
			case period:
				opts.Before = clock.Now().Add(-within)
			}
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				a, err := s.Cleanup(ctx, opts)
				if err != nil {
					return nil, err
				}
				note := ""
				if a.DryRun {
					note = "nothing was reclaimed: this was a dry run"
				}
				return single(a, note, "commits_reclaimed", "commits_kept", "files_removed", "bytes_freed"), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().IntVar(&opts.KeepCommits, "keep", 0, "keep this many commits of each branch, including its head")
	cmd.Flags().DurationVar(&within, "keep-within", 0, "keep commits that are not older than this, such as 720h")
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "report what cleanup would reclaim, and reclaim nothing")
	return cmd
}

// Changes asks for as many pages as needed, like the iterators of package client.
func (l *local) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*client.ChangesAnswer, error) {
	var all *client.ChangesAnswer
	for most := r.Limit; ; {
		page := &client.ChangesAnswer{}
		if err := l.call(ctx, "list_changes", operations.LookChanges(engine.Target{Commit: commit}, r, ""), page); err != nil {
			return nil, err
		}
		if all == nil {
			all = page
		} else {
			all.Changes, all.More = append(all.Changes, page.Changes...), page.More
		}
		n := len(all.Changes)
		if !page.More || most > 0 && n >= most {
			all.NextPageToken = "" // the command continues after a position
			return all, nil
		}
		if most > 0 {
			r.Limit = most - n
		}
		last := all.Changes[n-1]
		r.After = engine.ChangePosition{Entity: last.EntityKind, Type: last.TypeName, ID: last.ID}
	}
}

func (l *local) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	a := &client.CleanedUp{}
	return a, l.call(ctx, "cleanup", &operations.Cleanup{Options: opts}, a)
}

func (r *remote) Changes(ctx context.Context, commit string, c engine.ChangeRange) (*client.ChangesAnswer, error) {
	query := client.ChangeQuery{Limit: c.Limit}
	if c.After != (engine.ChangePosition{}) {
		after := client.EntityChange{EntityKind: c.After.Entity, TypeName: c.After.Type, ID: c.After.ID}
		query.After = after.Position()
	}
	var all *client.ChangesAnswer
	for page, err := range r.graph.ChangePages(ctx, commit, query) {
		switch {
		case err != nil:
			return answered[*client.ChangesAnswer](nil, err)
		case all == nil:
			all = page
		default:
			all.Changes, all.More = append(all.Changes, page.Changes...), page.More
		}
	}
	all.NextPageToken = "" // the command continues after a position
	return all, nil
}

func (r *remote) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	body := client.CleanupBody{KeepCommits: int32(min(opts.KeepCommits, math.MaxInt32)), DryRun: opts.DryRun}
	if !opts.Before.IsZero() {
		body.KeepSince = &opts.Before
	}
	return answered(r.graph.Cleanup(ctx, body))
}
