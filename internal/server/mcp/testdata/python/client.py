"""Drives a graph with the official Python SDK, in each protocol version from the first message to the last call.

Usage: client.py URL, or client.py COMMAND ARGUMENT…, with the token in OMNIGRAPH_TOKEN. OMNIGRAPH_MCP_META says that a pair of
tools runs the stored queries.
"""

import asyncio
import json
import os
import sys

import httpx2
import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference

TOKEN = os.environ["OMNIGRAPH_TOKEN"]
META = bool(os.environ.get("OMNIGRAPH_MCP_META"))
QUERY = "query q() { match { $p: Package } return { count($p) as n } }"


async def drive(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert ("stored_query_run" if META else "find_symbols") in tools, list(tools)

    async def stored(name: str, arguments: dict) -> mcp.types.CallToolResult:
        if META:
            return await client.call_tool("stored_query_run", {"name": name, **arguments})
        return await client.call_tool(name, arguments)

    # The SDK validates structured content against the schema of the output, if the tool has one.
    found = await stored("find_symbols", {"params": {"words": "graph"}})
    assert not found.is_error and found.structured_content["row_count"] > 0, found
    assert json.loads(found.content[0].text) == found.structured_content
    wrong = await stored("find_symbols", {"params": {"word": "graph"}})
    assert wrong.is_error and "words" in wrong.content[0].text, wrong

    told = asyncio.Event()

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.set()

    counted = await client.call_tool("graph_query", {"query": QUERY}, progress_callback=progress)
    assert counted.structured_content["rows"][0][0] > 0, counted
    await asyncio.wait_for(told.wait(), 30)  # the SDK may tell of the progress after the answer

    resources = (await client.list_resources()).resources
    assert "omnigraph://schema" in [str(r.uri) for r in resources], resources
    schema = (await client.read_resource("omnigraph://schema")).contents[0]
    assert "node Package" in schema.text
    assert [t for t in (await client.list_resource_templates()).resource_templates]

    prompts = sorted(p.name for p in (await client.list_prompts()).prompts)
    assert prompts == ["write_filter", "write_query"], prompts
    prompt = await client.get_prompt("write_query", {"intent": "who calls whom", "types": "Symbol"})
    assert "$symbol calls $symbol2" in prompt.messages[0].content.text
    completed = await client.complete(PromptReference(name="write_filter", type="ref/prompt"), {"name": "type", "value": "Sym"})
    assert completed.completion.values == ["Symbol"], completed
    try:
        await client.call_tool("no_such_tool", {})
    except mcp.MCPError as error:
        assert "unknown tool: no_such_tool" in str(error), error
    else:
        raise AssertionError("an unknown tool was called")


async def main() -> None:
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "auto"]:
        mode = version if version in ("2026-07-28", "auto") else "legacy"
        if mode == "legacy":
            mcp.client.session.LATEST_HANDSHAKE_VERSION = version  # the SDK asks for the newest one only
        if sys.argv[1].startswith("http"):
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
                await run(Client(streamable_http_client(sys.argv[1], http_client=http), mode=mode), version)
        else:
            command = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env={**os.environ})
            await run(Client(command, mode=mode), version)


async def run(client: Client, version: str) -> None:
    async with client:
        assert client.protocol_version == ("2026-07-28" if version == "auto" else version), client.protocol_version
        await drive(client)
    print(f"ok   {version}: from the first message to the last call")


asyncio.run(main())
