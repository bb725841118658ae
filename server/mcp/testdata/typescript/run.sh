#!/usr/bin/env bash
# Loads a graph of this repository into a temporary folder, serves it with the built
# server on a free port, and drives it with client.mjs. Run from the repository's root.
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

(cd "$here" && npm ci --silent --no-audit --no-fund)
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
node "$here/client.mjs" "http://$addr/graphs/code/mcp" "$token"
