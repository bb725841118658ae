#!/usr/bin/env bash
# Builds and runs the comparison with the peers. DuckDB's shared library comes from its
# npm package; without npm, or without the package, DuckDB is left out. SIZE is a factor
# of the full graph, KEYS selects its keys, SEED seeds its rows, BUDGET is the time for each
# database and task, PROFILE a folder for CPU profiles; with CODE the code of this
# repository is measured alone. With SNB, the Social Network Benchmark of that scale is measured; with IMPORT, a folder for
# the files, imports by the built omnigraph in ROUNDS rounds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:?a folder to build in}
mkdir -p "$work"
work=$(cd "$work" && pwd)

# The Go bindings that go.mod names are made for this version.
duckdb=1.5.6-r.1

if ! command -v "$(go env CC)" >/dev/null 2>&1; then
  echo "the peers need a C compiler: SQLite is compiled in" >&2
  exit 1
fi

# sqlite-vec has vector instructions for those who ask.
cflags="-O3"
if grep -qw avx /proc/cpuinfo 2>/dev/null; then
  cflags="$cflags -mavx -DSQLITE_VEC_ENABLE_AVX"
fi

tags=fts5
ldflags=
lib="$work/node_modules/@duckdb/node-bindings-linux-x64"
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "DuckDB is left out: this script knows its library for Linux on x86-64 only" >&2
else
  if [ ! -f "$lib/libduckdb.so" ]; then
    if ! command -v npm >/dev/null 2>&1; then
      echo "DuckDB is left out: there is no npm to get its library with" >&2
    elif ! npm install --prefix "$work" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "@duckdb/node-bindings-linux-x64@$duckdb"; then
      echo "DuckDB is left out: npm does not get @duckdb/node-bindings-linux-x64 $duckdb" >&2
    fi
  fi
  if [ -f "$lib/libduckdb.so" ]; then
    tags="$tags,duckdb_use_lib"
    ldflags="-L$lib -Wl,-rpath,$lib"
  fi
fi

# The product's requirements change without this module: its own follow.
cd "$here"
CGO_ENABLED=1 CGO_CFLAGS="$cflags" CGO_LDFLAGS="$ldflags" go build -mod=mod -tags "$tags" -o "$work/peers" .
ladybug=
if [ -n "${SNB:-}${IMPORT:-}" ]; then
  ladybug="$work/ladybug/bin/python"
  if ! "$ladybug" -c "import ladybug" >/dev/null 2>&1; then
    if ! python3 -m venv "$work/ladybug" || ! "$ladybug" -m pip install -q --disable-pip-version-check -r ladybug/requirements.txt; then
      echo "LadybugDB is left out: python3 with venv is missing, or pip does not get the package" >&2
      ladybug=
    fi
  fi
fi
if [ -n "${SNB:-}" ]; then
  go build -C "$here/../.." -o "$work/snb" ./bench/cmd/snb
  neo4j="$work/neo4j"
  mkdir -p "$neo4j"
  if ! command -v mvn >/dev/null 2>&1 || ! command -v javac >/dev/null 2>&1; then
    echo "Neo4j is left out: there is no mvn or no javac" >&2
    neo4j=
  elif [ ! -d "$neo4j/lib" ] && ! mvn -q -B -f "$here/../cmd/search/neo4j" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$neo4j/lib"; then
    echo "Neo4j is left out: Maven does not get it" >&2
    neo4j=
  else
    javac -nowarn -cp "$neo4j/lib/*" -d "$neo4j" neo4j/Network.java
    cp neo4j/reads.cypher "$neo4j"
  fi
fi
exec "$work/peers" -size "${SIZE:-1}" -root "$here/../.." ${KEYS:+-keys "$KEYS"} ${SEED:+-seed "$SEED"} ${BUDGET:+-budget "$BUDGET"} ${PROFILE:+-profile "$PROFILE"} ${CODE:+-code} ${ladybug:+-snb-ladybug "$ladybug"} ${SNB:+-snb "$SNB" -snb-server "$work/snb" -snb-neo4j "$neo4j"} ${IMPORT:+-import "$IMPORT" -import-command "$here/../../bin/omnigraph" -import-rounds "${ROUNDS:-3}"}
