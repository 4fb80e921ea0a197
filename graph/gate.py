"""A readers–writer gate: many go through together, or one alone.

Who wants to be alone holds newcomers back, so that it gets its turn; if those inside do not leave in time, it lets
everybody on and tries again later.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Shared passage for readers of the graph, exclusive passage for checkpoints and for replacing it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False

    @property
    def held_back(self) -> bool:
        """Whether newcomers wait because somebody is or wants to be alone."""
        return self._closed

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Go through together with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *, timeout_s: float | None = None) -> Iterator[bool]:
        """Go through alone. Yields False, and holds nobody back, if others were still inside after `timeout_s`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._closed = True
            empty = self._changed.wait_for(lambda: self._inside == 0, timeout_s)
            if not empty:
                self._closed = False
                self._changed.notify_all()
        try:
            yield empty
        finally:
            if empty:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()
