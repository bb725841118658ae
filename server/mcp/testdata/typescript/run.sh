#!/usr/bin/env bash
# Loads a graph of this repository into a temporary folder, serves it with the built
# commands, over HTTP on a free port, by the proxy and over standard input and output,
# and drives it with three clients: client.mjs, the inspector, and that of the Go SDK.
# Run from the repository's root.
set -euo pipefail
root=$(pwd)
here=$root/server/mcp/testdata/typescript
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
sed "s|^storage:.*|storage: $tmp/data|" cluster.yaml > "$tmp/cluster.yaml"
cp -r queries "$tmp/queries"
mkdir -p "$tmp/data"
bin/omnigraph init --schema queries/code/schema.pg --store "$tmp/data/code"
bin/omnigraph index go ./... --out "$tmp/code.ndjson"
bin/omnigraph load --store "$tmp/data/code" --data "$tmp/code.ndjson" --mode overwrite
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

# Each client in turn; what is given is how the graph is reached.
clients() {
  echo "== $1"
  shift
  if [ "$1" = --stdio ]; then shift; node "$here/client.mjs" --stdio "$@"; else node "$here/client.mjs" "$url" "$token"; fi
  OMNIGRAPH_TOKEN=$token "$here/../inspector/check.sh" "$@"
  OMNIGRAPH_MCP_SERVER="$*" OMNIGRAPH_TOKEN=$token go test ./server/mcp -run '^TestBuiltServer$' -count=1
}
clients "over HTTP" "$url"
export OMNIGRAPH_TOKEN=$token
clients "by the proxy" --stdio "$root/bin/omnigraph" mcp serve --server "http://$addr" --graph code
kill "$server"; wait "$server" || true
server=
clients "over standard input and output" --stdio "$root/bin/omnigraph" mcp serve --store "$tmp/data/code" --as act-dev
