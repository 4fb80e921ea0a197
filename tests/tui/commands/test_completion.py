"""TAB in the shell: ids from the log, and nothing in them that a shell would run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.events import TurnHidden
from tests.tui.commands.conftest import Clew, Record, Remember, started

Tab = Callable[..., list[str]]
ZSH = {"_CLEW_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "clew show "}


def in_bash(*words: str) -> dict[str, str]:
    return {"_CLEW_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}


@pytest.fixture
def tab(clew: Clew) -> Tab:
    """What bash is offered for the last of these words."""
    return lambda *words: clew(**in_bash(*words)).out.split()


@pytest.mark.process
def test_commands_are_offered(environment: dict[str, str], tab: Tab) -> None:
    assert started(environment | in_bash("clew", "se")).stdout.split() == [b"serve", b"sessions"]
    assert {"ask", "log", "doctor"} <= set(tab("clew", ""))


def test_ids_of_sessions_and_turns_are_offered_from_the_log_of_the_home_on_the_line_unless_it_is_damaged(
    tab: Tab, remember: Remember, home: Path, tmp_path: Path
) -> None:
    said = remember("one")
    assert tab("clew", "log", "--session", said.session[:8]) == [said.session]
    assert tab("clew", "ask", "--session", said.session[:8]) == [said.session]
    assert tab("clew", "show", "") == [said.turn, said.session]
    (home / "memory" / "log.sqlite").write_bytes(b"no database" * 1000)
    assert tab("clew", "show", "") == []
    assert tab("clew", "--home", str(tmp_path / "empty"), "show", "") == []


def test_stored_words_cannot_run_in_the_shell_that_completes_and_those_of_a_hidden_turn_are_not_offered(
    clew: Clew, remember: Remember, record: Record
) -> None:
    said = remember('"; touch /tmp/x; $(reboot) \\$(id) `id` \x1b[2J', title="'$(id)")
    offered = clew(**ZSH).out.replace("_arguments '*: :((", "").replace("))'", "")
    assert said.turn in offered
    assert "reboot" in offered
    assert not set("$`;\\'()\x1b") & set(offered.replace("\\n", ""))
    record(TurnHidden(turn=said.turn))
    offered = clew(**ZSH).out
    assert said.turn in offered
    assert "reboot" not in offered
