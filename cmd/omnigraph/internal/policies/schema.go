package policies

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// newSchema makes the command omnigraph policy schema.
func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the Cedar schema that .cedar policies are checked against",
		Example: "  omnigraph policy schema > policy.cedarschema",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), policy.CedarSchema())
			return err
		},
	}
}
