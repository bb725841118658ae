"""The program for Pydantic AI, with a scripted model."""

from guide import ask
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from script import Script, play


def scripted(script: Script) -> FunctionModel:
    """A model that says what the script says."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part = messages[-1].parts[-1]
        result = part.model_response_str() if isinstance(part, ToolReturnPart) else str(part.content)
        said = script.next([tool.name for tool in info.function_tools], result)
        return ModelResponse(parts=[TextPart(said) if isinstance(said, str) else ToolCallPart(said.tool, said.arguments)])

    return FunctionModel(reply)


play("Pydantic AI", lambda script: ask(scripted(script), "What do we know?"))
