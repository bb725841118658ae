package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/lsp"
	"github.com/omnigraph-go/omnigraph/codegen"
)

// lspCommand makes the command gq lsp.
func lspCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor over standard input and output",
		Long: `Serve an editor over standard input and output, with the Language Server Protocol.

An editor starts this command. It reports the errors and findings of gq lint while you
type, and offers their fixes. It completes names from the schema, explains them, finds
and renames them, formats, and shows over each query the name and size of its tool, who
may call it, and whether it breaks callers. docs/editors.md has the settings for editors.`,
		Example: `  gq lsp < messages`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes no arguments", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), standardStream{cmd.InOrStdin(), cmd.OutOrStdout()}, lsp.Options{Tools: toolSizes, Earlier: earlierContracts})
		},
	}
}

// earlierContracts returns the contracts of the graphs at a git ref. For each graph it also returns
// the number of exposed queries from which on the meta tools replaced them.
func earlierContracts(root, ref string) ([]*codegen.Contract, map[string]int, error) {
	b := breaker{against: ref}
	if b.file() {
		return nil, nil, errors.New("the setting `against` names a file; name a git ref")
	}
	return b.earlier(root)
}

// standardStream is standard input and output as one stream.
type standardStream struct {
	io.Reader
	io.Writer
}

// Close ends a read that waits for input.
func (s standardStream) Close() error {
	if f, ok := s.Reader.(*os.File); ok {
		return f.Close()
	}
	return nil
}
