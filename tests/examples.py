"""How many examples hypothesis tries: as many as are written in the profile `ci`, a tenth of them in `dev`.

`make test` runs `ci`, which is also what plain pytest takes; `make check` runs `dev`.
"""

from collections.abc import Iterable
from typing import Any

from hypothesis import HealthCheck, settings

FULL, QUICK = "ci", "dev"
USUAL = 100  # examples of a test that names no number
SHARE = 10  # one in so many is tried in `dev`

_EXCUSED = (HealthCheck.too_slow,)  # beside a busy core anything is


def register() -> None:
    """Make the two profiles known; pytest's `--hypothesis-profile` takes one of them."""
    for name, count in ((FULL, USUAL), (QUICK, _few(USUAL))):
        settings.register_profile(name, max_examples=count, deadline=None, suppress_health_check=_EXCUSED)


def examples(count: int, *, excused: Iterable[HealthCheck] = (), **more: Any) -> settings:
    """Settings of a test with `count` examples, fewer in `dev`; `excused` are health checks that it need not pass."""
    tried = _few(count) if settings.get_current_profile_name() == QUICK else count
    return settings(max_examples=tried, suppress_health_check=[*_EXCUSED, *excused], **more)


def _few(count: int) -> int:
    return max(1, count // SHARE)
