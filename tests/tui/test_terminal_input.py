"""Whatever a terminal sends, the chat goes on, and the letter that is typed next arrives."""

import os
import pty
import select
import subprocess
import sys
import termios
import threading
from contextlib import suppress

import pytest
from textual import events

from tests.tui.sequences import fed, sequences
from tui import terminal_input
from tui.terminal_input import STALLED_S, InputParser


class Clock:
    """A time that is set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that the parser goes by."""
    hand = Clock()
    monkeypatch.setattr(terminal_input, "monotonic", hand)
    monkeypatch.setattr("textual._parser.get_time", hand)
    return hand


def keys(*reads: bytes) -> list[str]:
    """The keys that are pressed by what is read."""
    parser = InputParser()
    messages = [message for read in reads for message in fed(parser, read)]
    return [message.key for message in messages if isinstance(message, events.Key)]


@pytest.mark.parametrize(
    "odd", [b"\x1b[MC\x8f&", b"\x1b[97;1:3u", b"\x1b[97:65;2:3u", b"\x1b[1;1:3A", b"\x1b[57345;1:3u"]
)
def test_a_report_of_a_mouse_or_of_a_key_that_is_let_go_presses_none(odd: bytes) -> None:
    assert keys(b"a" + odd + b"b") == ["a", "b"]


def test_a_key_that_is_held_down_is_pressed_again_and_a_byte_that_is_no_letter_is_marked() -> None:
    assert keys(b"\x1b[97;1:1u\x1b[97;1:2u\x1b[97:65;5:2u\x1b[1;5:2C") == ["a", "a", "ctrl+a", "ctrl+right"]
    found = [each for each in fed(InputParser(), b"a\x9bb\xc3\xa9") if isinstance(each, events.Key)]
    assert [each.character for each in found] == ["a", "\ufffd", "b", "é"]


def test_the_mouse_of_a_terminal_that_knows_x10_alone_is_seen_right_of_column_95_too() -> None:
    found = fed(InputParser(), b"\x1b[M \xc3\xa9" + b"\x1b[M#\xc3\xa9" + b"\x1b[M`!!" + b"\x1b[MC\x8f&")
    assert [(type(each).__name__, each.x, each.y) for each in found if isinstance(each, events.MouseEvent)] == [
        ("MouseDown", 162, 136),
        ("MouseUp", 162, 136),
        ("MouseScrollUp", 0, 0),
        ("MouseMove", 110, 5),
    ]


@pytest.mark.parametrize(
    "cut", [b"\x1b[M", b"\x1b[M C", b"\xe2\x82", b"\x1b[<3;", b"\x1b[97;", b"\x1b]0;x", b"\x1bP1$r"]
)
def test_what_is_cut_off_holds_no_key_back(cut: bytes, clock: Clock) -> None:
    parser = InputParser()
    fed(parser, cut)
    clock.now += 1
    found = [*parser.tick(), *fed(parser, b"z")]
    assert isinstance(found[-1], events.Key)
    assert found[-1].key == "z"


def test_a_paste_without_an_end_is_shown_when_it_stands_still_and_a_key_after_it_is_one(clock: Clock) -> None:
    parser = InputParser()
    assert fed(parser, b"\x1b[200~one\r") == []
    assert list(parser.tick()) == [], "not at once"
    clock.now += STALLED_S + 1
    (shown,) = parser.tick()
    assert isinstance(shown, events.Paste)
    assert shown.text == "one\r"
    assert fed(parser, b"two\rthree") == [], "what goes on is of the paste, and presses no Enter"
    clock.now += STALLED_S + 1
    assert [each.text for each in parser.tick() if isinstance(each, events.Paste)] == ["two\rthree"]
    clock.now += STALLED_S + 1
    assert [each.key for each in fed(parser, b"z") if isinstance(each, events.Key)] == ["z"]
    assert [each.key for each in fed(parser, b"y") if isinstance(each, events.Key)] == ["y"]
    (whole,) = fed(parser, b"\x1b[200~four\x1b[201~")
    assert isinstance(whole, events.Paste)
    assert whole.text == "four"


