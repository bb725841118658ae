"""The program for LlamaIndex, with a scripted model."""

from collections.abc import Sequence
from typing import Any

from guide import ask
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from script import Script, play


def scripted(script: Script) -> MockFunctionCallingLLM:
    """A model that says what the script says."""

    def reply(messages: Sequence[ChatMessage], tools: Sequence[Any], **options: Any) -> ChatMessage:
        said = script.next([tool.metadata.name for tool in tools], messages[-1].content or "")
        if isinstance(said, str):
            return ChatMessage(role="assistant", content=said)
        return ChatMessage(role="assistant", blocks=[ToolCallBlock(tool_call_id=f"call-{script.said}", tool_name=said.tool, tool_kwargs=said.arguments)])

    return MockFunctionCallingLLM(response_generator=reply, is_chat_model=True)


play("LlamaIndex", lambda script: ask(scripted(script), "What do we know?"))
