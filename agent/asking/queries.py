"""The part of the Agent that keeps people's queries, and makes queries of questions in plain words."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agent.errors import NotUnderstood
from agent.events import Notice, Warned
from agent.home import Home

from .store import MOST, QueryStore
from .values import Ran, Saved, Translation


class Queries:
    """History, saved queries and translation; what it works with is the Agent's."""

    _home: Home
    _damage_told: frozenset[str] = frozenset()

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

    async def translate(self, question: str) -> Translation:
        """A question in plain words as a query that only reads, to be shown before it runs.

        Raises NotUnderstood where neither a template nor the model in use can do it.
        """
        raise NotUnderstood("Questions in plain words are not understood yet. Write Cypher, or take a ready query.")

    def _tell_damage(self, what: str, damaged: int) -> None:
        """Once in a run."""
        if damaged and what not in self._damage_told:
            self._damage_told |= {what}
            lines = "1 line is" if damaged == 1 else f"{damaged} lines are"
            self._tell(Warned(f"In the {what} {lines} damaged and left out. Everything else is there."))
