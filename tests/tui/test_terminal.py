"""The driver of the terminal waits for nobody: what is written waits, in order, and what was missed is painted anew."""

import os
import threading
from collections.abc import Iterator
from typing import cast

import pytest
from textual.driver import Driver

from tests.tui.acting import press
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.terminal import BEHIND, CaughtUp, TerminalWriter, Unhurried
from tui.web import driver as web

MUCH = b"many words for a terminal that does not read " * 20_000  # no pipe holds as much


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for end in (reading, writing):
        try:
            os.close(end)
        except OSError:
            continue  # the test did


def read(descriptor: int, count: int) -> bytes:
    found = b""
    while len(found) < count:
        found += os.read(descriptor, 65536)
    return found


def test_writing_does_not_wait_for_the_reader_and_keeps_the_order(pipe: tuple[int, int]) -> None:
    writer = TerminalWriter(pipe[1])
    writer.start()
    assert not writer.behind()
    for part in (MUCH, b"one", b"two"):
        assert writer.write(part) == len(part)
    assert read(pipe[0], len(MUCH) + 6) == MUCH + b"onetwo"
    writer.stop()
    assert writer.closed
    assert issubclass(web.Driver, Unhurried), "a page in a browser is not waited for either"


def test_a_reader_that_has_caught_up_is_told_once_and_only_if_something_was_missed(pipe: tuple[int, int]) -> None:
    told: list[int] = []
    done = threading.Event()
    writer = TerminalWriter(pipe[1])

    def caught_up() -> None:
        told.append(len(told))
        done.set()

    writer.caught_up = caught_up
    writer.start()
    writer.write(b"x" * (BEHIND + 1))
    read(pipe[0], BEHIND + 1)  # nobody asked meanwhile: nothing was left out
    writer.write(MUCH)
    assert writer.behind()
    assert writer.behind()
    read(pipe[0], len(MUCH))
    assert done.wait(60)
    assert told == [0]
    assert not writer.behind()
    writer.stop()


def test_stopping_gives_up_on_a_reader_that_does_not_read_and_one_that_is_gone_takes_everything(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.terminal.STOP_S", 0.05)
    writer = TerminalWriter(pipe[1])
    writer.start()
    writer.write(MUCH)
    writer.stop()  # returns, though most of it waits
    assert writer.write(b"more") == 4
    os.close(pipe[0])
    gone = TerminalWriter(pipe[1])
    gone.start()
    gone.write(b"words")
    gone.stop()
    assert gone.closed
    assert gone.write(b"more") == 4


class Slow:
    """A driver whose terminal does not keep up while `late`; else the real one."""

    def __init__(self, driver: Driver) -> None:
        self.late = True
        self._driver = driver

    def behind(self) -> bool:
        return self.late

    def lose(self) -> None:
        raise AssertionError("it is only slow")

    def __getattr__(self, name: str) -> object:
        return getattr(self._driver, name)


async def test_a_frame_that_would_only_wait_is_not_painted_and_all_of_it_is_when_the_terminal_has_caught_up(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    async with chat(ScriptedAgent()) as (app, pilot):
        slow = Slow(app._driver)
        monkeypatch.setattr("textual.app.App._display", lambda *_: shown.append(screen_text(app)))
        app._driver = cast(Driver, slow)
        await press(pilot, *"words", until=lambda: app.view.composer.text == "words")
        assert shown == []
        slow.late = False
        app.post_message(CaughtUp())
        await wait_until(pilot, lambda: shown and "words" in shown[-1])
        app._driver = slow._driver
