package policies

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/buildversion"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// newTools makes the command omnigraph policy tools.
func newTools() *cobra.Command {
	var s policySource
	var actor, as string
	var groups []string
	cmd := &cobra.Command{
		Use:   "tools --actor ACTOR [--cluster DIR] [--graph ID]",
		Short: "Print the tools that tools/list returns to an actor",
		Long: `Print the tools that tools/list returns to an actor, for a graph of cluster.yaml.

The command reads the data folder of the graph if no server has it open. It compiles the
stored queries from their sources, so it shows the tools of a server that is built from
the same sources. --format json prints the tools in the form that clients receive.`,
		Example: "  omnigraph policy tools --actor act-ada\n  omnigraph policy tools --actor act-ada --format json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(as); err != nil {
				return err
			}
			if err := usage.Required(cmd, "actor"); err != nil {
				return err
			}
			return printTools(cmd, &s, access.Named(actor, groups), as)
		},
	}
	s.flags(cmd)
	formatFlag(cmd, &as)
	tokenGroupsFlag(cmd, &groups)
	cmd.Flags().StringVar(&actor, "actor", "", "the actor")
	return cmd
}

// printTools prints the tools that an actor sees, in the output format `as`.
func printTools(cmd *cobra.Command, s *policySource, actor *access.Actor, as string) error {
	cfg, err := s.config(cmd)
	if err != nil {
		return err
	}
	if cfg == nil {
		return usage.Errorf("there is no cluster.yaml here; name its folder with --cluster")
	}
	g := cfg.Graph(s.graph)
	switch {
	case s.graph == "" && len(cfg.Graphs) == 1:
		g = &cfg.Graphs[0]
	case s.graph == "":
		return usage.Errorf("--graph is missing; %s names %d graphs, so name one of them", cfg.File, len(cfg.Graphs))
	case g == nil:
		return fmt.Errorf("%s names no graph %q", cfg.File, s.graph)
	}
	catalog, err := reconcile.CompileQueries(cfg, g)
	if err != nil {
		return terminal.PrintFaults(cmd, err)
	}
	list, err := server.ListTools(cmd.Context(), server.Options{Cluster: cfg, Catalogs: []*tool.Catalog{catalog}, Version: buildversion.Program()}, g.ID, actor)
	if err != nil {
		return terminal.PrintFaults(cmd, err)
	}
	if list.Unopened != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "the list is for an empty graph with the schema %s, because %s\nit leaves out the tools that the actor may use only on a branch that exists in the real graph and that the policy does not name\n", g.Schema, list.Unopened)
	}
	if as == "json" {
		return writeJSON(cmd.OutOrStdout(), list.Tools)
	}
	var tools []struct{ Name, Title string }
	if err := json.Unmarshal(list.Tools, &tools); err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, t := range tools {
		fmt.Fprintf(w, "%s\t%s\n", t.Name, t.Title)
	}
	return w.Flush()
}
