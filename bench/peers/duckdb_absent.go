//go:build !duckdb_use_lib

package main

// newDuckDB returns an error: this program was built without DuckDB.
func newDuckDB() (peer, error) {
	return nil, absent("this program was built without DuckDB's shared library; build it with the tag duckdb_use_lib and -lduckdb, as run.sh does if npm offers the library")
}
