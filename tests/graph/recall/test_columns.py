"""Columns that follow the graph are the columns that are read anew, and live is what a plain reading says it is."""

import threading
from datetime import UTC

import numpy as np
from hypothesis import given

from graph.errors import GraphFailure
from graph.events import Role
from graph.memory import Memory
from graph.recall.columns import TOOL, Columns
from graph.recall.table import NONE
from tests.examples import histories
from tests.graph.conftest import fresh
from tests.graph.deeds import hide
from tests.graph.histories import STEPS, history
from tests.graph.recall.conftest import NOW
from tests.graph.talk import reply, said, talk

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
    talked = history(steps)
    columns = Columns()
    with fresh() as memory:
        for start in range(0, len(talked.events), 5):
            memory.append(*talked.events[start : start + 5])
            columns = read(memory, columns)
        assert told(columns) == told(read(memory))
        ids = [id.decode() for id in columns["id"].tolist()]
        assert {id for id, live in zip(ids, columns["live"].tolist(), strict=True) if live} == talked.live()
        assert [columns.row_of(id) for id in ids] == list(range(columns.size))


def test_a_reply_stands_below_the_question_however_many_tools_are_between(memory: Memory) -> None:
    talk(memory, 1)
    tools = [said(f"t{n}", parent=f"t{n - 1}" if n else "s0", role=Role.TOOL, speaker="about") for n in range(3)]
    memory.append(*tools)
    columns = read(memory)
    memory.append(reply("answer", parent="t2"))
    columns = read(memory, columns)
    assert columns["parent"][columns.row_of("answer")] == columns.row_of("s0")
    assert columns["role"][columns.row_of("t1")] == TOOL
    long = "x" * 80
    memory.append(said(long, parent="answer"))
    columns = read(memory, columns)
    assert columns.ids([columns.row_of(long), 0]) == [long, "s0"], "ids longer than ours are kept whole"
    assert told(columns) == told(read(memory))


def test_of_several_replies_the_live_one_is_the_child(memory: Memory) -> None:
    talk(memory, 1)
    memory.append(reply("one", parent="s0"), reply("two", parent="s0"), hide("two"))
    tree = (columns := read(memory)).tree
    assert tree.child[columns.row_of("s0")] == columns.row_of("two")  # none is live: the newest
    memory.append(reply("three", parent="s0"), reply("four", parent="three"))
    tree = (columns := read(memory, columns)).tree
    assert tree.child[columns.row_of("s0")] == columns.row_of("three")
    assert tree.grandchild[columns.row_of("s0")] == columns.row_of("four")
    assert columns.row_of("nobody") == NONE


def test_recall_from_many_threads_beside_appends_sees_whole_states(memory: Memory) -> None:
    talk(memory, 4)
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            try:
                hits = memory.recall.search("needle", now=NOW, timezone=UTC, limit=100)
                if {hit.id for hit in hits if hit.text == "needle"} - {f"n{number}" for number in range(40)}:
                    wrong.append(hits)
            except GraphFailure:
                continue  # it was behind for a moment

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(40):
        memory.append(said(f"n{number}", parent=f"n{number - 1}" if number else "s3", text="needle"))
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    found = memory.recall.search("needle", now=NOW, timezone=UTC, limit=100)
    assert len([hit for hit in found if hit.text == "needle"]) == 40
