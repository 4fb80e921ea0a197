"""Rest: what failed elsewhere is left alone for a while, each time longer, and then tried again.

A local model fails because of what it was given, and is not asked for that again. A server fails because it is away,
and comes back: nobody tells when.
"""

import asyncio
from collections.abc import Callable

FIRST_S, LONGEST_S = 2.0, 60.0
REFUSED_S = 600.0  # where somebody has to do something first


class Rest:
    """Of one event loop. `first_s` and `longest_s`: how long it is left alone at first, and at most."""

    def __init__(self, *, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._times = 0  # one after another
        self._timer: asyncio.TimerHandle | None = None

    @property
    def lasts(self) -> bool:
        """Whether it is left alone now."""
        return self._timer is not None

    @property
    def troubled(self) -> bool:
        """Whether it failed, and has done nothing since."""
        return self._times > 0

    def begin(self, then: Callable[[], None], *, refused: bool = False) -> bool:
        """It failed: call `then` when it is to be tried again; whether this is the first time since it did something.

        While it rests already nothing changes.
        """
        if self._timer is not None:
            return False
        wait_s = REFUSED_S if refused else min(self._first_s * 2 ** min(self._times, 16), self._longest_s)
        self._times += 1

        def over() -> None:
            self._timer = None
            then()

        self._timer = asyncio.get_running_loop().call_later(wait_s, over)
        return self._times == 1

    def end(self) -> None:
        """It works, or another is in its place."""
        self._times = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
