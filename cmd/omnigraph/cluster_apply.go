package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// newClusterApply makes the command omnigraph cluster apply.
func newClusterApply() *cobra.Command {
	var f clusterFlags
	var o reconcile.Options
	var prune bool
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Create and change graphs to match cluster.yaml, and record the revision",
		Long: `Create the graphs of cluster.yaml, change the schema of each graph on branch main to the
schema in its file, compile the stored queries, and record the result with the policies as
the revision that servers serve: a server needs no Go program to serve the queries. Running
servers need no restart: they serve the revision within a second, also new graphs. If an
apply was interrupted, run it again to finish it. After a complete apply, another one
changes nothing.

If a step removes values from a graph, or a change of the queries breaks callers of their
tools, the command exits with code 4 until you approve it with the digest that cluster plan
prints. The command keeps graphs that
cluster.yaml does not name.

With --revision, the content of an earlier revision becomes the next one: schemas and stored
queries, planned against the data of today. The policies stay, unless --with-policy is given.

If the server that runs has a policy that names the action cluster_apply, it must allow the
action to the actor of --as, who must not be an agent.
` + noPolicy,
		Example: "  omnigraph cluster apply\n  omnigraph cluster apply --cluster . --as act-ada --format json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.on(cmd, func(c *reconcile.Cluster, s *reconcile.Sources) error {
				if o.Message == "" && f.revision > 0 {
					o.Message = fmt.Sprintf("revision %d again", f.revision)
				}
				s.Prune = prune
				out, err := c.Apply(cmd.Context(), s, o)
				if out == nil || err != nil && len(out.Applied) == 0 {
					return err
				}
				// Print the completed work even if the apply was interrupted.
				for _, a := range out.Unneeded {
					fmt.Fprintf(cmd.ErrOrStderr(), "the approval %s was not needed: no change has that digest\n", a)
				}
				if out.Recorded {
					for _, name := range out.Revision.NeedStart(out.Plan.Revision) {
						fmt.Fprintf(cmd.ErrOrStderr(), "%s takes effect when each server is started again\n", name)
					}
				}
				return errors.Join(f.print(cmd, applyReport(out, err != nil)), err)
			})
		},
	}
	f.flags(cmd)
	f.again(cmd)
	messageVar(cmd, &o.Message)
	cmd.Flags().StringArrayVar(&o.Approved, "approve", nil, "permit the change with this `DIGEST`, which plan prints, to remove values from its graph; repeat the flag for each change")
	cmd.Flags().StringArrayVar(&o.Breaking, "breaking", nil, "permit changes of tools that break their callers, with this `DIGEST`, which plan prints; repeat the flag for each graph")
	cmd.Flags().StringVar(&o.Actor, "as", localActor, "the actor that is recorded in commits and in the revision")
	cmd.Flags().BoolVar(&prune, "prune", false, "drop the proposed queries that only the revision has, which gq pull writes into the module")
	return cmd
}

// appliedAnswer describes the work of cluster apply on one graph.
type appliedAnswer struct {
	GraphID string  `json:"graph_id"` // id of the graph
	Change  string  `json:"change"`   // created, changed or none
	Commit  *string `json:"commit"`   // id of the commit that changed the graph; null for none
}

// applyReport reports an apply. `short` is true if the apply was interrupted; the report then has
// the work done so far.
func applyReport(out *reconcile.Outcome, short bool) *report {
	graphs := []appliedAnswer{}
	for _, g := range out.Plan.Graphs {
		a := appliedAnswer{GraphID: g.ID, Change: "none"}
		for _, done := range out.Applied {
			switch {
			case done.ID != g.ID:
			case done.Created:
				a.Change, a.Commit = "created", &done.Commit
			default:
				a.Change, a.Commit = "changed", &done.Commit
			}
		}
		graphs = append(graphs, a)
	}
	doc := struct {
		Revision *revisionAnswer `json:"revision"`
		Recorded bool            `json:"recorded"`
		Graphs   []appliedAnswer `json:"graphs"`
	}{revisionJSON(out.Revision), out.Recorded, graphs}
	note := ""
	switch {
	case short:
		note = "the apply was interrupted; run it again to finish"
	case out.Served:
		note = fmt.Sprintf("revision %d is recorded, and the running server serves it", out.Revision.Number)
	case out.Recorded:
		note = fmt.Sprintf("revision %d is recorded", out.Revision.Number)
	case len(out.Applied) == 0:
		note = fmt.Sprintf("there was nothing to do; revision %d is in force", out.Revision.Number)
	default:
		note = fmt.Sprintf("the graphs match revision %d again", out.Revision.Number)
	}
	return &report{doc: doc, columns: columns("graph_id", "change", "commit"), rows: rowsOf(graphs), note: note}
}
