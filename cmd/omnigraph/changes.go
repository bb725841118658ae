package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newChanges, newCleanup) }

// newChanges makes the command omnigraph changes.
func newChanges() *cobra.Command {
	var f graphFlags
	var q client.ChangeQuery
	cmd := &cobra.Command{
		Use:   "changes (--store DIR | --server URL --graph ID) COMMIT",
		Short: "List what a commit changed against its first parent",
		Long: `List what a commit changed against its first parent: first nodes, then edges, sorted by type
name and id. A table and CSV have a row for each property whose value changed; JSON and
NDJSON have an object for each entity, which shows the entity before and after the commit.`,
		Example: "  omnigraph changes --store data/people $HEAD\n  omnigraph changes --store data/people $HEAD --type Person --op update,delete",
		Args:    usage.Exactly("COMMIT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 0 {
				return usage.Errorf("--limit is %d; it must be 1 or more", q.Limit)
			}
			if err := oneOf("kind", q.Kinds, client.KindNode, client.KindEdge); err != nil {
				return err
			}
			if err := oneOf("op", q.Ops, client.OpInsert, client.OpUpdate, client.OpDelete); err != nil {
				return err
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				a, err := s.Changes(ctx, args[0], q)
				if err != nil {
					return nil, err
				}
				return changesReport(a), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "the maximum number of entities to list (default: no maximum)")
	cmd.Flags().StringSliceVar(&q.Kinds, "kind", nil, "list only changes of this `KIND`: node or edge")
	cmd.Flags().StringSliceVar(&q.Types, "type", nil, "list only changes of entities of these `TYPES`, separated by commas")
	cmd.Flags().StringSliceVar(&q.Ops, "op", nil, "list only these `OPS`, separated by commas: insert, update, delete")
	return cmd
}

// oneOf checks that the values of a flag are known. The usage error contains the first unknown
// value.
func oneOf(flag string, values []string, known ...string) error {
	for _, v := range values {
		if !slices.Contains(known, v) {
			return usage.Errorf("--%s is %q, expected %s", flag, v, strings.Join(known, ", "))
		}
	}
	return nil
}

// changeRow describes one property of a changed entity, or a changed entity without properties.
type changeRow struct {
	Op       string          `json:"op"`
	Entity   string          `json:"entity"`   // node or edge
	Property string          `json:"property"` // empty for an entity without properties
	Before   json.RawMessage `json:"before"`   // value before the commit; null if there was none
	After    json.RawMessage `json:"after"`    // value after the commit; null if there is none
}

// changesReport returns the report of the changes of a commit.
func changesReport(a *client.ChangesAnswer) *report {
	r := &report{doc: a, columns: columns("op", "entity", "property", "before", "after"), objects: rowsOf(a.Changes)}
	counts := map[string]int{}
	for i := range a.Changes {
		c := &a.Changes[i]
		counts[c.Kind+c.Op]++
		r.rows = append(r.rows, rowsOfChange(c)...)
	}
	var parts []string
	for _, kind := range []string{client.KindNode, client.KindEdge} {
		parts = append(parts, fmt.Sprintf("%ss: %d inserted, %d updated, %d deleted", kind, counts[kind+client.OpInsert], counts[kind+client.OpUpdate], counts[kind+client.OpDelete]))
	}
	r.note = strings.Join(parts, "; ")
	if a.NextPageToken != nil {
		r.note += "; there are more"
	}
	return r
}

// rowsOfChange returns a row for the ends of an edge if they changed, and then a row for each
// changed property, in name order. If neither the ends nor a property changed, it returns one row
// without a property.
func rowsOfChange(c *client.EntityChange) (rows []any) {
	before, after := c.Before, c.After
	if before == nil {
		before = &client.EntityImage{}
	}
	if after == nil {
		after = &client.EntityImage{}
	}
	row := changeRow{Op: c.Op, Entity: c.Kind + "/" + c.Type.Name + "/" + c.ID}
	was, is := ends(before), ends(after)
	if was != is {
		row.Property = "from -> to"
		row.Before, row.After = quoted(was), quoted(is)
		rows = append(rows, row)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before.Properties)), maps.Keys(after.Properties))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		row.Property, row.Before, row.After = name, orNull(before.Properties[name]), orNull(after.Properties[name])
		if !bytes.Equal(row.Before, row.After) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, changeRow{Op: row.Op, Entity: row.Entity})
	}
	return rows
}

