"""The doctor finds each kind of damage, and nothing where there is none."""

import sqlite3
from pathlib import Path

import pytest

from graph.doctor import examine_log
from graph.events import TextErased
from graph.kuzu.store import GraphStore
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.conftest import ignore
from tests.graph.talk import reply, talk


def broken(memory: Memory) -> list[str]:
    return [check.name for check in memory.doctor() if not check.ok]


def test_a_sound_memory_is_green_all_over(whole: Memory, folder: Path) -> None:
    talk(whole, 5)
    whole.append(TextErased(events=(2,)))
    assert {check.name: check.ok for check in whole.doctor()} == dict.fromkeys(
        ("permissions", "log file", "chain", "texts", "events", "words", "tables", "contents", "vectors", "graph"), True
    )
    assert all(check.ok for check in whole.doctor(deep=False))


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ("UPDATE events SET at = at + 1 WHERE seq = 3", ["chain"]),
        ("UPDATE events SET text = 'never said' WHERE seq = 3", ["texts", "words", "graph"]),
        ("UPDATE events SET text = NULL, salt = NULL WHERE seq = 3", ["texts", "graph"]),
        ("UPDATE events SET salt = NULL WHERE seq = 3", ["texts"]),
        ("UPDATE events SET text_hash = NULL WHERE seq = 3", ["chain", "texts"]),
        ("UPDATE events SET text = CAST(x'ff' AS TEXT) WHERE seq = 3", ["texts", "events", "graph"]),
        ("UPDATE events SET structure = '[]' WHERE seq = 3", ["chain", "events", "graph"]),
        ("DELETE FROM events WHERE seq = 1", ["chain", "graph"]),
        ("UPDATE events SET structure = '{}' WHERE seq = 3", ["chain", "events"]),
        ("INSERT INTO words (words, rowid, text) VALUES ('delete', 3, 's1')", ["words"]),
    ],
)
def test_what_was_done_to_the_log_is_found(whole: Memory, folder: Path, change: str, names: list[str]) -> None:
    talk(whole, 5)
    with sqlite3.connect(folder / "log.sqlite") as db:
        db.execute(change)
    db.close()
    found = broken(whole)
    assert set(names) <= set(found)
    assert all(check.advice for check in whole.doctor() if not check.ok)


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (t:Turn {id: 's1'}) SET t.text = 'other'",
        "MATCH (t:Turn {id: 's1'}) SET t.live = false",
        "MATCH (t:Turn {id: 's4'}) DETACH DELETE t",
        "CREATE (:Entity {id: 'ghost'})",
        "MATCH (:Turn {id: 's1'})-[r:SAID_BY]->() DELETE r",
        "MATCH (:Turn {id: 's5'})-[r:RECALLED]->() SET r.rank = 2",
        "MATCH (:Turn {id: 's5'})-[r:RECALLED]->() DELETE r",
        "MATCH (a:Turn {id: 's5'}), (b:Turn {id: 's1'}) CREATE (a)-[:RECALLED]->(b)",
        "MATCH (a:Turn {id: 's1'}), (b:Turn {id: 's0'}) CREATE (a)-[:REPLIES_TO]->(b)",
        "MATCH (a:Turn {id: 's3'}), (b:Turn {id: 's0'}) CREATE (a)-[:REPLIES_TO]->(b)",
    ],
)
@pytest.mark.restarts
def test_a_graph_that_says_something_else_is_found_and_a_rebuild_heals_it(whole: Memory, change: str) -> None:
    talk(whole, 5)
    whole.append(reply("s5", parent="s4", recalled=[{"id": "s0", "score": 0.5, "ranks": {"lexical": 1}}]))
    whole._graph.inspect(lambda store, at: store.execute(change))
    assert broken(whole) == ["graph"]
    whole.rebuild(ignore)
    assert broken(whole) == []


@pytest.mark.restarts
def test_a_rebuild_heals_the_word_index_too(whole: Memory, folder: Path) -> None:
    talk(whole, 5)
    with sqlite3.connect(folder / "log.sqlite") as db:
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    db.close()
    assert broken(whole) == ["words", "words"]
    whole.rebuild(ignore)
    assert broken(whole) == []


def test_files_that_others_can_read_are_named(whole: Memory, folder: Path) -> None:
    (folder / "log.sqlite").chmod(0o644)
    (found,) = [check for check in whole.doctor() if not check.ok]
    assert "log.sqlite" in found.detail
    assert "chmod" in found.advice


def test_the_log_alone_can_be_examined_beside_its_holder(whole: Memory, folder: Path) -> None:
    talk(whole, 3)
    reader = LogReader.open(folder)
    assert all(check.ok for check in examine_log(reader, folder))
    reader.close()


def test_a_closed_graph_is_a_finding_with_advice(memory: Memory) -> None:
    talk(memory, 1)
    assert broken(memory) == ["graph"]


def test_the_engine_is_only_asked_by_its_own_thread(whole: Memory) -> None:
    import threading

    def which(store: GraphStore, applied: int) -> str:
        return threading.current_thread().name

    assert whole._graph.inspect(which) == "clew-graph"
