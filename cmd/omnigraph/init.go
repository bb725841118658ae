package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// initAnswer is the JSON form of the report of init.
type initAnswer struct {
	Store     string `json:"store"`      // path of the new graph
	NodeTypes int    `json:"node_types"` // number of node types
	EdgeTypes int    `json:"edge_types"` // number of edge types
}

// newInit makes the command omnigraph init.
func newInit() *cobra.Command {
	var schema, store, graph string
	var format formatFlags
	cmd := &cobra.Command{
		Use:     "init --schema FILE --store DIR",
		Short:   "Create an empty graph with a schema",
		Example: "  omnigraph init --schema schema.pg --store data/graph\n  omnigraph init --schema schema.pg --store 's3://team-graphs/prod' --graph people",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "schema", "store"); err != nil {
				return err
			}
			switch {
			case address.Is(store) && !cluster.IsGraphID(graph):
				return usage.Errorf("--graph is missing or is not an id; give the graph in the shared storage a lower-case letter and then at most 62 of a-z, 0-9, _ and -")
			case !address.Is(store) && graph != "":
				return usage.Errorf("--graph is only for shared storage; the folder that --store names is the graph")
			}
			if err := format.check(); err != nil {
				return err
			}
			text, err := os.ReadFile(schema)
			if err != nil {
				return err
			}
			compiled, faults := gq.CompileSchema(gq.Source{Name: schema, Text: string(text)})
			if len(faults) > 0 {
				diag.Render(cmd.ErrOrStderr(), faults, map[string]string{schema: string(text)}, terminal.Is(cmd.ErrOrStderr()))
			}
			if faults.HasErrors() {
				return fmt.Errorf("%s has errors; the command created no graph", schema)
			}
			if address.Is(store) {
				err = createShared(cmd.Context(), store, graph, string(text), compiled)
			} else {
				err = createFolder(cmd.Context(), store, string(text), compiled)
			}
			if err != nil {
				return err
			}
			return format.print(cmd, single(&initAnswer{store, len(compiled.Nodes), len(compiled.Edges)}, "", "store", "node_types", "edge_types"))
		},
	}
	format.flags(cmd)
	cmd.Flags().StringVar(&schema, "schema", "", "the .pg file")
	cmd.Flags().StringVar(&store, "store", "", "the folder of the graph, which init creates, or the URL of shared storage")
	cmd.Flags().StringVar(&graph, "graph", "", "the id of the graph in shared storage")
	return cmd
}

// createFolder makes a graph in a folder, and closes it.
func createFolder(ctx context.Context, dir, source string, schema *catalog.Schema) error {
	g, err := embedded.Create(ctx, fs.OS(), dir, source, schema, embedded.Options{})
	if err != nil {
		return err
	}
	return g.Close()
}
