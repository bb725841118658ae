"""The program for OpenAI Agents, with a scripted model."""

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Model, ModelResponse, Usage, set_tracing_disabled
from guide import ask
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from script import Script, play


class Scripted(Model):
    """A model that says what the script says."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def get_response(self, system_instructions: str | None, input: Any, model_settings: Any, tools: list[Any], *args: Any, **options: Any) -> ModelResponse:
        result = input[-1].get("output", [])  # a list of the texts
        said = self.script.next([tool.name for tool in tools], "".join(part["text"] for part in result))
        output = (
            ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[ResponseOutputText(type="output_text", text=said, annotations=[])])
            if isinstance(said, str)
            else ResponseFunctionToolCall(type="function_call", call_id=f"call-{self.script.said}", name=said.tool, arguments=json.dumps(said.arguments))
        )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


set_tracing_disabled(True)  # traces would go to OpenAI
play("OpenAI Agents", lambda script: ask(Scripted(script), "What do we know?"))
