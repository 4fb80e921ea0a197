"""People's queries for the faces: run in a thread, the first rows told on the event loop, ended when the asker is."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from graph.asked import Asked
from graph.events import MAIN_WORLD
from graph.querying.console import ROWS, TIMEOUT_S, Answer

First = Callable[[Answer], None]


class Querying:
    """What the Agent and its views of the past answer in Cypher, each about its own graph."""

    @property
    def _graphed(self) -> Asked:
        """The memory that is asked, or the one of the past."""
        raise NotImplementedError

    async def console(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = TIMEOUT_S,
        limit: int = ROWS,
        world: str = MAIN_WORLD,
        live_only: bool = False,
        project: str | None = None,
        first: First | None = None,
    ) -> Answer:
        """Ask the graph a query of one's own, which only reads; cancelling the task ends it.

        `first` is called on the event loop with the first rows, before they are counted. Only what is live in main is
        there when it is `live_only`, and of that what a chat of a `project`, or of none, sees. Raises Refused before it
        runs, QueryFailed, QueryTimeout or GraphFailure.
        """
        loop, cancelled = asyncio.get_running_loop(), threading.Event()

        def tell(answer: Answer) -> None:
            if first is not None and not cancelled.is_set():
                loop.call_soon_threadsafe(first, answer)

        try:
            return await asyncio.to_thread(
                self._graphed.console,
                cypher,
                parameters=parameters,
                timeout_s=timeout_s,
                limit=limit,
                world=world,
                live_only=live_only,
                project=project,
                first=None if first is None else tell,
                cancelled=cancelled,
            )
        finally:
            cancelled.set()

    async def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None:
        """Look whether a query would run, without running it. Raises Refused, QueryFailed or GraphFailure."""
        await asyncio.to_thread(self._graphed.validate, cypher, parameters=parameters)

    async def prepare_console(self, *, live_only: bool = False) -> None:
        """Make the engine of people's queries ready ahead of the first. Raises GraphFailure."""
        await asyncio.to_thread(self._graphed.prepare_console, live_only=live_only)
