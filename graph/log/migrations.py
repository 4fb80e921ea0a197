"""The log's schema: made whole for a new log, and of an older one whatever it lacks.

Invariants: nothing is ever taken from an event, and the number of the version (`user_version`) is in the transaction of
what it stands for. Each version has a fixture file in tests/graph/fixtures that every later clew must open.

The log keeps what was said once. The word indexes read their texts from `events` through views and are kept by
triggers, in the transaction of the event. What is asked of the structure of events is in the tables beside them
(projection/sqlite_tables.py), which are derived and need no migration; up to version 4 it was in generated columns.
"""

import re
import sqlite3
from collections.abc import Callable

from graph import contents, whole_words
from graph.errors import LogNewer
from graph.ids import new_id, now_ms

APPLICATION_ID = 0x636C6577  # "clew"
NEWEST = 7
TOKENIZED = f"tokenize = '{whole_words.TOKENIZER}'"
INDEXES = {"words": "said", "learned": "taught"}  # each with what it is made of

SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    "events": """
    CREATE TABLE events (
        seq       INTEGER PRIMARY KEY,
        id        TEXT    NOT NULL,
        at        INTEGER NOT NULL,
        kind      TEXT    NOT NULL,
        version   INTEGER NOT NULL,
        structure TEXT    NOT NULL,
        text      TEXT,
        salt      BLOB,
        text_hash BLOB,
        hash      BLOB    NOT NULL
    ) STRICT
    """,
    "by_id": "CREATE INDEX by_id ON events (id)",
    "beside_turns": "CREATE INDEX beside_turns ON events (kind, seq) WHERE kind <> 'turn.said'",
    "wordless": "CREATE INDEX wordless ON events (seq) WHERE kind = 'turn.said' AND text IS NULL",
    "said": """
    CREATE VIEW said AS SELECT seq, indexed(text) AS text FROM events WHERE kind = 'turn.said' AND text IS NOT NULL
    """,
    "words": f"""
    CREATE VIRTUAL TABLE words USING fts5 (
        text, content = 'said', content_rowid = 'seq', {TOKENIZED}
    )
    """,
    "words_of_said": """
    CREATE TRIGGER words_of_said AFTER INSERT ON events WHEN new.kind = 'turn.said' AND new.text IS NOT NULL
    BEGIN INSERT INTO words (rowid, text) VALUES (new.seq, indexed(new.text)); END
    """,
    "words_of_erased": """
    CREATE TRIGGER words_of_erased AFTER UPDATE OF text ON events WHEN old.kind = 'turn.said' AND old.text IS NOT NULL
    BEGIN INSERT INTO words (words, rowid, text) VALUES ('delete', old.seq, indexed(old.text)); END
    """,
    "taught": """
    CREATE VIEW taught AS
    SELECT seq, indexed(text) AS text FROM events
    WHERE kind IN ('observation.made', 'chunk.read') AND text IS NOT NULL
    """,
    "learned": f"""
    CREATE VIRTUAL TABLE learned USING fts5 (
        text, content = 'taught', content_rowid = 'seq', {TOKENIZED}
    )
    """,
    "words_of_learned": """
    CREATE TRIGGER words_of_learned AFTER INSERT ON events
    WHEN new.kind IN ('observation.made', 'chunk.read') AND new.text IS NOT NULL
    BEGIN INSERT INTO learned (rowid, text) VALUES (new.seq, indexed(new.text)); END
    """,
    "words_of_unlearned": """
    CREATE TRIGGER words_of_unlearned AFTER UPDATE OF text ON events
    WHEN old.kind IN ('observation.made', 'chunk.read') AND old.text IS NOT NULL
    BEGIN INSERT INTO learned (learned, rowid, text) VALUES ('delete', old.seq, indexed(old.text)); END
    """,
    "streams": """
    CREATE TABLE streams (
        turn     TEXT PRIMARY KEY,
        session  TEXT NOT NULL,
        parent   TEXT,
        model    TEXT,
        text     TEXT NOT NULL,
        recalled TEXT NOT NULL DEFAULT '[]',
        voice    TEXT NOT NULL DEFAULT '{}'
    ) STRICT, WITHOUT ROWID
    """,
    "contents": "CREATE TABLE contents (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT",
    "by_content": "CREATE INDEX by_content ON contents (hash)",
    # Numbers are never used again: who has read up to one finds all that is newer past it.
    "embedders": """
    CREATE TABLE embedders (
        id        INTEGER PRIMARY KEY AUTOINCREMENT,
        name      TEXT    NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    ) STRICT
    """,
    "vectors": """
    CREATE TABLE vectors (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,
        embedder INTEGER NOT NULL,
        hash     BLOB    NOT NULL,
        vector   BLOB    NOT NULL,
        UNIQUE (embedder, hash)
    ) STRICT
    """,
    "purging": "CREATE TABLE purging (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
}
_OF_EVENTS = "SELECT type, name FROM sqlite_schema WHERE tbl_name = 'events' AND type IN ('index', 'trigger')"
FIRST_WITHOUT = 5  # the version from which on events have no triggers but those of SCHEMA
FIRST_WITH_NAMES = 7  # the version from which on the word indexes have names whole
_ANEW = (*INDEXES, *INDEXES.values(), "words_of_said", "words_of_erased", "words_of_learned", "words_of_unlearned")
_INDEXED = re.compile(r"indexed\(([\w.]+)\)(?: AS text)?")
AT_ONCE = 2_000  # events between two reports
_BEFORE_5 = ("named", "unreflected")  # tables that are among the derived ones since


