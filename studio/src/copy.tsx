// A call of a stored query as a text to paste: a curl command for MCP, a curl command for REST, or a
// Go program. None of these texts contains the token. The two commands take it from the environment.

import { signal } from "@preact/signals";
import type { QueryDescription } from "./api";
import { writeJson, type Json } from "./json";
import { save } from "./table";

export interface Call {
  graph: string;
  query: QueryDescription;
  params: Record<string, Json>;
  target: { branch?: string; snapshot?: string };
}

/** Quotes a text as one word for a POSIX shell. */
export function shellQuote(text: string): string {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

/** Quotes a text as a Go string. Go has the same escapes as JSON, except that it does not allow an unpaired surrogate. */
export function goQuote(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}

const bearer = '-H "Authorization: Bearer $OMNIGRAPH_TOKEN" -H \'Content-Type: application/json\'';

/** Returns a curl command that runs the query over REST. */
export function curlCall(call: Call): string {
  const path = location.origin + "/graphs/" + encodeURIComponent(call.graph) + "/queries/" + encodeURIComponent(call.query.name);
  return `curl -sS ${shellQuote(path)} ${bearer} \\\n  --data-binary ${shellQuote(writeJson({ params: call.params, ...call.target }))}\n`;
}

/** Returns a curl command that calls the tool of the query over MCP. */
export function mcpCall(call: Call): string {
  const meta = call.query.run_tool !== call.query.tool_name;
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: call.query.run_tool,
      arguments: {
        ...(meta ? { name: call.query.tool_name } : {}),
        ...(Object.keys(call.query.input_schema.properties.params?.properties ?? {}).length > 0 ? { params: call.params } : {}),
        ...call.target,
      },
    },
  };
  const path = location.origin + "/graphs/" + encodeURIComponent(call.graph) + "/mcp";
  return (
    `curl -sS ${shellQuote(path)} ${bearer} -H 'Accept: application/json, text/event-stream' \\\n` +
    `  --data-binary ${shellQuote(writeJson(message))}\n`
  );
}

/** Returns a Go program that runs the query with the client package. */
export function goCall(call: Call): string {
  const target = [
    call.target.branch ? `, Branch: ${goQuote(call.target.branch)}` : "",
    call.target.snapshot ? `, Snapshot: ${goQuote(call.target.snapshot)}` : "",
  ].join("");
  return `package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/omnigraph-go/omnigraph/client"
)

func main() {
	c, err := client.New(${goQuote(location.origin)}, client.WithToken(os.Getenv("OMNIGRAPH_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	params := json.RawMessage(${goQuote(writeJson(call.params))})
	answer, err := c.Graph(${goQuote(call.graph)}).Invoke(context.Background(), ${goQuote(call.query.name)}, client.InvokeBody{Params: params${target}})
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}
`;
}

const said = signal("");

/** Shows the buttons that copy the call, and the result of the last click. */
export function CopyAs(props: { call: Call }) {
  const copy = (what: string, text: string) => async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = what + " is in the clipboard.";
    } catch {
      // Without TLS, a browser allows access to the clipboard only for a server on the same machine.
      save(what + ".txt", new Blob([text], { type: "text/plain;charset=utf-8" }));
      said.value = "The browser gives no access to the clipboard, so the text was saved as a file.";
    }
  };
  return (
    <div class="copy" role="group" aria-label="Copy as">
      <span>Copy as</span>
      <button type="button" class="quiet" onClick={copy("The MCP call", mcpCall(props.call))}>
        MCP call
      </button>
      <button type="button" class="quiet" onClick={copy("The curl command", curlCall(props.call))}>
        curl
      </button>
      <button type="button" class="quiet" onClick={copy("The Go program", goCall(props.call))}>
        Go
      </button>
      <span role="status">{said.value}</span>
    </div>
  );
}
