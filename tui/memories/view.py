"""What the memory screen reads from: a world as it is now, or as it was at a time."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graph.beliefs import Wanted

if TYPE_CHECKING:
    from graph.beliefs import Chunk, CoreBlock, Document, Observation, Project, Story
    from graph.values import Turn
    from tui.service import Service

MAIN = "main"


class View:
    """The same questions now and then. `at` is the time of a view of the past; nothing can be changed there."""

    def __init__(self, service: "Service", world: str = MAIN) -> None:
        self._service = service
        self.world = world
        self.at: datetime | None = None
        self._past: Any = None
        self._open = AsyncExitStack()

    # Now and then

    async def go_to(self, when: datetime) -> None:
        """The memory as it was at that time. Raises what `Agent.past` raises, and stays where it is then."""
        opening = AsyncExitStack()
        past = await opening.enter_async_context(self._service.past(when))
        await self.come_back()
        self._open, self._past, self.at = opening, past, when

    async def come_back(self) -> None:
        """Now again; what was made for the past is given up."""
        self._past, self.at = None, None
        opened, self._open = self._open, AsyncExitStack()
        await opened.aclose()

    # Questions

    async def memories(self, wanted: Wanted, *, limit: int) -> "list[Observation]":
        asked = replace(wanted, world=self.world)
        if self._past is None:
            return await self._service.memories(asked, limit=limit)
        found: list[Observation] = await self._then("memories", asked, now=self.at, limit=limit)
        return found

    async def review(self) -> "list[Observation]":
        return await self.memories(Wanted(status="candidate"), limit=200)

    async def memory(self, id: str) -> "Story":
        if self._past is None:
            return await self._service.memory(id, world=self.world)
        found: Story = await self._then("memory", id, now=self.at, world=self.world)
        return found

    async def blocks(self) -> "list[CoreBlock]":
        if self._past is None:
            return await self._service.blocks(world=self.world)
        found: list[CoreBlock] = await self._then("blocks", self.world)
        return found

    async def significance(self) -> dict[int, int]:
        if self._past is None:
            return await self._service.significance(world=self.world)
        found: dict[int, int] = await self._then("significance", self.world)
        return found

    async def rated(self, significance: int, *, limit: int) -> "list[Turn]":
        if self._past is None:
            return await self._service.rated(significance, limit=limit, world=self.world)
        found: list[Turn] = await self._then("rated", significance, limit, world=self.world)
        return found

    async def projects(self) -> "list[Project]":
        found: list[Project] = await (self._service.projects() if self._past is None else self._then("projects"))
        return found

    async def documents(self) -> "list[Document]":
        found: list[Document] = await (self._service.documents() if self._past is None else self._then("documents"))
        return found

    async def chunks(self, document: str) -> "list[Chunk]":
        if self._past is None:
            return await self._service.chunks(document)
        found: list[Chunk] = await self._then("document_chunks", document)
        return found

    async def _then(self, question: str, *values: Any, **named: Any) -> Any:
        return await asyncio.to_thread(getattr(self._past, question), *values, **named)
