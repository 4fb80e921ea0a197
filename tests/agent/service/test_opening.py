"""A service that is still opening the memory is waited for, and who waits is told how far it is."""

import asyncio
from pathlib import Path

from agent.agent import Agent
from agent.events import MemoryAwaited, MemoryPreparing, Notice
from agent.home import Home
from agent.service.process import opening
from agent.service.starting import Starter
from agent.settings import Settings
from graph.errors import SERVE
from graph.log.lock import MemoryLock
from tui.entry import held_by
from tui.joining import joined


async def test_it_is_waited_for_with_progress_and_then_joined(home: Path) -> None:
    there = Home.resolve()
    lock = MemoryLock.take(there.memory, command=SERVE)
    told: asyncio.Queue[Notice] = asyncio.Queue()
    joining = asyncio.ensure_future(
        joined(
            there,
            Settings(),
            name="x",
            kind="command",
            own=lambda: Agent(there, Settings(), client="x"),
            tell=told.put_nowait,
        )
    )
    assert isinstance(await told.get(), MemoryAwaited)
    assert held_by(there) is None, "a chat waits for it too"
    lock.tell(3, 7)
    while not isinstance(notice := await told.get(), MemoryPreparing):
        assert isinstance(notice, MemoryAwaited)
    assert (notice.done, notice.total) == (3, 7)
    assert not joining.done()
    lock.release()  # it ended: the memory is opened here
    assert isinstance(await joining, Agent)


async def test_a_chat_that_holds_the_memory_or_a_service_that_ends_is_no_opening(home: Path) -> None:
    there = Home.resolve()
    lock = MemoryLock.take(there.memory, command="clew (chat)")
    assert opening(there) is None
    assert held_by(there) is not None
    lock.release()
    lock = MemoryLock.take(there.memory, command=SERVE)
    assert opening(there) is not None
    lock.end_soon()
    assert opening(there) is None
    lock.release()
    await Starter(there).started()
    assert opening(there) is None
