"""What streams is on disk soon, also when nothing more comes."""

import asyncio

import pytest

from agent.reply import PartialReply, StreamCheckpointer, stream_reply
from graph.errors import LogUnwritable
from models.protocols import SamplingParams
from tests.fakes import FakeGenerator


class Disk:
    """Remembers what was saved; `has` waits for a text, and a cleared `room` holds a save up."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.running = 0
        self.begun = asyncio.Event()
        self.room = asyncio.Event()
        self.room.set()
        self._changed = asyncio.Event()

    async def save(self, text: str) -> None:
        self.running += 1
        self.begun.set()
        assert self.running == 1, "saves must not overlap"
        await self.room.wait()
        self.texts.append(text)
        self.running -= 1
        self._changed.set()

    async def has(self, text: str) -> None:
        while text not in self.texts:
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 10)


async def test_the_last_words_before_a_pause_are_saved_without_waiting_for_more() -> None:
    disk, generator, reply = Disk(), FakeGenerator("one two three"), PartialReply()
    stream = stream_reply(
        reply,
        generator=generator,
        prompt=generator.frame("user", "Count."),
        params=SamplingParams(),
        session="s",
        reply_turn="r",
        save=disk.save,
    )
    await anext(stream)
    await anext(stream)
    generator.gate.clear()  # the model says no more, for now
    paused = asyncio.ensure_future(anext(stream))
    await disk.has(reply.text)
    assert reply.text == "one two"
    generator.gate.set()
    await paused
    await stream.aclose()


async def test_the_newest_text_is_saved_and_those_between_are_left_out() -> None:
    disk = Disk()
    checkpointer = StreamCheckpointer(disk.save, every_s=0)
    disk.room.clear()
    checkpointer.keep("a")
    await asyncio.sleep(0)
    for text in ("ab", "abc", "abcd"):
        checkpointer.keep(text)
    disk.room.set()
    await disk.has("abcd")
    await checkpointer.close()
    assert disk.texts[-1] == "abcd"
    assert len(disk.texts) <= 2


async def test_no_save_is_running_once_it_is_closed() -> None:
    disk = Disk()
    checkpointer = StreamCheckpointer(disk.save)
    disk.room.clear()
    checkpointer.keep("a")
    await disk.begun.wait()
    closing = asyncio.ensure_future(checkpointer.close())
    await asyncio.sleep(0)
    assert not closing.done()
    disk.room.set()
    await closing
    assert (disk.running, disk.texts) == (0, ["a"])


async def test_a_save_that_fails_is_told_with_the_next_words() -> None:
    failed = asyncio.Event()

    async def full(text: str) -> None:
        failed.set()
        raise LogUnwritable("The disk is full.")

    checkpointer = StreamCheckpointer(full)
    checkpointer.keep("a")
    await failed.wait()
    await asyncio.sleep(0)
    with pytest.raises(LogUnwritable):
        checkpointer.keep("ab")
    await checkpointer.close()
