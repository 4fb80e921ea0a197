"""A paste is one event and presses no key, however it is split into reads."""

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers import linux_driver
from textual.message import Message

from agent.text import clean_message
from tests.tui.acting import perform
from tests.tui.conftest import Running, screen_text
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tests.tui.sequences import fed
from tui import terminal
from tui.terminal_input import InputParser
from tui.widgets.dialogs import AskText, LinesInput

START, END = "\x1b[200~", "\x1b[201~"
NASTY = "\x1b[32mgreen\x1b[0m\n\x11\x03\x1b\x1b[A\x1b[200~\x1b[48;1;2;3;4t\x1b[I\x1b"


def read(*chunks: str) -> list[Message]:
    parser = InputParser()
    return [message for chunk in chunks for message in fed(parser, chunk.encode())]


def told(messages: list[Message]) -> list[tuple[str, str]]:
    """Each message as its kind and what it carries."""
    found = []
    for message in messages:
        match message:
            case events.Paste(text=text):
                found.append(("paste", text))
            case events.Key(key=key):
                found.append(("key", key))
            case _:
                found.append(("other", type(message).__name__))
    return found


EXPECTED = [("key", "a"), ("key", "up"), ("paste", NASTY), ("key", "b"), ("paste", ""), ("key", "enter")]
STREAM = f"a\x1b[A{START}{NASTY}{END}b{START}{END}\r"


def test_escape_codes_in_a_paste_press_no_key_wherever_the_reads_are_split() -> None:
    for place in range(1, len(STREAM)):
        assert told(read(STREAM[:place], STREAM[place:])) == EXPECTED, place
    assert told(read(*STREAM)) == EXPECTED, "one character at a time"


@given(st.text().filter(lambda text: END not in text + END[:-1]), st.integers(1, 9))
def test_any_paste_arrives_whole_but_for_its_nul(text: str, size: int) -> None:
    stream = START + text + END + "x"
    chunks = [stream[place : place + size] for place in range(0, len(stream), size)]
    assert told(read(*chunks)) == [("paste", text.replace("\x00", "")), ("key", "x")]


def test_a_large_paste_is_one_event_and_the_driver_of_the_terminal_reads_so() -> None:
    text = "words \x1b[1mand\x1b[0m lines\n" * 1_000
    stream = START + text + END
    assert told(read(*(stream[at : at + 4096] for at in range(0, len(stream), 4096)))) == [("paste", text)]
    parser = InputParser()
    assert told(fed(parser, f"{START}one{END}\x1b[B".encode())) == [("paste", "one"), ("key", "down")]
    assert list(parser.feed("")) == []
    assert parser.is_eof, "the end of input ends it"
    assert terminal.TerminalDriver.__mro__[1] is linux_driver.LinuxDriver
    assert vars(linux_driver)["XTermParser"] is InputParser  # the name that run_input_thread looks up


async def test_what_was_pasted_is_written_as_it_will_be_sent_and_painted_without_its_escapes(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        app.view.composer.post_message(events.Paste("\x1b[32mgreen\x1b[0m\nsecond\x11"))
        await sees(pilot, "\ufffd[32mgreen\ufffd[0m")
        assert app.view.composer.text == clean_message("\x1b[32mgreen\x1b[0m\nsecond\x11")
        await sees(pilot, "second\ufffd")
        assert "\x1b" not in screen_text(app)
        app.view.composer.put("")
        await perform(pilot, "system", "", until=lambda: isinstance(app.screen, AskText))
        app.screen.query_one(LinesInput).post_message(events.Paste("\x1b[31mred"))
        await sees(pilot, "␛[31mred")
        assert "\x1b" not in screen_text(app)
        await pilot.press("escape")
