package policies

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// newValidate makes the command omnigraph policy validate.
func newValidate() *cobra.Command {
	var s policySource
	var as string
	cmd := &cobra.Command{
		Use:   "validate [FILE] [--cluster DIR] [--graph ID]",
		Short: "Check policy files: every key, name, scope and query",
		Long: `Check every key, name, scope, query and filter in policy files, and report each error with its
position. A warning is about a rule that probably shows more than was meant.

Without FILE the command checks all policies that cluster.yaml names. If cluster.yaml
names FILE, the command checks it against the graphs that it applies to. Otherwise it
checks FILE alone, and cannot check the names of queries.`,
		Example: "  omnigraph policy validate\n  omnigraph policy validate queries/code/policy.yaml --format json",
		Args:    maxOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(as); err != nil {
				return err
			}
			if len(args) > 0 {
				s.file = args[0]
			}
			return validate(cmd, &s, as)
		},
	}
	s.flags(cmd)
	formatFlag(cmd, &as)
	return cmd
}

// validated is the report on one policy file and one graph or server that it applies to.
type validated struct {
	File      string    `json:"file"`       // path of the policy file
	AppliesTo string    `json:"applies_to"` // id of the graph, or cluster for the server
	Valid     bool      `json:"valid"`      // the file has no errors
	Faults    diag.List `json:"faults"`     // what is wrong with the file, and warnings
}

// validate checks policy files and prints the faults in the output format `as`.
func validate(cmd *cobra.Command, s *policySource, as string) error {
	type job struct {
		bound
		options policy.Options
	}
	var jobs []job
	cfg, err := s.config(cmd)
	if err != nil {
		return err
	}
	if cfg != nil {
		for _, b := range bindings(cfg) {
			if (s.file == "" || sameFile(b.file, s.file)) && (s.graph == "" || s.graph == b.name()) {
				o, err := optionsOf(cmd, cfg, b)
				if err != nil {
					return err
				}
				jobs = append(jobs, job{b, o})
			}
		}
	}
	if jobs == nil {
		b, o, err := s.binding(cmd)
		if err != nil {
			return err
		}
		jobs = append(jobs, job{b, o})
	}
	var reports []validated
	var failed error
	var groups []string // groups of the policies without faults
	for _, j := range jobs {
		r := validated{File: j.file, AppliesTo: j.name(), Faults: diag.List{}}
		p, err := policy.Read(j.file, j.options)
		switch {
		case err == nil:
			r.Valid = true
			groups = append(groups, p.Groups()...)
			if r.Faults = append(r.Faults, p.Warnings(j.options.Schemas...)...); as == "text" && len(r.Faults) > 0 {
				terminal.PrintFaults(cmd, r.Faults)
			}
		case as == "json" && errors.As(err, &r.Faults):
			failed = terminal.Summary(r.Faults)
		default:
			failed = terminal.PrintFaults(cmd, err)
		}
		reports = append(reports, r)
		if r.Valid && as == "text" {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: valid for %s\n", j.file, j.name())
		}
	}
	if cfg != nil && failed == nil && len(jobs) == len(bindings(cfg)) {
		slices.Sort(groups)
		if err := cfg.Server.CheckGroups(slices.Compact(groups)); err != nil {
			failed = terminal.PrintFaults(cmd, err)
		}
	}
	if as == "json" {
		if err := writeJSON(cmd.OutOrStdout(), reports); err != nil {
			return err
		}
	}
	return failed
}
