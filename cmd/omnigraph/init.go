package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/diag"
)

func newInit() *cobra.Command {
	var schema, store string
	cmd := &cobra.Command{
		Use:     "init --schema FILE --store DIR",
		Short:   "Make an empty graph with a schema",
		Example: "  omnigraph init --schema queries/code/schema.pg --store data/code",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "schema", "store"); err != nil {
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
				return fmt.Errorf("%s has errors; no graph was made", schema)
			}
			g, err := embedded.Create(cmd.Context(), fs.OS(), store, string(text), catalog, embedded.Options{})
			if err != nil {
				return err
			}
			if err := g.Close(); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "made an empty graph in %s: %d node types, %d edge types\n", store, len(catalog.Nodes), len(catalog.Edges))
			return nil
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "the .pg file")
	cmd.Flags().StringVar(&store, "store", "", "the graph's folder; it is made")
	return cmd
}
