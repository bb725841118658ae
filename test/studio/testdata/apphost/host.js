// A host of MCP Apps on the official packages. It connects to the server behind /mcp, calls proposal_get for the proposal of the page's address,
// and shows the app of that tool in a frame.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, getToolUiResourceUri, isToolVisibilityAppOnly, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const info = { name: "app-host", version: "1" };
const asked = new URLSearchParams(location.search);
console.debug = () => {}; // to which the bridge's transport writes each message

async function show() {
  const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
  const client = new Client(info, { capabilities, ...(asked.has("newest") && { versionNegotiation: { mode: "auto" } }) });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  window.version = client.getNegotiatedProtocolVersion();
  const { tools } = await client.listTools();
  const tool = tools.find((t) => t.name === "proposal_get");
  window.forModel = tools.filter((t) => !isToolVisibilityAppOnly(t)).map((t) => t.name);
  window.forApp = tools.filter(isToolVisibilityAppOnly).map((t) => t.name);

  const { contents } = await client.readResource({ uri: getToolUiResourceUri(tool) });
  const args = { proposal: asked.get("proposal") };
  const result = await client.callTool({ name: tool.name, arguments: args });
  const frame = document.querySelector("iframe");
  const bridge = new AppBridge(client, info, { serverTools: {} }, { hostContext: { theme: "light" } });
  bridge.oninitialized = async () => {
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult(result);
  };
  bridge.onsizechange = ({ height }) => height && (frame.style.height = `${height}px`);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = contents[0].text;
}

show().catch((fault) => (document.title = String(fault)));
