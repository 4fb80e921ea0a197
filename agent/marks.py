"""Marks: places in the log to come back to, set by name, by themselves while something happens, and before each rewind.

Those that are set by themselves are bounded: the newest ones are offered (graph/history/marks.py); named ones stay.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from graph.errors import SURPRISES, Ambiguous, MemoryFailure, NotFound
from graph.events import MarkCleared, MarkSet
from graph.history.marks import Mark
from graph.ids import new_id
from graph.memory import Memory

from .background import BackgroundTasks
from .errors import AgentError, EmptyMessage
from .text import clean_message

EVENTS, MINUTES = 100, timedelta(minutes=30)  # of activity between marks that are set by themselves
LONGEST_NAME = 120
SHORTEST_PREFIX = 6


class Marks:
    """The marks of a memory."""

    def __init__(self, memory: Memory, background: BackgroundTasks) -> None:
        self._memory = memory
        self._background = background
        self._one_at_a_time = asyncio.Lock()

    async def all(self) -> list[Mark]:
        """The marks that are offered, the newest first."""
        return await asyncio.to_thread(self._memory.history.marks.offered, now=datetime.now(UTC))

    async def add(self, name: str) -> Mark:
        """Mark this place by a name, to stay until it is taken off.

        Raises EmptyMessage, and AgentError where a mark has that name.
        """
        event = MarkSet(mark=new_id(), reason="named", text=_name(name))
        if same := next((each for each in await self.all() if each.name == event.text), None):
            raise AgentError(
                f"There is already a mark with that name ({same.id}). Nothing was changed. Use another name, or "
                "remove that mark."
            )
        await asyncio.to_thread(self._memory.append, event)
        return await self.find(event.mark)

    async def remove(self, id: str) -> Mark:
        """Take a mark off the list; what it marked stays as it is. Raises NotFound or Ambiguous."""
        found = await self.find(id)
        await asyncio.to_thread(self._memory.append, MarkCleared(mark=found.id))
        return found

    async def find(self, id: str) -> Mark:
        """A mark that is offered, by its id or the beginning of it. Raises NotFound or Ambiguous."""
        wanted, marks = id.strip().upper(), await self.all()
        found = [
            each
            for each in marks
            if each.id == wanted or (len(wanted) >= SHORTEST_PREFIX and each.id.startswith(wanted))
        ]
        if not found:
            raise NotFound(f"There is no mark {id}. `clew marks` lists them.")
        if len(found) > 1:
            raise Ambiguous(f"Several marks have ids starting with {id}. Give more characters.")
        return found[0]

    def add_if_due(self) -> None:
        """Something happened: mark this place in the background, if the last mark is long ago."""
        self._background.start(self._add_when_due())

    async def _add_when_due(self) -> None:
        with suppress(
            MemoryFailure, AgentError, *SURPRISES
        ):  # a mark that cannot be set now is set after the next message
            async with self._one_at_a_time:  # or two that look at once would both set one
                await asyncio.to_thread(self._add_here)

    def _add_here(self) -> None:
        if self._memory.history.marks.is_due(events=EVENTS, after=MINUTES, now=datetime.now(UTC)):
            self._memory.append(MarkSet(mark=new_id(), reason="automatic"))


def _name(given: str) -> str:
    try:
        return clean_message(given).splitlines()[0][:LONGEST_NAME]
    except EmptyMessage as error:
        raise EmptyMessage("A mark needs a name. No mark was set.") from error
