package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/service"
)

func newLoad() *cobra.Command {
	var f graphFlags
	var w writeFlags
	var data, mode, branch string
	cmd := &cobra.Command{
		Use:   "load (--store DIR | --server URL --graph ID) --data FILE",
		Short: "Load NDJSON into a graph as one commit",
		Long: `Load NDJSON into a graph as one commit.

Each line is one entity: {"type":"Person","data":{…}} or
{"edge":"Knows","from":"<id>","to":"<id>","data":{…}}. When any line is bad nothing
is loaded, and the bad lines are listed.

Modes: merge replaces entities that exist, append refuses them, overwrite first
removes every entity of the types that occur in the file.`,
		Example: "  omnigraph load --store data/people --data seed.jsonl --mode overwrite\n" +
			"  omnigraph index go ./... | omnigraph load --store data/code --data -\n" +
			"  omnigraph load --server http://127.0.0.1:8080 --graph people --data seed.jsonl",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := f.endpoint.check(); err != nil {
				return err
			}
			if err := required(cmd, "data"); err != nil {
				return err
			}
			opts := engine.LoadOptions{WriteOptions: w.options(branch)}
			var ok bool
			if opts.Mode, ok = engine.ParseLoadMode(mode); !ok {
				return usageError{fmt.Errorf("--mode is %q; it is merge, append or overwrite", mode)}
			}
			in, name := cmd.InOrStdin(), "standard input"
			if data != "-" {
				file, err := os.Open(data)
				if err != nil {
					return err
				}
				defer file.Close()
				in, name = file, data
			}
			return f.run(cmd, func(ctx context.Context, s source) (*report, error) {
				bar := newProgress(cmd.ErrOrStderr())
				opts.Progress = func(lines int64) { bar.show("loading lines", int(lines), 0) }
				res, err := s.Load(ctx, in, opts)
				bar.done()
				if err != nil {
					return nil, fmt.Errorf("%s: nothing was loaded: %w", name, err)
				}
				return loadReport(res), nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&data, "data", "", "the NDJSON file, or - for standard input")
	cmd.Flags().StringVar(&mode, "mode", "merge", "merge, append or overwrite")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"merge", "append", "overwrite"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVar(&branch, "branch", "", "the branch to load into (default: main)")
	w.flags(cmd)
	return cmd
}

func loadReport(res *service.LoadAnswer) *report {
	type typeRow struct {
		EntityKind string `json:"entity_kind"`
		service.LoadedType
	}
	r := &report{doc: res, columns: columns("entity_kind", "name", "entities_loaded"), rows: []any{}}
	for _, t := range res.Nodes {
		r.rows = append(r.rows, typeRow{"node", t})
	}
	for _, t := range res.Edges {
		r.rows = append(r.rows, typeRow{"edge", t})
	}
	switch {
	case len(r.rows) == 0:
		r.note = "the input holds no entity; nothing was committed"
	case res.Commit == nil:
		r.note = "nothing was committed"
	default:
		r.note = "commit " + *res.Commit
	}
	return r
}
