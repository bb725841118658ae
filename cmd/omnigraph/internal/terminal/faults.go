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
	return Summary(faults)
}

// Summary returns an error that says how many errors a list has, and where the first one is.
func Summary(faults diag.List) error {
	var errs diag.List
	for _, d := range faults {
		if d.Severity == diag.Error {
			errs = append(errs, d)
		}
	}
	switch len(errs) {
	case 0:
		return faults
	case 1:
		return fmt.Errorf("%s has 1 error, in line %d", errs[0].Span.File, errs[0].Span.Start.Line)
	}
	return fmt.Errorf("%s has %d errors, the first in line %d", errs[0].Span.File, len(errs), errs[0].Span.Start.Line)
}
