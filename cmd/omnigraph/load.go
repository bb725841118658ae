package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

func newLoad() *cobra.Command {
	var store, data, mode, actor string
	cmd := &cobra.Command{
		Use:   "load --store DIR --data FILE",
		Short: "Load NDJSON into a graph as one commit",
		Long: `Load NDJSON into a graph as one commit.

Each line is one entity: {"type":"Person","data":{…}} or
{"edge":"Knows","from":"<id>","to":"<id>","data":{…}}. When any line is bad nothing
is loaded, and the bad lines are listed.

Modes: merge replaces entities that exist, append refuses them, overwrite first
removes every entity of the types that occur in the file.`,
		Example: "  omnigraph load --store data/code --data seed.jsonl --mode overwrite\n  omnigraph index go ./... | omnigraph load --store data/code --data -",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := required(cmd, "store", "data"); err != nil {
				return err
			}
			opts := engine.LoadOptions{WriteOptions: engine.WriteOptions{Actor: actor}}
			var ok bool
			if opts.Mode, ok = engine.ParseLoadMode(mode); !ok {
				return usageError{fmt.Errorf("--mode is %q; it is merge, append or overwrite", mode)}
			}
			var in io.Reader = cmd.InOrStdin()
			if data != "-" {
				f, err := os.Open(data)
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			g, err := embedded.Open(cmd.Context(), fs.OS(), store, embedded.Options{})
			if err != nil {
				var missing *engine.NotFound
				if errors.As(err, &missing) {
					err = fmt.Errorf("%w; make it with: omnigraph init --schema FILE --store %s", err, store)
				}
				return err
			}
			defer func() {
				if cerr := g.Close(); err == nil {
					err = cerr
				}
			}()
			bar := newProgress(cmd.ErrOrStderr())
			opts.Progress = func(lines int64) { bar.show("loading lines", int(lines), 0) }
			res, err := g.Load(cmd.Context(), in, opts)
			bar.done()
			if err != nil {
				if data == "-" {
					data = "standard input"
				}
				return fmt.Errorf("%s: nothing was loaded: %w", data, err)
			}
			printLoad(cmd.OutOrStdout(), res)
			return nil
		},
	}
	cmd.Flags().StringVar(&store, "store", "", "the graph's folder")
	cmd.Flags().StringVar(&data, "data", "", "the NDJSON file, or - for standard input")
	cmd.Flags().StringVar(&mode, "mode", "merge", "merge, append or overwrite")
	cmd.Flags().StringVar(&actor, "as", "", "the actor recorded in the commit")
	return cmd
}

func printLoad(w io.Writer, res *engine.LoadResult) {
	for _, counts := range [][]engine.TypeCount{res.Nodes, res.Edges} {
		for _, c := range counts {
			fmt.Fprintf(w, "%10d %s\n", c.Count, c.Type)
		}
	}
	if len(res.Nodes)+len(res.Edges) == 0 {
		fmt.Fprintln(w, "the input holds no entity; nothing to commit")
		return
	}
	if res.Commit == nil {
		fmt.Fprintln(w, "the graph holds all of it already; nothing to commit")
		return
	}
	fmt.Fprintf(w, "commit %s\n", res.Commit.ID)
}
