"""How often a host may be asked that cannot answer: less and less often, at times that no two programs share."""

import random
from collections.abc import Callable

FIRST_S, MOST_S = 2.0, 600.0
LONGEST_S = 3600.0  # however long a server asks to be left alone


class Pace:
    """The rests of hosts; `now` gives seconds that only grow. Exponential backoff, each rest drawn from its half on."""

    def __init__(self, now: Callable[[], float], *, chance: random.Random | None = None) -> None:
        self._now = now
        self._chance = chance or random.Random()
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}

    def rest_s(self, host: str) -> float:
        """For how long a host is not asked yet; 0: it may be asked."""
        return max(0.0, self._until.get(host, 0.0) - self._now())

    def failed(self, host: str, after_s: float | None = None) -> None:
        """A host could not answer; `after_s` is how long it asked to be left alone."""
        failures = self._failures.get(host, 0)
        self._failures[host] = failures + 1
        most = min(MOST_S, FIRST_S * 2.0 ** min(failures, 32))
        rest = self._chance.uniform(most / 2, most)
        self._until[host] = self._now() + max(rest, min(after_s or 0.0, LONGEST_S))

    def answered(self, host: str) -> None:
        """A host answered: it may be asked at once."""
        self._failures.pop(host, None)
        self._until.pop(host, None)
