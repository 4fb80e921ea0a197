"""The agent for tests of the query screen: all of it is real but the engine of queries, which finds what it is told to.

What takes how long, and what is there before the rest, is then no matter of luck; on the real engine the screen is in
tests/tui/test_queries_for_real.py.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from agent.outlets import Work
from graph.console.console import Answer
from tests.tui.scripted import ScriptedAgent


class AskedAgent(ScriptedAgent):
    """`answers` by query, `otherwise` for any other; `running` holds each query back until it is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer | Exception] = {}
        self.otherwise: Answer | Exception = Answer((), (), 0, 1.0)
        self.firsts: dict[str, Answer] = {}  # rows that are there before the rest is
        self.asked: list[tuple[str, dict[str, Any], int]] = []
        self.ended: list[str] = []  # queries whose asker did not wait for them
        self.running = asyncio.Event()
        self.running.set()
        self._held.append(self.running)
        self._put("graph.prepare", lambda call: self._ready)
        self._put("graph.validate", lambda call: self._ready)
        self._put("graph.console", lambda call: self._answer)

    async def _ready(self, *asked: str) -> None:
        return None

    def _answer(
        self, cypher: str, *, parameters: Mapping[str, Any], limit: int, world: str, timeout_s: float
    ) -> Work[Answer, Answer]:
        return Work(lambda tell: self._find(cypher, parameters, limit, tell))

    async def _find(
        self, cypher: str, parameters: Mapping[str, Any], limit: int, tell: Callable[[Answer], None]
    ) -> Answer:
        self.asked.append((cypher, dict(parameters), limit))
        if cypher in self.firsts:
            tell(self.firsts[cypher])
        try:
            await self.running.wait()
        except asyncio.CancelledError:
            self.ended.append(cypher)
            raise
        answer = self.answers.get(cypher, self.otherwise)
        if isinstance(answer, Exception):
            raise answer
        more = limit < len(answer.rows)
        return Answer(answer.columns, answer.rows[:limit], answer.total, answer.took_ms, "rows" if more else answer.cut)
