package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

func explainCommand() *cobra.Command {
	schema := ""
	cmd := &cobra.Command{
		Use:   "explain [--schema FILE] FILE [QUERY]",
		Short: "Print the plans of the queries in a file",
		Long: `Print the plan of a query, or of every query in a file, without data: variables,
clauses, columns, order, and what it touches of the schema.

Without --schema the schema is that of the graph in cluster.yaml, in the current
directory or a parent, that the file belongs to.`,
		Example: `  gq explain queries/code/calls.gq callers
  gq explain --schema schema.pg people.gq`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return &usageError{cmd, fmt.Errorf("found %d arguments, wanted a .gq file, and the name of a query if not all", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return explain(cmd, schema, args) },
	}
	cmd.Flags().StringVar(&schema, "schema", "", "the schema `FILE` (.pg)")
	return cmd
}

func explain(cmd *cobra.Command, schema string, args []string) error {
	if schema == "" {
		var err error
		if schema, err = schemaOf(cmd, args[0]); err != nil {
			return err
		}
	}
	texts := map[string]string{}
	pg, err := readSource(schema, texts)
	if err != nil {
		return err
	}
	src, err := readSource(args[0], texts)
	if err != nil {
		return err
	}
	s, faults := gq.CompileSchema(pg)
	var queries []*gq.Query
	if !faults.HasErrors() {
		var more diag.List
		queries, more = gq.CompileQueries(s, src)
		faults = append(faults, more...)
	}
	diag.Render(cmd.ErrOrStderr(), faults, texts, colored(cmd.ErrOrStderr()))
	if faults.HasErrors() {
		return &reportedError{}
	}
	found := false
	var names []string
	for _, q := range queries {
		names = append(names, q.Plan.Name)
		if len(args) == 2 && q.Plan.Name != args[1] {
			continue
		}
		if found {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		found = true
		fmt.Fprint(cmd.OutOrStdout(), plan.Format(q.Plan))
	}
	if !found && len(args) == 2 {
		msg := fmt.Sprintf("%s has no query %s", args[0], args[1])
		if help := diag.DidYouMean(args[1], names); help != "" {
			msg += "; " + help
		}
		return errors.New(msg)
	}
	return nil
}
