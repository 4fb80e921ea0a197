"""Opening the memory: the log at once or when its holder lets go of it, then the graph, with every step told."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from agent.background import BackgroundTasks, Pauses, Worker
from agent.events import GraphProgress, MemoryAwaited, MemoryPreparing, Notice, Warned
from agent.home import Home
from graph.errors import SURPRISES, EventsMissing, LogDamaged, MemoryFailure, MemoryHeld
from graph.last_chat import last_chat
from graph.log.lock import is_brief
from graph.memory import Memory
from graph.values import Progress

MOMENT_S = 8.0  # a brief holder of the memory is waited for
TURN_S = 60.0  # by one that is brief itself: several may be before it
TOLD_S = 2.0  # and that is told from here on
POLL_S = 0.05
PATIENCE_S = 5.0  # how long what a person asked for waits for the graph, before it says that there is none yet
SHOWN = 50  # messages of the last chat, to be read while the memory is made ready


async def open_memory(home: Home, *, command: str, brief: bool, tell: Callable[[Notice], None]) -> Memory:
    """The memory, as soon as who has it for a moment let go of it: waiting here can be given up. Others are told the
    `command` that has it.

    Raises MemoryHeld if another clew holds it for longer, and the other MemoryFailures if the log cannot be used.
    """
    loop = asyncio.get_running_loop()
    opening = partial(Memory.open, home.memory, command=command, brief=brief, waits_s=0.0)

    shown = False

    def preparing(done: int, total: int) -> None:
        nonlocal shown
        turns = () if shown else tuple(last_chat(home.memory, SHOWN))
        shown = True
        loop.call_soon_threadsafe(tell, MemoryPreparing(done, total, turns))

    began = loop.time()
    while True:
        try:
            return await asyncio.to_thread(opening, progress=preparing)
        except MemoryHeld as held:
            waited = loop.time() - began
            if not is_brief(held.holder) or waited >= (TURN_S if brief else MOMENT_S):
                raise
            if waited >= TOLD_S:
                who = f"`{held.holder.command}` (process {held.holder.pid})" if held.holder else "another clew"
                tell(MemoryAwaited(f"waiting for {who}, which is using the memory"))
        await asyncio.sleep(POLL_S)


class GraphOpening:
    """Opens the graph of a memory, and again, after a pause, where that failed or it stopped later."""

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
        self._begun = False
        self._worker = Worker("Opening the graph", self._run, tell)
        self._ended = asyncio.Event()  # it is open, or cannot be
        self._over = asyncio.Event()  # and who is to know it does
        self._stopped = asyncio.Event()

    def begin(self) -> None:
        """Open it in the background."""
        self._begun = True
        self._worker.start()
        self._background.start(self.over())

    async def over(self) -> None:
        """Wait until it is open or cannot be; at once where nobody opens it."""
        if self._begun:
            await self._over.wait()

    async def awaited(self) -> None:
        """Give a graph that is being opened a moment; who asks it after that is told if it was not enough."""
        if self._begun:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), PATIENCE_S)

    async def close(self) -> None:
        """Open it no more."""
        await self._worker.close()
        self._over.set()

    async def _run(self) -> None:
        now, pauses = asyncio.get_running_loop().time, Pauses()
        try:
            while True:
                self._stopped.clear()
                try:
                    opened = await self._open()
                finally:
                    self._ended.set()
                if opened is None:
                    return
                well_s = 0.0
                if opened:
                    await self._opened()
                    with contextlib.suppress(MemoryFailure, *SURPRISES):  # then the first recall says why
                        await asyncio.to_thread(self._memory.recall.warm)
                    self._over.set()
                    began = now()
                    await self._stopped.wait()
                    well_s = now() - began
                self._over.set()
                await asyncio.sleep(pauses.after(well_s))
        finally:
            self._over.set()

    async def _open(self) -> bool | None:
        """Whether it is open; None where it cannot be for as long as the log is as it is."""
        loop = asyncio.get_running_loop()

        def progress(step: Progress) -> None:
            if step.what == "failed":
                loop.call_soon_threadsafe(self._fail, step.why)
            else:
                loop.call_soon_threadsafe(self._tell, GraphProgress(step.what, step.done, step.total))

        try:
            await asyncio.to_thread(self._memory.open_graph, progress)
        except EventsMissing as error:
            self._tell(Warned(str(error)))  # the graph follows what is left of the log
        except MemoryFailure as error:
            self._fail(str(error))
            return None if isinstance(error, LogDamaged) else False
        return True

    def _fail(self, why: str) -> None:
        self._tell(GraphProgress("failed", message=why))
        self._stopped.set()
