package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// errUnsupportedSteps is the error of a plan whose unsupported steps have been printed.
var errUnsupportedSteps = errors.New("the schema cannot be applied; each unsupported step gives its reason")

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newSchema) }

// newSchema makes the command omnigraph schema.
func newSchema() *cobra.Command {
	return usage.Group("schema", "Show, plan and apply the schema of a graph", newSchemaShow(), newSchemaPlan(), newSchemaApply())
}

// newSchemaShow makes the command omnigraph schema show.
func newSchemaShow() *cobra.Command {
	var f graphFlags
	var at engine.Target
	cmd := &cobra.Command{
		Use:     "show (--store DIR | --server URL --graph ID)",
		Short:   "Print the text of the schema",
		Long:    "Print the text of the schema. With --format, print a report that contains the text.",
		Example: "  omnigraph schema show --store data/people\n  omnigraph schema show --server http://127.0.0.1:8080 --graph people",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
				schema, err := s.graph.Schema(ctx, readOptions(at)...)
				if err != nil {
					return nil, err
				}
				r := single(schema, "", "schema_source")
				r.text = schema.SchemaSource
				return r, nil
			})
		},
	}
	f.flags(cmd)
	atFlags(cmd, &at.Branch, &at.Commit)
	return cmd
}

// newSchemaPlan makes the command omnigraph schema plan.
func newSchemaPlan() *cobra.Command {
	c := schemaChangeCommand{dryRun: true}
	return c.command("plan (--store DIR | --server URL --graph ID) --schema FILE",
		"Show the steps that schema apply would take",
		"Show the steps that schema apply would take. The exit code is 1 if a step is not supported.",
		"  omnigraph schema plan --store data/people --schema next.pg")
}

// newSchemaApply makes the command omnigraph schema apply.
func newSchemaApply() *cobra.Command {
	var c schemaChangeCommand
	cmd := c.command("apply (--store DIR | --server URL --graph ID) --schema FILE",
		"Apply a schema, and convert the stored data to it",
		"Apply a schema, and convert the stored data to it, as one commit. The command refuses a\nchange that removes values from the graph, unless you pass --allow-data-loss.",
		"  omnigraph schema apply --store data/people --schema next.pg --allow-data-loss")
	cmd.Flags().BoolVar(&c.opts.AllowDataLoss, "allow-data-loss", false, "permit steps that remove values from the graph")
	cmd.Flags().BoolVar(&c.opts.Hard, "hard", false, "also delete the values of dropped properties from the stored files, at the next checkpoint")
	c.w.flags(cmd)
	return cmd
}

// schemaChangeCommand is the command `schema plan` or `schema apply`.
type schemaChangeCommand struct {
	f            graphFlags
	w            writeFlags
	file, branch string               // schema file and branch
	dryRun       bool                 // only plan the change
	opts         engine.SchemaOptions // options of the change
}

// command returns the command with its flags.
func (c *schemaChangeCommand) command(use, short, long, example string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: usage.NoArgs, RunE: c.do}
	c.f.flags(cmd)
	cmd.Flags().StringVar(&c.file, "schema", "", "the .pg file")
	cmd.Flags().StringVar(&c.branch, "branch", "", "the branch whose schema to change (default: main)")
	return cmd
}

func (c *schemaChangeCommand) do(cmd *cobra.Command, _ []string) error {
	if err := usage.Required(cmd, "schema"); err != nil {
		return err
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return err
	}
	c.opts.WriteOptions = c.w.options(c.branch)
	c.opts.DryRun = c.opts.DryRun || c.dryRun
	return c.f.run(cmd, func(ctx context.Context, s *source) (*report, error) {
		change, err := s.ApplySchema(ctx, &schemaFile{c.file, string(text)}, c.opts)
		var loss *engine.DataLoss
		switch {
		case errors.As(err, &loss):
			return nil, lossRefused(err)
		case err != nil:
			return nil, err
		}
		r := &report{doc: only(change, "supported", "applied", "destructive", "step_count", "steps", "digest", "graph_commit_id"), columns: columns("step"), rows: rowsOf(change.Steps)}
		switch {
		case !change.Supported:
			return r, errUnsupportedSteps
		case change.GraphCommitID != nil:
			r.note = "commit " + *change.GraphCommitID
		case change.StepCount == 0:
			r.note = "the schema is already in force"
		default:
			r.note = "nothing was committed"
		}
		return r, nil
	})
}

// lossRefused adds a hint to the error of a refused destructive change: the flag that permits the
// change.
func lossRefused(err error) error {
	return fmt.Errorf("%w\n(the flag --allow-data-loss permits it)", err)
}

// ApplySchema applies a schema, or plans that.
func (src *source) ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*client.SchemaApplied, error) {
	body := client.SchemaBody{SchemaSource: s.text, Branch: opts.Branch, AllowDataLoss: opts.AllowDataLoss, Hard: opts.Hard, DryRun: opts.DryRun}
	if !utf8.ValidString(s.text) { // the JSON of a request cannot contain the text
		_, found := gq.CompileSchema(gq.Source{Name: s.name, Text: s.text})
		return nil, &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{s.name: s.text}}
	}
	a, err := src.graph.ApplySchema(inprocess.WithFile(ctx, s.name), body, writeOptions(opts.WriteOptions)...)
	err = withFileName(err, s.name, s.text)
	if opts.AllowDataLoss || opts.DryRun || !errors.Is(err, client.ErrConflict) {
		return a, err
	}
	// The error envelope does not say whether the loss of data was the reason. A plan shows whether
	// the change is destructive.
	body.DryRun = true
	var condition []client.WriteOption
	if opts.IfCommit != "" {
		condition = append(condition, client.IfCommit(opts.IfCommit))
	}
	if plan, planned := src.graph.ApplySchema(ctx, body, condition...); planned == nil && plan.Supported && plan.Destructive {
		return nil, lossRefused(err)
	}
	return nil, err
}
