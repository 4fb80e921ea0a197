"""What a change by hand would do and how far it reaches, what people changed, and marks to come back to."""

import threading
from collections.abc import Callable

from graph.events import Event
from graph.events.codec import Stored
from graph.history.marks import Marks
from graph.history.reach import Reach
from graph.history.rehearsing import rehearsed
from graph.history.undoing import Changes
from graph.log.log import Log
from graph.memory_view import MemoryView
from graph.values import Recorded, Rehearsal


class History:
    """The changes of one memory: `changes` that people made, `marks`, and the `reach` of a change before it is made."""

    def __init__(
        self,
        log: Log,
        writing: threading.Lock,
        applied: Callable[[list[Stored], int], list[Recorded]],
        memory: MemoryView,
    ) -> None:
        """`applied` is called with what was stored, and the log's head, without the lock `writing`."""
        self._log, self._writing, self._applied = log, writing, applied
        self.changes = Changes(memory.readings.snapshot)
        self.marks = Marks(memory.readings.snapshot)
        self.reach = Reach(memory)

    def rehearse(self, *events: Event) -> Rehearsal:
        """What an append of `events` would change; nothing is changed. Raises InvalidEvent or LogUnwritable."""
        with self._writing:
            return rehearsed(self._log, events)

    def carry_out(self, expected: Rehearsal, *events: Event) -> list[Recorded] | None:
        """Append `events` if that does what was rehearsed; None, and nothing is stored, if it would do something else.

        Nothing is appended between this rehearsal and the append. Raises InvalidEvent or LogUnwritable, and then
        nothing is stored either.
        """
        with self._writing:
            if rehearsed(self._log, events) != expected:
                return None
            stored, head = self._log.append(events), self._log.head
        return self._applied(stored, head)
