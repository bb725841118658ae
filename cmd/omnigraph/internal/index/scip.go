package index

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/source/folder"
	"github.com/omnigraph-go/omnigraph/internal/source/scip"
)

// newSCIP makes the command omnigraph index scip.
func newSCIP() *cobra.Command {
	var out, dir string
	var opts scip.Options
	cmd := &cobra.Command{
		Use:   "scip FILE",
		Short: "Convert a SCIP index to NDJSON for the code graph",
		Long: `Convert an index in the format SCIP to NDJSON for a graph with the schema of queries/code.
Indexers that write this format exist for TypeScript, JavaScript, Python, Java, Kotlin,
Scala, Rust, C, C++, C#, Ruby, PHP and other languages. For Go use omnigraph index go.

SCIP lists where symbols occur, and has no calls. A reference to a function or a method
counts as a call by the innermost declaration whose range in the source contains it. Some
indexers do not write these ranges. The stored query index_coverage shows, for each module,
the indexer, the commit, and what the graph does not say.

A symbol of the package @example/shop in src/stock.ts has a path such as
@example/shop/src/stock.ts.Shelf.find, and one of the Python package shop has a path such as
shop.stock.Shelf.find. To load several indexes into one graph, give each its own --prefix.

The command reads the file twice, one document at a time. The memory that it takes depends
on the number of symbols and on the largest document, which may have 256 MiB.`,
		Example: "  omnigraph index scip index.scip --dir . --commit 4f2a91c --out code.ndjson\n  omnigraph index scip index.scip --prefix web | omnigraph load --store data/code --data - --mode merge",
		Args:    usage.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			info, err := file.Stat()
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				return fmt.Errorf("%s is not a regular file; write the index to a file, because it is read twice", args[0])
			}
			if dir != "" {
				source, err := folder.Open(dir)
				if err != nil {
					return err
				}
				defer source.Close()
				opts.Lines = func(path string) (int, bool) { return source.Lines(filepath.FromSlash(path)) }
			}
			bar := terminal.NewProgress(cmd.ErrOrStderr())
			opts.Progress = bar.Show
			g, err := scip.Read(cmd.Context(), filepath.Base(args[0]), file, info.Size(), opts)
			bar.Done()
			if err != nil {
				return err
			}
			return writeOutput(cmd, out, g)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder that was indexed, for the numbers of lines of its files")
	cmd.Flags().StringVar(&opts.Commit, "commit", "", "the commit that was indexed")
	cmd.Flags().StringVar(&opts.Module, "module", "", "the module of symbols for which the index names none (default: the indexed folder)")
	cmd.Flags().StringVar(&opts.Prefix, "prefix", "", "text before the path of each file, such as the folder of the project in a repository")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "the file to write, or - for standard output")
	return cmd
}
