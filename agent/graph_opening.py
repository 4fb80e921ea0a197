"""The graph, opened in the background, with every step told."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from graph.errors import SURPRISES, EventsMissing, MemoryFailure
from graph.memory import Memory
from graph.values import Progress

from .background import BackgroundTasks
from .events import GraphProgress, Notice, Warned


class GraphOpening:
    """Opens the graph of a memory, once."""

    def __init__(
        self,
        memory: Memory,
        background: BackgroundTasks,
        *,
        tell: Callable[[Notice], None],
        opened: Callable[[], Awaitable[None]],
    ) -> None:
        """`opened` is called when the graph is open."""
        self._memory = memory
        self._background = background
        self._tell = tell
        self._opened = opened
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Open it in the background."""
        self._task = self._background.start(self._open())

    async def over(self) -> None:
        """Wait until it is open or cannot be; at once where nobody opens it."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()

        def progress(step: Progress) -> None:
            loop.call_soon_threadsafe(self._tell, GraphProgress(step.what, step.done, step.total))

        try:
            await asyncio.to_thread(self._memory.open_graph, progress)
        except EventsMissing as error:
            self._tell(Warned(str(error)))  # the graph follows what is left of the log
        except MemoryFailure as error:
            self._tell(GraphProgress("failed", message=str(error)))
            return
        await self._opened()
        with contextlib.suppress(MemoryFailure, *SURPRISES):  # then the first recall says why
            await asyncio.to_thread(self._memory.warm_recall)
