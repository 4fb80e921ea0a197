"""The newest request wins, whatever order the answers could come in."""

import asyncio

import pytest

from tui.latest import Latest


class Slow:
    """Answers each request when it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.shown: list[tuple[str, str]] = []
        self.latest = Latest(self.find, lambda asked, answer: self.shown.append((asked, answer)))

    async def find(self, text: str) -> str:
        self.asked.append(text)
        await self.gates.setdefault(text, asyncio.Event()).wait()
        return text.upper()

    def answer(self, text: str) -> None:
        self.gates.setdefault(text, asyncio.Event()).set()


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_is_asked_meanwhile_replaces_all_that_was_asked_before_it() -> None:
    slow = Slow()
    first = asyncio.create_task(slow.latest.ask("t"))
    await turns()
    for text in ("ti", "tid", "tide"):
        await slow.latest.ask(text)
    assert slow.asked == ["t"]
    slow.answer("t")
    await turns()
    assert slow.asked == ["t", "tide"]
    assert slow.shown == []
    assert slow.latest.seeking
    slow.answer("tide")
    await first
    assert slow.shown == [("tide", "TIDE")]
    assert not slow.latest.seeking


async def test_each_answer_is_shown_where_nothing_is_asked_meanwhile() -> None:
    slow = Slow()
    for text in ("one", "two"):
        slow.answer(text)
        await slow.latest.ask(text)
    assert slow.shown == [("one", "ONE"), ("two", "TWO")]


async def test_a_failure_leaves_it_ready_for_the_next_request() -> None:
    async def find(text: str) -> str:
        if text == "bad":
            raise ValueError(text)
        return text

    shown: list[str] = []
    latest = Latest(find, lambda asked, answer: shown.append(answer))
    with pytest.raises(ValueError, match="bad"):
        await latest.ask("bad")
    await latest.ask("good")
    assert shown == ["good"]
