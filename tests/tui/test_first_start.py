"""The first start asks which model to download, and before that nothing is downloaded."""

import io
from pathlib import Path

import pytest

from agent.home import Home
from agent.settings import load_settings
from models.catalogue import DEFAULT_CHAT, FIRST_CHOICES, entry
from models.fitting import FIRST
from tui import entry as entrance
from tui.exit_codes import ExitCode
from tui.first_start import choose_model


def asked(typed: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return choose_model(Home.resolve(home))


@pytest.fixture(autouse=True)
def much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FIRST)
    monkeypatch.setattr("models.fitting.available_memory", lambda: 64 << 30)
    monkeypatch.setattr("models.fitting._free", lambda folder: 64 << 30)


def test_enter_takes_the_best_t_a_tiny_one_and_q_or_an_end_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    best = entry(FIRST_CHOICES[0])
    assert asked("what?\n\n", home, monkeypatch)
    said = capsys.readouterr().err
    assert said.count(f"{best.name}: 1.1 GB, {best.licence}, from {best.origin}.") == 2
    assert load_settings(home / "config.toml").model == best.name
    assert not asked("Q\n", home, monkeypatch)
    assert not asked("", home, monkeypatch)
    assert load_settings(home / "config.toml").model == best.name
    assert asked("T\n", home, monkeypatch)
    assert load_settings(home / "config.toml").model == DEFAULT_CHAT


def test_who_has_set_another_model_is_asked_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Home.resolve(home).config.write_text('model = "qwen3-4b"\n')
    assert asked("", home, monkeypatch)


def test_who_quits_there_is_out_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("q\n"))
    monkeypatch.setattr("sys.stdout", Terminal())
    assert entrance.open_chat({"home": str(home)}) == ExitCode.OK


def test_a_home_that_was_there_and_names_none_has_the_model_it_began_with(home: Path) -> None:
    place = Home.resolve(home)
    place.config.write_text("# mine\n")
    assert load_settings(place.config).model == DEFAULT_CHAT
    place.config.unlink()
    (place.models / entry(DEFAULT_CHAT).file).touch()
    assert load_settings(place.config).model == DEFAULT_CHAT, "it has a chat model"
