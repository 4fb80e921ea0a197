"""Logs of every earlier version open, complete; `fixtures/` has one file for each."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import astuple, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graph.events import Event
from graph.events.codec import decode, encode, genesis, hash_link
from graph.log.log import INSERT
from graph.log.migrations import _ANEW, _INDEXED, NEWEST, SCHEMA, migrate, version_of
from graph.memory import Memory
from graph.projection.sqlite_tables import rebuild
from graph.reader import LogReader
from graph.whole_words import teach
from tests.graph.conftest import Open, bad, ignore, purge, with_graph
from tests.graph.deeds import begin, pin, unpin
from tests.graph.fixtures.make import PACKED
from tests.graph.talk import NOON, said
from tests.tables import each

FIXTURES = Path(__file__).parents[1] / "fixtures"


VERSIONS = pytest.mark.parametrize("version", range(1, NEWEST + 1))


def test_there_is_a_fixture_for_every_version() -> None:
    assert sorted(path.name for path in FIXTURES.glob("*.sqlite")) == [f"log-v{n}.sqlite" for n in range(1, NEWEST + 1)]


def copied(folder: Path, version: int) -> Path:
    """A folder for a memory, with the log of an earlier version."""
    folder.mkdir(mode=0o700)
    shutil.copyfile(FIXTURES / f"log-v{version}.sqlite", folder / "log.sqlite")
    return folder


@VERSIONS
@pytest.mark.restarts
def test_a_log_of_an_earlier_version_opens_with_every_word(folder: Path, opening: Open, version: int) -> None:
    copied(folder, version)
    memory = with_graph(opening)
    spoken = [(turn.id, turn.text) for turn in memory.readings.thread("s")]
    assert spoken == [("q1", "What is a clew?"), ("a1", "A ball of thread."), ("a2", "I cannot say.")]
    assert memory.readings.session("s").name == "Thread"
    assert [turn.text for turn in memory.readings.thread("f")][-1] == "And in the maze?"
    assert memory.readings.search_words("maze") == ["f1"]
    assert memory.recovered == 1
    assert bad(memory) == []


def test_a_log_of_version_2_brings_times_context_packs_and_vectors(folder: Path, opening: Open) -> None:
    copied(folder, 2)
    memory = opening()
    assert memory.readings.turn("o1").at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert memory.readings.imported(["chat:1", "chat:1:2", "chat:2"]) == {"chat:1": "old", "chat:1:2": "o3"}
    assert memory.readings.turn("o3").recalled == memory.readings.turn("cut").recalled == (PACKED,)
    assert memory.readings.turn("q1").pinned
    assert memory.readings.embedders() == [("tiny@0", 8, 2)]
    # with the reply that was cut off; two texts are erased and a tool's
    assert memory.readings.embedded("tiny@0") == (2, 7)


def test_a_log_of_version_3_brings_what_was_learned(folder: Path, opening: Open) -> None:
    copied(folder, 3)
    memory = opening()
    assert [(block.name, block.text) for block in memory.readings.blocks()] == [("human", "You hold the thread.")]
    assert [(project.name, project.sessions) for project in memory.readings.projects()] == [("maze", 1)]
    assert memory.readings.chunks(["c1"])["c1"].headings == ("Mazes",)
    assert [unit.turns for unit in memory.readings.unreflected(9)] == [("o1",)]
    assert [turn.id for turn in memory.readings.pinned()] == ["q1"]
    found = memory.readings.memories(now=NOON)
    assert [(each.id, each.status, each.supports, each.pinned) for each in found] == [
        ("m2", "candidate", (), True),
        ("m1", "active", ("o1",), True),
    ]
    assert [each.id for each in memory.readings.pinned_observations()] == ["m1"]


def test_a_log_of_version_1_gets_the_hash_of_every_text_that_lives(folder: Path, opening: Open) -> None:
    with closing(old_log(folder, turns=1000)) as db:
        db.execute("UPDATE events SET text = NULL, salt = NULL WHERE seq = 7")
        db.execute("UPDATE events SET text = ' ' WHERE seq = 8")
    memory = opening()
    assert memory.readings.embedded("any") == (0, 500)  # every text is said twice, and one of each still is
    assert [text for _, text in memory.unembedded("any", 2)] == ["text 499", "text 498"]
    with closing(LogReader.open(folder)) as reader:
        assert [turn.text for turn in reader.thread("s", limit=2)] == ["text 498", "text 499"]


def test_a_log_of_version_1_or_2_is_read_without_being_migrated(tmp_path: Path) -> None:
    folder = copied(tmp_path / "2", 2)
    with closing(LogReader.open(folder)) as reader:
        sessions = [(session.id, session.name or "", session.project or "") for session in reader.sessions()]
        assert sorted(sessions) == [("f", "", ""), ("old", "", ""), ("s", "Thread", "maze")]
        assert [turn.id for turn in reader.pinned()] == ["q1"]
        assert (reader.blocks(), reader.documents()) == ([], [])
        assert [project.name for project in reader.projects()] == ["maze"]
    folder = copied(tmp_path / "1", 1)
    before = (folder / "log.sqlite").read_bytes()
    with closing(LogReader.open(folder)) as reader:
        assert [session.id for session in reader.sessions()] == ["f", "s"]
        assert [exchange.turn.id for exchange in reader.exchanges()] == ["f1", "q1"]
        assert [turn.id for turn in reader.thread("s")] == ["q1", "a1", "a2"]
        assert reader.counts() == {"events": 11, "turns": 4, "sessions": 2}
    assert (folder / "log.sqlite").read_bytes() == before


def test_a_log_of_version_6_gets_its_names_with_progress_and_keeps_its_tables(memory: Memory, folder: Path) -> None:
    memory.append(begin("s"), said("a", text="In we go."), said("b", parent="a", text="Ines is in."))
    memory.close()
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        teach(db)
        types = dict(db.execute("SELECT name, type FROM sqlite_schema"))
        for name in reversed(_ANEW):
            db.execute(f"DROP {types[name]} {name}")
        for name in (each for each in SCHEMA if each in _ANEW):
            db.execute(_INDEXED.sub(r"\1", SCHEMA[name]))
        db.execute("INSERT INTO words (words) VALUES ('rebuild')")
        db.execute("PRAGMA user_version = 6")
    told: list[tuple[int, int]] = []
    with closing(Memory.open(folder, command="test", progress=lambda *far: told.append(far))) as again:
        assert told == [(3, 3)], "of the indexes alone"
        assert again._log.words_agree()
        assert [found.turn.id for found in again.readings.search("Ines ")] == ["b"]


def old_log(folder: Path, *, turns: int) -> sqlite3.Connection:
    """A log of version 1 with a long session, every text of it said twice."""
    db = sqlite3.connect(copied(folder, 1) / "log.sqlite", isolation_level=None)
    db.execute("BEGIN")
    db.execute("DELETE FROM streams")
    db.execute("DELETE FROM events")
    db.execute("INSERT INTO words (words) VALUES ('rebuild')")
    before = genesis(db.execute("SELECT value FROM meta WHERE key = 'log'").fetchone()[0])
    texts = [f"text {number % (turns // 2)}" for number in range(turns)]
    turns_said = [
        said(f"t{number}", parent=f"t{number - 1}" if number else None, text=text) for number, text in enumerate(texts)
    ]
    events: list[Event] = [begin("s"), *turns_said]
    for seq, event in enumerate(events, 1):
        row = encode(event, seq=seq, id=f"e{seq}", at=seq, before=b"")
        row = replace(row, version=1, structure=row.structure.replace('"recalled":[],', ""))
        before = hash_link(before, row.seq, row.id, row.at, row.kind, 1, row.structure, row.text_hash)
        db.execute(INSERT, astuple(replace(row, hash=before)))
    db.execute("COMMIT")
    return db


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copyfile(FIXTURES / "log-v1.sqlite", tmp_path / "log.sqlite")
    db = sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None)
    before = db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()

    def full(db: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("graph.contents.fill", full)
    with pytest.raises(sqlite3.OperationalError):
        migrate(db)
    assert version_of(db) == 1
    assert db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall() == before
    db.close()


@VERSIONS
def test_a_log_brought_up_to_date_is_like_a_new_one(tmp_path: Path, version: int) -> None:
    shutil.copyfile(FIXTURES / f"log-v{version}.sqlite", tmp_path / "old.sqlite")
    found = []
    for name in ("old", "new"):
        with closing(sqlite3.connect(tmp_path / f"{name}.sqlite", isolation_level=None)) as db:
            migrate(db)
            rebuild(db, (), lambda seq: pytest.fail(f"event {seq} is asked for"), lambda _: None)
            schema = db.execute("SELECT type, name FROM sqlite_schema ORDER BY name").fetchall()
            tables = [name for type, name in schema if type == "table"]
            found.append((schema, {name: db.execute(f"PRAGMA table_xinfo({name})").fetchall() for name in tables}))
    assert found[0] == found[1]


@VERSIONS
def test_every_event_of_an_earlier_version_is_read_as_one_of_today(folder: Path, opening: Open, version: int) -> None:
    copied(folder, version)
    memory = opening()
    with memory.readings.snapshot() as db:
        written = db.execute("SELECT kind, text FROM events ORDER BY seq").fetchall()
    read = memory._reader.events(limit=1000)
    assert [(stored.event.kind, getattr(stored.event, "text", None)) for stored in read] == written
    assert {type(stored.event).version for stored in read} >= {1, 2}
    again = [encode(stored.event, seq=1, id="e", at=1, before=b"") for stored in read]
    assert [decode(row.kind, row.version, row.structure, row.text) for row in again] == [each.event for each in read]


UPCAST: list[tuple[str, int, str, Event]] = [
    ("pin.set", 1, '{"turn": "q1"}', pin("q1")),
    ("pin.set", 2, '{"turn": null, "observation": "m1"}', pin(observation="m1")),
    ("pin.cleared", 2, '{"turn": "q1", "observation": null}', unpin("q1")),
    ("session.started", 1, '{"session": "s", "client": "c"}', begin("s", client="c")),
    (
        *("turn.said", 1),
        '{"turn": "t", "session": "s", "parent": null, "role": "user", "speaker": "you", "client": "test"}',
        said("t", text="said"),
    ),
]


def test_old_versions_of_events_go_through_their_upcasters() -> None:
    def check(row: tuple[str, int, str, Event]) -> None:
        kind, version, structure, event = row
        assert decode(kind, version, structure, "said" if kind == "turn.said" else None) == event

    each(UPCAST, check)


@pytest.mark.restarts
def test_a_log_of_version_4_brings_worlds_marks_heads_and_what_is_still_to_purge(folder: Path, opening: Open) -> None:
    copied(folder, 4)
    memory = opening()
    assert memory.purge.waiting() == {4: "My secret is out."}
    assert set(memory.purge.words()) == {"secret", "My secret is out."}
    memory.open_graph(ignore)
    purge(memory)
    assert all(b"secret" not in path.read_bytes() for path in folder.iterdir())
    worlds = {(session.id, session.world) for session in memory.readings.sessions()}
    assert worlds >= {("f", "what-if"), ("shared", "main"), ("deeper", "deeper")}
    assert memory.readings.session("old").head == "o3"
    assert not memory.readings.turn("o1").hidden
    kinds = [stored.event.kind for stored in memory._reader.events(limit=1000)]
    assert [kinds.count(kind) for kind in ("mark.set", "mark.cleared", "mark.restored", "undone")] == [3, 1, 1, 1]
