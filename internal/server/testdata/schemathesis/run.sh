#!/usr/bin/env bash
# Serves a small graph with the built server on a free port of loopback, and has a
# property-based fuzzer send what its OpenAPI document allows, and what it does not, for
# SECONDS_MAX seconds. Fails on a 5xx, and on an answer whose status, media type, headers
# or body the document does not tell. SEED repeats a run. Run from the repository's root.
set -euo pipefail
root=$(pwd)
here=$root/internal/server/testdata/schemathesis
tmp=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$tmp"
}
trap cleanup EXIT

cp "$here"/*.yaml "$here/schemathesis.toml" "$here/hooks.py" "$tmp/"
cp -r queries "$tmp/queries"
# The stored queries know nothing of a Blob; the schema may have one all the same.
echo 'node Attachment { name: String @key content: Blob? }' >> "$tmp/queries/code/schema.pg"
mkdir -p "$tmp/data"
bin/omnigraph init --schema "$tmp/queries/code/schema.pg" --store "$tmp/data/code" > /dev/null
(cd internal/source/gocode/testdata/shop && GOWORK=off GOFLAGS=-mod=mod "$root/bin/omnigraph" index go ./... --out "$tmp/code.ndjson")
echo '{"type":"Attachment","data":{"name":"a","content":"base64:b21uaWdyYXBo"}}' >> "$tmp/code.ndjson"
bin/omnigraph load --store "$tmp/data/code" --data "$tmp/code.ndjson" --mode overwrite > "$tmp/loaded.json"
echo '{"type":"Package","data":{"path":"example.com/proposed","name":"proposed","files":1,"lines":2}}' > "$tmp/proposed.ndjson"
bin/omnigraph load --store "$tmp/data/code" --data "$tmp/proposed.ndjson" --mode merge --branch proposed --from main > /dev/null

FUZZ_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export FUZZ_TOKEN
: > "$tmp/out" # the server's shell may be slow to make it
OMNIGRAPH_TOKEN_ACT_FUZZ=$FUZZ_TOKEN bin/omnigraph-server --cluster "$tmp" --bind 127.0.0.1:0 > "$tmp/out" 2> "$tmp/err" &
server=$!
addr=
for _ in $(seq 300); do
  addr=$(sed -n 's/^OMNIGRAPH_LISTEN_ADDR=//p' "$tmp/out")
  if [ -n "$addr" ]; then break; fi
  sleep 0.1
done
if [ -z "$addr" ]; then echo "the server did not start:"; cat "$tmp/out" "$tmp/err"; exit 1; fi

# From a file, since the fuzzer leaves out the route that it got the document from.
python3 - "http://$addr/openapi.json" "$tmp/openapi.json" <<'EOF'
import os, sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer " + os.environ["FUZZ_TOKEN"]})
with urllib.request.urlopen(request, timeout=30) as answer, open(sys.argv[2], "wb") as file:
    file.write(answer.read())
EOF

status=0
(cd "$tmp" && "$here/.venv/bin/schemathesis" run openapi.json --url "http://$addr" \
  --max-time "${SECONDS_MAX:-60}" ${SEED:+--seed "$SEED"} "$@") || status=$?
if ! kill -0 "$server" 2>/dev/null; then echo "the server is gone:"; tail -50 "$tmp/err"; exit 1; fi
column -t -s "$(printf '\t')" "$tmp/statuses" || cat "$tmp/statuses"
if [ -s "$tmp/unserved" ]; then
  echo "no request to these was served, so the run shows little of them; give the fuzzer what they need in schemathesis.toml or hooks.py:"
  cat "$tmp/unserved"
  status=1
fi
if [ "$status" -ne 0 ]; then grep 'level=ERROR' "$tmp/err" | tail -50 || true; fi
exit "$status"
