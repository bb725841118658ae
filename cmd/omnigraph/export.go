package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/outfile"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
)

// exportFormats are the formats of an export.
var exportFormats = []string{"ndjson", "parquet", formatArrow}

// export describes the part of a graph to write, and the destination.
type export struct {
	at     engine.Target
	types  []string  // empty means all types
	format string    // one of exportFormats
	w      io.Writer // destination of NDJSON, or of an Arrow stream
	dir    string    // destination folder of Parquet
	rows   int64     // maximum number of rows in a Parquet file
}

// create creates a Parquet file or the manifest.
func (e *export) create(path string) (io.WriteCloser, error) {
	path = filepath.Join(e.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// parquetOptions returns the options of an export to Parquet.
func (e *export) parquetOptions() parquet.Options {
	return parquet.Options{Types: e.types, PartRows: e.rows}
}

// init adds the verbs of this file to the command omnigraph.
func init() { graphVerbs = append(graphVerbs, newExport) }

// newExport makes the command omnigraph export.
func newExport() *cobra.Command {
	var e endpoint
	var ex export
	var out string
	cmd := &cobra.Command{
		Use:   "export (--store DIR | --server URL --graph ID)",
		Short: "Write the entities of a graph as NDJSON, Parquet or Arrow",
		Long: `Write the entities of a graph at one commit. With the format ndjson the output lists the
nodes and then the edges, in the form that load accepts.

With parquet it is a new folder. It has a folder for each type, such as nodes/Person, with
files of bounded size in the order of the ids, and manifest.json, which lists the types,
their columns, and the rows, bytes and SHA-256 of each file. With --server, parquet needs
the permission to read the graph.

With arrow it is an Arrow IPC stream of the one type that --type names, with the columns
of its Parquet files. Metadata has the commit and the number of rows.

If the export fails, for example because the connection to a server breaks, it leaves no
partial file or folder.

The command prints the commit on standard error.`,
		Example: "  omnigraph export --store data/people > people.ndjson\n  omnigraph export --store data/people --type Person --out persons.ndjson\n  omnigraph export --store data/people --format parquet --out people\n  omnigraph export --store data/people --type Person --format arrow --out persons.arrows",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := ex.check(cmd, out); err != nil {
				return err
			}
			ctx, done := e.within(cmd)
			defer func() { err = done(err) }()
			s, err := e.open(cmd)
			if err != nil {
				return err
			}
			defer func() {
				if cerr := s.Close(); err == nil {
					err = cerr
				}
			}()
			var commit string
			if ex.format == "parquet" {
				err = outfile.WriteFolder(out, func(dir string) (err error) {
					ex.dir = dir
					commit, err = s.Export(ctx, &ex)
					return err
				})
			} else {
				err = outfile.Write(cmd, out, func(w io.Writer) (err error) {
					// The struct hides the method ReadFrom of a file, which would write each small part at once.
					buffered := bufio.NewWriterSize(struct{ io.Writer }{w}, 1<<20)
					ex.w = buffered
					if commit, err = s.Export(ctx, &ex); err != nil {
						return err
					}
					return buffered.Flush()
				})
			}
			if err != nil {
				return exportError(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "commit %s\n", commit)
			return nil
		},
	}
	e.flags(cmd)
	e.timeoutFlag(cmd)
	cmd.Flags().StringVar(&ex.format, "format", "ndjson", "the format of the output: ndjson, parquet or arrow")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exportFormats, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringArrayVar(&ex.types, "type", nil, "write only entities of this type; repeat the flag for each type (default: all types)")
	cmd.Flags().Int64Var(&ex.rows, "part-rows", parquet.DefaultPartRows, "the maximum number of rows in a Parquet file")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "the file to write, or - for standard output; for parquet, the folder")
	atFlags(cmd, &ex.at.Branch, &ex.at.Commit)
	return cmd
}

// check returns an error if the flags of the export do not fit each other.
func (e *export) check(cmd *cobra.Command, out string) error {
	switch {
	case !slices.Contains(exportFormats, e.format):
		return usage.Errorf("--format is %q; it must be ndjson, parquet or arrow", e.format)
	case e.format == "parquet" && out == "-":
		return usage.Errorf("--out is missing; name the folder to create for the parquet files")
	case e.format != "parquet" && cmd.Flags().Changed("part-rows"):
		return usage.Errorf("--part-rows is for --format parquet; remove it, or choose that format")
	case e.format == formatArrow && len(e.types) != 1:
		return usage.Errorf("--format arrow writes one table; name one type with --type, or choose parquet")
	case e.format == formatArrow && out == "-" && terminal.Is(cmd.OutOrStdout()):
		return usage.Errorf("--format arrow is binary; name a file with --out")
	case e.rows < 1:
		return usage.Errorf("--part-rows is %d; it must be at least 1", e.rows)
	}
	return nil
}

// exportError returns the error of an export. If the error is about the types, its text names the flag.
func exportError(err error) error {
	for _, place := range []string{"type_names: ", "parameter $types: "} {
		if detail, ok := strings.CutPrefix(err.Error(), place); ok {
			return &reworded{text: "--type: " + detail, err: err}
		}
	}
	return err
}

// Export writes an export, and returns the commit that it read.
func (src *source) Export(ctx context.Context, e *export) (commit string, err error) {
	switch {
	case e.format == "parquet" && src.store != nil:
		return src.store.exportParquet(ctx, e)
	case e.format == "parquet":
		return src.exportParquet(ctx, e)
	}
	send := src.graph.Export
	if e.format == formatArrow {
		send = src.graph.ExportArrow
	}
	stream, err := send(ctx, client.ExportBody{Branch: e.at.Branch, Snapshot: e.at.Commit, TypeNames: e.types})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	_, err = io.Copy(e.w, stream)
	return stream.Commit, err
}
