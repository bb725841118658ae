#!/usr/bin/env bash
# Exports two graphs as Parquet with the built command, and compares them in DuckDB with the answers
# of queries: a graph with every scalar type, and that of this repository's code. It runs the SQL of
# docs/analysis.md on the second. Run it from the repository's root.
set -euo pipefail
root=$(pwd)
here=$root/internal/parquet/testdata/duckdb
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python=$here/.venv/bin/python
omnigraph=$root/bin/omnigraph

"$omnigraph" index go ./... --out "$tmp/code.ndjson"
cp "$here/every.ndjson" "$tmp/"
cd "$tmp"
mkdir data
load() { # GRAPH SCHEMA
  "$omnigraph" init --schema "$2" --store "data/$1" > loaded.json
  "$omnigraph" load --store "data/$1" --data "$1.ndjson" --mode append > loaded.json
}
load every "$here/every.pg"
load code "$root/queries/code/schema.pg"
# Small files, so that a type has several.
"$omnigraph" export --store data/every --format parquet --part-rows 2 --out every
"$omnigraph" export --store data/code --format parquet --part-rows 3000 --out code
"$python" "$here/check.py" "$omnigraph" data/every every "$here/every.sql" "$here/every.queries"
"$python" "$here/check.py" "$omnigraph" data/code code "$root/docs/analysis.md" "$here/code.queries"
