//go:build !duckdb_use_lib

package main

func newDuckDB() (peer, error) {
	return nil, absent("this program was built without its shared library: build with the tag duckdb_use_lib and -lduckdb, as run.sh does where npm offers it")
}
