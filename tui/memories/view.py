"""What the memory screen reads from: a world as it is now, or as it was at a time."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from graph.beliefs import Wanted
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.past import PastView
    from graph.beliefs import Chunk, CoreBlock, Document, Observation, Project, Story
    from graph.values import Turn


class View:
    """The same questions now and then. `at` is the time of a view of the past; nothing can be changed there."""

    def __init__(self, service: "Agent", world: str = MAIN, project: str | None = None) -> None:
        self._service = service
        self._reader: Agent | PastView = service
        self.world = world
        self.project = project  # of the chat that it was opened from
        self.at: datetime | None = None
        self._past: PastView | None = None

    # Now and then

    async def go_to(self, when: datetime) -> None:
        """The memory as it was at that time. Raises what `PastViewer.open` raises, and stays where it is then."""
        past = await self._service.past.open(when)
        await self.come_back()
        self._past, self._reader, self.at = past, past, when

    async def come_back(self) -> None:
        """Now again; what was made for the past is given up."""
        self._reader, self.at = self._service, None
        opened, self._past = self._past, None
        if opened is not None:
            await opened.close()

    # Questions

    async def memories(self, wanted: Wanted, *, limit: int) -> "list[Observation]":
        return await self._reader.memories.find(replace(wanted, world=self.world), limit=limit)

    async def review(self) -> "list[Observation]":
        return await self.memories(Wanted(status="candidate"), limit=200)

    async def memory(self, id: str) -> "Story":
        return await self._reader.memories.story(id, world=self.world)

    async def blocks(self) -> "list[CoreBlock]":
        return await self._reader.memories.blocks(world=self.world, project=self.project)

    async def significance(self) -> dict[int, int]:
        return await self._reader.memories.significance(world=self.world)

    async def rated(self, significance: int, *, limit: int) -> "list[Turn]":
        return await self._reader.memories.rated(significance, limit=limit, world=self.world)

    async def projects(self) -> "list[Project]":
        return await self._reader.projects.all()

    async def documents(self) -> "list[Document]":
        return await self._reader.documents.all()

    async def chunks(self, document: str) -> "list[Chunk]":
        return await self._reader.documents.chunks(document)
