package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

// newClusterHistory makes the command omnigraph cluster history.
func newClusterHistory() *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the applied revisions: who applied what, when and why",
		Long: `List the applied revisions, the newest first: who applied each one and when, the message of
the apply, and what it changed in the revision before. cluster apply --revision applies one of them again.
` + noPolicy,
		Example: "  omnigraph cluster history --cluster . --format table",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.read(cmd)
			if err != nil {
				return terminal.PrintFaults(cmd, err)
			}
			return f.connect(cmd, cfg, func(c *reconcile.Cluster) error {
				history, err := c.History(cmd.Context())
				if err != nil {
					return err
				}
				list, rows := []appliedRevision{}, []any{}
				for _, e := range history {
					r := appliedRevision{*revisionJSON(e.Revision), e.Changes}
					list = append(list, r)
					rows = append(rows, struct {
						revisionAnswer
						Changes string `json:"changes"`
					}{r.revisionAnswer, strings.Join(r.Changes, "; ")})
				}
				return f.print(cmd, &report{doc: map[string]any{"revisions": list},
					columns: columns("revision", "applied_at", "actor", "message", "changes"), rows: rows})
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// appliedRevision is the JSON form of a revision in the history.
type appliedRevision struct {
	revisionAnswer
	Changes []string `json:"changes"` // in the revision before it; null if that one is not stored
}
