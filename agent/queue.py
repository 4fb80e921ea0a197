"""The messages that wait for their turn to be answered: in their order, on hold after a stop, or withdrawn."""

import asyncio

from .events import TurnWithdrawn
from .pending import Accepted, Tell


class Queue:
    """Who waits for the one model there is. A message is in it from its acceptance until it is taken up or withdrawn.

    One that is on hold passes its turn by, and stands in line again when it is released.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Accepted, Tell | None]] = {}
        self._held: dict[str, asyncio.Event] = {}

    def join(self, taken: Accepted, tell: Tell | None) -> None:
        """A message was accepted. One without `tell` can be neither held nor withdrawn: it was there before."""
        self._waiting[taken.turn] = taken, tell

    def waits(self, turn: str) -> bool:
        return turn in self._waiting

    def take(self, turn: str) -> bool:
        """Its turn has come; False where it is on hold, or was withdrawn."""
        return turn not in self._held and self._waiting.pop(turn, None) is not None

    def find(self, session: str, turn: str) -> Accepted | None:
        """A message of a session that still waits."""
        taken, tell = self._waiting.get(turn, (None, None))
        return taken if taken is not None and tell is not None and taken.session == session else None

    def newest(self, session: str) -> str | None:
        """The last message of a session that waits."""
        return next((turn for turn in reversed(self._waiting) if self.find(session, turn) is not None), None)

    def hold(self, *turns: str) -> None:
        """These pass their turn by until they are released."""
        for turn in turns:
            self._held.setdefault(turn, asyncio.Event())

    def held(self, session: str) -> tuple[str, ...]:
        """The messages of a session that are on hold, in their order."""
        return tuple(turn for turn in self.of(session) if turn in self._held)

    def of(self, session: str) -> tuple[str, ...]:
        """The messages of a session that wait, in their order."""
        return tuple(turn for turn in self._waiting if self.find(session, turn) is not None)

    def release(self, *turns: str) -> None:
        """These stand in line again."""
        for turn in turns:
            if (held := self._held.pop(turn, None)) is not None:
                held.set()

    def release_all(self) -> None:
        self.release(*self._held)

    async def released(self, turn: str) -> None:
        """Wait until a message is not on hold."""
        if (held := self._held.get(turn)) is not None:
            await held.wait()

    def withdraw(self, turn: str) -> None:
        """It waits no more, and that is told to whoever follows it."""
        taken, tell = self._waiting.pop(turn)
        assert tell is not None
        tell(TurnWithdrawn(taken.session, turn))
        self.release(turn)
