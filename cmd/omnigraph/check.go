package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
)

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newCheck) }

// newCheck makes the command omnigraph check.
func newCheck() *cobra.Command {
	var f graphFlags
	var branch string
	cmd := &cobra.Command{
		Use:   "check (--store DIR | --server URL --graph ID)",
		Short: "Run the checks of a graph on a branch",
		Long: `Run the checks of a graph on the head of a branch. A check is a stored query with the annotation
@must_be_empty; it passes if the query returns no row. The exit code is 0 if all checks passed, and 1
if a check failed or did not finish.`,
		Example: "  omnigraph check --store data/people --branch feature\n  omnigraph check --server http://127.0.0.1:8080 --graph code --format json",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				a, err := s.graph.Checks(ctx, branch)
				if err != nil {
					return nil, err
				}
				return checksReport(a)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&branch, "branch", "", "the branch to check (default: main)")
	return cmd
}

// checksReport returns the report of checks, and an error unless all passed.
func checksReport(a *client.ChecksAnswer) (*report, error) {
	r := &report{doc: a, columns: columns("outcome", "title", "query", "rows"), rows: rowsOf(a.Checks)}
	notes, bad := checkNotes(a.Checks)
	switch {
	case len(a.Checks) == 0:
		notes = append(notes, "the graph has no checks")
	case bad == 0:
		notes = append(notes, "all passed on branch "+a.Branch)
	}
	r.note = strings.Join(notes, "; ")
	if bad == 0 {
		return r, nil
	}
	if bad == 1 {
		return r, errors.New("1 check did not pass")
	}
	return r, fmt.Errorf("%d checks did not pass", bad)
}

// checkNotes returns a note for each check that did not pass, and the number of these checks.
func checkNotes(all []client.CheckResult) (notes []string, bad int) {
	for _, c := range all {
		switch c.Outcome {
		case client.CheckPassed:
			continue
		case client.CheckFailed:
			notes = append(notes, "failed: "+c.Title)
		default:
			why := ""
			if c.Reason != nil {
				why = " (" + *c.Reason + ")"
			}
			notes = append(notes, "unfinished: "+c.Title+why)
		}
		bad++
	}
	return notes, bad
}
