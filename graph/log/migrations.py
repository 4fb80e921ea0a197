"""The log's schema, as numbered steps from nothing to the newest version.

Invariants: a step is never changed once released, only adds, and runs once, in one transaction with its number
(`user_version`). Each version has a fixture file in tests/graph/fixtures that every later clew must open.

Nothing is stored twice: what queries need of the structure are generated columns, which live only in the indexes.
The word index reads its text from `events` through a view and is kept by triggers, in the transaction of the event.
"""

import sqlite3
from collections.abc import Callable

from graph import contents
from graph.errors import LogNewer
from graph.ids import new_id, now_ms
from graph.readings import unreflected

APPLICATION_ID = 0x636C6577  # "clew"


def first_schema(db: sqlite3.Connection) -> None:
    """Version 1: events, words, the side rows of streaming replies, and what the file knows of itself."""
    for statement in _FIRST_SCHEMA:
        db.execute(statement)
    db.executemany("INSERT INTO meta VALUES (?, ?)", [("log", new_id()), ("created_at", now_ms()), ("starts", 0)])


_FIRST_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    """
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
        hash      BLOB    NOT NULL,
        session   TEXT    GENERATED ALWAYS AS (structure ->> '$.session') VIRTUAL,
        turn      TEXT    GENERATED ALWAYS AS (structure ->> '$.turn') VIRTUAL,
        parent    TEXT    GENERATED ALWAYS AS (structure ->> '$.parent') VIRTUAL,
        queued    INTEGER GENERATED ALWAYS AS (structure ->> '$.queued') VIRTUAL
    ) STRICT
    """,
    "CREATE INDEX by_session ON events (session, kind, seq) WHERE session IS NOT NULL",
    "CREATE INDEX by_turn ON events (turn, kind, seq) WHERE turn IS NOT NULL",
    "CREATE INDEX by_parent ON events (parent, seq) WHERE parent IS NOT NULL",
    "CREATE INDEX by_queue ON events (session, seq) WHERE queued = 1",
    "CREATE INDEX beside_turns ON events (kind, seq) WHERE kind <> 'turn.said'",
    "CREATE VIEW said AS SELECT seq, text FROM events WHERE kind = 'turn.said' AND text IS NOT NULL",
    """
    CREATE VIRTUAL TABLE words USING fts5 (
        text, content = 'said', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
    )
    """,
    """
    CREATE TRIGGER words_of_said AFTER INSERT ON events WHEN new.kind = 'turn.said' AND new.text IS NOT NULL
    BEGIN INSERT INTO words (rowid, text) VALUES (new.seq, new.text); END
    """,
    """
    CREATE TRIGGER words_of_erased AFTER UPDATE OF text ON events WHEN old.kind = 'turn.said' AND old.text IS NOT NULL
    BEGIN INSERT INTO words (words, rowid, text) VALUES ('delete', old.seq, old.text); END
    """,
    """
    CREATE TABLE streams (
        turn    TEXT PRIMARY KEY,
        session TEXT NOT NULL,
        parent  TEXT,
        model   TEXT,
        text    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)


def recall_schema(db: sqlite3.Connection) -> None:
    """Version 2: when things were said, who is asked for by source, content hashes and their vectors, context packs."""
    for statement in _RECALL_SCHEMA:
        db.execute(statement)
    contents.fill(db)


# `told` is when something was said: the time it brought along, or else that of its event.
_READ_FIRST = """
structure ->> '$.source' AS source,
coalesce(structure ->> '$.said_at', at) AS told,
structure ->> '$.role' AS role,
structure ->> '$.speaker' AS speaker
"""
_READ_SECOND = "NULL AS item, NULL AS series"

# What stands in for the columns that are new, where a log of an earlier version is only read.
READ_OLD = {1: f"{_READ_FIRST}, {_READ_SECOND}", 2: _READ_SECOND}  # version 4 brought no column

_RECALL_SCHEMA = (
    "ALTER TABLE events ADD COLUMN source TEXT GENERATED ALWAYS AS (structure ->> '$.source') VIRTUAL",
    "ALTER TABLE events ADD COLUMN told INTEGER GENERATED ALWAYS AS (coalesce(structure ->> '$.said_at', at)) VIRTUAL",
    "ALTER TABLE events ADD COLUMN role TEXT GENERATED ALWAYS AS (structure ->> '$.role') VIRTUAL",
    "ALTER TABLE events ADD COLUMN speaker TEXT GENERATED ALWAYS AS (structure ->> '$.speaker') VIRTUAL",
    "CREATE INDEX by_source ON events (source) WHERE source IS NOT NULL",
    "CREATE INDEX by_time ON events (told, seq, role) WHERE kind = 'turn.said'",
    "CREATE INDEX by_session_time ON events (session, told, seq) WHERE kind = 'turn.said'",
    "CREATE INDEX by_speaker ON events (speaker, seq) WHERE kind = 'turn.said'",
    "CREATE INDEX of_tools ON events (seq) WHERE role = 'tool'",
    "CREATE TABLE contents (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT",
    "CREATE INDEX by_content ON contents (hash)",
    # Numbers are never used again: who has read up to one finds all that is newer past it.
    """
    CREATE TABLE embedders (
        id        INTEGER PRIMARY KEY AUTOINCREMENT,
        name      TEXT    NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE vectors (
        id       INTEGER PRIMARY KEY AUTOINCREMENT,
        embedder INTEGER NOT NULL,
        hash     BLOB    NOT NULL,
        vector   BLOB    NOT NULL,
        UNIQUE (embedder, hash)
    ) STRICT
    """,
    "ALTER TABLE streams ADD COLUMN recalled TEXT NOT NULL DEFAULT '[]'",
)


def learned_schema(db: sqlite3.Connection) -> None:
    """Version 3: what an event is of, which events name a turn, and the words of what was learned."""
    for statement in _LEARNED_SCHEMA:
        db.execute(statement)
    fill_named(db)
    unreflected.fill(db)


# Which events of what was learned name a turn or a chunk, in a list or alone; of the chunks, a document.
_NAMES = """
SELECT value, {of}kind, {of}seq FROM (
    SELECT value FROM json_each({of}structure, '$.sources')
    UNION SELECT value FROM json_each({of}structure, '$.turns')
    UNION SELECT {of}structure ->> '$.by_turn'
    UNION SELECT {of}structure ->> '$.source'
    UNION SELECT {of}structure ->> '$.instead_of'
    UNION SELECT CASE {of}kind WHEN 'chunk.read' THEN {of}structure ->> '$.document' END
) WHERE value IS NOT NULL
"""
_NAMING = """
('session.titled', 'observation.made', 'observation.supported', 'observation.reinforced', 'observation.retired',
 'entity.noted', 'core.written', 'chunk.read', 'reflection.done', 'approval.asked')
"""

_LEARNED_SCHEMA = (
    """
    ALTER TABLE events ADD COLUMN item TEXT GENERATED ALWAYS AS (CASE WHEN kind <> 'turn.said' THEN coalesce(
        structure ->> '$.observation', structure ->> '$.chunk', structure ->> '$.document', structure ->> '$.entity',
        structure ->> '$.approval'
    ) END) VIRTUAL
    """,
    """
    ALTER TABLE events ADD COLUMN series TEXT GENERATED ALWAYS AS (
        CASE WHEN kind <> 'turn.said' THEN structure ->> '$.series' END
    ) VIRTUAL
    """,
    "CREATE INDEX by_item ON events (item, kind, seq) WHERE item IS NOT NULL",
    "CREATE INDEX by_series ON events (series, kind, seq) WHERE series IS NOT NULL",
    "CREATE INDEX pivotal ON events (seq) WHERE kind = 'turn.rated' AND structure ->> '$.significance' = 3",
    "CREATE INDEX of_roots ON events (session, seq) WHERE queued = 0 AND parent IS NULL",
    """
    CREATE TABLE named (
        name TEXT    NOT NULL,
        kind TEXT    NOT NULL,
        seq  INTEGER NOT NULL,
        PRIMARY KEY (name, kind, seq)
    ) STRICT, WITHOUT ROWID
    """,
    f"""
    CREATE TRIGGER named_by AFTER INSERT ON events WHEN new.kind IN {_NAMING}
    BEGIN INSERT OR IGNORE INTO named {_NAMES.format(of="new.")}; END
    """,
    """
    CREATE VIEW taught AS
    SELECT seq, text FROM events WHERE kind IN ('observation.made', 'chunk.read') AND text IS NOT NULL
    """,
    """
    CREATE VIRTUAL TABLE learned USING fts5 (
        text, content = 'taught', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
    )
    """,
    """
    CREATE TRIGGER words_of_learned AFTER INSERT ON events
    WHEN new.kind IN ('observation.made', 'chunk.read') AND new.text IS NOT NULL
    BEGIN INSERT INTO learned (rowid, text) VALUES (new.seq, new.text); END
    """,
    """
    CREATE TRIGGER words_of_unlearned AFTER UPDATE OF text ON events
    WHEN old.kind IN ('observation.made', 'chunk.read') AND old.text IS NOT NULL
    BEGIN INSERT INTO learned (learned, rowid, text) VALUES ('delete', old.seq, old.text); END
    """,
    *unreflected.SCHEMA,
)


def fill_named(db: sqlite3.Connection) -> None:
    """Make anew which events name what."""
    db.execute("DELETE FROM named")
    listed = f"SELECT kind, seq, structure FROM events WHERE kind <> 'turn.said' AND kind IN {_NAMING}"
    for kind, seq, structure in db.execute(listed).fetchall():
        values = {"kind": kind, "seq": seq, "structure": structure}
        db.execute(f"INSERT OR IGNORE INTO named {_NAMES.format(of=':')}", values)


def purge_schema(db: sqlite3.Connection) -> None:
    """Version 4: the texts that are erased and not yet purged from every file, and which event has an id."""
    db.execute("CREATE TABLE purging (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
    db.execute("CREATE INDEX by_id ON events (id)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    first_schema,
    recall_schema,
    learned_schema,
    purge_schema,
)
NEWEST = len(MIGRATIONS)


def version_of(db: sqlite3.Connection) -> int:
    """The version of an open log, 0 for a file without one. Raises LogNewer if this clew does not know it."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > NEWEST:
        raise LogNewer(
            f"This memory was written by a newer clew (log version {version}, this one knows {NEWEST}). "
            "Nothing was changed. Update clew, or choose another home folder with --home."
        )
    return version


def migrate(db: sqlite3.Connection) -> None:
    """Bring the log to the newest version, one transaction a step. Raises LogNewer, or whatever SQLite raises."""
    contents.teach(db)
    for number in range(version_of(db), NEWEST):
        db.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[number](db)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {number + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
