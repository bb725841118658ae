package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newAudit) }

// newAudit makes the command omnigraph audit.
func newAudit() *cobra.Command {
	return usage.Group("audit", "Ask who called what, and check the audit trail", newAuditList(), newAuditVerify())
}

// newAuditList makes the command omnigraph audit list.
func newAuditList() *cobra.Command {
	var f graphFlags
	var q client.AuditQuery
	var from, to, trail string
	cmd := &cobra.Command{
		Use:   "list (--server URL --graph ID | --trail DIR [--graph ID])",
		Short: "List calls, the latest first",
		Long: `List the calls that the audit trail of a server has recorded, the latest first. With
--trail, read the trail in a storage folder or in shared storage, without a server.`,
		Example: "  omnigraph audit list --server http://127.0.0.1:8080 --graph people --entity c-17 --from 2026-06-01 --to 2026-07-01\n  omnigraph audit list --trail data --actor act-ada --decision denied",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Limit < 1 {
				return usage.Errorf("--limit is %d; it must be 1 or more", q.Limit)
			}
			if q.Decision != "" && q.Decision != audittrail.Allowed && q.Decision != audittrail.Denied {
				return usage.Errorf("--decision is %q; it must be %s or %s", q.Decision, audittrail.Allowed, audittrail.Denied)
			}
			var err error
			if q.From, err = operations.AuditTime("--from", from); err != nil {
				return usage.Errorf("%v", err)
			}
			if q.To, err = operations.AuditTime("--to", to); err != nil {
				return usage.Errorf("%v", err)
			}
			if trail == "" {
				return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
					list, err := auditOf(ctx, s.graph, q)
					if err != nil {
						return nil, err
					}
					return auditReport(list), nil
				})
			}
			if err := f.formatFlags.check(); err != nil {
				return err
			}
			store, done, err := openTrail(cmd.Context(), trail)
			if err != nil {
				return err
			}
			defer done()
			found, _, err := store.Query(cmd.Context(), audittrail.Filter{Graph: f.graph, Actor: q.Actor, Tool: q.Tool, Entity: q.Entity, Decision: q.Decision, From: q.From, To: q.To, Limit: q.Limit})
			if err != nil {
				return err
			}
			list := []client.AuditRecord{}
			for _, r := range found {
				list = append(list, operations.AuditRecord(r))
			}
			return f.print(cmd, auditReport(list))
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&trail, "trail", "", "read the trail in this storage folder, or at this URL of shared storage")
	cmd.Flags().StringVar(&q.Actor, "actor", "", "only calls of this actor, or of this agent for an actor")
	cmd.Flags().StringVar(&q.Tool, "tool", "", "only calls of this tool or operation")
	cmd.Flags().StringVar(&q.Entity, "entity", "", "only calls whose answers had the entity with this id, or may have had it")
	cmd.Flags().StringVar(&q.Decision, "decision", "", "only calls that the policy allowed, or only those that it denied")
	cmd.Flags().StringVar(&from, "from", "", "only calls that ended at this date (UTC) or time, or later")
	cmd.Flags().StringVar(&to, "to", "", "only calls that ended before this date (UTC) or time")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "the maximum number of calls to list")
	return cmd
}

// auditOf lists calls in the audit trail of a server, from as many pages as the limit needs.
func auditOf(ctx context.Context, g *client.Graph, q client.AuditQuery) ([]client.AuditRecord, error) {
	list, limit := []client.AuditRecord{}, q.Limit
	for {
		q.Limit = min(limit-len(list), 1000)
		a, err := g.Audit(ctx, q)
		if err != nil {
			return nil, err
		}
		if list = append(list, a.Records...); a.NextPageToken == nil || len(list) >= limit {
			return list, nil
		}
		q.PageToken = *a.NextPageToken
	}
}

// auditReport returns the report of calls.
func auditReport(list []client.AuditRecord) *report {
	type row struct {
		Time     string  `json:"time"`
		Actor    *string `json:"actor"`
		Agents   string  `json:"agents"`
		Tool     string  `json:"tool"`
		Branch   string  `json:"branch"`
		Decision string  `json:"decision"`
		Outcome  string  `json:"outcome"`
		Rows     int     `json:"rows"`
		Entities string  `json:"entities"`
	}
	rows := []row{}
	for _, r := range list {
		entities := strings.Join(r.Entities, " ")
		switch {
		case r.Whole:
			entities = "any"
		case r.More > 0:
			entities += fmt.Sprintf(" and %d more", r.More)
		}
		rows = append(rows, row{time.UnixMicro(r.EndedAt).UTC().Format(time.RFC3339Nano), r.ActorID, strings.Join(r.Agents, " "), r.Tool, r.Branch, r.Decision, r.Outcome, r.Rows, entities})
	}
	return &report{doc: map[string]any{"records": list}, columns: columns("time", "actor", "agents", "tool", "branch", "decision", "outcome", "rows", "entities"), rows: rowsOf(rows)}
}

