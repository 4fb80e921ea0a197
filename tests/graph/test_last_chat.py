"""The last chat of a log is read within a moment, without the tables beside the events, and is what they will say."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given

from graph.events import SessionArchived, SessionStarted, SessionTitled, TurnDeleted, TurnHidden
from graph.last_chat import last_chat
from graph.memory import Memory
from graph.values import Turn
from tests.examples import examples
from tests.graph.histories import STEPS, history
from tests.graph.lessons import observed
from tests.graph.talk import said, talk


def told(memory: Memory, limit: int = 1_000) -> list[Turn]:
    last = memory.readings.last_session()
    return memory.readings.thread(last, limit=limit) if last is not None else []


@pytest.mark.xfail(strict=False, reason="rarely nothing is shown where events hang on what is not read; not mended")
@pytest.mark.stateful
@examples(40)
@given(STEPS)
def test_it_is_what_the_whole_log_says(steps: list[tuple[int, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "memory"
        with closing(Memory.open(place, command="test")) as memory:
            memory.append(*history(steps).events)
            expected = told(memory)
        with closing(sqlite3.connect(place / "log.sqlite", isolation_level=None)) as db:
            db.execute("DELETE FROM projected")
            db.execute("DELETE FROM turns")
        assert last_chat(place, 1_000) == expected


def test_what_was_learned_and_what_others_said_is_not_in_its_way(memory: Memory, folder: Path) -> None:
    talk(memory, 4)
    memory.append(
        observed("m1", "s0"), TurnHidden(turn="s1"), TurnDeleted(turn="s2"),
        SessionTitled(session="s", sources=("s0",), text="called so"),
    )  # fmt: skip
    talk(memory, 2, session="t")
    memory.append(SessionArchived(session="t"))
    assert [turn.id for turn in last_chat(folder, 9)] == ["s0", "s1", "s3"]
    assert last_chat(folder, 1_000) == told(memory)
    assert [turn.id for turn in last_chat(folder, 1)] == ["s3"]


def test_where_nobody_spoke_it_is_one_that_was_brought_along_or_none(memory: Memory, folder: Path) -> None:
    assert last_chat(folder, 9) == []
    memory.append(SessionStarted(session="old", client="import"), said("o1", "old", said_at=5))
    assert [turn.id for turn in last_chat(folder, 9)] == ["o1"]
    assert last_chat(folder, 9) == told(memory)
