package launch

import (
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/manual"
)

// newDocs returns the command that prints the reference of omnigraph-server. It is hidden
// because only this repository needs it.
func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:               "docs",
		Short:             "Print the reference of the command as Markdown",
		Example:           "  omnigraph-server docs > omnigraph-server.md",
		Hidden:            true,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(manual.Page(cmd.Root(), "Command omnigraph-server", "omnigraph-server docs"))
			return err
		},
	}
}
