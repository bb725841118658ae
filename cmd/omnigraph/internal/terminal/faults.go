package terminal

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// PrintFaults prints the faults of a file with their lines, and returns the error that the caller
// still has to report.
func PrintFaults(cmd *cobra.Command, err error) error {
	var faults diag.List
	if !errors.As(err, &faults) {
		return err
	}
	texts := map[string]string{}
	for _, d := range faults {
		if b, err := os.ReadFile(d.Span.File); err == nil {
			texts[d.Span.File] = string(b)
		}
	}
	diag.Render(cmd.ErrOrStderr(), faults, texts, Is(cmd.ErrOrStderr()))
	return fmt.Errorf("%s has faults", faults[0].Span.File)
}
