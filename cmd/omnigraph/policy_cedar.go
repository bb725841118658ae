package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPolicyCedar() *cobra.Command {
	var s policySource
	cmd := &cobra.Command{
		Use:   "cedar [FILE] [--cluster DIR] [--graph ID]",
		Short: "Print a policy as a .cedar file that decides alike",
		Long: `Print a policy as a .cedar file that decides alike.

A .cedar file declares neither groups nor protected branches: the members of a group
and the protected branches are written into the rules. Groups that tokens of an issuer
map to stay groups. Take the file in place of the bundle to say what YAML cannot.`,
		Example: "  omnigraph policy cedar > policy.cedar\n  omnigraph policy cedar queries/code/policy.yaml",
		Args:    maxOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				s.file = args[0]
			}
			p, _, err := s.choose(cmd)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), p.Standalone())
			return err
		},
	}
	s.flags(cmd)
	return cmd
}
