"""Work that nobody waits for: it is held to its end, and whoever waits for that end does not spin."""

import asyncio

from agent.background import BackgroundTasks
from agent.events import Notice


async def nothing() -> None:
    """Be over at once."""


async def test_waiting_for_tasks_that_have_ended_lets_them_leave() -> None:
    tasks = BackgroundTasks(list[Notice]().append)
    task = tasks.start(nothing())
    await asyncio.sleep(0)
    assert task.done()
    waited = 0
    while tasks and waited < 10:
        await tasks.done()
        waited += 1
    assert waited == 1
    await tasks.done()


async def test_tasks_that_begin_others_are_waited_for_until_the_last() -> None:
    tasks, ended = BackgroundTasks(list[Notice]().append), list[int]()

    async def begin(left: int) -> None:
        await asyncio.sleep(0)
        if left:
            tasks.start(begin(left - 1))
        ended.append(left)

    tasks.start(begin(3))
    while tasks:
        await tasks.done()
    assert ended == [3, 2, 1, 0]
