"""The graph of the fake agent: answers that are told beforehand, what was asked, what is kept."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agent.asking.values import Ran, Saved, Translation
from agent.errors import NotUnderstood
from graph.querying.catalogue import NodeKind, Property, RelationshipKind, Schema
from graph.querying.console import Answer
from graph.subgraphs import Ref, Subgraph

TURN = NodeKind(
    "Turn", 12, "one message", (Property("id", "STRING", "its id"), Property("text", "STRING", "the words"))
)
PERSON = NodeKind("Entity", 3, "who or what is named", (Property("name", "STRING", "its name"),))
SAID_BY = RelationshipKind("SAID_BY", 12, "who said it", "Turn", ("Entity",), ())
SCHEMA = Schema((TURN, PERSON), (SAID_BY,))
EMPTY = Answer((), (), 0, 1.0)


class FakeGraph:
    """`answers` by query, `otherwise` for any other; `running` holds each query back until it is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Answer | Exception] = {}
        self.otherwise: Answer | Exception = EMPTY
        self.firsts: dict[str, Answer] = {}  # rows that are there before the rest is
        self.asked: list[tuple[str, dict[str, Any], int]] = []
        self.ended: list[str] = []  # queries whose asker did not wait for them
        self.running = asyncio.Event()
        self.running.set()
        self.ran: list[Ran] = []
        self.kept_queries: dict[str, Saved] = {}
        self.translations: dict[str, Translation] = {}
        self.prepared = 0

    async def console(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = 10.0,
        limit: int = 500,
        world: str = "main",
        first: Callable[[Answer], None] | None = None,
    ) -> Answer:
        self.asked.append((cypher, dict(parameters or {}), limit))
        if first is not None and cypher in self.firsts:
            first(self.firsts[cypher])
        try:
            await self.running.wait()
        except asyncio.CancelledError:
            self.ended.append(cypher)
            raise
        answer = self.answers.get(cypher, self.otherwise)
        if isinstance(answer, Exception):
            raise answer
        total = answer.total or 0
        cut = "rows" if total > limit and len(answer.rows) > limit else answer.cut
        return Answer(answer.columns, answer.rows[:limit], answer.total, answer.took_ms, cut)

    async def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None:
        return None

    async def prepare_console(self) -> None:
        self.prepared += 1

    async def schema(self) -> Schema:
        return SCHEMA

    async def subgraph(self, refs: Iterable[Ref]) -> Subgraph:
        return Subgraph((), ())

    async def query_history(self, limit: int = 500) -> list[Ran]:
        return self.ran[::-1][:limit]

    async def keep_query(self, ran: Ran, *, private: bool = False) -> bool:
        if not private:
            self.ran.append(ran)
        return True

    async def saved_queries(self) -> list[Saved]:
        return sorted(self.kept_queries.values(), key=lambda each: each.name)

    async def save_query(self, name: str, cypher: str, parameters: Mapping[str, Any] | None = None) -> None:
        self.kept_queries[name] = Saved(name, cypher, parameters or {})

    async def remove_query(self, name: str) -> bool:
        return self.kept_queries.pop(name, None) is not None

    async def translate(self, question: str) -> Translation:
        if question not in self.translations:
            raise NotUnderstood("These words became no query.")
        return self.translations[question]
