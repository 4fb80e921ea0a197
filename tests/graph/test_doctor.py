"""The doctor finds each kind of damage, and nothing where there is none."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from graph.doctor import examine_log
from graph.events import TextErased
from graph.memory import Memory
from graph.reader import LogReader
from graph.whole_words import teach
from tests.graph.conftest import bad, ignore
from tests.graph.talk import reply, talk
from tests.tables import each


def test_a_sound_memory_is_green_all_over_once_its_graph_is_open(memory: Memory, folder: Path) -> None:
    talk(memory, 5)
    memory.append(TextErased(events=(2,)))
    assert [check.name for check in memory.doctor() if not check.ok] == ["graph"]
    memory.open_graph(ignore)
    named = ("permissions", "log file", "chain", "texts", "events", "words", "tables", "contents", "vectors", "graph")
    assert {check.name: check.ok for check in memory.doctor()} == dict.fromkeys(named, True)
    assert all(check.ok for check in memory.doctor(deep=False))
    with closing(LogReader.open(folder)) as reader:
        assert all(check.ok for check in examine_log(reader, folder)), "also the log alone, beside its holder"
    assert memory._graph.inspect(lambda store, at: threading.current_thread().name) == "clew-graph"
    (folder / "log.sqlite").chmod(0o644)
    (found,) = [check for check in memory.doctor() if not check.ok]
    assert "log.sqlite" in found.detail, "files that others can read are named"
    assert "chmod" in found.advice


CHANGES = (
    ("UPDATE events SET at = at + 1 WHERE seq = 3", ["chain"]),
    ("UPDATE events SET text = 'never said' WHERE seq = 3", ["texts", "words", "graph"]),
    ("UPDATE events SET text = NULL, salt = NULL WHERE seq = 3", ["texts", "graph"]),
    ("UPDATE events SET salt = NULL WHERE seq = 3", ["texts"]),
    ("UPDATE events SET text_hash = NULL WHERE seq = 3", ["chain", "texts"]),
    ("UPDATE events SET text = CAST(x'ff' AS TEXT) WHERE seq = 3", ["texts", "events", "graph"]),
    ("UPDATE events SET structure = '[]' WHERE seq = 3", ["chain", "events", "graph"]),
    ("DELETE FROM events WHERE seq = 1", ["chain", "graph"]),
    ("UPDATE events SET structure = '{}' WHERE seq = 3", ["chain", "events"]),
    ("INSERT INTO words (words, rowid, text) VALUES ('delete', 3, indexed('s1'))", ["words"]),
)


@pytest.mark.restarts
def test_what_was_done_to_the_log_is_found_with_advice(whole: Memory, folder: Path) -> None:
    def is_found(row: tuple[str, list[str]]) -> None:
        change, names = row
        db.execute(change)
        found = [check for check in whole.doctor() if not check.ok]
        sound.backup(db)
        assert set(names) <= {check.name for check in found}
        assert all(check.advice for check in found)

    talk(whole, 5)
    with (
        closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db,
        closing(sqlite3.connect(":memory:")) as sound,
    ):
        teach(db)
        db.backup(sound)
        each(CHANGES, is_found)
        assert bad(whole) == []
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    assert bad(whole) == ["words", "words"]
    whole.rebuild(ignore)
    assert bad(whole) == []


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
    assert bad(whole) == ["graph"]
    whole.rebuild(ignore)
    assert bad(whole) == []
