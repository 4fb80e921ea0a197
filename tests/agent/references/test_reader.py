"""What is read is kept for five minutes, asked for again as little as can be, and never from who rests."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.errors import Unreadable
from agent.references import reader as reading_of
from agent.references.address import Address, read_address
from agent.references.client import WebClient
from agent.references.extraction import Page
from agent.references.pace import FIRST_S, LONGEST_S, MOST_S, Pace
from agent.references.reader import FRESH_S, ReferenceReader
from tests.agent.references.test_threads import post
from tests.agent.references.web import Asked, Web


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def reader(web: Web, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ReferenceReader]:
    async def plain(body: bytes, kind: str, charset: str) -> Page:
        return Page(body.decode())

    monkeypatch.setattr(reading_of, "read_apart", plain)  # which has tests of its own
    made = ReferenceReader(WebClient(lambda host, own, port: True), service=lambda: web.url(""), now=clock)
    yield made
    await made.close()


def page(web: Web, path: str = "/") -> Address:
    return read_address(web.url(path))


async def test_what_was_read_is_not_asked_for_for_five_minutes(web: Web, reader: ReferenceReader, clock: Clock) -> None:
    web.put("/", "one", ETag='"1"')
    first = await reader.read(page(web))
    assert (first.text, len(first.hash)) == ("one", 64)
    clock.now += FRESH_S - 1
    assert await reader.read(page(web)) is first
    assert reader.known(page(web)) is first
    clock.now += 1
    assert reader.known(page(web)) is None
    again = await reader.read(page(web))
    assert (again.text, again.hash, again.at > first.at) == ("one", first.hash, True)
    assert [each.headers.get("if-none-match") for each in web.asked] == [None, '"1"']
    web.put("/", "two", ETag='"2"')
    clock.now += FRESH_S
    assert (await reader.read(page(web))).text == "two"


async def test_the_same_thing_is_asked_for_once_at_a_time(web: Web, reader: ReferenceReader) -> None:
    web.put("/", "one")
    found = await asyncio.gather(*(reader.read(page(web)) for _ in range(5)))
    assert {each.text for each in found} == {"one"}
    assert web.count("/") == 1


async def test_who_stops_waiting_leaves_the_reading_to_who_asks_next(web: Web, reader: ReferenceReader) -> None:
    go_on = asyncio.Event()
    web.put("/", "one")
    answer = web.answers["/"]

    async def slow(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        await answer(asked, writer)

    web.answers["/"] = slow
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await reader.read(page(web))
    go_on.set()
    assert (await reader.read(page(web))).text == "one"
    assert web.count("/") == 1


async def test_who_cannot_answer_rests_and_is_asked_later(web: Web, reader: ReferenceReader, clock: Clock) -> None:
    web.put("/", "no", status=503)
    with pytest.raises(Unreadable, match="is busy or broken"):
        await reader.read(page(web))
    web.put("/", "one")
    with pytest.raises(Unreadable, match="is asked again in"):
        await reader.read(page(web, "/other"))
    assert len(web.asked) == 1
    clock.now += FIRST_S
    assert (await reader.read(page(web))).text == "one"


async def test_what_is_gone_is_told_and_makes_nobody_rest(web: Web, reader: ReferenceReader) -> None:
    web.put("/", "one")
    for _ in range(3):
        with pytest.raises(Unreadable, match="nothing at that address"):
            await reader.read(page(web, "/gone"))
    assert (await reader.read(page(web))).text == "one"


async def test_a_thread_is_read_with_who_wrote(web: Web, reader: ReferenceReader) -> None:
    web.put_json("/xrpc/app.bsky.feed.getPostThread", {"thread": post("First")})
    address = read_address("at://ada.example/app.bsky.feed.post/3k")
    found = await reader.read(address)
    assert (found.title, [each.handle for each in found.authors]) == ("A thread of @ada.example", ["ada.example"])
    assert reader.host_of(address) == "127.0.0.1"


async def test_a_thread_without_an_end_is_cut(
    web: Web, reader: ReferenceReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_of, "LONGEST", 10)
    web.put_json("/xrpc/app.bsky.feed.getPostThread", {"thread": post("First " * 20)})
    found = await reader.read(read_address("at://ada.example/app.bsky.feed.post/3k", Path()))
    assert (len(found.text), found.cut) == (10, True)


async def test_a_file_is_read_anew_when_it_changed(tmp_path: Path, reader: ReferenceReader) -> None:
    path = tmp_path / "note.md"
    path.write_text("one")
    address = read_address("note.md", tmp_path)
    first = await reader.read(address)
    assert (first.text, first.title) == ("one", "note.md")
    assert await reader.read(address) is first
    path.write_text("two, longer")
    assert (await reader.read(address)).text == "two, longer"
    path.unlink()
    with pytest.raises(Unreadable, match="cannot be read: No such file"):
        await reader.read(address)


async def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path, reader: ReferenceReader) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    for path in (tmp_path / "pipe.md", Path("/dev/././ptmx"), Path("/dev/zero")):
        with pytest.raises(Unreadable, match="is no regular file"):
            await reader.read(Address("file", str(path)))


async def test_the_oldest_are_let_go_of(web: Web, reader: ReferenceReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_of, "MOST_KEPT", 2)
    for path in ("/a", "/b", "/c"):
        web.put(path, path)
        await reader.read(page(web, path))
    assert [reader.known(page(web, path)) is not None for path in ("/a", "/b", "/c")] == [False, True, True]
    monkeypatch.setattr(reading_of, "MOST_TEXT", 3)
    await reader.read(page(web, "/a"))
    assert [reader.known(page(web, path)) is not None for path in ("/a", "/b", "/c")] == [True, False, False]


def test_rests_grow_within_bounds_and_differ() -> None:
    clock = Clock()
    pace = Pace(clock, chance=random.Random(1))
    rests = []
    for _ in range(40):
        pace.failed("host")
        rests.append(pace.rest_s("host"))
    assert FIRST_S / 2 <= rests[0] <= FIRST_S
    assert all(MOST_S / 2 <= rest <= MOST_S for rest in rests[-20:])
    assert len(set(rests)) == len(rests)
    assert pace.rest_s("other") == 0
    pace.failed("host", 10 * LONGEST_S)
    assert pace.rest_s("host") == LONGEST_S
    pace.answered("host")
    assert pace.rest_s("host") == 0
