package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/infer"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/postgres"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/remote"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// newImportInfer makes the command omnigraph import infer.
func newImportInfer() *cobra.Command {
	f := &inferrer{}
	cmd := &cobra.Command{
		Use:   "infer (FILE | URL)…",
		Short: "Propose a schema and a map for tables",
		Long: `Propose a schema and a map for tables: CSV, Parquet and other files, records of JSON, whose
members in objects are columns such as address.city, and tables of PostgreSQL. The command reads the files as a
whole, and writes schema.pg and import.yaml into a folder. Comments give the evidence.

Of a PostgreSQL database it reads all tables that the user may read, or those that --table names.
It takes their types and constraints: primary keys, foreign keys, unique constraints, enums,
NOT NULL, and CHECK constraints that are lists of texts or bounds of a number.

It finds the types of columns, keys (columns that identify the rows; never floats or
timestamps), enums (few values), references (columns whose values all occur as the key of
another table, and whose name fits), and join tables. It asks nothing and changes no graph:
read both files, change what is wrong, and import.`,
		Example: "  omnigraph import infer people.csv june.csv --out proposal\n" +
			"  omnigraph import infer postgres://reader@db.example.com/shop --table public.orders --table public.customers",
		RunE: f.run,
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", ".", "the folder for schema.pg and import.yaml")
	cmd.Flags().StringVar(&f.records, "records", "", "the path to the records of JSON files, such as data.items (default: the files hold the records)")
	cmd.Flags().StringArrayVar(&f.tables, "table", nil, "a table of the database; repeat the flag for several (default: all tables)")
	return cmd
}

// inferrer is a run of the command import infer.
type inferrer struct {
	out, records string // flags; see the command
	tables       []string

	reading, copying *importProgress
	local            *remote.Copies // of the files of URLs
	inputs           []infer.Input
	database         string // the URL of the database; "" for none
}

// run proposes a schema and a map for the sources in the arguments.
func (f *inferrer) run(cmd *cobra.Command, args []string) (err error) {
	if len(args) == 0 {
		return usage.Errorf("FILE is missing; name the tables to read")
	}
	ctx := cmd.Context()
	f.reading = &importProgress{Progress: terminal.NewProgress(cmd.ErrOrStderr()), stage: "reading"}
	f.copying = &importProgress{Progress: terminal.NewProgress(cmd.ErrOrStderr()), stage: "copying"}
	f.local = &remote.Copies{Count: f.copying.add}
	defer func() { err = errors.Join(err, f.local.Remove()) }()
	for _, arg := range args {
		if err := f.add(ctx, arg); err != nil {
			return err
		}
	}
	shown := ""
	if f.database != "" {
		var db *postgres.Database
		if db, err = postgres.Open(ctx, f.database); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		found, err := db.Inputs(f.tables)
		if err != nil {
			return err
		}
		f.inputs = append(f.inputs, found...)
		shown = postgres.WithoutPassword(f.database)
	} else if f.tables != nil {
		return usage.Errorf("--table needs the URL of a database")
	}
	for i := range f.inputs {
		f.reading.total += f.inputs[i].File.Size
	}
	p, err := infer.Propose(ctx, f.inputs, shown, f.reading.add)
	f.reading.Done()
	if err != nil {
		return err
	}
	return writeProposal(cmd.OutOrStdout(), f.out, p)
}

// add adds the source that an argument names: a database, the files of a URL, which it copies, or a file.
func (f *inferrer) add(ctx context.Context, arg string) error {
	switch {
	case postgres.Is(arg):
		if f.database != "" {
			return usage.Errorf("the arguments name two databases; a map can have one")
		}
		f.database = arg
		return nil
	case dataimport.IsURL(arg):
		return f.addURL(ctx, arg)
	}
	return f.addFile(arg)
}

// addURL copies the files of a URL, and adds them.
func (f *inferrer) addURL(ctx context.Context, url string) error {
	copies, err := f.local.Fetch(ctx, url)
	f.copying.Done()
	if err != nil {
		return err
	}
	_, parameters, _ := strings.Cut(url, "?")
	for _, file := range copies {
		source := file.Name
		if parameters != "" && address.IsForeign(url) { // of https they may be a signature
			source += "?" + parameters
		}
		f.inputs = append(f.inputs, infer.Input{File: file, Source: source, Records: f.records})
	}
	return nil
}

// addFile adds a file. The map names it relative to the folder of the proposal, if it can.
func (f *inferrer) addFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f.reading.total += info.Size()
	from, err := filepath.Abs(f.out)
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
	f.inputs = append(f.inputs, infer.Input{File: record.File{Name: path, Path: path}, Source: filepath.ToSlash(source), Records: f.records})
	return nil
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
		fmt.Fprintln(w, "nothing identifies the nodes or edges of some types: import with --mode append")
	}
	return nil
}
