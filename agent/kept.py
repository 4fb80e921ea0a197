"""What is worked out of texts again and again is kept for a while, and let go of when words are erased."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
_caches: list[Any] = []


def kept(most: int) -> Callable[[Function], Function]:
    """Keep what a function answers to the texts that it was asked about last."""

    def keep(function: Function) -> Function:
        found = lru_cache(maxsize=most)(function)
        _caches.append(found)
        return cast(Function, found)

    return keep


def forget() -> None:
    """Keep no text any more."""
    for each in _caches:
        each.cache_clear()
