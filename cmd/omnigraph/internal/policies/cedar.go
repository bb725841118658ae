package policies

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCedar makes the command omnigraph policy cedar.
func newCedar() *cobra.Command {
	var s policySource
	cmd := &cobra.Command{
		Use:   "cedar [FILE] [--cluster DIR] [--graph ID]",
		Short: "Print a policy as a .cedar file that makes the same decisions",
		Long: `Print a policy as a .cedar file that makes the same decisions.

A .cedar file cannot declare groups or protected branches, so its rules list the members
of each group and the protected branches. Groups that come from the tokens of an issuer
remain groups. Use the file instead of the YAML policy for rules that YAML cannot express.`,
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
