"""KV states that left their model, in RAM: bounded in all, the one used longest ago first out. For any thread."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from models import machine
from models.protocols import KVState

LIMIT = 512 << 20  # bytes at most …
SHARE = 4  # … and at most one in so many of those that are free without them
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class Parked:
    """A state, and the note that goes to disk with it."""

    state: KVState
    note: Any

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.state.data)


class ParkedStates(Generic[Key]):
    """The states by key, at most `limit` bytes."""

    def __init__(self, *, limit: int = LIMIT) -> None:
        self._limit = limit
        self._states: OrderedDict[Key, Parked] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key: Key, parked: Parked) -> list[tuple[Key, Parked]]:
        """Keep one, in the place of the key's last; gives back those for which there is no room any more."""
        free = machine.available_memory()
        with self._lock:
            self._states.pop(key, None)
            self._states[key] = parked
            total = sum(each.size for each in self._states.values())
            # The new one has its memory already, and so have the others.
            most = min(self._limit, (free + total) // SHARE)
            out: list[tuple[Key, Parked]] = []
            while total > most:
                out.append(self._states.popitem(last=False))
                total -= out[-1][1].size
            return out

    def get(self, key: Key) -> Parked | None:
        """The key's state. It counts as used now, so that others leave before it."""
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)

    def items(self) -> list[tuple[Key, Parked]]:
        """All of them, the one used longest ago first."""
        with self._lock:
            return list(self._states.items())

    def remove(self, key: Key, parked: Parked | None = None) -> None:
        """Let go of the key's state, whichever it is, or only if it is still this one."""
        with self._lock:
            if parked is None or self._states.get(key) is parked:
                self._states.pop(key, None)

    def forget(self, which: Callable[[Key, Parked], bool]) -> None:
        """Let go of all that `which` says yes to."""
        with self._lock:
            for key in [key for key, parked in self._states.items() if which(key, parked)]:
                del self._states[key]
