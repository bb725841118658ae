package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newVerify) }

// newVerify makes the command omnigraph verify.
func newVerify() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "verify (--store DIR | --server URL --graph ID)",
		Short: "Check all stored data, and list the corrupt objects",
		Long: `Read all stored data, check each commit that a branch or a merge needs, and list each
fault with the stored object that has it. The exit code is 1 if there are faults.`,
		Example: "  omnigraph verify --store data/people",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				a, err := s.graph.Verify(ctx)
				if err != nil {
					return nil, err
				}
				return verifyReport(a.Faults)
			})
			// Opening a store detects a corrupt log or manifest. Report that as verify does.
			if faults, rest := operations.StoredFaults(err); len(faults) > 0 && rest == nil {
				r, err := verifyReport(faults)
				return errors.Join(f.print(cmd, r), err)
			}
			return err
		},
	}
	f.flags(cmd)
	return cmd
}

// verifyReport returns the report of verify, and an error if there are faults.
func verifyReport(faults []client.StoredFault) (*report, error) {
	if faults == nil {
		faults = []client.StoredFault{}
	}
	r := &report{doc: map[string]any{"faults": faults}, columns: columns("object", "detail"), rows: rowsOf(faults)}
	if len(faults) == 0 {
		r.note = "no fault"
		return r, nil
	}
	return r, fmt.Errorf("the store has %s", plural(int64(len(faults)), "fault"))
}

// newVersion makes the command omnigraph version.
func newVersion() *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  omnigraph version --format table",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			doc := map[string]any{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			return f.print(cmd, single(doc, "", "version", "go", "os", "arch"))
		},
	}
	f.flags(cmd)
	return cmd
}
