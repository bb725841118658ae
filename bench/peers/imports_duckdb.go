//go:build duckdb_use_lib

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// importDuckDB imports the files of a folder, with two threads.
func importDuckDB(ctx context.Context, dir, data, format string) (err error) {
	s, err := openDuck(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	script := "SET threads = " + threads + ";\nBEGIN;\n"
	for _, t := range importTables {
		script += "CREATE TABLE " + t.name + " (" + t.columns + ");\n"
		script += "COPY " + t.name + " FROM '" + filepath.Join(data, t.name+"."+format) + "' (FORMAT " + format + ");\n"
	}
	script += "COMMIT;\n"
	for _, t := range importTables {
		script += strings.ReplaceAll(t.duckdb, "NAME", t.name)
	}
	return execAll(ctx, s.conn, script+"CHECKPOINT;\n")
}

// writeParquet writes the rows of the CSV files as Parquet files, unless they exist.
func (m *imports) writeParquet(ctx context.Context) error {
	done := filepath.Join(m.data, "done-parquet")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	s, err := openDuck(ctx, m.dir)
	if err != nil {
		return err
	}
	script := ""
	for _, t := range importTables {
		file := filepath.Join(m.data, t.name)
		script += "CREATE TABLE " + t.name + " (" + t.columns + ");\nCOPY " + t.name + " FROM '" + file + ".csv';\nCOPY " + t.name + " TO '" + file + ".parquet' (FORMAT parquet);\n"
	}
	if err := errors.Join(execAll(ctx, s.conn, script), s.close()); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}
