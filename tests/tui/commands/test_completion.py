"""TAB in the shell: ids from the log, and nothing in them that a shell would run."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from bench.killing import CLEW
from graph.events import TurnHidden

pytestmark = pytest.mark.process

Run = Callable[..., Any]


@pytest.fixture
def tab(environment: dict[str, str]) -> Callable[..., list[str]]:
    """What bash is offered for the last of these words."""

    def complete(*words: str) -> list[str]:
        ended = subprocess.run(
            CLEW,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            env=environment
            | {"_CLEW_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)},
        )
        return ended.stdout.split()

    return complete


def test_commands_are_offered(tab: Run) -> None:
    assert tab("clew", "se") == ["serve", "sessions"]
    assert {"ask", "log", "doctor"} <= set(tab("clew", ""))


def test_ids_of_sessions_and_turns_are_offered_from_the_log(tab: Run, remember: Run) -> None:
    said = remember("one")
    assert tab("clew", "log", "--session", said.session[:8]) == [said.session]
    assert tab("clew", "ask", "--session", said.session[:8]) == [said.session]
    assert tab("clew", "show", "") == [said.turn, said.session]


def test_the_home_on_the_line_is_the_one_that_is_read(tab: Run, remember: Run, tmp_path: Any) -> None:
    remember("one")
    assert tab("clew", "--home", str(tmp_path / "empty"), "show", "") == []


def test_a_damaged_log_offers_nothing_and_complains_of_nothing(tab: Run, remember: Run, home: Any) -> None:
    remember("one")
    (home / "memory" / "log.sqlite").write_bytes(b"no database" * 1000)
    assert tab("clew", "show", "") == []


def test_stored_words_cannot_run_in_the_shell_that_completes(remember: Run, environment: dict[str, str]) -> None:
    said = remember('"; touch /tmp/x; $(reboot) \\$(id) `id` \x1b[2J', title="'$(id)")
    ended = subprocess.run(
        CLEW,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"_CLEW_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "clew show "},
    )
    offered = ended.stdout.replace("_arguments '*: :((", "").replace("))'", "")
    assert said.turn in offered
    assert not set("$`;\\'()\x1b") & set(offered.replace("\\n", ""))


def test_a_hidden_turns_words_are_not_offered(remember: Run, record: Run, environment: dict[str, str]) -> None:
    said = remember("A secret.")
    record(TurnHidden(turn=said.turn))
    ended = subprocess.run(
        CLEW,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"_CLEW_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "clew show "},
    )
    assert said.turn in ended.stdout
    assert "secret" not in ended.stdout