// newAuditVerify makes the command omnigraph audit verify.
func newAuditVerify() *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Find records that somebody removed, changed or reordered",
		Long: `Read the audit trail in a storage folder, or at the URL of shared storage, and check the chain of
hashes of each server. For a chain that is broken, name the first record that was removed, changed or
reordered. The exit code is 1 if a chain is broken. The command needs no server, and does not disturb
one that runs.

A chain that somebody made anew, or cut at its end, is whole. Compare the head with one that was kept
elsewhere: a server with OTLP sends its head as the span "audit head" every minute.`,
		Example: "  omnigraph audit verify data",
		Args:    usage.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			store, done, err := openTrail(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer done()
			chains, err := store.Verify(cmd.Context())
			if err != nil {
				return err
			}
			r, broken := chainsReport(chains)
			return errors.Join(f.print(cmd, r), broken)
		},
	}
	f.flags(cmd)
	return cmd
}

// chainsReport returns the report of chains, and an error if one is broken.
func chainsReport(chains []audittrail.Chain) (*report, error) {
	type gap struct {
		Since  string `json:"since"`
		Lost   uint64 `json:"lost,omitempty"`
		Reason string `json:"reason"`
	}
	type row struct {
		Server  string  `json:"server"`
		First   uint64  `json:"first"`
		Last    uint64  `json:"last"`
		Head    string  `json:"head"`
		Gaps    []gap   `json:"gaps"`
		Fault   *string `json:"fault"`
		Kind    *string `json:"fault_kind"`
		Record  *uint64 `json:"fault_record"`
		Removed uint64  `json:"removed_to,omitempty"`
	}
	rows, broken := []row{}, 0
	for _, c := range chains {
		r := row{Server: c.Server, First: c.First, Last: c.Last, Head: hex.EncodeToString(c.Head[:]), Gaps: []gap{}, Removed: c.Removed}
		for _, g := range c.Gaps {
			r.Gaps = append(r.Gaps, gap{g.Since.UTC().Format(time.RFC3339Nano), g.Lost, g.Reason})
		}
		if c.Fault != nil {
			broken++
			text := c.Fault.String()
			r.Fault, r.Kind, r.Record = &text, &c.Fault.Kind, &c.Fault.Number
		}
		rows = append(rows, r)
	}
	r := &report{doc: map[string]any{"chains": rows}, columns: columns("server", "first", "last", "head", "fault"), rows: rowsOf(rows)}
	if broken == 0 {
		return r, nil
	}
	return r, fmt.Errorf("%s of the audit trail broken: records were removed, changed or reordered", map[bool]string{true: "a chain is", false: fmt.Sprintf("%d chains are", broken)}[broken == 1])
}

// openTrail opens the audit trail in a storage folder, in a folder that has one itself, or in shared storage.
func openTrail(ctx context.Context, at string) (*audittrail.Store, func(), error) {
	if address.Is(at) {
		return makeTrail(ctx, at)
	}
	if _, err := os.Stat(trailFolder(at)); err != nil {
		return nil, nil, fmt.Errorf("there is no audit trail in %s: %w; name the storage folder of a cluster", at, err)
	}
	return makeTrail(ctx, at)
}

// trailFolder returns the folder of the audit trail in a storage folder, or the folder itself if it is that of a trail.
func trailFolder(at string) string {
	if filepath.Base(at) == audittrail.Folder {
		return at
	}
	return filepath.Join(at, audittrail.Folder)
}

// makeTrail is like openTrail, but a storage without a trail gets an empty one.
func makeTrail(ctx context.Context, at string) (*audittrail.Store, func(), error) {
	if address.Is(at) {
		bucket, done, err := address.Open(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		return audittrail.NewStore(bucket, audittrail.Prefix), done, nil
	}
	bucket, err := object.NewFolder(fs.OS(), trailFolder(at))
	if err != nil {
		return nil, nil, err
	}
	return audittrail.NewStore(bucket, ""), func() {}, nil
}
