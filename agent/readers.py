"""What can be asked of a memory as it is now, and of one as it was: each question once, for both."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from graph.beliefs import Chunk, CoreBlock, Document, Observation, Project, Story, Wanted
from graph.events import MAIN_WORLD
from graph.memory_readings import MemoryReadings
from graph.values import Turn
from graph.visibility import EVERYONE, Viewer

ANY = Wanted()


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryReader:
    """What was learned, the core blocks, and how turns were rated. `now` is the time that is asked about."""

    def __init__(self, asked: MemoryReadings, *, now: Callable[[], datetime] = _now) -> None:
        self._asked = asked
        self._now = now

    async def find(self, wanted: Wanted = ANY, *, limit: int = 200) -> list[Observation]:
        """What was learned, the newest first. Raises GraphFailure while the graph is behind."""
        return await asyncio.to_thread(self._asked.memories, wanted, now=self._now(), limit=limit)

    async def story(self, id: str, *, world: str | None = None) -> Story:
        """One observation with its revisions and proof, by its id or the beginning. Raises NotFound or Ambiguous.

        As they stand in `world`, or (None) in the observation's own.
        """
        return await asyncio.to_thread(self._asked.memory, id, world=world)

    async def review(self, *, limit: int = 200) -> list[Observation]:
        """The candidates that wait for review, the newest first. Raises GraphFailure."""
        return await self.find(Wanted(status="candidate"), limit=limit)

    async def blocks(self, *, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> list[CoreBlock]:
        """The core blocks, which are in every prompt of a world, and there of a project, or of none."""
        return await asyncio.to_thread(self._asked.blocks, world, project=project)

    async def significance(self, *, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns that a world sees are rated 0, 1, 2, 3."""
        return await asyncio.to_thread(self._asked.significance, world)

    async def rated(self, significance: int, *, limit: int = 200, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns of one rating that a world sees, the newest first."""
        return await asyncio.to_thread(self._asked.rated, significance, limit, world=world)


class ProjectReader:
    """The projects."""

    def __init__(self, asked: MemoryReadings) -> None:
        self._asked = asked

    async def all(self) -> list[Project]:
        """The projects, archived ones too."""
        return await asyncio.to_thread(self._asked.projects)


class DocumentReader:
    """The documents and their pieces."""

    def __init__(self, asked: MemoryReadings) -> None:
        self._asked = asked

    async def all(self) -> list[Document]:
        """All documents, the one read last first."""
        return await asyncio.to_thread(self._asked.documents)

    async def chunks(self, document: str) -> list[Chunk]:
        """The pieces of a document in their order. Raises NotFound."""
        return await asyncio.to_thread(self._asked.document_chunks, document)
