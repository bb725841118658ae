package infer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/infer"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/postgres"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/postgres/postgrestest"
)

// imports checks that the linter finds nothing in a proposed schema, and that the import of the same data succeeds. It returns the
// schema as it is written to a file.
func imports(t *testing.T, p *infer.Proposal, files func(*dataimport.Map) ([][]record.File, error)) string {
	t.Helper()
	ctx := t.Context()
	text, faults := compile.Format(compile.Source{Name: "schema.pg", Text: p.Schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err, p.Schema)
	}
	schema := compile.Source{Name: "schema.pg", Text: text}
	if report := compile.Lint(compile.Catalog{Schema: schema}); len(report.List) > 0 {
		t.Error(report.List, text)
	}
	compiled, faults := compile.Schema(schema)
	if len(faults) > 0 {
		t.Fatal(faults, text)
	}
	m, faults := dataimport.Parse("import.yaml", []byte(p.Map))
	if len(faults) > 0 {
		t.Fatal(faults, p.Map)
	}
	mode := engine.Merge
	if p.Keyless {
		mode = engine.Append
	}
	plan, faults := dataimport.NewPlan(m, compiled, dataimport.Options{NewNodes: p.Keyless})
	if len(faults) > 0 {
		t.Fatal(faults, p.Map)
	}
	list, err := files(m)
	if err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(ctx, fs.NewMem(), "graph", text, compiled, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	in := dataimport.New(plan, list, nil)
	if err := in.Prepare(ctx, nil, true); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(ctx, in.Stream(ctx), engine.LoadOptions{Mode: mode}); err != nil {
		t.Errorf("%v\n%s\n%s", err, text, p.Map)
	}
	return text
}

// tables returns the CSV files of a folder.
func tables(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no tables", err)
	}
	return paths
}

// TestPropose compares the proposals for the files of each folder of testdata with those in the folder.
func TestPropose(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*")
	dirs = slices.DeleteFunc(dirs, func(name string) bool { return filepath.Ext(name) != "" })
	if err != nil || len(dirs) < 5 {
		t.Fatal("no folders", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var inputs []infer.Input
			for _, path := range tables(t, dir) {
				inputs = append(inputs, infer.Input{File: record.File{Name: filepath.Base(path), Path: path}, Source: filepath.Base(path)})
			}
			p, err := infer.Propose(t.Context(), inputs, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			schema := imports(t, p, func(m *dataimport.Map) ([][]record.File, error) { return m.Files(dir, nil) })
			golden.Check(t, filepath.Join(dir, "schema.pg"), []byte(schema))
			golden.Check(t, filepath.Join(dir, "import.yaml"), []byte(p.Map))
		})
	}
}

// TestProposePostgreSQL does the same for tables of a database, which tables.sql makes. The part after the line "-- data" runs when
// the tables have the rows of the files.
func TestProposePostgreSQL(t *testing.T) {
	slow.Test(t)
	address := postgrestest.New(t, "fsync=off").URL("")
	scripts, err := filepath.Glob("testdata/*/tables.sql")
	if err != nil || len(scripts) < 5 {
		t.Fatal("no scripts", err)
	}
	for _, script := range scripts {
		dir := filepath.Dir(script)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			of := makeDatabase(t, address, dir)
			d, err := postgres.Open(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			inputs, err := d.Inputs(nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := infer.Propose(t.Context(), inputs, "postgres://reader@db.example.com/shop", nil)
			if err != nil {
				t.Fatal(err)
			}
			schema := imports(t, p, func(m *dataimport.Map) ([][]record.File, error) {
				files := make([][]record.File, len(m.Sources))
				return files, d.Attach(m, files)
			})
			golden.Check(t, filepath.Join(dir, "postgres.pg"), []byte(schema))
			golden.Check(t, filepath.Join(dir, "postgres.yaml"), []byte(p.Map))
		})
	}
}

// makeDatabase makes a database of the files of a folder, and returns its URL.
func makeDatabase(t *testing.T, address, dir string) string {
	t.Helper()
	ctx := t.Context()
	text, err := os.ReadFile(filepath.Join(dir, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "-- data\n")
	if !ok {
		t.Fatal("tables.sql has no line -- data")
	}
	execute := func(conn *pgx.Conn, statements string) {
		t.Helper()
		if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	connect := func(address string) *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := conn.Close(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		return conn
	}
	name := filepath.Base(dir)
	execute(connect(address), "CREATE DATABASE "+name)
	of := strings.Replace(address, "/postgres?", "/"+name+"?", 1)
	conn := connect(of)
	execute(conn, before+"SET session_replication_role = replica") // the order of the files does not follow the foreign keys
	for _, path := range tables(t, dir) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 100)
		n, err := f.ReadAt(head, 0)
		if n == 0 {
			t.Fatal(err)
		}
		delimiter := ","
		if strings.Contains(string(head[:n]), ";") {
			delimiter = ";"
		}
		table := strings.TrimSuffix(filepath.Base(path), ".csv")
		if _, err := conn.PgConn().CopyFrom(ctx, f, "COPY "+table+" FROM STDIN (FORMAT csv, HEADER, DELIMITER '"+delimiter+"')"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	execute(conn, after)
	return of
}
