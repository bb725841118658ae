"""The program for LangChain, with a scripted model."""

from collections.abc import Sequence
from typing import Any

from guide import ask
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from script import Script, play


class Scripted(BaseChatModel):
    """A model that says what the script says."""

    script: Any
    tools: list[str] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> "Scripted":
        return Scripted(script=self.script, tools=[tool.name for tool in tools])

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        said = self.script.next(self.tools, messages[-1].text)
        message = AIMessage(content=said) if isinstance(said, str) else AIMessage(
            content="", tool_calls=[{"name": said.tool, "args": said.arguments, "id": f"call-{self.script.said}"}]
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


play("LangChain", lambda script: ask(Scripted(script=script), "What do we know?"))
