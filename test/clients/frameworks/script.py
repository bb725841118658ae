"""What the model of each framework says, and what it must be told."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Step:
    """A call of a tool, and what its result must contain."""

    tool: str
    arguments: dict[str, Any]
    finds: Sequence[str]


DECISION = {"slug": os.environ["SLUG"], "title": "Remind late payers", "reason": "Half pay then.", "by": "mei", "document": "late-payments"}

# A read, a write, and calls that fail: the server's error must reach the model as a text.
WRITER = [
    Step("who_knows", {"params": {"words": "invoice"}}, ["Mei Tanaka"]),
    Step("record_decision", {"params": DECISION}, ['"affected_nodes":1']),
    Step("record_decision", {"params": DECISION}, ["exists already"]),
    Step("graph_query", {"query": "query q() { match { $p: Persn } return { $p.name } }"}, ["Persn", "did you mean Person?"]),
    Step("why", {"params": {"slug": DECISION["slug"]}, "branch": "draft-7"}, ["draft-7"]),
    Step("why", {"params": {"slug": DECISION["slug"]}}, ["Half pay then.", "late-payments"]),
]
READER = [Step("decisions_of", {"params": {"handle": "mei"}}, [DECISION["slug"]])]


class Script:
    """A conversation: next returns what the model says when it is called again."""

    def __init__(self, steps: list[Step], writes: bool) -> None:
        self.steps, self.writes, self.said = steps, writes, 0

    def next(self, tools: Sequence[str], result: str) -> Step | str:
        """Takes the names of the tools that the model is offered, and the result of the last call. Returns a call or the answer."""
        assert ("record_decision" in tools) == self.writes, tools
        assert {"who_knows", "why", "graph_query"} <= set(tools), tools
        if self.said > 0:
            for text in self.steps[self.said - 1].finds:
                assert text in result, f"{self.steps[self.said - 1]} has the result {result}"
        self.said += 1
        if self.said > len(self.steps):
            return f"I called {len(self.steps)} tools."
        return self.steps[self.said - 1]


def play(name: str, ask: Callable[[Script], Awaitable[str]]) -> None:
    """Plays both scripts with `ask`, which asks the program of the guide. An unknown token must fail at once."""
    for token, steps, writes in [(os.environ["OMNIGRAPH_TOKEN"], WRITER, True), (os.environ["READER_TOKEN"], READER, False)]:
        os.environ["OMNIGRAPH_TOKEN"] = token
        script = Script(steps, writes)
        answer = asyncio.run(asyncio.wait_for(ask(script), 120))
        assert answer == f"I called {len(steps)} tools.", answer
        assert script.said == len(steps) + 1, script.said
    os.environ["OMNIGRAPH_TOKEN"] = "nobody"
    script = Script([], False)
    try:
        asyncio.run(asyncio.wait_for(ask(script), 120))
    except Exception as error:
        print(f"an unknown token: {error!r}")
        assert script.said == 0, "the model was called"
    else:
        raise AssertionError("an unknown token was served")
    print(f"{name}: {len(WRITER) + len(READER)} calls answered")
