#!/usr/bin/env bash
# Drives a graph with the official inspector's command line. Usage: check.sh URL, with
# the token in OMNIGRAPH_TOKEN or $token, or check.sh COMMAND ARGUMENT…
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export HOME=$(mktemp -d) # the inspector keeps a catalog there
trap 'rm -rf "$HOME"' EXIT

case $1 in
http*) target=(--transport http --server-url "$1" --header "Authorization: Bearer $OMNIGRAPH_TOKEN") ;;
*)
  # In a file, because the inspector takes options such as --server for its own.
  "$here/node_modules/.bin/node" -e '
    const [command, ...args] = process.argv.slice(1);
    console.log(JSON.stringify({ mcpServers: { graph: { command, args, env: { OMNIGRAPH_TOKEN: process.env.OMNIGRAPH_TOKEN } } } }));
  ' -- "$@" > "$HOME/servers.json"
  target=(--config "$HOME/servers.json" --server graph)
  ;;
esac

# inspect runs the inspector and shows its output when it lacks what is wanted.
inspect() {
  local want=$1 out
  shift
  out=$("$here/node_modules/.bin/node" "$here/node_modules/.bin/mcp-inspector" --cli "${target[@]}" "$@" 2>&1) || true
  if ! grep -qF -- "$want" <<<"$out"; then
    echo "FAIL $*: wanted $want in"; echo "$out"; exit 1
  fi
  echo "ok   $*"
}

# Where OMNIGRAPH_MCP_META is set stored queries are run by a pair of tools.
if [ -n "${OMNIGRAPH_MCP_META:-}" ]; then
  inspect '"stored_query_run"' --method tools/list
  inspect '"find_symbols"' --method tools/call --tool-name stored_query_list --tool-arg 'filter=symbols'
  inspect '"heaviest_packages"' --method tools/call --tool-name stored_query_run --tool-arg 'name=heaviest_packages'
  inspect '"isError": true' --method tools/call --tool-name stored_query_run --tool-arg 'name=find_symbols' --tool-arg 'params={"word":"graph"}'
else
  inspect '"find_symbols"' --method tools/list
  inspect '"heaviest_packages"' --method tools/call --tool-name heaviest_packages
  inspect '"isError": true' --method tools/call --tool-name find_symbols --tool-arg 'params={"word":"graph"}'
fi
# It exits with 6 when a schema has an error that keeps some client from using a tool.
"$here/node_modules/.bin/node" "$here/node_modules/.bin/mcp-inspector" --cli "${target[@]}" --method tools/list --strict >/dev/null 2>&1 ||
  { echo "FAIL --method tools/list --strict"; exit 1; }
echo "ok   --method tools/list --strict"
inspect '"row_count": 1' --method tools/call --tool-name graph_query --tool-arg 'query=query q() { match { $p: Package } return { count($p) as n } }'
inspect 'nosuch' --method tools/call --tool-name nosuch
inspect 'omnigraph://schema' --method resources/list
inspect 'node Package' --method resources/read --uri omnigraph://schema
inspect '"write_query"' --method prompts/list
inspect '$symbol' --method prompts/get --prompt-name write_filter --prompt-args type=Symbol
inspect '"valid": true' --method tools/call --tool-name query_validate --tool-arg 'query=query q() { match { $p: Package } return { count($p) as n } }'
