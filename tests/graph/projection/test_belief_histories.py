"""Whatever is learned and unlearned, the live graph, a rebuilt one and the plainest reading of the events agree."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graph.doctor import compare
from graph.events import RelationNoted
from graph.kuzu.rebuild import events_of
from graph.memory import Memory
from graph.projection.schema import NODES
from graph.projection.tables import Tables
from tests.examples import histories
from tests.graph.conftest import ignore
from tests.graph.lessons import LESSONS, taught
from tests.graph.projection.test_rebuild_equals_live import folded

COLUMNS = {table.name: table.names for table in NODES}


@contextmanager
def memory_of(folder: str) -> Iterator[Memory]:
    memory = Memory.open(Path(folder) / "memory", command="test")
    try:
        yield memory
    finally:
        memory.close()


@histories(12)
@given(LESSONS)
def test_what_was_learned_is_the_same_kept_and_rebuilt(steps: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.open_graph(ignore)
        for event in lessons.events:
            assert not memory.append(event)[0].graph_behind
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []
        memory.rebuild(ignore)
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []


@histories(10)
@given(LESSONS, st.integers(2, 40))
def test_many_events_in_one_transaction_do_what_they_do_one_by_one(
    steps: list[tuple[int, int, int]], at_once: int
) -> None:
    lessons = taught(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.open_graph(ignore)
        for start in range(0, len(lessons.events), at_once):
            memory.append(*lessons.events[start : start + at_once])
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []


@histories(120)
@given(LESSONS)
def test_belief_is_what_the_words_say(steps: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        seqs = [each.seq for each in memory.append(*lessons.events)]
        tables = folded(memory)
        assert of(tables, "Observation", "live", "status", "current") == lessons.holding()
        assert of(tables, "Turn", "withheld", "significance") == {
            turn: (turn in lessons.withheld, lessons.rated.get(turn)) for turn in lessons.home
        }
        in_force = {
            id for id, (_, status, current) in lessons.holding().items() if status == "active" and current
        } - erased_relations(memory)
        who = lessons.who.view({"main": None})
        related = {id: [who.meant(end, id) for end in ends] for id, ends in lessons.related.items() if id in in_force}
        assert set(tables.rels["RELATES", "Entity"]) == {
            (*ends, id) for id, ends in related.items() if ends[0] != ends[1]
        }
        standing = lessons.standing("main")
        assert {id for id, (live,) in of(tables, "Chunk", "live").items() if live} == standing & set(lessons.chunks)
        assert {id: project for id, (project,) in of(tables, "Session", "project").items()} == {
            session: lessons.projects.get(session) for session in lessons.world
        }
        shown = {
            table: {id: at and seqs[at] for id, at in lessons.shown(table).items()}
            for table in ("Session", "CoreBlock")
        }
        titles = {id: words for id, words in of(tables, "Session", "title_seq", "title").items() if words[0]}
        assert titles == {id: (seq, said(memory, seq)) for id, seq in shown["Session"].items() if seq}
        blocks = of(tables, "CoreBlock", "seq", "text")
        assert blocks == {id: (seq, said(memory, seq) or None) for id, seq in shown["CoreBlock"].items()}


@histories(50)
@given(LESSONS)
def test_what_hangs_on_a_source_is_counted_by_it(steps: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.append(*lessons.events)
        tables = folded(memory)
        for table in ("Turn", "Chunk"):
            leading = [ends for (rel, to), ends in tables.rels.items() if to == table and rel in HANGING]
            ends = [end for each in leading for _, end, *_ in each]
            assert {id: count for id, (count,) in of(tables, table, "evidence").items()} == {
                id: ends.count(id) for id in tables.nodes[table]
            }


HANGING = {"DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY", "WORDED_FROM"}


def erased_relations(memory: Memory) -> set[str]:
    """The observations whose relationship lost its words, by itself or with the observation's."""
    noted = [each.event for each in events_of(memory._reader, memory.head())]
    return {event.observation for event in noted if isinstance(event, RelationNoted) and event.text is None}


def of(tables: Tables, table: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    places = [COLUMNS[table].index(column) for column in columns]
    return {id: tuple(row[place] for place in places) for id, row in tables.nodes[table].items()}


def said(memory: Memory, seq: int | None) -> str | None:
    return None if seq is None else getattr(memory._reader.event(seq), "text", None)
