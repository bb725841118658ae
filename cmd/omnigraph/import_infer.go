package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/infer"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// newImportInfer makes the command omnigraph import infer.
func newImportInfer() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "infer FILE…",
		Short: "Propose a schema and a map for tables",
		Long: `Propose a schema and a map for tables, such as CSV files. The command reads the files as a
whole, and writes schema.pg and import.yaml into a folder. Comments give the evidence.

It finds the types of columns, keys (columns that identify the rows; never floats or
timestamps), enums (few values), references (columns whose values all occur as the key of
another table, and whose name fits), and join tables. It asks nothing and changes no graph:
read both files, change what is wrong, and import.`,
		Example: "  omnigraph import infer people.csv june.csv --out proposal",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.Errorf("FILE is missing; name the tables to read")
			}
			bar := &importProgress{Progress: terminal.NewProgress(cmd.ErrOrStderr()), stage: "reading"}
			var files []record.File
			var sources []string
			for _, path := range args {
				info, err := os.Stat(path)
				if err != nil {
					return err
				}
				bar.total += info.Size()
				from, err := filepath.Abs(out)
				if err != nil {
					return err
				}
				to, err := filepath.Abs(path)
				if err != nil {
					return err
				}
				source, err := filepath.Rel(from, to)
				if err != nil {
					source = to
				}
				files = append(files, record.File{Name: path, Path: path})
				sources = append(sources, filepath.ToSlash(source))
			}
			p, err := infer.Propose(cmd.Context(), files, sources, bar.add)
			bar.Done()
			if err != nil {
				return err
			}
			return writeProposal(cmd.OutOrStdout(), out, p)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", ".", "the folder for schema.pg and import.yaml")
	return cmd
}

// writeProposal writes the two files. It replaces no file.
func writeProposal(w io.Writer, dir string, p *infer.Proposal) error {
	schema, faults := gq.Format(gq.Source{Name: "schema.pg", Text: p.Schema})
	if err := faults.Err(); err != nil {
		return fmt.Errorf("the proposed schema has errors; please report this: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{"schema.pg", schema}, {dataimport.File, p.Map}} {
		path := filepath.Join(dir, f.name)
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s exists; remove it, or name another folder with --out", path)
		}
		if err != nil {
			return err
		}
		_, err = file.WriteString(f.text)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		fmt.Fprintln(w, path)
	}
	if p.Keyless {
		fmt.Fprintln(w, "some nodes have no key: import with --mode append")
	}
	return nil
}
