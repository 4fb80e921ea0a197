"""A model asked in the background: it has so long to think by itself, and a reply that goes before costs it nothing."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from agent.foreground import Foreground

T = TypeVar("T")


async def within(limit_s: float, call: Coroutine[Any, Any, T], foreground: Foreground) -> T:
    """What `call` answers. Raises TimeoutError after `limit_s` seconds in which nobody waited for an answer.

    The call has ended then, and when this is cancelled.
    """
    task = asyncio.ensure_future(call)
    clock = asyncio.get_running_loop().time
    left = limit_s
    try:
        while not task.done():
            await _either(task, foreground.free(), None)
            since = clock()
            await _either(task, foreground.taken(), left)
            left -= clock() - since
            if left <= 0 and not task.done():
                raise TimeoutError
        return task.result()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _either(task: "asyncio.Future[Any]", other: Coroutine[Any, Any, None], timeout_s: float | None) -> None:
    """Wait until one of both has ended, or for so long."""
    waiting = asyncio.ensure_future(other)
    try:
        await asyncio.wait({task, waiting}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