def test_letters_after_an_escape_of_long_ago_are_letters(clock: Clock) -> None:
    parser, found = InputParser(), []
    for read in (b"\x1b", b"[", b"Meeting"):
        found += fed(parser, read)
        clock.now += 1
        found += parser.tick()
    pressed = [each.key for each in found if isinstance(each, events.Key)]
    assert pressed == ["escape", "left_square_bracket", *"Meeting"]


def test_a_paste_that_goes_on_with_colours_presses_no_enter(clock: Clock) -> None:
    parser = InputParser()
    fed(parser, b"\x1b[200~ls\n")
    clock.now += STALLED_S + 1
    list(parser.tick())
    assert fed(parser, b"\x1b[31mrm -rf x\r") == []
    (rest,) = fed(parser, b"\x1b[201~")
    assert isinstance(rest, events.Paste)
    assert rest.text == "\x1b[31mrm -rf x\r"


def test_a_window_of_no_size_or_of_a_size_that_none_has_is_not_believed() -> None:
    parser = InputParser()
    assert fed(parser, b"\x1b[48;0;0;0;0t\x1b[48;99999999;99999999;1;1t") == []
    (size,) = fed(parser, b"\x1b[48;24;80;0;0t")
    assert isinstance(size, events.Resize)
    assert [type(each) for each in fed(parser, b"\x1b[<0;5;5M")] == [events.MouseDown], "in cells, as none is so wide"


def through(seed: int, count: int, clock: Clock) -> None:
    """Feed so many sequences, each followed by a letter that has to arrive."""
    parser = InputParser()
    for number, one in enumerate(sequences(seed, count)):
        fed(parser, one)
        for _ in range(2):
            clock.now += STALLED_S + 1
            list(parser.tick())
        found = [each.key for each in fed(parser, b"z") if isinstance(each, events.Key)]
        assert found[-1:] == ["z"], (number, one)  # before it there may be a letter that was cut off


def test_after_any_sequence_the_next_letter_arrives(clock: Clock) -> None:
    through(1, 5_000, clock)


@pytest.mark.soak
def test_after_each_of_a_hundred_thousand_sequences_the_next_letter_arrives(clock: Clock) -> None:
    through(2, 100_000, clock)


APP = """
import os, sys
from textual import events
from textual.app import App
from textual.widgets import TextArea
from tui.terminal import TerminalDriver

class Typed(App, inherit_bindings=False):
    ENABLE_COMMAND_PALETTE = False
    def compose(self):
        yield TextArea()
    async def on_event(self, event):
        if isinstance(event, events.Key) and event.character == "ç":
            os.write(int(sys.argv[1]), b"!")
        await super().on_event(event)

sys.exit(Typed(driver_class=TerminalDriver).run() or 0)
"""


@pytest.mark.process
def test_an_app_on_a_terminal_takes_the_next_letter_after_each_of_them() -> None:
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 200))
    heard, told = os.pipe()
    command = [sys.executable, "-c", APP, str(told)]
    app = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, pass_fds=[told])
    os.close(told)
    os.close(follower)
    threading.Thread(target=drained, args=(leader,), daemon=True).start()
    try:
        for number, one in enumerate([b"", *sequences(3, 300)]):
            os.write(leader, one)
            for _ in range(10):
                os.write(leader, "ç".encode())
                if select.select([heard], [], [], 2 * STALLED_S)[0]:
                    break
            else:
                pytest.fail(f"after {number} of them: {one!r}")
            assert os.read(heard, 99), f"it ended after {number} of them: {one!r}"
    finally:
        app.kill()
        app.wait()
        os.close(heard)


def drained(leader: int) -> None:
    """Read what is painted, until nothing is any more."""
    with suppress(OSError):
        while os.read(leader, 65536):
            pass
