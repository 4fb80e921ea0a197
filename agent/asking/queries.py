"""The part of the Agent that keeps people's queries, and makes queries of questions in plain words."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agent.errors import NotUnderstood
from agent.events import Notice, Warned
from agent.home import Home
from agent.recall import local_zone
from graph.errors import GraphFailure
from graph.events import MAIN_WORLD
from graph.memory import Memory

from .english import by_template
from .store import MOST, QueryStore
from .values import Ran, Saved, Translation

MOST_NAMES = 10_000
NO_TEMPLATE = (
    "This question is none that is known here. Ask it in other words (“who did I mention most in March?”, “what do you "
    "know about Anna?”), take one of the ready queries, or write Cypher. Nothing was run."
)
_NAMES = """
MATCH (e:Entity)<-[r:MENTIONS|SAID_BY]-(t:Turn) WHERE t.live AND t.world = $world
WITH coalesce(e.name, e.id) AS name, count(*) AS times, max(CASE WHEN label(r) = 'SAID_BY' THEN 1 ELSE 0 END) AS said
WHERE NOT name IN ['you', 'assistant'] RETURN name, said ORDER BY times DESC, name LIMIT $most
"""


class Queries:
    """History, saved queries and translation; what it works with is the Agent's."""

    _home: Home
    _damage_told: frozenset[str] = frozenset()

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    def _tell(self, notice: Notice) -> None:
        raise NotImplementedError

    @property
    def _queries(self) -> QueryStore:
        return QueryStore(self._home.queries)

    async def query_history(self, limit: int = MOST) -> list[Ran]:
        """What was run in the query screen, the newest first."""
        found = await asyncio.to_thread(self._queries.history, limit)
        self._tell_damage("history of queries", found.damaged)
        return found.entries

    async def keep_query(self, ran: Ran, *, private: bool = False) -> bool:
        """Add to the history, but for what was asked from a private chat; False where it could not be kept."""
        return True if private else await asyncio.to_thread(self._queries.keep, ran)

    async def saved_queries(self) -> list[Saved]:
        """The saved queries by name."""
        found = await asyncio.to_thread(self._queries.saved)
        self._tell_damage("saved queries", found.damaged)
        return found.entries

    async def save_query(self, name: str, cypher: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Save a query under a name; one of that name is replaced. Raises QueriesUnwritable."""
        await asyncio.to_thread(self._queries.save, Saved(name, cypher, parameters or {}))

    async def remove_query(self, name: str) -> bool:
        """Remove a saved query; False where there is none of that name. Raises QueriesUnwritable."""
        return await asyncio.to_thread(self._queries.remove, name)

    async def translate(self, question: str, *, world: str = MAIN_WORLD) -> Translation:
        """A question in plain words as a query that only reads, to be shown before it runs.

        Raises NotUnderstood where neither a template nor the model in use can do it.
        """
        names, speakers = await asyncio.to_thread(self._names, world)
        found = by_template(question, now=datetime.now(UTC), zone=local_zone(), names=names, speakers=speakers)
        if found is None:
            raise NotUnderstood(NO_TEMPLATE)
        return found

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
            self._tell(Warned(f"In the {what} {lines} damaged and left out. Everything else is there."))
