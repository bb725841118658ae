package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
)

// newClusterStatus makes the command omnigraph cluster status.
func newClusterStatus() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the recorded revision and the state of every graph",
		Long: `Show the recorded revision and the state of every graph. The states create, change and
record name the action that cluster apply would take. A graph is up_to_date if it needs no
action, blocked if apply cannot change it (cluster plan gives the reason), in_use if a
server has it open, and kept if cluster.yaml does not name it. A graph has drifted if its live schema differs from
the schema that the revision records.
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
	GraphID    string          `json:"graph_id"`    // id of the graph
	State      reconcile.State `json:"state"`       // what cluster apply has to do
	Drift      bool            `json:"drift"`       // the live schema differs from the recorded one
	LiveDigest *string         `json:"live_digest"` // digest of the live schema; null if it is unknown
}

// kept is the state of a graph that cluster.yaml does not name.
const kept reconcile.State = "kept"

// statusRows returns a line for each graph.
func statusRows(p *reconcile.Plan) (rows []statusRow) {
	for _, g := range p.Graphs {
		rows = append(rows, statusRow{g.ID, g.State(), g.Drifted(), encoding.OrNil(g.Live)})
	}
	for _, k := range p.Kept {
		rows = append(rows, statusRow{k.ID, kept, false, encoding.OrNil(k.Live)})
	}
	return rows
}

// statusNote says which revision is recorded, and whether there are changes to apply.
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
