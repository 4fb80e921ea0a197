"""What a command that ends says of the erasing that goes on after it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.erasure import Erasure, Purged
from graph.events import TurnDeleted
from graph.memory import Memory
from tests.graph.teach import read

Run = Callable[..., Any]
SAID = "Deleted content is still being erased; this continues at the next start."


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder, which needs a model's file."""
    monkeypatch.setenv("CLEW_EMBEDDER", "nothing-here")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A purge that has no time for anything while a command runs."""

    async def nothing(self: Erasure, events: frozenset[int]) -> Purged:
        return Purged(pending="not now")

    monkeypatch.setattr(Erasure, "_purge_once", nothing)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    "asked", [("memories",), ("recall", "ferry"), ("undo", "--list"), ("memories", "--as-of", "#2")]
)
@pytest.mark.restarts
def test_a_command_says_once_that_erasing_is_not_over(
    clew: Run, remember: Run, record: Run, asked: tuple[str, ...]
) -> None:
    one = remember("The ferry leaves at nine.")
    assert SAID not in clew(*asked).err
    record(TurnDeleted(turn=one.turn))
    assert clew(*asked).err.count(SAID) == 1


@pytest.mark.usefixtures("slow")
@pytest.mark.restarts
def test_a_delete_says_itself_what_is_left(clew: Run, remember: Run) -> None:
    ended = clew("delete", remember("The ferry leaves at nine.").turn, "--yes")
    assert "not yet from every file: not now" in ended.err
    assert SAID not in ended.err


@pytest.mark.restarts
def test_a_start_that_erased_all_of_it_says_nothing(clew: Run, remember: Run, record: Run, home: Path) -> None:
    one = remember("The ferry leaves at nine.")
    record(TurnDeleted(turn=one.turn))
    assert clew("delete", remember("Another.").turn, "--yes").code == 0  # it waits for all that is to be erased
    assert SAID not in clew("memories").err
    with closing(Memory.open(home / "memory", command="test")) as memory:
        assert memory.purge.waiting() == {}


@pytest.mark.restarts
def test_a_document_that_is_let_go_is_erased_when_the_command_ends(
    clew: Run, remember: Run, record: Run, home: Path
) -> None:
    remember("Hello.")
    record(*read("01DOCUMENT0000000000000000", "01CHUNK0000000000000000000"))
    ended = clew("delete", "--document", "01DOCUMENT0000000000000000", "--yes")
    assert (ended.code, SAID in ended.err) == (0, False)
    with closing(Memory.open(home / "memory", command="test")) as memory:
        assert memory.purge.waiting() == {}


@pytest.mark.usefixtures("slow")
@pytest.mark.restarts
def test_asking_and_importing_say_it_too(
    clew: Run, remember: Run, record: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    record(TurnDeleted(turn=remember("The ferry leaves at nine.").turn))
    lines = tmp_path / "chat.jsonl"
    lines.write_text('{"role": "user", "text": "Hello", "time": "2025-01-01T00:00:00Z"}\n')
    assert clew("import", str(lines), "--no-embed").err.count(SAID) == 1
    assert clew("ask", "Hi", "--session", "01NOTHING").err.count(SAID) == 1
