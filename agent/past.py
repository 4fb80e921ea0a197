"""The memory as it was, replayed in a thread while the chat goes on; and each question once, for then and for now.

Invariants: what is asked of a past is answered as of then, the time of day too. One is open at a time: the next takes
its place once it is there; leaving it, or closing the Agent, lets go of it and of its files.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from agent.graph import GraphReader
from agent.outlets import Work, on_loop
from agent.recall import Embed, Recaller
from graph.errors import NotFound
from graph.events import MAIN_WORLD
from graph.history.past import Past
from graph.memory import Memory
from graph.memory_view import MemoryView
from graph.values import (
    Chunk,
    CoreBlock,
    Document,
    Filters,
    Hit,
    Observation,
    Progress,
    Project,
    Session,
    Story,
    Turn,
    Wanted,
    World,
)
from graph.visibility import EVERYONE, Viewer

ANY = Wanted()


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryReader:
    """What was learned, the core blocks, and how turns were rated. `now` is the time that is asked about."""

    def __init__(self, asked: MemoryView, *, now: Callable[[], datetime] = _now) -> None:
        self._asked = asked
        self._now = now

    async def find(self, wanted: Wanted = ANY, *, limit: int = 200) -> list[Observation]:
        """What was learned, the newest first, each with what was said later on its topic.

        Raises GraphFailure while the graph is behind.
        """
        return await asyncio.to_thread(self._find, wanted, limit)

    def _find(self, wanted: Wanted, limit: int) -> list[Observation]:
        found = self._asked.readings.memories(wanted, now=self._now(), limit=limit)
        project = wanted.viewer if wanted.project is None else wanted.project
        return self._asked.readings.with_later(found, world=wanted.world, project=project)

    async def story(self, id: str, *, world: str | None = None) -> Story:
        """One observation with its revisions and proof, by its id or the beginning. Raises NotFound or Ambiguous.

        As they stand in `world`, or (None) in the observation's own.
        """
        return await asyncio.to_thread(self._story, id, world)

    def _story(self, id: str, world: str | None) -> Story:
        story = self._asked.readings.memory(id, world=world)
        (told,) = self._asked.readings.with_later([story.observation], world=world or story.observation.world)
        return replace(story, observation=told)

    async def review(self, *, limit: int = 200) -> list[Observation]:
        """The candidates that wait for review, the newest first. Raises GraphFailure."""
        return await self.find(Wanted(status="candidate"), limit=limit)

    async def blocks(self, *, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> list[CoreBlock]:
        """The core blocks, which are in every prompt of a world, and there of a project, or of none."""
        return await asyncio.to_thread(self._asked.readings.blocks, world, project=project)

    async def significance(self, *, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns that a world sees are rated 0, 1, 2, 3."""
        return await asyncio.to_thread(self._asked.readings.significance, world)

    async def rated(self, significance: int, *, limit: int = 200, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns of one rating that a world sees, the newest first."""
        return await asyncio.to_thread(self._asked.readings.rated, significance, limit, world=world)


class ProjectReader:
    """The projects."""

    def __init__(self, asked: MemoryView) -> None:
        self._asked = asked

    async def all(self) -> list[Project]:
        """The projects, archived ones too."""
        return await asyncio.to_thread(self._asked.readings.projects)


class DocumentReader:
    """The documents and their pieces."""

    def __init__(self, asked: MemoryView) -> None:
        self._asked = asked

    async def all(self) -> list[Document]:
        """All documents, the one read last first."""
        return await asyncio.to_thread(self._asked.readings.documents)

    async def chunks(self, document: str) -> list[Chunk]:
        """The pieces of a document in their order. Raises NotFound."""
        return await asyncio.to_thread(self._asked.readings.document_chunks, document)


ALL = Filters()


class PastView:
    """The Agent's questions, of the memory as it was; each raises GraphFailure once something was erased for good."""

    def __init__(self, past: Past, embed: Embed, close: Callable[[], Awaitable[None]]) -> None:
        self.close = close  # lets go of it; safe to call twice
        self.graph = GraphReader(past)
        self.memories = MemoryReader(past, now=lambda: past.at)
        self.projects = ProjectReader(past)
        self.documents = DocumentReader(past)
        self._past = past
        self._recaller = _Then(past, embed)

    @property
    def at(self) -> datetime:
        """When the last event that is known here was stored, in UTC."""
        return self._past.at

    @property
    def seq(self) -> int:
        """The number of the last event that is known here."""
        return self._past.seq

    async def recall(self, query: str, *, limit: int = 10, filters: Filters = ALL) -> list[Hit]:
        """What would have been recalled then."""
        return await self._recaller.recall(query, limit=limit, filters=filters)

    async def pinned(self, *, world: str = MAIN_WORLD) -> list[Turn]:
        """The turns that were pinned, oldest first."""
        return await asyncio.to_thread(self._past.readings.pinned, world)

    async def project_name(self, name: str) -> str:
        """How a project that there was wrote its name, which may be given in any case. Raises NotFound."""
        wanted = " ".join(name.split()).casefold()
        for project in await self.projects.all():
            if project.name.casefold() == wanted:
                return project.name
        raise NotFound(f"There was no project {name} then. `clew projects` lists the projects.")

    async def chats(self, *, archived: bool = False) -> list[Session]:
        """The chats there were, the newest activity first."""
        return await asyncio.to_thread(self._past.readings.sessions, archived=archived)

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        """The path to the head that a session had. Raises NotFound."""
        return await asyncio.to_thread(self._past.readings.thread, session, before=before, limit=limit)

    async def worlds(self) -> list[World]:
        """The worlds there were."""
        return await asyncio.to_thread(self._past.readings.worlds)


class _Then(Recaller):
    """A Recaller for whom it is the time of the past it looks through."""

    def __init__(self, past: Past, embed: Embed) -> None:
        super().__init__(past, embed)
        self._then = past.at

    @property
    def now(self) -> datetime:
        return self._then


class PastViewer:
    """Looks into the past of a memory."""

    def __init__(self, memory: Memory, embed: Embed) -> None:
        self._memory = memory
        self._embed = embed
        self._open: AbstractContextManager[Past] | None = None

    def open(self, when: datetime | int) -> Work[Progress, PastView]:
        """The memory as it was at an aware time, or right after an event, until it is closed.

        One that is open already is closed. Raises NothingThen before the first event (what is open stays open),
        NotFound for no event's number, or GraphFailure.
        """
        return Work(lambda tell: self._enter(when, on_loop(tell)))

    async def _enter(self, when: datetime | int, progress: Callable[[Progress], object]) -> PastView:
        opening = self._memory.past(when, progress)
        entering = asyncio.ensure_future(asyncio.to_thread(opening.__enter__))
        try:
            past = await asyncio.shield(entering)
        except asyncio.CancelledError:
            entering.add_done_callback(lambda done: _abandon(done, opening))
            raise
        before, self._open = self._open, opening
        try:
            await _leave(before)
        except BaseException:
            await self._close(opening)
            raise
        return PastView(past, self._embed, lambda: self._close(opening))

    async def _close(self, opening: AbstractContextManager[Past]) -> None:
        if self._open is opening:
            self._open = None
            await _leave(opening)

    @asynccontextmanager
    async def at(self, when: datetime | int) -> AsyncIterator[PastView]:
        """As `open`, and closed in the end."""
        view = await self.open(when)
        try:
            yield view
        finally:
            await view.close()


async def _leave(past: "AbstractContextManager[Past] | None") -> None:
    if past is not None:
        await asyncio.to_thread(past.__exit__, None, None, None)


def _abandon(done: "asyncio.Future[Past]", opening: "AbstractContextManager[Past]") -> None:
    """Close a past that was made for somebody who does not wait any more."""
    if not done.cancelled() and done.exception() is None:
        opening.__exit__(None, None, None)
