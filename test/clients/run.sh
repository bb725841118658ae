#!/usr/bin/env bash
# Serves two graphs with the built server on a free port of loopback: the code graph with its stored
# queries, and a graph with every scalar type. Generates a TypeScript and a Python client from the
# OpenAPI document of the code graph, checks their types, and runs them. Does the same with the other
# generators of generators.sh, and compiles their clients of the whole server. Reads Arrow streams with
# pyarrow, polars and DuckDB. Run it from the repository's root.
set -euo pipefail
root=$(pwd)
here=$root/test/clients
tmp=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$tmp"
}
trap cleanup EXIT

# The generated files and the programs are put into the temporary folder. The installed packages are not.
(cd "$here/typescript" && npm ci --silent --no-audit --no-fund)
(cd "$here/orval" && npm ci --silent --no-audit --no-fund)
(cd "$here/heyapi" && npm ci --silent --no-audit --no-fund)
if command -v java > /dev/null 2>&1 && command -v mvn > /dev/null 2>&1; then
  mvn -q -B -f "$here/java/pom.xml" dependency:copy-dependencies -DoutputDirectory="$here/java/lib"
fi
"$root/test/venv.sh" "$here/python"
cp -r "$here/typescript" "$tmp/typescript"
mkdir "$tmp/python" "$tmp/data"
cp "$here"/python/*.py "$tmp/python/"
cp "$here"/*.yaml "$tmp/"
cp -r queries "$tmp/queries"
cp internal/parquet/testdata/duckdb/every.pg "$tmp/"
python=$here/python/.venv/bin

bin/omnigraph init --schema queries/code/schema.pg --store "$tmp/data/code" > /dev/null
(cd internal/source/gocode/testdata/shop && GOWORK=off GOFLAGS=-mod=mod "$root/bin/omnigraph" index go ./... --out "$tmp/code.ndjson")
bin/omnigraph load --store "$tmp/data/code" --data "$tmp/code.ndjson" --mode overwrite > /dev/null
bin/omnigraph init --schema "$tmp/every.pg" --store "$tmp/data/every" > /dev/null
bin/omnigraph load --store "$tmp/data/every" --data internal/parquet/testdata/duckdb/every.ndjson --mode append > /dev/null

OMNIGRAPH_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
READER_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export OMNIGRAPH_TOKEN READER_TOKEN
: > "$tmp/out"
OMNIGRAPH_TOKEN_ACT_TEST=$OMNIGRAPH_TOKEN OMNIGRAPH_TOKEN_ACT_FEW=$READER_TOKEN \
  bin/omnigraph-server --cluster "$tmp" --bind 127.0.0.1:0 > "$tmp/out" 2> "$tmp/err" &
server=$!
addr=
for _ in $(seq 300); do
  addr=$(sed -n 's/^OMNIGRAPH_LISTEN_ADDR=//p' "$tmp/out")
  if [ -n "$addr" ]; then break; fi
  sleep 0.1
done
if [ -z "$addr" ]; then echo "the server did not start:"; cat "$tmp/out" "$tmp/err"; exit 1; fi
export OMNIGRAPH_URL=http://$addr

document() { # TOKEN FILE
  "$python/python" -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(u.Request(sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]})).read())' \
    "$OMNIGRAPH_URL/graphs/code/openapi.json" "$1" > "$2"
}
document "$OMNIGRAPH_TOKEN" "$tmp/openapi.json"
document "$READER_TOKEN" "$tmp/few.json"
"$python/python" - "$tmp/few.json" <<'PY'
import json, sys
paths = list(json.load(open(sys.argv[1]))["paths"])
assert paths == ["/graphs/code/queries/find_symbols"], paths
PY
echo "== the document of the server is that of gq generate; an actor with one query sees one operation"

cd "$tmp/typescript"
npx openapi-typescript "$tmp/openapi.json" -o schema.d.ts > /dev/null
npx tsc
node out/client.js
echo "== TypeScript: types checked, calls answered"

cd "$tmp/python"
"$python/openapi-python-client" generate --path "$tmp/openapi.json" --meta none --output-path code_client > generated.txt 2>&1 || { cat generated.txt; exit 1; }
"$python/mypy" --strict --follow-imports=silent client.py
"$python/python" client.py
echo "== Python: types checked, calls answered"

cd "$root"
test/clients/generators.sh "$tmp/openapi.json" "$tmp/generators" calls
mkdir "$tmp/generators/call"
cp test/clients/go/main.go.txt "$tmp/generators/call/main.go"
(cd "$tmp/generators" && GOWORK=off GOFLAGS=-mod=mod go run ./call)
echo "== Go: calls answered"
for project in orval heyapi fetch; do
  if [ -d "$tmp/generators/$project" ]; then (cd "$tmp/generators/$project" && node out/call.js); fi
done
echo "== TypeScript: calls answered to the clients of orval, hey-api and openapi-generator"
if [ -d "$tmp/generators/java/out" ]; then
  java -cp "$tmp/generators/java/out:$here/java/lib/*" Main
  echo "== Java: calls answered"
fi
if [ -d "$tmp/generators/openapi" ]; then # openapi-generator ran
  mkdir "$tmp/generators/generator"
  cp test/clients/go/generator.go.txt "$tmp/generators/generator/main.go"
  (cd "$tmp/generators" && GOWORK=off GOFLAGS=-mod=mod go run ./generator)
  cp test/clients/python/generator.py "$tmp/generators/python/"
  (cd "$tmp/generators/python" && "$python/mypy" --config-file= --strict --follow-imports=silent generator.py && "$python/python" generator.py)
  echo "== Go and Python: calls answered to the clients of openapi-generator"
fi
test/clients/generators.sh docs/reference/openapi.json "$tmp/server"
cd "$tmp/typescript"
npx openapi-typescript "$root/docs/reference/openapi.json" -o server.d.ts > /dev/null
npx tsc --noEmit --strict server.d.ts
cd "$tmp/python"
"$python/openapi-python-client" generate --path "$root/docs/reference/openapi.json" --meta none --output-path server_client > generated.txt 2>&1 || { cat generated.txt; exit 1; }
"$python/python" -m compileall -q server_client
echo "== TypeScript and Python: clients of the whole server compile"

"$python/python" arrow.py "$root/bin/omnigraph" "$tmp"
echo "== Arrow: read by pyarrow, polars and DuckDB"
