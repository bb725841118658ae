package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/buildversion"
)

// versionCommand makes the command gq version.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  gq version",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes none", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "gq %s (%s %s/%s)\n", buildversion.Program(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
