"""Keeps people's queries, and makes queries of questions in plain words."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.asking.shelf import Ran, Saved, Translation
from agent.background import Foreground
from agent.errors import NotUnderstood
from agent.events import Notice, Warned
from agent.graph import GraphReader
from agent.home import Home
from agent.model_host import ModelHost
from agent.reflection.trust import Trusts, trusted
from agent.relations.whom import named
from agent.settings import Settings
from agent.text import local_zone
from graph.errors import GraphFailure
from graph.events import MAIN_WORLD
from graph.memory import Memory
from models.errors import EngineClosed, ModelError, NotInstalled, RunError
from models.protocols import Generator

from .store import MOST, QueryStore

if TYPE_CHECKING:
    from .matching import Matcher, VectorSource

MOST_NAMES = 10_000
NOT_RECOGNISED = (
    "clew does not recognise this question. Ask it in other words (“who did I mention most in March?”, “what do you "
    "know about Anna?”), use one of the ready queries, or write Cypher. Nothing was run."
)
UNFIT = "(The model {} was tested, but does not write queries well enough.)"
_NAMES = """
MATCH (e:Entity)<-[r:MENTIONS|SAID_BY]-(t:Turn) WHERE t.live AND t.world = $world
WITH coalesce(e.name, e.id) AS name, count(*) AS times, max(CASE WHEN label(r) = 'SAID_BY' THEN 1 ELSE 0 END) AS said
WHERE NOT name IN ['you', 'assistant'] RETURN name, said ORDER BY times DESC, name LIMIT $most
"""


class NoWriter(NotUnderstood):
    """There is no model that could write a query."""


class Queries:
    """People's queries: those that were run, those that are saved, and those that questions become."""

    def __init__(
        self,
        memory: Memory,
        home: Home,
        graph: GraphReader,
        models: ModelHost,
        foreground: Foreground,
        *,
        embedder: "VectorSource",
        settings: Callable[[], Settings],
        tell: Callable[[Notice], None],
    ) -> None:
        self._memory = memory
        self._store = QueryStore(home.queries)
        self._home = home
        self._graph = graph
        self._models = models
        self._foreground = foreground
        self._settings = settings
        self._tell = tell
        self._embedder = embedder
        self._damage_told: frozenset[str] = frozenset()
        self._translating = asyncio.Lock()  # one question at a time: a probe is worth its time once

    async def history(self, limit: int = MOST) -> list[Ran]:
        """What was run in the query screen, the newest first."""
        found = await asyncio.to_thread(self._store.history, limit)
        self._tell_damage("history of queries", found.damaged)
        return found.entries

    async def keep(self, ran: Ran, *, private: bool = False) -> bool:
        """Add to the history, but for what was asked from a private chat; False where it could not be kept."""
        return True if private else await asyncio.to_thread(self._store.keep, ran)

    async def saved(self) -> list[Saved]:
        """The saved queries by name."""
        found = await asyncio.to_thread(self._store.saved)
        self._tell_damage("saved queries", found.damaged)
        return found.entries

    async def save(self, name: str, cypher: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Save a query under a name; one of that name is replaced. Raises QueriesUnwritable."""
        await asyncio.to_thread(self._store.save, Saved(name, cypher, parameters or {}))

    async def remove(self, name: str) -> bool:
        """Remove a saved query; False where there is none of that name. Raises QueriesUnwritable."""
        return await asyncio.to_thread(self._store.remove, name)

    async def translate(self, question: str, *, world: str = MAIN_WORLD) -> Translation:
        """A question in plain words as a query that only reads, to be shown before it runs.

        A model is asked where no ready query surely fits, and only one that passed the probe: the first time that may
        take a minute. It steps aside for replies; cancelling ends it. Raises NotUnderstood, GraphFailure, or
        NotInstalled, which a notice has told.
        """
        from .modelled import LONGEST  # what reads questions, or asks a model, waits until somebody asks

        nearest = await self._nearest(question, world)
        if nearest is not None and nearest.how == "template":
            return nearest
        if len(question) > LONGEST or not question.strip():
            raise NotUnderstood(NOT_RECOGNISED)
        try:
            return await self._by_model(question)
        except (NoWriter, NotInstalled):
            if nearest is None:
                raise
            return nearest

    async def _nearest(self, question: str, world: str) -> Translation | None:
        """The nearest ready query that fits; None where the question comes near to none."""
        from .matching import AskedQuestion, nearest
        from .readings import KNOWN, STANDS, tidy

        names, speakers = await asyncio.to_thread(self._names, world)
        asked = AskedQuestion(question, _by_key(names), _by_key(speakers), datetime.now(UTC), local_zone())
        found = await nearest(asked, self._matcher)
        text = tidy(question)
        meant = await asyncio.to_thread(named, self._memory.readings, text, world=world)
        told = await nearest(replace(asked, text=meant), self._matcher) if meant != text else None
        if told is None or (told.ready == KNOWN and found is not None and found.ready == STANDS):
            return found  # "who is my boss" asks for who that is
        return replace(told, question=question)

    @cached_property
    def _matcher(self) -> "Matcher":
        from .matching import Matcher

        return Matcher(self._embedder, self._home.phrasings)

    async def translates_by_model(self) -> bool | None:
        """Whether the model in use was found fit to write queries; None while nobody asked it for one yet."""
        model = self._models.current
        score = await self._translators.recalled(model) if model is not None else None
        return None if score is None else trusted(score)

    @cached_property
    def _translators(self) -> Trusts:
        """What each model file is worth at this."""
        from agent.asking.modelled import VERSION, probe

        return Trusts(self._home.translators, lambda generator: probe(generator, self._foreground), version=VERSION)

    async def _by_model(self, question: str) -> Translation:
        from .modelled import by_model

        async with self._translating:
            model = self._models.current or await self._model()
            try:
                if not trusted(await self._translators.score(model)):
                    raise NoWriter(f"{NOT_RECOGNISED} {UNFIT.format(model.info.name)}")
                now = datetime.now(local_zone())
                return await by_model(question, model, self._graph.validate, self._foreground, now=now)
            except EngineClosed as error:
                raise NotUnderstood("The model was changed in the meantime. Nothing was run. Ask again.") from error
            except RunError as error:
                raise NotUnderstood(f"{error} Nothing was run.") from error

    async def _model(self) -> Generator:
        try:
            return await self._models.get(self._settings().model)
        except NotInstalled:
            raise  # it says which, and how it is fetched
        except ModelError as error:
            raise NoWriter(NOT_RECOGNISED) from error

    def _names(self, world: str) -> tuple[list[str], list[str]]:
        """The names of people, places and things in live messages of a world, and of those who wrote some."""
        try:
            rows = self._memory.query(_NAMES, {"world": world, "most": MOST_NAMES})
        except GraphFailure:  # it is being opened: names are taken as they are written
            return [], []
        return [row["name"] for row in rows], [row["name"] for row in rows if row["said"]]

    def _tell_damage(self, what: str, damaged: int) -> None:
        """Once in a run."""
        if damaged and what not in self._damage_told:
            self._damage_told |= {what}
            lines = "1 line is" if damaged == 1 else f"{damaged} lines are"
            self._tell(Warned(f"In the {what} {lines} damaged and left out. The rest is fine."))


def _by_key(names: Sequence[str]) -> dict[str, str]:
    return {name.casefold(): name for name in names}
