"""Long work: what comes of it, its steps, and how it ends."""

import asyncio
from collections.abc import Callable

import pytest

from agent.outlets import Work, on_loop

Tell = Callable[[int], None]


async def counts(tell: Tell, ended: list[str] | None = None) -> str:
    try:
        for step in range(3):
            tell(step)
            await asyncio.sleep(0)
    finally:
        if ended is not None:
            ended.append("ended")
    return "done"


async def forever(tell: Tell, ended: list[str], begun: asyncio.Event) -> str:
    tell(0)
    begun.set()
    try:
        return await asyncio.Future[str]()
    finally:
        ended.append("ended")


async def wait_for(work: Work[int, str], through_its_steps: bool) -> None:
    if through_its_steps:
        async for _ in work:
            pass
    else:
        await work


async def test_it_is_awaited_for_what_comes_of_it() -> None:
    assert await Work(counts) == "done"


async def test_its_steps_come_first_and_it_is_done_once() -> None:
    ended: list[str] = []
    work: Work[int, str] = Work(lambda tell: counts(tell, ended))
    assert [step async for step in work] == [0, 1, 2]
    assert (await work, await work) == ("done", "done")
    assert ended == ["ended"]


async def test_who_leaves_the_steps_early_has_ended_it() -> None:
    ended: list[str] = []
    work: Work[int, str] = Work(lambda tell: forever(tell, ended, asyncio.Event()))
    steps = aiter(work)
    assert await anext(steps) == 0
    await steps.aclose()
    assert ended == ["ended"]
    with pytest.raises(asyncio.CancelledError):
        await work


@pytest.mark.parametrize("through_its_steps", [True, False])
async def test_cancelling_who_waits_ends_it(through_its_steps: bool) -> None:
    ended: list[str] = []
    begun = asyncio.Event()

    work: Work[int, str] = Work(lambda tell: forever(tell, ended, begun))

    waiting = asyncio.create_task(wait_for(work, through_its_steps))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended == ["ended"]


@pytest.mark.parametrize("through_its_steps", [True, False])
async def test_what_fails_is_raised(through_its_steps: bool) -> None:
    async def fails(tell: Tell) -> str:
        tell(0)
        raise LookupError("no such file")

    with pytest.raises(LookupError, match="no such file"):
        await wait_for(Work(fails), through_its_steps)


async def test_steps_of_other_threads_are_told_on_the_loop_in_their_order() -> None:
    def count(tell: Tell) -> str:
        for step in range(20):
            tell(step)
        return "done"

    work: Work[int, str] = Work(lambda tell: asyncio.to_thread(count, on_loop(tell)))
    assert [step async for step in work] == list(range(20))
    assert await work == "done"
