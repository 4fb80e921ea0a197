"""What the memory screen reads from: a world as it is now, or as it was at a time."""

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

    def __init__(self, service: "Service", world: str = MAIN, project: str | None = None) -> None:
        self._service = service
        self._reader: Any = service  # the Agent, or one of its views of the past, which answers the same
        self.world = world
        self.project = project  # of the chat that it was opened from
        self.at: datetime | None = None
        self._open = AsyncExitStack()

    # Now and then

    async def go_to(self, when: datetime) -> None:
        """The memory as it was at that time. Raises what `Agent.past` raises, and stays where it is then."""
        opening = AsyncExitStack()
        past = await opening.enter_async_context(self._service.past(when))
        await self.come_back()
        self._open, self._reader, self.at = opening, past, when

    async def come_back(self) -> None:
        """Now again; what was made for the past is given up."""
        self._reader, self.at = self._service, None
        opened, self._open = self._open, AsyncExitStack()
        await opened.aclose()

    # Questions

    async def memories(self, wanted: Wanted, *, limit: int) -> "list[Observation]":
        found: list[Observation] = await self._reader.memories(replace(wanted, world=self.world), limit=limit)
        return found

    async def review(self) -> "list[Observation]":
        return await self.memories(Wanted(status="candidate"), limit=200)

    async def memory(self, id: str) -> "Story":
        found: Story = await self._reader.memory(id, world=self.world)
        return found

    async def blocks(self) -> "list[CoreBlock]":
        found: list[CoreBlock] = await self._reader.blocks(world=self.world, project=self.project)
        return found

    async def significance(self) -> dict[int, int]:
        found: dict[int, int] = await self._reader.significance(world=self.world)
        return found

    async def rated(self, significance: int, *, limit: int) -> "list[Turn]":
        found: list[Turn] = await self._reader.rated(significance, limit=limit, world=self.world)
        return found

    async def projects(self) -> "list[Project]":
        found: list[Project] = await self._reader.projects()
        return found

    async def documents(self) -> "list[Document]":
        found: list[Document] = await self._reader.documents()
        return found

    async def chunks(self, document: str) -> "list[Chunk]":
        found: list[Chunk] = await self._reader.chunks(document)
        return found
