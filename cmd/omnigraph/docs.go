package main

import (
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/manual"
)

// newDocs returns the verb that prints the reference of the commands. The verb is hidden, because
// only this repository needs it.
func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:     "docs",
		Short:   "Print the reference of the commands as Markdown",
		Example: "  omnigraph docs > commands.md",
		Hidden:  true,
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := cmd.OutOrStdout().Write(commandsPage(cmd.Root()))
			return err
		},
	}
}

// commandsPage returns the content of docs/reference/commands.md.
func commandsPage(root *cobra.Command) []byte {
	return manual.Page(root, "Commands of omnigraph", "omnigraph docs")
}
