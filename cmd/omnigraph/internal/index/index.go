// Package index has the verbs that convert source code to NDJSON.
package index

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/outfile"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
)

// New makes the command omnigraph index. Its flag --watch writes to the target.
func New(target Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Convert source code to NDJSON that a graph can load",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("%q is not a language that omnigraph can index; use: omnigraph index go, or omnigraph index scip for an index of another language", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGo(target), newSCIP())
	return cmd
}

// newGo makes the command omnigraph index go.
func newGo(target Target) *cobra.Command {
	var dir, out string
	var deps bool
	var w watchFlags
	cmd := &cobra.Command{
		Use:   "go [PATTERN…]",
		Short: "Convert Go modules to NDJSON: their packages, files, symbols and calls",
		Long: `Convert a Go module to NDJSON for a graph with the schema of queries/code. In a folder with
a go.work, the command reads the modules that it names and that are below the folder. If neither the
folder nor a parent has a go.mod or go.work, the command reads every module below the
folder and writes them as one graph. For example, --dir ~/repositories reads all
repositories of a team.

The packages must compile. Their tests are read too, and errors in them are counted. PATTERN is a package pattern
of the go command; the default is ./... Each module says in not_covered what was left out, and
how much of it.

Nothing of the folder is run: the go command only lists the packages, and modules come from
the module cache, or from a proxy, never from a version control system. The command reads
regular files below the folder, of at most 32 MiB each.

If there are several modules, the command reads each one with its own dependencies, and the
path of a file begins with the path of its module. The graph has the calls from one module
to another, but does not record that a type in one module implements an interface in
another. Two modules with the same path are an error. The command skips vendor, testdata, node_modules and folders whose names
begin with . or _.

With --watch the command keeps a branch of a graph in step with the folder, in one commit for
each burst of changes. Notes on symbols stay. After a change of the bodies of functions it
type-checks only the packages that changed and those that import them. Code that does not
compile is left as it was, and reported.

With --deps the command also reads the dependencies of the packages, including the
standard library, so that the graph has the calls that leave the module. For a large
module, type-checking the dependencies takes gigabytes of memory.`,
		Example: "  omnigraph index go ./... --out code.ndjson\n  omnigraph index go --deps ./... --out all.ndjson\n  omnigraph index go --dir ../other | omnigraph load --store data/other --data - --mode overwrite\n  omnigraph index go --watch --server http://127.0.0.1:8080 --graph code",
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.on {
				return w.run(cmd, target, gocode.Options{Dir: dir, Patterns: args, Deps: deps})
			}
			bar := terminal.NewProgress(cmd.ErrOrStderr())
			g, err := gocode.Read(cmd.Context(), gocode.Options{Dir: dir, Patterns: args, Deps: deps, Revision: true, Progress: bar.Show})
			bar.Done()
			if err != nil {
				return err
			}
			return writeOutput(cmd, out, g)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of a module, or one that holds modules (default: the current one)")
	cmd.Flags().BoolVar(&deps, "deps", false, "read dependencies and the standard library too")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "the file to write, or - for standard output")
	w.flags(cmd, target)
	return cmd
}

// ReadModule reads the Go module in a folder, for the tool code_index.
func ReadModule(ctx context.Context, dir string, deps bool) (*codegraph.Graph, error) {
	return gocode.Read(ctx, gocode.Options{Dir: dir, Deps: deps, Revision: true})
}

// writeOutput writes the graph as NDJSON with [outfile.Write]. If `out` is a file, writeOutput also
// prints a summary to standard error.
func writeOutput(cmd *cobra.Command, out string, g *codegraph.Graph) error {
	lines := 0
	err := outfile.Write(cmd, out, func(w io.Writer) (err error) {
		lines, err = g.WriteNDJSON(w)
		return err
	})
	if err == nil && out != "-" {
		summary(cmd.ErrOrStderr(), g, lines)
	}
	return err
}

// summary writes how many lines and entities the command produced.
func summary(w io.Writer, g *codegraph.Graph, lines int) {
	fmt.Fprintf(w, "%d lines: %d packages, %d files, %d symbols, %d calls\n", lines, len(g.Packages), len(g.Files), len(g.Symbols), len(g.Calls))
}
