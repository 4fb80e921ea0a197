"""How much is tried: all of it in the profile `soak`, a quarter in `ci`, a tenth in `dev`.

`make soak` runs `soak`, `make test` runs `ci`, which is also what plain pytest takes, and `make check` runs `dev`.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, settings

Test = TypeVar("Test", bound=Callable[..., Any])

USUAL = 100  # examples of a test that names no number
SHARES = {"soak": 1, "ci": 4, "dev": 10}  # one in so many is tried

_EXCUSED = (HealthCheck.too_slow,)  # beside a busy core anything is


def register() -> None:
    """Make the profiles known; pytest's `--hypothesis-profile` takes one of them."""
    for name, share in SHARES.items():
        count = max(1, USUAL // share)
        settings.register_profile(name, max_examples=count, deadline=None, suppress_health_check=_EXCUSED)


def examples(count: int, **more: Any) -> settings:
    """Settings of a test with `count` examples in `soak`, and with fewer else; `excused` health checks are left out."""
    return _trying(few(count), **more)


def histories(count: int, **more: Any) -> Callable[[Test], Test]:
    """The same for a long random search, which is marked so: at most ten examples but in `soak`."""
    most = count if soaking() else 10

    def marked(test: Test) -> Test:
        return cast(Test, pytest.mark.stateful(_trying(min(most, few(count)), **more)(test)))

    return marked


def soaking() -> bool:
    """Whether everything is tried."""
    return settings.get_current_profile_name() == "soak"


def hurrying() -> bool:
    """Whether only a tenth is tried."""
    return settings.get_current_profile_name() == "dev"


def few(count: int) -> int:
    """How many of `count` examples, kills or seeds are tried in the profile that runs."""
    return max(1, count // SHARES[settings.get_current_profile_name()])


def _trying(count: int, *, excused: Iterable[HealthCheck] = (), **more: Any) -> settings:
    return settings(max_examples=count, suppress_health_check=[*_EXCUSED, *excused], **more)
