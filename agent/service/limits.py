"""How often other programs may ask: a window, against accidents. The chat and the commands are never limited."""

import time
from collections import deque
from collections.abc import Callable

CALLS, WINDOW_S = 60, 60.0
MOST_NAMES = 1000  # of programs that are remembered: names are theirs to choose


class RateWindow:
    """Counts the calls of each program by its name; times are a clock's that is never set back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: dict[str, deque[float]] = {}

    def take(self, name: str) -> float:
        """Count a call: 0, or after how many seconds it may be made, and then it was not counted."""
        now = self._clock()
        if name not in self._calls and len(self._calls) >= MOST_NAMES:
            self._calls = {each: calls for each, calls in self._calls.items() if calls and calls[-1] > now - WINDOW_S}
        calls = self._calls.setdefault(name, deque())
        while calls and calls[0] <= now - WINDOW_S:
            calls.popleft()
        if len(calls) >= CALLS:
            return calls[0] + WINDOW_S - now
        calls.append(now)
        return 0.0
