package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/replica"
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

With shared storage, the command also shows which server writes each graph, and for each
server the revision that it serves and the time of its last sign of life. A server that was
killed stays in this list.
` + noPolicy,
		Example: "  omnigraph cluster status\n  omnigraph cluster status --format json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.on(cmd, func(c *reconcile.Cluster, s *reconcile.Sources) error {
				p, err := c.Plan(cmd.Context(), s)
				if err != nil {
					return err
				}
				r := &report{columns: columns("graph_id", "state", "drift", "live_digest"), note: statusNote(p)}
				doc, rows := planDoc(p), statusRows(p)
				if c.Bucket != nil {
					if doc.Servers, err = replica.Signs(cmd.Context(), c.Bucket); err != nil {
						return fmt.Errorf("reading the signs of the servers: %w", err)
					}
					// A command that only looks, such as this one, has a sign too, by which servers recognize it.
					doc.Servers = slices.DeleteFunc(doc.Servers, func(s replica.Sign) bool { return s.Config == "" && len(s.Graphs) == 0 })
					addWriters(rows, doc.Servers)
					r.columns = columns("graph_id", "state", "drift", "live_digest", "writer", "epoch")
					r.note += serversNote(doc.Servers, p.Revision)
				}
				r.doc, r.rows = doc, rowsOf(rows)
				return f.print(cmd, r)
			})
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

	// Writer is the server that reports that it writes the graph, and Epoch is the number of its
	// takeover. Both are nil for a graph in a folder, and if no server reports it.
	Writer *string `json:"writer,omitempty"`
	Epoch  *uint64 `json:"epoch,omitempty"`
}

// addWriters adds the writers of the graphs to the lines. If several servers say that they write a
// graph, the one with the highest epoch does.
func addWriters(rows []statusRow, servers []replica.Sign) {
	for i := range rows {
		for j := range servers {
			g, ok := servers[j].Graphs[rows[i].GraphID]
			if ok && g.Role == replica.Writer && (rows[i].Epoch == nil || *rows[i].Epoch < g.Epoch) {
				rows[i].Writer, rows[i].Epoch = &servers[j].Node, &g.Epoch
			}
		}
	}
}

// serversNote lists the servers. For each server it adds the revision that it serves, and the time of its last sign of
// life, by the server's own clock.
func serversNote(servers []replica.Sign, recorded *reconcile.Revision) string {
	if len(servers) == 0 {
		return "; no server is running"
	}
	var texts []string
	for _, s := range servers {
		serves := ""
		if s.Revision > 0 {
			serves = fmt.Sprintf("serves revision %d, ", s.Revision)
			if recorded != nil && s.Revision != recorded.Number {
				serves = fmt.Sprintf("still serves revision %d, ", s.Revision)
			}
		}
		texts = append(texts, fmt.Sprintf("%s (%slast sign %s)", s.Node, serves, s.Renewed.Format(time.RFC3339)))
	}
	return "; servers: " + strings.Join(texts, ", ")
}

// kept is the state of a graph that cluster.yaml does not name.
const kept reconcile.State = "kept"

// statusRows returns a line for each graph.
func statusRows(p *reconcile.Plan) (rows []statusRow) {
	for _, g := range p.Graphs {
		rows = append(rows, statusRow{GraphID: g.ID, State: g.State(), Drift: g.Drifted(), LiveDigest: encoding.OrNil(g.Live)})
	}
	for _, k := range p.Kept {
		rows = append(rows, statusRow{GraphID: k.ID, State: kept, LiveDigest: encoding.OrNil(k.Live)})
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
