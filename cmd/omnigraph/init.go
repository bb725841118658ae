package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/fs"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// initAnswer is the JSON form of the report of init.
type initAnswer struct {
	Store     string `json:"store"`      // path of the new graph
	NodeTypes int    `json:"node_types"` // number of node types
	EdgeTypes int    `json:"edge_types"` // number of edge types
}

// newInit makes the command omnigraph init.
func newInit() *cobra.Command {
	var schema, store string
	var format formatFlags
	cmd := &cobra.Command{
		Use:     "init --schema FILE --store DIR",
		Short:   "Create an empty graph with a schema",
		Example: "  omnigraph init --schema schema.pg --store data/graph",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "schema", "store"); err != nil {
				return err
			}
			if err := format.check(); err != nil {
				return err
			}
			text, err := os.ReadFile(schema)
			if err != nil {
				return err
			}
			catalog, faults := gq.CompileSchema(gq.Source{Name: schema, Text: string(text)})
			if len(faults) > 0 {
				diag.Render(cmd.ErrOrStderr(), faults, map[string]string{schema: string(text)}, isTerminal(cmd.ErrOrStderr()))
			}
			if faults.HasErrors() {
				return fmt.Errorf("%s has errors; the command created no graph", schema)
			}
			g, err := embedded.Create(cmd.Context(), fs.OS(), store, string(text), catalog, embedded.Options{})
			if err != nil {
				return err
			}
			if err := g.Close(); err != nil {
				return err
			}
			return format.print(cmd, single(&initAnswer{store, len(catalog.Nodes), len(catalog.Edges)}, "", "store", "node_types", "edge_types"))
		},
	}
	format.flags(cmd)
	cmd.Flags().StringVar(&schema, "schema", "", "the .pg file")
	cmd.Flags().StringVar(&store, "store", "", "the folder of the graph, which init creates")
	return cmd
}
