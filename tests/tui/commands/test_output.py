"""What the commands write, and that no text can reach the terminal as anything but text."""

import io
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agent.references.test_reader import Clock
from tests.tui.commands.conftest import Terminal
from tui.output import LONG_S, SILENCE_S, Narration, colourful, fit, instant, put_json, say


@given(st.text(), st.integers(min_value=4, max_value=80))
def test_a_fitted_text_is_one_harmless_line(text: str, columns: int) -> None:
    line = fit(text, columns)
    assert len(line) <= columns
    assert line.isprintable() or not any(character < " " or "\x7f" <= character < "\xa0" for character in line)
    assert "\n" not in line


def test_a_wide_character_takes_two_columns() -> None:
    assert fit("日本語テキスト", 7) == "日本語…"
    assert fit("日本", 4) == "日本"


def test_json_for_a_terminal_holds_nothing_that_a_terminal_obeys(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    put_json({"said": "\x1b[2J\x9b31m \u202e é"})
    assert terminal.getvalue().isascii()
    assert "\x1b" not in terminal.getvalue()
    assert json.loads(terminal.getvalue()) == {"said": "\x1b[2J\x9b31m \u202e é"}


def test_json_keeps_letters_and_instants_their_milliseconds_and_offset(capsys: pytest.CaptureFixture[str]) -> None:
    put_json({"said": "é", "at": datetime(2025, 3, 1, 12, 0, 0, 123000, tzinfo=UTC)})
    assert capsys.readouterr().out == '{"said": "é", "at": "2025-03-01T12:00:00.123+00:00"}\n'
    assert instant(datetime(2025, 3, 1, tzinfo=UTC)) == "2025-03-01T00:00:00.000+00:00"


def test_narration_is_made_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    say("a \x1b[31mred\x1b[0m model")
    assert "\x1b" not in capsys.readouterr().err


def test_colour_is_not_used_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colourful(Terminal())
    assert not colourful(io.StringIO())
    for variable, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as given:
            given.setenv(variable, value)
            assert not colourful(Terminal())


def test_on_a_terminal_the_line_is_rewritten_and_leaves_nothing() -> None:
    clock, terminal = Clock(), Terminal()
    narration = Narration(terminal, clock=clock)
    narration.tell("fetching 10 MB of 93 MB")
    clock.now += 1
    narration.tell("ready")
    narration.clear()
    painted = terminal.getvalue()
    assert "\n" not in painted
    assert painted.split("\r")[1:3] == ["fetching 10 MB of 93 MB", "ready" + " " * 18]
    assert painted.endswith("\r     \r")


def test_a_terminal_is_not_rewritten_more_often_than_can_be_read() -> None:
    clock, terminal = Clock(), Terminal()
    narration = Narration(terminal, clock=clock)
    for step in range(1000):
        narration.tell(f"step {step}")
    assert terminal.getvalue() == "\rstep 0"


def test_a_step_that_takes_long_is_told_of_while_it_takes() -> None:
    clock, pipe = Clock(), io.StringIO()
    narration = Narration(pipe, silence_s=SILENCE_S, clock=clock)
    narration.go_on()
    narration.tell("reading 1 of 1")
    clock.now += SILENCE_S
    narration.go_on()
    narration.go_on()
    assert pipe.getvalue() == "reading 1 of 1\n"
    narration.clear()
    clock.now += LONG_S
    narration.go_on()
    assert pipe.getvalue() == "reading 1 of 1\n"


def test_where_nobody_watches_only_long_work_is_told_of() -> None:
    clock, pipe = Clock(), io.StringIO()
    narration = Narration(pipe, clock=clock)
    narration.tell("loading")
    clock.now += LONG_S - 1
    narration.tell("loading")
    assert pipe.getvalue() == ""
    clock.now += 1
    narration.tell("loading")
    assert pipe.getvalue() == "loading\n"
    narration.clear()
    narration.tell("something else")
    assert pipe.getvalue() == "loading\n"
