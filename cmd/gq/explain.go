package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// explainCommand makes the command gq explain.
func explainCommand() *cobra.Command {
	schema := ""
	cmd := &cobra.Command{
		Use:   "explain [--schema FILE] FILE [QUERY]",
		Short: "Print the plans of the queries in a file",
		Long: `Print the plan of a query, or of every query in a file: its variables, clauses,
columns and order, and the types and properties of the schema that it uses. The
command reads no data.

Without --schema the command reads cluster.yaml in the current directory or a parent,
and uses the schema of the graph that the file belongs to.`,
		Example: `  gq explain queries/code/calls.gq callers
  gq explain --schema schema.pg people.gq`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return &usageError{cmd, fmt.Errorf("got %d arguments; give a .gq file and, to explain only one of its queries, the name of that query", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return explain(cmd, schema, args) },
	}
	cmd.Flags().StringVar(&schema, "schema", "", "the schema `FILE` (.pg)")
	return cmd
}

// explain prints the plans of one query or of all queries in a file.
func explain(cmd *cobra.Command, schema string, args []string) error {
	var claims plan.Claims
	if schema == "" {
		var err error
		if schema, claims, err = schemaOf(cmd, args[0]); err != nil {
			return err
		}
	} else {
		cfg, err := readConfig(".", cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		claims = cfg.Claims
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
		queries, more = gq.Options{Claims: claims}.CompileQueries(s, src)
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
