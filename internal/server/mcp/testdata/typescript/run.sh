#!/usr/bin/env bash
# Loads a graph of this repository into a temporary folder, serves it with the built
# commands, over HTTP on a free port, by the proxy and over standard input and output,
# and drives it with the official SDKs of TypeScript, Python and Go, the inspector and mcp-remote,
# in each protocol version that a client lets its user choose.
# Run from the repository's root.
set -euo pipefail
root=$(pwd)
here=$root/internal/server/mcp/testdata/typescript
tmp=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$tmp"
}
trap cleanup EXIT

for dir in "$here" "$here/../inspector"; do
  (cd "$dir" && npm ci --silent --no-audit --no-fund)
done
"$root/test/venv.sh" "$here/../python"
sed -e "s|^storage:.*|storage: $tmp/data|" -e "s|mcp: {|mcp: { output_schemas: true,|" cluster.yaml > "$tmp/cluster.yaml"
cp -r queries "$tmp/queries"
mkdir -p "$tmp/data"
bin/omnigraph init --schema queries/code/schema.pg --store "$tmp/data/code"
bin/omnigraph index go ./... --out "$tmp/code.ndjson"
bin/omnigraph load --store "$tmp/data/code" --data "$tmp/code.ndjson" --mode overwrite

# start starts a server; stop ends it.
start() {
  : > "$tmp/out" # what the server before wrote there is not this one's
  bin/omnigraph-server --cluster "$tmp" --bind 127.0.0.1:0 --dev > "$tmp/out" 2> "$tmp/err" &
  server=$!
  for _ in $(seq 100); do
    if grep -q '^OMNIGRAPH_DEV_TOKEN=' "$tmp/out"; then break; fi
    sleep 0.1
  done
  addr=$(sed -n 's/^OMNIGRAPH_LISTEN_ADDR=//p' "$tmp/out")
  token=$(sed -n 's/^OMNIGRAPH_DEV_TOKEN=//p' "$tmp/out")
  if [ -z "$addr" ] || [ -z "$token" ]; then
    echo "the server did not start:"; cat "$tmp/out" "$tmp/err"; exit 1
  fi
  url=http://$addr/graphs/code/mcp
  export OMNIGRAPH_TOKEN=$token
}
stop() {
  kill "$server"; wait "$server" || true
  server=
}

# Each client in turn; what is given is how the graph is reached.
clients() {
  echo "== $1"
  shift
  if [ "$1" = --stdio ]; then shift; node "$here/client.mjs" --stdio "$@"; else node "$here/client.mjs" "$url" "$token"; fi
  OMNIGRAPH_TOKEN=$token "$here/../inspector/check.sh" "$@"
  OMNIGRAPH_TOKEN=$token "$here/../python/.venv/bin/python" "$here/../python/client.py" "$@"
  OMNIGRAPH_MCP_SERVER="$*" OMNIGRAPH_TOKEN=$token go test ./internal/server/mcp -run '^TestBuiltServer$' -count=1
}
export OMNIGRAPH_MCP_OUTPUT_SCHEMAS=1
start
clients "over HTTP" "$url"
for version in 2024-11-05 2025-03-26 2025-06-18; do # the SDK asks for 2025-11-25 otherwise
  echo "== the SDK of TypeScript in version $version, over HTTP"
  OMNIGRAPH_MCP_VERSION=$version node "$here/client.mjs" "$url" "$token"
done
echo "== by mcp-remote"
MCP_REMOTE_CONFIG_DIR=$tmp/mcp-remote node "$here/client.mjs" --stdio "$here/node_modules/.bin/mcp-remote" "$url" --silent --transport http-only --header "Authorization: Bearer $token"
clients "by the proxy" --stdio "$root/bin/omnigraph" mcp serve --server "http://$addr" --graph code
stop

# Again with a pair of tools for all stored queries, and without output schemas.
sed -i.per-query 's|mcp: { output_schemas: true,|mcp: { meta_threshold: 1,|' "$tmp/cluster.yaml"
unset OMNIGRAPH_MCP_OUTPUT_SCHEMAS
start
export OMNIGRAPH_MCP_META=1
clients "over HTTP, with a pair for stored queries" "$url"
clients "by the proxy, with a pair for stored queries" --stdio "$root/bin/omnigraph" mcp serve --server "http://$addr" --graph code
unset OMNIGRAPH_MCP_META
stop

# Again with flat arguments, which no output schema and no other client expects.
sed -i.meta 's|mcp: { meta_threshold: 1,|mcp: { arguments: flat, mode: per_query,|' "$tmp/cluster.yaml"
start
echo "== over HTTP, with flat arguments"
OMNIGRAPH_MCP_FLAT=1 node "$here/client.mjs" "$url" "$token"
stop

clients "over standard input and output" --stdio "$root/bin/omnigraph" mcp serve --store "$tmp/data/code" --as act-dev
