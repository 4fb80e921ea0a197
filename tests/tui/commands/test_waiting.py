"""What a command that ends says of the erasing that goes on after it."""

from pathlib import Path

import pytest

from agent.erasure import Erasure, Purged
from graph.events import TurnDeleted
from tests.graph.teach import read
from tests.tui.commands.conftest import Clew, Record, Remember, held

pytestmark = [pytest.mark.restarts, pytest.mark.usefixtures("words_only")]
SAID = "Deleted content is still being erased; this continues at the next start."


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A purge that has no time for anything while a command runs."""

    async def nothing(self: Erasure, events: frozenset[int]) -> Purged:
        return Purged(pending="not now")

    monkeypatch.setattr(Erasure, "_purge_once", nothing)


@pytest.mark.usefixtures("slow")
def test_a_command_says_once_that_erasing_is_not_over(
    clew: Clew, remember: Remember, record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = remember("The ferry leaves at nine.")
    commands: tuple[tuple[str, ...], ...] = (
        ("memories",),
        ("recall", "ferry"),
        ("undo", "--list"),
        ("memories", "--as-of", "#2"),
    )
    for asked in commands:
        assert SAID not in clew(*asked).err
    deleted = clew("delete", remember("Another.").turn, "--yes")
    assert "not yet from every file: not now" in deleted.err, "a delete says itself what is left"
    assert SAID not in deleted.err
    record(TurnDeleted(turn=one.turn))
    monkeypatch.setattr("sys.stdin", None)
    lines = tmp_path / "chat.jsonl"
    lines.write_text('{"role": "user", "text": "Hello", "time": "2025-01-01T00:00:00Z"}\n')
    commands += (("import", str(lines), "--no-embed"), ("ask", "Hi", "--session", "01NOTHING"))
    for asked in commands:
        assert clew(*asked).err.count(SAID) == 1, asked


def test_a_start_that_erased_all_of_it_says_nothing_nor_does_one_that_lets_go_of_a_document(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one = remember("The ferry leaves at nine.")
    record(TurnDeleted(turn=one.turn), *read("01DOCUMENT0000000000000000", "01CHUNK0000000000000000000"))
    assert clew("delete", remember("Another.").turn, "--yes").code == 0  # it waits for all that is to be erased
    assert SAID not in clew("memories").err
    ended = clew("delete", "--document", "01DOCUMENT0000000000000000", "--yes")
    assert (ended.code, SAID in ended.err) == (0, False)
    with held(home) as memory:
        assert memory.purge.waiting() == {}
