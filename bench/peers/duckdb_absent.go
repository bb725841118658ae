//go:build !duckdb_use_lib

package main

import (
	"context"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// newDuckDB returns an error: this program was built without DuckDB.
func newDuckDB() (peer, error) { return nil, errNoDuckDB }

// openDuckDB returns an error: this program was built without DuckDB.
func (n *network) openDuckDB(context.Context, *snb.Network) (*networkDatabase, error) {
	return nil, errNoDuckDB
}

// importDuckDB returns an error: this program was built without DuckDB.
func importDuckDB(context.Context, string, string, string) error { return errNoDuckDB }

// writeParquet writes nothing: this program was built without DuckDB.
func (m *imports) writeParquet(context.Context) error { return nil }

// errNoDuckDB says how to build this program with DuckDB.
var errNoDuckDB = absent("this program was built without DuckDB's shared library; build it with the tag duckdb_use_lib and -lduckdb, as run.sh does if npm offers the library")
