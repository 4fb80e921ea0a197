"""People's queries for the faces: run in a thread, the first rows told on the event loop, ended when the asker is."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from graph.asked import Asked
from graph.querying.console import Answer

First = Callable[[Answer], None]


async def console(
    asked: Asked,
    cypher: str,
    *,
    parameters: Mapping[str, Any] | None,
    timeout_s: float,
    limit: int,
    world: str,
    live_only: bool,
    first: First | None,
) -> Answer:
    """What `asked.console` answers; `first` is called on the loop. A task that is cancelled ends its query."""
    loop, cancelled = asyncio.get_running_loop(), threading.Event()

    def tell(answer: Answer) -> None:
        if first is not None and not cancelled.is_set():
            loop.call_soon_threadsafe(first, answer)

    try:
        return await asyncio.to_thread(
            asked.console,
            cypher,
            parameters=parameters,
            timeout_s=timeout_s,
            limit=limit,
            world=world,
            live_only=live_only,
            first=None if first is None else tell,
            cancelled=cancelled,
        )
    finally:
        cancelled.set()


async def validate(asked: Asked, cypher: str, parameters: Mapping[str, Any] | None) -> None:
    """Raise what `asked.console` would raise before it runs."""
    await asyncio.to_thread(asked.validate, cypher, parameters=parameters)
