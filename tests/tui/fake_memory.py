"""What was learned, in a list: the part of the fake agent that keeps the promises of Agent about it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.errors import AgentError
from agent.events import MemoriesChanged, Notice
from agent.ingesting.ingester import IngestProgress, IngestReport
from graph.beliefs import Chunk, CoreBlock, Document, Observation, Project, Proof, Story, Wanted
from graph.events import ObservationKind
from graph.values import Turn
from graph.visibility import EVERYONE, Viewer

START = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)
ANY = Wanted()


def belief(number: int, text: str | None, **more: Any) -> Observation:
    """An observation in use, said once; `more` changes any part of it."""
    at = more.pop("at", START + timedelta(minutes=number))
    identity = f"OBS{number:07}"
    plain = Observation(
        id=identity,
        series=identity,
        text=text,
        kind=ObservationKind.FACT,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="model",
        world="main",
        project=None,
        scope="global",
        at=at,
        first_seen=at,
        live=True,
        current=True,
        pinned=False,
        proof_count=1,
        trend="stable",
        times=(at,),
        sources=(),
        supports=(),
        about=(),
        reference_count=0,
        last_referenced_at=None,
    )
    return replace(plain, **more)


def proof(turn: Turn, **more: Any) -> Proof:
    """That turn as the source of an observation."""
    plain = Proof(turn.id, "turn", "DERIVED_FROM", turn.at, True, turn.speaker, turn.session, turn.text, turn.role)
    return replace(plain, **more)


@dataclass
class Remembered:
    """Everything of it: fill what a test needs."""

    observations: list[Observation] = field(default_factory=list)
    proofs: dict[str, tuple[Proof, ...]] = field(default_factory=dict)
    blocks: list[CoreBlock] = field(default_factory=list)
    projects: list[Project] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    chunks: dict[str, list[Chunk]] = field(default_factory=dict)
    ratings: dict[str, int] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    answers: list[tuple[str, bool]] = field(default_factory=list)
    failure: str | None = None  # why nothing can be read
    report: IngestReport = field(default_factory=lambda: IngestReport("notes", added=["a.md"]))
    asked: list[Wanted] = field(default_factory=list)


class FakeKeeping:
    """The part of FakeAgent that was learned."""

    def __init__(self) -> None:
        super().__init__()
        self.memory_of = Remembered()
        self.reading_in = asyncio.Event()  # an ingest waits for it
        self.reading_in.set()
        self.private_chats: list[str] = []
        self.answered = asyncio.Event()  # someone was asked for leave, and said yes or no
        self.assigned: dict[str, str | None] = {}
        self.undoable: list[tuple[str, Callable[[], Awaitable[None]]]] = []

    def tell(self, notice: Notice) -> None:
        raise NotImplementedError

    def turn(self, identity: str) -> Turn:
        raise NotImplementedError

    def add_session(self, name: str | None, *exchanges: tuple[str, str]) -> str:
        raise NotImplementedError

    def by_hand(self, what: str, undo: Callable[[], Awaitable[None]]) -> None:
        """A change by hand that can be undone."""
        self.undoable.append((what, undo))

    def _by_hand(self, what: str) -> None:
        """What is done next is undone by everything being as it is now."""
        of = self.memory_of
        observations, blocks, ratings = list(of.observations), list(of.blocks), dict(of.ratings)

        async def undo() -> None:
            of.observations[:], of.blocks = observations, blocks
            of.ratings.clear()
            of.ratings.update(ratings)
            self.tell(MemoriesChanged())

        self.by_hand(what, undo)

    def learn(self, *observations: Observation) -> None:
        self.memory_of.observations.extend(observations)

    def _set(self, identity: str, **changes: Any) -> Observation:
        found = self._observation(identity)
        changed = replace(found, **changes)
        self.memory_of.observations[self.memory_of.observations.index(found)] = changed
        self.tell(MemoriesChanged())
        return changed

    def _observation(self, identity: str) -> Observation:
        found = [each for each in self.memory_of.observations if each.id.startswith(identity)]
        if not found:
            raise AgentError(f"There is no memory {identity}.")
        return found[0]

    async def memories(self, wanted: Wanted = ANY, *, limit: int = 200) -> list[Observation]:
        self.memory_of.asked.append(wanted)
        if self.memory_of.failure is not None:
            raise AgentError(self.memory_of.failure)
        return [each for each in reversed(self.memory_of.observations) if _fits(each, wanted)][:limit]

    async def memory(self, id: str, *, world: str | None = None) -> Story:
        found = self._observation(id)
        series = tuple(each for each in self.memory_of.observations if each.series == found.series)
        return Story(found, series, {each.id: self.memory_of.proofs.get(each.id, ()) for each in series})

    async def review(self, *, limit: int = 200) -> list[Observation]:
        return await self.memories(Wanted(status="candidate"), limit=limit)

    async def promote(self, id: str) -> None:
        if self._observation(id).status != "candidate":
            raise AgentError("That memory is already in use. Nothing was changed.")
        self._by_hand("a memory is in use")
        self._set(id, status="active")

    async def reject(self, id: str) -> None:
        self._by_hand("a memory is rejected")
        found = self._set(id, status="invalid", current=False)
        if found.supersedes is not None:
            self._set(found.supersedes, status="active", current=True)

    async def restore(self, id: str, status: Any) -> None:
        self._set(id, status=status, current=True)

    async def reword(self, id: str, text: str) -> Observation:
        return await self.correct(id, text)

    async def correct(self, id: str, text: str, *, world: str | None = None) -> Observation:
        self._by_hand("a memory was corrected")
        old = self._set(id, status="superseded", current=False)
        number = len(self.memory_of.observations) + 1
        made = belief(number, text, series=old.series, supersedes=old.id, origin="user", kind=old.kind)
        made = replace(made, world=world or old.world)
        self.learn(made)
        self.tell(MemoriesChanged())
        return made

    async def remember(self, text: str, *, project: str | None = None, world: str = "main") -> Observation:
        made = belief(len(self.memory_of.observations) + 1, text, origin="user", project=project)
        made = replace(made, world=world)
        self.learn(made)
        self.tell(MemoriesChanged())
        return made

    async def forgetting(self, id: str) -> list[Observation]:
        series = self._observation(id).series
        return [each for each in self.memory_of.observations if each.series == series]

    async def forget(self, id: str) -> int:
        gone = await self.forgetting(id)
        for each in gone:
            self.memory_of.observations.remove(each)
        self.tell(MemoriesChanged())
        return len(gone)

    async def pin_memory(self, id: str, *, world: str | None = None) -> None:
        self._by_hand("a memory is pinned")
        self._set(id, pinned=True)

    async def unpin_memory(self, id: str, *, world: str | None = None) -> None:
        self._by_hand("a memory is not pinned")
        self._set(id, pinned=False)

    async def significance(self, *, world: str = "main") -> dict[int, int]:
        rated = list(self.memory_of.ratings.values())
        return {each: rated.count(each) for each in set(rated)}

    async def rated(self, significance: int, *, limit: int = 200, world: str = "main") -> list[Turn]:
        return [self.turn(each) for each, rating in self.memory_of.ratings.items() if rating == significance][:limit]

    async def rate(self, turns: str | Iterable[str], significance: int) -> int:
        self._by_hand("a rating")
        ids = [turns] if isinstance(turns, str) else list(turns)
        self.memory_of.ratings.update(dict.fromkeys(ids, significance))
        self.tell(MemoriesChanged())
        return len(ids)

    async def blocks(self, *, world: str = "main", project: Viewer = EVERYONE) -> list[CoreBlock]:
        return list(self.memory_of.blocks)

    async def write_block(self, name: str, text: str, *, world: str = "main", project: str | None = None) -> None:
        self._by_hand("a core block")
        kept = [each for each in self.memory_of.blocks if each.name != name]
        self.memory_of.blocks = [*kept, CoreBlock(name, "main", text, "user", 1)] if text.strip() else kept
        self.tell(MemoriesChanged())

    async def projects(self) -> list[Project]:
        return list(self.memory_of.projects)

    async def make_project(self, name: str, description: str = "") -> None:
        self.memory_of.projects.append(Project(name, description, "active", 0, 0))

    async def assign(self, session: str, project: str | None) -> None:
        self.assigned[session] = project

    async def archive_project(self, name: str) -> None:
        found = next(each for each in self.memory_of.projects if each.name == name)
        self.memory_of.projects[self.memory_of.projects.index(found)] = replace(found, status="archived")

    async def withhold(self, turn: str) -> None:
        self.memory_of.withheld.add(turn)

    async def release(self, turn: str) -> None:
        self.memory_of.withheld.discard(turn)

    async def private(self) -> str:
        session = self.add_session(None)
        self.private_chats.append(session)
        return session

    @property
    def private_folder(self) -> Path | None:
        return None

    async def answer_approval(self, approval: str, *, allowed: bool) -> None:
        self.memory_of.answers.append((approval, allowed))
        self.answered.set()

    async def documents(self) -> list[Document]:
        return list(self.memory_of.documents)

    async def chunks(self, document: str) -> list[Chunk]:
        return self.memory_of.chunks.get(document, [])

    async def ingest(
        self, path: Path, progress: Callable[[Any], None] = lambda step: None, *, project: str | None = None
    ) -> IngestReport:
        progress(IngestProgress(1, 3, str(path / "first.md")))
        await self.reading_in.wait()
        self.tell(MemoriesChanged())
        return self.memory_of.report

    async def remove_document(self, document: str) -> None:
        self.memory_of.documents = [each for each in self.memory_of.documents if each.id != document]
        self.tell(MemoriesChanged())


def _fits(each: Observation, wanted: Wanted) -> bool:
    standing = each.status == wanted.status if wanted.status is not None else each.current or wanted.everything
    return (
        standing
        and wanted.kind in (None, each.kind)
        and wanted.project in (None, each.project)
        and wanted.trend in (None, each.trend)
        and wanted.pinned in (None, each.pinned)
        and (wanted.about is None or wanted.about in each.about)
        and (wanted.text is None or wanted.text.casefold() in (each.text or "").casefold())
    )
