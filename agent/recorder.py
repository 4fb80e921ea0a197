"""Appends what a person changes by hand, and lets prompts, faces and the erasure know.

Invariant: one change at a time where `changing` is held, so that of two that would do the same the second finds it
done.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from graph.events import CastReset, Event, SessionDeleted, TextErased, TurnDeleted, TurnHidden, TurnWitnessed
from graph.memory import Memory
from graph.values import Recorded

from .errors import AgentError
from .events import MemoriesChanged, Notice, SessionsChanged
from .loop import Conversation
from .marks import Marks
from .plans import ERASING
from .prompts import Prompts

BEING_ANSWERED = "A reply is being written in that chat. Nothing was deleted. Stop it (Esc) and try again."


class Recorder:
    """Stores changes by hand."""

    def __init__(
        self,
        memory: Memory,
        conversation: Conversation,
        prompts: Prompts,
        marks: Marks,
        *,
        tell: Callable[[Notice], None],
        erase: Callable[[], None],
    ) -> None:
        """`erase` begins to work off, in the background, what was deleted."""
        self.changing = asyncio.Lock()
        self._memory = memory
        self._conversation = conversation
        self._prompts = prompts
        self._marks = marks
        self._tell = tell
        self._erase = erase

    async def record(self, *events: Event) -> Recorded:
        """Store what a person asked for; the first of it. Raises MemoryFailure or InvalidEvent."""
        recorded = await asyncio.to_thread(self._memory.append, *events)
        await self.recorded(events)
        return recorded[0]

    async def recorded(
        self, events: Sequence[Event], *, forgotten: Iterable[str] = (), sessions: Iterable[str] = ()
    ) -> None:
        """What was appended for a person is made known; `forgotten` are ids that no prompt may hold any more."""
        for event in events:
            if isinstance(event, SessionDeleted):
                await self._conversation.drop(event.session)
                await self._prompts.forget(event.session)
            if isinstance(event, CastReset):
                await self._prompts.forget_voice(event.member)
        hidden = {event.turn for event in events if isinstance(event, TurnDeleted | TurnHidden | TurnWitnessed)}
        taken = hidden | set(forgotten)
        erases = any(isinstance(event, (*ERASING, TextErased)) for event in events)
        if taken or erases:
            await self._prompts.forget_turns(taken)
        for session in dict.fromkeys([*_sessions(events), *sorted(sessions)]):
            self._tell(SessionsChanged(session))
        self._tell(MemoriesChanged())
        if erases:
            self._erase()
        self._marks.add_if_due()

    def refuse_while_answering(self, session: str) -> None:
        """Raise AgentError where a reply is being written: what is deleted under it would come back with it."""
        if self._conversation.answering == session:
            raise AgentError(BEING_ANSWERED)


def _sessions(events: Iterable[Event]) -> list[str]:
    found = (getattr(event, "session", None) for event in events)
    return [session for session in found if session is not None]