def version_of(db: sqlite3.Connection) -> int:
    """The version of an open log, 0 for a file without one. Raises LogNewer if this clew does not know it."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > NEWEST:
        raise LogNewer(
            f"This memory was written by a newer clew (log version {version}, this one knows {NEWEST}). "
            "Nothing was changed. Update clew, or choose another home folder with --home."
        )
    return version


def foreign(db: sqlite3.Connection) -> list[str]:
    """Triggers, views and virtual tables that no log of clew has: each would run what somebody else wrote.

    Those that an older version had on events are none: nothing is written before `migrate` lets go of them.
    """
    version = version_of(db)
    older, ours = version < FIRST_WITHOUT, SCHEMA
    if version < FIRST_WITH_NAMES:
        ours = {name: _INDEXED.sub(r"\1", sql) for name, sql in SCHEMA.items()}
    return [
        f"{type} {name}"
        for type, name, table, sql in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        if (type in ("trigger", "view") or (sql or "").lower().startswith("create virtual"))
        and (sql or "").split() != ours.get(name, "").split()
        and not (older and type == "trigger" and table == "events" and name not in SCHEMA)
    ]


def migrate(db: sqlite3.Connection, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
    """Bring the log to the newest version in one transaction; `progress` hears how many events of how many are read.

    Raises LogNewer, or whatever SQLite raises.
    """
    contents.teach(db)
    whole_words.teach(db)
    version = version_of(db)
    if version == NEWEST:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if version:
            _let_go(db)
        _complete(db)
        if 0 < version < FIRST_WITH_NAMES:
            _index_anew(db, progress)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {NEWEST}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _let_go(db: sqlite3.Connection) -> None:
    """Drop what an older version kept of the structure of events: columns that are only in indexes, and these."""
    for table in _BEFORE_5 if version_of(db) < FIRST_WITHOUT else ():
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for type, name in db.execute(_OF_EVENTS).fetchall():
        if name not in SCHEMA:
            db.execute(f"DROP {type} {name}")
    for _, column, *_, hidden in db.execute("PRAGMA table_xinfo(events)").fetchall():
        if hidden:
            db.execute(f"ALTER TABLE events DROP COLUMN {column}")
    if version_of(db) < FIRST_WITH_NAMES:
        types = dict(db.execute("SELECT name, type FROM sqlite_schema").fetchall())
        for name in reversed(_ANEW):
            if name in types:
                db.execute(f"DROP {types[name]} {name}")


def _complete(db: sqlite3.Connection) -> None:
    """Make whatever is not there yet, and fill what is made of the texts that are."""
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    for name, statement in SCHEMA.items():
        if name not in known:
            db.execute(statement)
    if "meta" not in known:
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("log", new_id()), ("created_at", now_ms()), ("starts", 0)])
        return
    there = {column for _, column, *_ in db.execute("PRAGMA table_info(streams)")}
    for column, empty in (("recalled", "[]"), ("voice", "{}")):
        if column not in there:
            db.execute(f"ALTER TABLE streams ADD COLUMN {column} TEXT NOT NULL DEFAULT '{empty}'")
    if "contents" not in known:
        contents.fill(db)


def _index_anew(db: sqlite3.Connection, progress: Callable[[int, int], object]) -> None:
    total: int = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
    for after in range(0, total, AT_ONCE):
        for index, texts in INDEXES.items():
            some = f"SELECT seq, text FROM {texts} WHERE seq > ? AND seq <= ?"
            db.execute(f"INSERT INTO {index} (rowid, text) {some}", (after, after + AT_ONCE))
        progress(min(after + AT_ONCE, total), total)
