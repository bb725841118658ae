package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
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
			switch {
			case !slices.Contains(exportFormats, ex.format):
				return usage.Errorf("--format is %q; it must be ndjson, parquet or arrow", ex.format)
			case ex.format == "parquet" && out == "-":
				return usage.Errorf("--out is missing; name the folder to create for the parquet files")
			case ex.format != "parquet" && cmd.Flags().Changed("part-rows"):
				return usage.Errorf("--part-rows is for --format parquet; remove it, or choose that format")
			case ex.format == formatArrow && len(ex.types) != 1:
				return usage.Errorf("--format arrow writes one table; name one type with --type, or choose parquet")
			case ex.format == formatArrow && out == "-" && isTerminal(cmd.OutOrStdout()):
				return usage.Errorf("--format arrow is binary; name a file with --out")
			case ex.rows < 1:
				return usage.Errorf("--part-rows is %d; it must be at least 1", ex.rows)
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
				err = writeFolder(out, func(dir string) (err error) {
					ex.dir = dir
					commit, err = s.Export(ctx, &ex)
					return err
				})
			} else {
				err = writeFile(cmd, out, func(w io.Writer) (err error) {
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

// exportError returns the error of an export. If the error is about the types, its text names the flag.
func exportError(err error) error {
	for _, place := range []string{"type_names: ", "parameter $types: "} {
		if detail, ok := strings.CutPrefix(err.Error(), place); ok {
			return &reworded{text: "--type: " + detail, err: err}
		}
	}
	return err
}

// writeFile writes to a file, or to standard output for "-". It replaces a regular file atomically
// and keeps the file's permissions. If the path is a symbolic link to a file, it replaces the file
// and keeps the link. It writes directly to an existing file that is not regular, such as a pipe or
// a device.
func writeFile(cmd *cobra.Command, out string, write func(io.Writer) error) error {
	if out == "-" {
		return write(cmd.OutOrStdout())
	}
	info, err := os.Stat(out)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		return writeTo(f, write)
	}
	if err == nil {
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return err
		}
	}
	// The temporary name must be unique, because another export may be writing the same file.
	f, err := os.OpenFile(out+".tmp-"+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if info != nil {
		err = f.Chmod(info.Mode().Perm()) // while the file is still empty
	}
	if err == nil {
		err = writeTo(f, write)
	} else {
		f.Close()
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// writeTo writes to a file and closes it.
func writeTo(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// writeFolder creates a folder atomically: the folder appears with all its files or not at all.
func writeFolder(out string, write func(dir string) error) error {
	switch there, err := os.ReadDir(out); {
	case len(there) > 0:
		return fmt.Errorf("%s is not empty; name a folder that is empty or does not exist", out)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	out = filepath.Clean(out)
	dir, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".tmp-")
	if err != nil {
		return err
	}
	err = write(dir)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		// Remove an existing empty folder, because some systems cannot rename onto it.
		if err = os.Remove(out); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(dir, out)
	}
	if err != nil {
		os.RemoveAll(dir)
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
