"""A model asked in the background: it has so long to think, a reply goes before, and its answer may be a refusal.

English alone is read, in which the models are asked. What people cannot do is no refusal: "I can't eat nuts".
"""

import asyncio
import re
from collections.abc import Coroutine
from typing import Any, TypeVar

from agent.background import Foreground
from agent.reflection.consolidation import Actions, Create, Update

_DO = (
    r"(?:help|assist|comply|fulfil|fulfill|answer|process|provide|continue|complete|participate|engage|respond"
    r"|create|generate|extract|discuss)"
)
_REFUSES = re.compile(
    rf"^\W*(?:I(?:['’]m| am) (?:very |so |really )?sorry\b|I apologi[sz]e\b)"
    rf"|\bI (?:must|have to|need to) decline\b"
    rf"|\bas an? (?:AI(?: assistant| (?:language )?model)?|language model),? I\b"
    rf"|\bI(?:['’]m| am) (?:unable|not able) to {_DO}\b"
    rf"|\bI (?:can(?:['’]t|not| not)|won['’]t|will not) {_DO}\b",
    re.IGNORECASE,
)


def refuses(answer: object) -> bool:
    """Whether an answer, an `Actions` or the text that came instead of one, says nothing but that it will not."""
    if isinstance(answer, Actions):
        told = [each.text for each in answer.actions if isinstance(each, Create | Update)]
        return len(told) == len(answer.actions) > 0 and all(map(_REFUSES.search, told))
    return isinstance(answer, str) and '"actions"' not in answer and _REFUSES.search(answer) is not None


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
