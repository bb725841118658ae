"""Calls stored queries with the official client, in both forms of arguments and of rows."""

import asyncio
import os
import sys
from typing import Any

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

PARAMS = {"words": "invoice"}


async def call(graph: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the structured content of the answer of a tool of a graph."""
    headers = {"Authorization": f"Bearer {os.environ['READER_TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers) as http, streamable_http_client(f"http://{sys.argv[1]}/graphs/{graph}/mcp", http_client=http) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            schema = next(t for t in (await session.list_tools()).tools if t.name == tool).input_schema
            assert ("params" in schema["properties"]) == (graph == "team"), schema
            result = await session.call_tool(tool, arguments)
            assert not result.is_error, result
            return result.structured_content


async def main() -> None:
    nested = await call("team", "who_knows", {"params": PARAMS})
    assert dict(zip(nested["columns"], nested["rows"][0], strict=True))["name"] == "Mei Tanaka", nested
    for arguments in [PARAMS, PARAMS | {"_": {"branch": "main"}}, {"params": PARAMS}]:
        flat = await call("flat", "who_knows", arguments)
        assert flat["rows"][0]["name"] == "Mei Tanaka", flat
        assert [list(row.values()) for row in flat["rows"]] == nested["rows"], flat


asyncio.run(main())
print("official: arrays and objects, nested and flat arguments")
