package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

func newClusterStatus() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the recorded revision and the state of every graph",
		Long: `Show the recorded revision and the state of every graph: up_to_date; create, change or
record, which apply does; blocked, which cluster plan explains; in_use, when a server has
it open; and kept, when cluster.yaml does not name it. A graph has drifted when its live
schema is not the one that the revision says was applied.
` + noPolicy,
		Example: "  omnigraph cluster status\n  omnigraph cluster status --format json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, s, err := f.compile(cmd)
			if err != nil {
				return err
			}
			p, err := c.Plan(cmd.Context(), s)
			if err != nil {
				return err
			}
			return f.print(cmd, &report{doc: planDoc(p), columns: columns("graph_id", "state", "drift", "live_digest"), rows: rowsOf(statusRows(p)), note: statusNote(p)})
		},
	}
	f.flags(cmd)
	return cmd
}

// statusRow is one line of cluster status.
type statusRow struct {
	GraphID    string          `json:"graph_id"`
	State      reconcile.State `json:"state"`
	Drift      bool            `json:"drift"`
	LiveDigest *string         `json:"live_digest"`
}

// kept is the state of a graph that cluster.yaml does not name.
const kept reconcile.State = "kept"

func statusRows(p *reconcile.Plan) (rows []statusRow) {
	for _, g := range p.Graphs {
		rows = append(rows, statusRow{g.ID, g.State(), g.Drifted(), orNull(g.Live)})
	}
	for _, k := range p.Kept {
		rows = append(rows, statusRow{k.ID, kept, false, orNull(k.Live)})
	}
	return rows
}

func statusNote(p *reconcile.Plan) string {
	note := "no revision is recorded"
	if r := p.Revision; r != nil {
		note = fmt.Sprintf("revision %d, applied %s by %s", r.Number, time.UnixMicro(r.Applied).UTC().Format("2006-01-02T15:04:05.000000Z"), r.Actor)
	}
	if p.Pending() {
		return note + "; there are changes to apply"
	}
	return note
}
