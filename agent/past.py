"""The memory as it was, for the faces: replayed in a thread while the chat goes on, and asked as the Agent is.

Invariants: what is asked of a past is answered as of then, the time of day too. One is open at a time: the next takes
its place once it is there; leaving it, or closing the Agent, lets go of it and of its files.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime

from graph.asked import Asked
from graph.beliefs import Chunk, CoreBlock, Document, Observation, Project, Story, Wanted
from graph.branches import World
from graph.errors import NotFound
from graph.events import MAIN_WORLD
from graph.hits import Filters, Hit
from graph.memory import Memory
from graph.past import Past
from graph.values import Progress, Session, Turn
from graph.visibility import EVERYONE, Viewer

from .embedding import Embedding
from .graphing import Graphing
from .querying import Querying
from .recall import Embed, Recaller

ANY = Wanted()
ALL = Filters()


class PastView(Graphing, Querying):
    """The Agent's questions, of the memory as it was; each raises GraphFailure once something was erased for good."""

    def __init__(self, past: Past, embed: Embed) -> None:
        self._past = past
        self._recaller = _Then(past, embed)

    @property
    def _graphed(self) -> Asked:
        return self._past

    @property
    def at(self) -> datetime:
        """When the last event that is known here was stored, in UTC."""
        return self._past.at

    @property
    def seq(self) -> int:
        """The number of the last event that is known here."""
        return self._past.seq

    async def memories(self, wanted: Wanted = ANY, *, limit: int = 200) -> list[Observation]:
        """What was learned by then, the newest first, as it stood."""
        return await asyncio.to_thread(self._past.memories, wanted, now=self.at, limit=limit)

    async def memory(self, id: str, *, world: str | None = None) -> Story:
        """One observation with the revisions and proof it had. Raises NotFound or Ambiguous."""
        return await asyncio.to_thread(self._past.memory, id, now=self.at, world=world)

    async def recall(self, query: str, *, limit: int = 10, filters: Filters = ALL) -> list[Hit]:
        """What would have been recalled then."""
        return await self._recaller.recall(query, limit=limit, filters=filters)

    async def blocks(self, *, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> list[CoreBlock]:
        """The core blocks as they were."""
        return await asyncio.to_thread(self._past.blocks, world, project=project)

    async def pinned(self, *, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns that were pinned, oldest first."""
        return await asyncio.to_thread(self._past.pinned, world)

    async def significance(self, *, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns were rated 0, 1, 2 and 3."""
        return await asyncio.to_thread(self._past.significance, world)

    async def rated(self, significance: int, *, limit: int = 200, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns that were rated so, the newest first."""
        return await asyncio.to_thread(self._past.rated, significance, limit, world=world)

    async def projects(self) -> list[Project]:
        """The projects there were."""
        return await asyncio.to_thread(self._past.projects)

    async def project_name(self, name: str) -> str:
        """How a project that there was wrote its name, which may be given in any case. Raises NotFound."""
        wanted = " ".join(name.split()).casefold()
        for project in await self.projects():
            if project.name.casefold() == wanted:
                return project.name
        raise NotFound(f"There was no project {name} then. `clew projects` lists the projects.")

    async def documents(self) -> list[Document]:
        """The documents there were."""
        return await asyncio.to_thread(self._past.documents)

    async def chunks(self, document: str) -> list[Chunk]:
        """The pieces a document had. Raises NotFound."""
        return await asyncio.to_thread(self._past.document_chunks, document)

    async def sessions(self, *, archived: bool = False) -> list[Session]:
        """The chats there were, the newest activity first."""
        return await asyncio.to_thread(self._past.sessions, archived=archived)

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        """The path to the head that a session had. Raises NotFound."""
        return await asyncio.to_thread(self._past.thread, session, before=before, limit=limit)

    async def worlds(self) -> list[World]:
        """The worlds there were."""
        return await asyncio.to_thread(self._past.worlds)


class _Then(Recaller):
    """A Recaller for whom it is the time of the past it looks through."""

    def __init__(self, past: Past, embed: Embed) -> None:
        super().__init__(past, embed)
        self._then = past.at

    @property
    def now(self) -> datetime:
        return self._then


class Looking(Graphing, Querying):
    """The part of the Agent that looks into the past, and asks the user's own queries; what it uses is the Agent's."""

    _embedding: Embedding
    _looked_into: "AbstractContextManager[Past] | None" = None  # the past that is open

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    @property
    def _graphed(self) -> Asked:
        return self._memory

    @asynccontextmanager
    async def past(
        self, when: datetime | int, progress: Callable[[Progress], object] = lambda _: None
    ) -> AsyncIterator[PastView]:
        """The memory as it was at an aware time, or right after an event; one that is open already is closed.

        `progress` is called on another thread. Raises NothingThen before the first event (what is open stays open),
        NotFound for no event's number, or GraphFailure.
        """
        opening = self._memory.past(when, progress)
        entering = asyncio.ensure_future(asyncio.to_thread(opening.__enter__))
        try:
            past = await asyncio.shield(entering)
        except asyncio.CancelledError:
            entering.add_done_callback(lambda done: _abandon(done, opening))
            raise
        before, self._looked_into = self._looked_into, opening
        try:
            await _leave(before)
            yield PastView(past, self._embedding.query)
        finally:
            if self._looked_into is opening:
                self._looked_into = None
                await _leave(opening)


async def _leave(past: "AbstractContextManager[Past] | None") -> None:
    if past is not None:
        await asyncio.to_thread(past.__exit__, None, None, None)


def _abandon(done: "asyncio.Future[Past]", opening: "AbstractContextManager[Past]") -> None:
    """Close a past that was made for somebody who does not wait any more."""
    if not done.cancelled() and done.exception() is None:
        opening.__exit__(None, None, None)