// ends returns the ends of an edge as a text, or "" if there are none.
func ends(i *client.EntityImage) string {
	if i.Endpoints == nil {
		return ""
	}
	return i.Endpoints.From.String() + " -> " + i.Endpoints.To.String()
}

// quoted returns s as a JSON string, and null for an empty s.
func quoted(s string) json.RawMessage {
	if s == "" {
		return orNull(nil)
	}
	b, _ := encoding.JSON(s) // a string always encodes
	return b
}

// orNull returns v, or null if v is nil.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// newCleanup makes the command omnigraph cleanup.
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
can no longer be read.

The commits that an open proposal compares stay readable, and those of a merged or closed
proposal for 90 days after its last event; then cleanup forgets the proposal. On a server,
graphs.NAME.proposals.keep in cluster.yaml sets another time. On a store, give it as
--keep-proposals, because the command does not read cluster.yaml.`,
		Example: "  omnigraph cleanup --store data/people --keep 10 --dry-run\n  omnigraph cleanup --store data/people --keep-within 720h",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			keep, period := cmd.Flags().Changed("keep"), cmd.Flags().Changed("keep-within")
			switch {
			case !keep && !period:
				return usage.Errorf("--keep and --keep-within are missing; give one of them to choose the commits to keep, because a cleanup cannot be undone")
			case keep && opts.KeepCommits < 1:
				return usage.Errorf("--keep is %d; it must be 1 or more, because cleanup always keeps the head", opts.KeepCommits)
			case period && within <= 0:
				return usage.Errorf("--keep-within is %v; it must be a positive duration, such as 720h", within)
			case cmd.Flags().Changed("keep-proposals") && f.proposalKeep <= 0:
				return usage.Errorf("--keep-proposals is %v; it must be a positive duration, such as 2160h", f.proposalKeep)
			case f.proposalKeep > 0 && f.server != "":
				return usage.Errorf("--keep-proposals is given with --server; leave it out, because a server reads graphs.NAME.proposals.keep in its cluster.yaml")
			}
			if period {
				opts.Before = clock.Now().Add(-within)
			}
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
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
	cmd.Flags().IntVar(&opts.KeepCommits, "keep", 0, "keep the newest `N` commits of each branch, including its head")
	cmd.Flags().DurationVar(&within, "keep-within", 0, "keep commits that are not older than this `DURATION`, such as 720h")
	cmd.Flags().DurationVar(&f.proposalKeep, "keep-proposals", 0, "with --store: keep proposals for this `DURATION` after they were merged or closed (default 2160h, 90 days)")
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "report what cleanup would reclaim, but reclaim nothing")
	return cmd
}

// Changes lists the differences between a commit and its first parent.
func (src *source) Changes(ctx context.Context, commit string, q client.ChangeQuery) (*client.ChangesAnswer, error) {
	all := &client.ChangesAnswer{}
	for page, err := range src.graph.ChangePages(ctx, commit, q) {
		if err != nil {
			return nil, err
		}
		page.Changes = append(all.Changes, page.Changes...)
		all = page
	}
	return all, nil
}

// Cleanup makes old commits unreadable.
func (src *source) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	body := client.CleanupBody{KeepCommits: int32(min(opts.KeepCommits, math.MaxInt32)), DryRun: opts.DryRun}
	if !opts.Before.IsZero() {
		body.KeepSince = &opts.Before
	}
	return src.graph.Cleanup(ctx, body)
}
