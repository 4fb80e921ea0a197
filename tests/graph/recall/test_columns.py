"""Columns that follow the graph are the columns that are read anew, and live is what a plain reading says it is."""

import tempfile
import threading
from datetime import UTC
from pathlib import Path

import numpy as np
from hypothesis import given

from graph.errors import GraphFailure
from graph.events import Role
from graph.memory import Memory
from graph.recall.columns import TOOL, Columns
from graph.recall.table import NONE
from tests.examples import histories
from tests.graph.conftest import ignore
from tests.graph.histories import STEPS, Conversation
from tests.graph.recall.conftest import NOW
from tests.graph.talk import hide, reply, said, talk

COLUMNS = ("seq", "id", "role", "at", "live", "hidden", "deleted", "pinned", "parent")


def read(memory: Memory, columns: Columns | None = None) -> Columns:
    """Columns brought up to the log as it is."""
    columns = columns or Columns()
    with memory.readings.snapshot() as db:
        columns.refresh(db, memory.head())
    return columns


def told(columns: Columns) -> dict[str, list[object]]:
    """What the columns say, codes as the names they stand for."""
    plain = {name: columns[name].tolist() for name in COLUMNS}
    for name, names in (("session", columns.sessions), ("speaker", columns.speakers), ("world", columns.worlds)):
        plain[name] = [names.names[code] for code in columns[name].tolist()]
    tree = columns.tree
    steps = (tree.child, tree.grandparent, tree.grandchild, np.sort(tree.others))
    return {**plain, **{str(place): step.tolist() for place, step in enumerate(steps)}}


@histories(15)
@given(STEPS)
def test_columns_that_follow_are_those_read_anew(steps: list[tuple[int, int, int]]) -> None:
    talked = Conversation()
    for step in steps:
        talked.step(*step)
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.open(Path(folder), command="test")
        memory.open_graph(ignore)
        columns = None
        for start in range(0, len(talked.events), 5):
            memory.append(*talked.events[start : start + 5])
            columns = read(memory, columns)
        assert columns is not None
        assert told(columns) == told(read(memory))
        ids = [id.decode() for id in columns["id"].tolist()]
        assert {id for id, live in zip(ids, columns["live"].tolist(), strict=True) if live} == talked.live()
        assert [columns.row_of(id) for id in ids] == list(range(columns.size))
        memory.close()


def test_a_reply_stands_below_the_question_however_many_tools_are_between(whole: Memory) -> None:
    talk(whole, 1)
    tools = [said(f"t{n}", parent=f"t{n - 1}" if n else "s0", role=Role.TOOL, speaker="about") for n in range(3)]
    whole.append(*tools)
    columns = read(whole)
    whole.append(reply("answer", parent="t2"))
    columns = read(whole, columns)
    assert columns["parent"][columns.row_of("answer")] == columns.row_of("s0")
    assert columns["role"][columns.row_of("t1")] == TOOL
    assert told(columns) == told(read(whole))


def test_of_several_replies_the_live_one_is_the_child(whole: Memory) -> None:
    talk(whole, 1)
    whole.append(reply("one", parent="s0"), reply("two", parent="s0"), hide("two"))
    tree = (columns := read(whole)).tree
    assert tree.child[columns.row_of("s0")] == columns.row_of("two")  # none is live: the newest
    whole.append(reply("three", parent="s0"), reply("four", parent="three"))
    tree = (columns := read(whole, columns)).tree
    assert tree.child[columns.row_of("s0")] == columns.row_of("three")
    assert tree.grandchild[columns.row_of("s0")] == columns.row_of("four")
    assert columns.row_of("nobody") == NONE


def test_ids_longer_than_ours_are_kept_whole(whole: Memory) -> None:
    talk(whole, 2)
    columns = read(whole)
    long = "x" * 80
    whole.append(said(long, parent="s1"))
    columns = read(whole, columns)
    assert columns.ids([columns.row_of(long), 0]) == [long, "s0"]


def test_recall_from_many_threads_beside_appends_sees_whole_states(whole: Memory) -> None:
    talk(whole, 4)
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            try:
                hits = whole.recall.search("needle", now=NOW, timezone=UTC, limit=100)
                if {hit.id for hit in hits if hit.text == "needle"} - {f"n{number}" for number in range(40)}:
                    wrong.append(hits)
            except GraphFailure:
                continue  # it was behind for a moment

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(40):
        whole.append(said(f"n{number}", parent=f"n{number - 1}" if number else "s3", text="needle"))
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    assert (
        len([hit for hit in whole.recall.search("needle", now=NOW, timezone=UTC, limit=100) if hit.text == "needle"])
        == 40
    )
