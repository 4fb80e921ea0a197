"""What the faces ask the memory: recall, search, the recent, names and themes, and what a reply was given."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Unpack

from graph.events import MAIN_WORLD, Recalled
from graph.memory import Memory
from graph.readings.newest import NewestFilter, NewestItem, NodeKind
from graph.readings.quoted import Believed
from graph.values import Boost, Exchange, Filters, FoundTurn, Hit, Reason, Step, Turn
from graph.visibility import EVERYONE, Viewer
from models.protocols import Generator

from .dossier import Dossier, dossier
from .recall import Recaller
from .relevance import open_quotes
from .themes import Overview, Progress, Theme, ThemeMaker

ALL = Filters()


class Search:
    """Finds what was said and learned."""

    def __init__(
        self,
        memory: Memory,
        recaller: Recaller,
        themes: ThemeMaker,
        *,
        chat_model: Callable[[], Awaitable[Generator | None]],
        doubts: Callable[[str], bool],
    ) -> None:
        """`chat_model` is asked for names of themes; `doubts`, whether the model of a name wastes what it is given."""
        self._memory = memory
        self._recaller = recaller
        self._themes = themes
        self._chat_model = chat_model
        self._doubts = doubts

    async def recall(self, query: str, *, limit: int = 10, filters: Filters = ALL) -> list[Hit]:
        """What was said that matters for a query, each hit with why. Raises GraphFailure while the graph is behind."""
        return await self._recaller.recall(query, limit=limit, filters=filters)

    async def recent(
        self,
        limit: int = 20,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        world: str = MAIN_WORLD,
        project: Viewer = EVERYONE,
    ) -> list[Exchange]:
        """The newest exchanges that a world sees, by when they were said; times are aware, `until` exclusive."""
        return await asyncio.to_thread(
            self._memory.readings.recent, "exchange", limit, since=since, until=until, world=world, project=project
        )

    async def newest(
        self, kinds: Collection[NodeKind], limit: int = 20, **within: Unpack[NewestFilter]
    ) -> list[NewestItem]:
        """The newest live nodes of some kinds that a world sees, and there a chat of a project.

        Times are as for `recent`. Raises GraphFailure for observations while the graph is behind.
        """
        return await asyncio.to_thread(lambda: self._memory.readings.newest(kinds, limit, **within))

    async def dossier(
        self, name: str, *, limit: int = 20, world: str = MAIN_WORLD, project: Viewer = EVERYONE
    ) -> Dossier:
        """All there is to a person, place or project, or to whom a word of relationship ("my sister") means."""
        return await asyncio.to_thread(dossier, self._memory.readings, name, limit=limit, world=world, project=project)

    async def words(self, text: str, limit: int = 50) -> list[FoundTurn]:
        """A search for words in everything ever said, hidden turns and alternatives too, which are marked."""
        return await asyncio.to_thread(self._memory.readings.search, text, limit=limit)

    async def themes(
        self,
        *,
        limit: int = 6,
        progress: Progress | None = None,
        world: str = MAIN_WORLD,
        project: Viewer = EVERYONE,
    ) -> list[Theme]:
        """The themes across all that a world, and there a chat of a project, sees.

        They are named by the chat model where one loads. Raises GraphFailure.
        """
        return await self._themes.find(
            await self._chat_model(), limit=limit, progress=progress, world=world, project=project
        )

    async def overview(
        self,
        *,
        limit: int = 6,
        progress: Progress | None = None,
        world: str = MAIN_WORLD,
        project: Viewer = EVERYONE,
    ) -> Overview:
        """The themes of what a chat of a project sees of a world, and the whole of them in a sentence or two.

        Raises GraphFailure.
        """
        return await self._themes.overview(
            await self._chat_model(), limit=limit, progress=progress, world=world, project=project
        )

    async def context(self, reply_turn: str) -> list[Hit]:
        """What a reply was given: its context pack, and what tools found for it, but for what was erased or hidden."""
        return await asyncio.to_thread(self._context, reply_turn)

    async def quotes(self, replies: Sequence[str]) -> dict[str, tuple[Hit, ...]]:
        """What is to be read beside each of the replies, as `RecallDone.quotes` was: of its pack what is live."""
        return await asyncio.to_thread(lambda: {reply: self._open_quotes(reply) for reply in replies})

    def _context(self, reply_turn: str) -> list[Hit]:
        """The pack of a reply, then those of the tools before it; what may not be quoted any more is left out."""
        reply = self._memory.readings.turn(reply_turn)
        world = self._memory.readings.world_of(reply.session)
        packs = [reply.recalled, *(tool.recalled for tool in self._tools(reply_turn))]
        items = {item.id: item for pack in reversed(packs) for item in pack}
        ordered = list(dict.fromkeys(item.id for pack in packs for item in pack))
        there = self._memory.readings.quotable(ordered)
        hits = {hit.id: hit for hit in self._recaller.as_hits(there.values(), "tool")}
        hits |= self._learned([item for item in items.values() if item.kind == "observation"], world)
        hits |= self._read(items.values())
        project = self._memory.readings.session(reply.session).project
        later = self._memory.recall.later(list(hits), world=world, project=project)
        newer = {id: tuple(each for each in told if each.turn not in hits) for id, told in later.items()}
        hits = {id: replace(hit, later=newer.get(id, ())) for id, hit in hits.items()}
        return [_explained(hits[id], items[id]) for id in ordered if id in hits]

    def _open_quotes(self, reply_turn: str) -> tuple[Hit, ...]:
        """Read from the log alone, as a chat is shown before the graph is there."""
        reply = self._memory.readings.turn(reply_turn)
        asked = self._message_of(reply)
        if not reply.recalled or reply.retells or asked is None or not self._doubts(reply.model or ""):
            return ()
        session = self._memory.readings.session(reply.session)
        ids = [item.id for item in reply.recalled]
        said = self._memory.readings.quotable(ids, world=session.world, project=session.project)
        hits = {hit.id: hit for hit in self._recaller.as_hits(said.values(), "tool")}
        stated = self._memory.readings.believed(ids, world=session.world, project=session.project)
        hits |= {id: _as_hit(each) for id, each in stated.items()}
        hits |= self._read(reply.recalled)
        found = [_explained(hits[item.id], item) for item in reply.recalled if item.id in hits]
        return open_quotes(found, asked.text or "")

    def _message_of(self, reply: Turn) -> Turn | None:
        """The message that a reply answers, where it stands: not hidden."""
        at = reply
        while at.parent is not None:
            at = self._memory.readings.turn(at.parent)
            if at.role != "tool":
                return None if at.hidden else at
        return None

    def _learned(self, items: Sequence[Recalled], world: str) -> dict[str, Hit]:
        """The observations among a pack as hits, each in the place of its oldest source."""
        found = self._memory.readings.observations([item.id for item in items], world=world) if items else {}
        said = self._memory.readings.quotable([each.sources[0] for each in found.values() if each.sources])
        hits: dict[str, Hit] = {}
        for each in found.values():
            source = said.get(each.sources[0]) if each.sources else None
            hits[each.id] = Hit(
                kind="observation",
                id=each.id,
                session=source.session if source else "",
                session_name=self._memory.readings.session(source.session).name if source else None,
                role=source.role if source else "note",
                speaker=source.speaker if source else "",
                text=each.text or "",
                at=each.first_seen,
                score=0.0,
                sources=each.sources,
            )
        return hits

    def _read(self, items: Iterable[Recalled]) -> dict[str, Hit]:
        """The chunks among a pack as hits."""
        found = self._memory.readings.chunks([item.id for item in items if item.kind == "chunk"])
        return {
            each.id: Hit(
                kind="chunk",
                id=each.id,
                session=each.document,
                session_name=each.place,
                role="note",
                speaker=each.title,
                text=each.text,
                at=each.at,
                score=0.0,
            )
            for each in found.values()
        }

    def _tools(self, reply_turn: str) -> list[Turn]:
        """The tools' turns that a reply follows, in their order."""
        tools: list[Turn] = []
        at = self._memory.readings.turn(reply_turn)
        while at.parent is not None:
            at = self._memory.readings.turn(at.parent)
            if at.role != "tool":
                break
            tools.insert(0, at)
        return tools


def _as_hit(believed: Believed) -> Hit:
    """An observation as it is quoted."""
    return Hit("observation", believed.id, "", None, believed.role, believed.speaker, believed.text, believed.at, 0.0)


def _explained(hit: Hit, item: Recalled) -> Hit:
    """A hit with the reasons that were stored; a strategy's own score is not."""
    return replace(
        hit,
        score=item.score,
        reasons=tuple(Reason(strategy, rank, 0.0) for strategy, rank in item.ranks.items()),
        boosts=tuple(Boost(name, amount) for name, amount in item.boosts.items()),
        path=tuple(Step(relation, node) for relation, node in item.path),
    )
