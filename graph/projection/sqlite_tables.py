"""The projection as plain tables beside the events, written in the append's own transaction.

Invariants:
- They hold no words: what is to be read of those is joined from `events` by the number of the event.
- What they say is what a fold of the log says, up to the event noted in `projected` with the hash of the chain there.
  Whoever opens a log to write finds out whether that is its last one and they are of this version, and else makes them
  anew: nobody migrates them.
- `named` tells which events of what was learned name a turn, a chunk or a document, as that which they are made of.
- `unreflected` has every reply that ended and every imported turn that no reflection names and nobody deleted.
- `imports` tells what was brought along, by the name it has where it came from, also what is deleted since.
- `subjects` tells of which events a thing is: a session, a turn, an observation, a document … but for `turn.said`, of
  which `turns` tells.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graph.events import (
    ApprovalAsked,
    ChunkRead,
    CoreWritten,
    EntityNoted,
    Event,
    ObservationMade,
    ObservationReinforced,
    ObservationRetired,
    ObservationSupported,
    ReferenceAdded,
    ReflectionDone,
    Role,
    SessionDeleted,
    SessionStarted,
    SessionTitled,
    StageSet,
    TurnDeleted,
    TurnSaid,
)
from graph.events.codec import SELECT_EVENT, Stored, event_of
from graph.ids import new_id
from graph.projection.projection import project
from graph.projection.schema import NODES, RELS, TABLES, NodeTable
from graph.projection.sink import NOTHING
from graph.projection.tables import BESIDE, Tables, uncollected

_TYPES = {"STRING": "TEXT", "INT64": "INTEGER", "BOOL": "INTEGER", "DOUBLE": "REAL"}
_TABLES = {table.name: table for table in NODES}
_LINKS = {rel.name for rel in RELS if rel.links}
_FIRST_END = {rel.name: rel.ends[0] for rel in RELS}
_KEYS = {rel.name: rel.key for rel in RELS if rel.key}
_BY_NUMBER = ("Turn", "Observation", "Chunk")  # whose rows are in the order of the log
_MORE = (
    """
    CREATE TABLE links (
        rel TEXT NOT NULL, start TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
        at INTEGER, amount REAL, seq INTEGER, PRIMARY KEY (start, rel, target, key)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE subjects (
        id TEXT NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (id, kind, seq)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE named (
        name TEXT NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, kind, seq)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE unreflected (
        seq INTEGER PRIMARY KEY, turn TEXT NOT NULL, session TEXT NOT NULL, imported INTEGER NOT NULL,
        told INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE INDEX unreflected_by_turn ON unreflected (turn)",
    "CREATE INDEX unreflected_by_session ON unreflected (session)",
    "CREATE INDEX unreflected_by_time ON unreflected (imported, told, seq)",
    "CREATE TABLE imports (source TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE projected (version INTEGER NOT NULL, seq INTEGER NOT NULL, link BLOB NOT NULL) STRICT",
)
_INDEXES = (
    "CREATE INDEX links_back ON links (target, rel)",
    "CREATE INDEX turns_by_session ON turns (session, at)",
    "CREATE INDEX turns_above ON turns (above) WHERE above IS NOT NULL",
    "CREATE INDEX turns_below ON turns (parent) WHERE parent IS NOT NULL",
    "CREATE INDEX turns_of_tools ON turns (role) WHERE role = 'tool'",
    "CREATE INDEX turns_by_time ON turns (at, seq, role)",
    "CREATE INDEX turns_by_speaker ON turns (speaker)",
    "CREATE INDEX turns_touched ON turns (touched)",
    "CREATE INDEX turns_deleted ON turns (session) WHERE deleted",
    "CREATE INDEX turns_queued ON turns (session) WHERE queued",
    "CREATE INDEX turns_rated ON turns (significance) WHERE significance IS NOT NULL",
    "CREATE INDEX observations_by_series ON observations (series)",
    "CREATE INDEX observations_superseded ON observations (supersedes) WHERE supersedes IS NOT NULL",
    "CREATE INDEX observations_replaced ON observations (instead_of) WHERE instead_of IS NOT NULL",
    "CREATE INDEX observations_by_subject ON observations (subject) WHERE subject IS NOT NULL",
    "CREATE INDEX observations_by_object ON observations (object) WHERE object IS NOT NULL",
    "CREATE INDEX chunks_by_document ON chunks (document)",
    "CREATE INDEX attachments_by_session ON attachments (session)",
    "CREATE INDEX stage_lines_by_owner ON stage_lines (world, owner, aspect)",
    "CREATE INDEX observations_touched ON observations (touched)",
    "CREATE INDEX chunks_touched ON chunks (touched)",
)
_NAMES = (*(table.beside for table in NODES), "links", "subjects", "named", "imports", "unreflected", "projected")
PAGE = 2_000  # events between two reports


def _create(db: sqlite3.Connection) -> None:
    """Make empty tables, in place of those that are there; their indexes come when they are full."""
    for name in _NAMES:
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for table in NODES:
        columns = [f'"{name}" {_TYPES[type]}' for name, type in table.stored]
        if table.name in _BY_NUMBER:
            columns = [f"{each} PRIMARY KEY" if each.startswith('"seq"') else each for each in columns]
            columns[0] += " NOT NULL UNIQUE"
            db.execute(f"CREATE TABLE {table.beside} ({', '.join(columns)}) STRICT")
        else:
            columns[0] += " NOT NULL PRIMARY KEY"
            db.execute(f"CREATE TABLE {table.beside} ({', '.join(columns)}) STRICT, WITHOUT ROWID")
    for statement in _MORE:
        db.execute(statement)


def are_current(db: sqlite3.Connection, seq: int, link: bytes) -> bool:
    """Whether the tables are of this version, and of the log up to event `seq`, which has the hash `link`."""
    known = {name for (name,) in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")}
    if not known.issuperset(_NAMES):
        return False
    return db.execute("SELECT * FROM main.projected").fetchall() == [(TABLES, seq, link)]


def are_whole(db: sqlite3.Connection) -> bool:
    """Whether the tables have the columns they should: some were changed by hand, or by a clew in the making."""
    columns = "SELECT name FROM pragma_table_info(?)"
    return all(tuple(name for (name,) in db.execute(columns, (each.beside,))) == BESIDE[each.name] for each in NODES)


def last_of(db: sqlite3.Connection) -> int:
    """The number of the last event that the tables have."""
    seq: int = db.execute("SELECT seq FROM projected").fetchone()[0]
    return seq


def note(db: sqlite3.Connection, seq: int, link: bytes) -> None:
    """The tables have everything up to an event."""
    db.execute("DELETE FROM projected")
    db.execute("INSERT INTO projected VALUES (?, ?, ?)", (TABLES, seq, link))


def rebuild(
    db: sqlite3.Connection, events: Iterable[Stored], event: Callable[[int], Event], said: Callable[[int], object]
) -> None:
    """Make the tables anew from events, in the transaction that is open; `said` hears how many it has read.

    `event` reads one of them by its number.
    """
    with uncollected():
        _rebuild(db, events, event, said)


def _rebuild(
    db: sqlite3.Connection, events: Iterable[Stored], event: Callable[[int], Event], said: Callable[[int], object]
) -> None:
    tables, entries = Tables(event, BESIDE), Entries(db)
    _create(db)
    for stored in events:
        if stored.seq % PAGE == 1:
            entries.write()
            said(stored.seq)
        project(stored, tables)
        entries.add(stored)
    entries.write()
    for table in NODES:
        rows = tables.nodes.pop(table.name).values()
        db.executemany(f"INSERT INTO {table.beside} VALUES ({_marks(len(table.stored))})", rows)
    for rel in RELS:
        for end in rel.ends if rel.links else ():
            for (start, target, *key), values in tables.rels[rel.name, end].items():
                named = dict(zip(rel.names, values, strict=True))
                _link(db, rel.name, start, target, end, named, "".join(key))
    for statement in _INDEXES:
        db.execute(statement)


class TablesInMemory:
    """The tables of some events, for connections of this process to look at in place of those in the file.

    For a log that has none, or none of this version, and is only read; and for one as it was.
    """

    def __init__(self, events: Iterable[Stored], event: Callable[[int], Event], seq: int) -> None:
        """Make them of the events up to number `seq`. Raises MemoryFailure where one cannot be read."""
        self.seq = seq
        self._address = f"file:/clew-{new_id()}?vfs=memdb"
        self._db = sqlite3.connect(self._address, uri=True, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("BEGIN")
            rebuild(self._db, events, event, lambda _: None)
            note(self._db, seq, b"")
            self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise

    def attach(self, db: sqlite3.Connection) -> None:
        """Let a fresh connection, outside any transaction, find these tables by their names."""
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("ATTACH ? AS beside", (self._address,))
        for name in _NAMES:
            db.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM beside.{name}")

    def differing(self, db: sqlite3.Connection) -> list[str]:
        """What is otherwise in the tables of a log's file, a line for each of them that differs."""
        found = []
        for name in _NAMES:
            if name != "projected":
                mine, there = (set(each.execute(f"SELECT * FROM main.{name}")) for each in (self._db, db))
                if mine != there:
                    found.append(f"{name}: {len(mine - there)} missing, {len(there - mine)} too many")
        return found

    def close(self) -> None:
        """Let go of them, once the last connection that they are attached to is closed too."""
        self._db.close()


_SUBJECTS = (
    "session",
    "turn",
    "observation",
    "series",
    "chunk",
    "document",
    "entity",
    "other",
    "alias",
    "approval",
    "mark",
    "member",
    "reference",
    "author",
)


class Entries:
    """Where to find events by what they are of: the rows of the tables that have no node, written some at a time."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._subjects: list[tuple[str, str, int]] = []
        self._named: list[tuple[str, str, int]] = []
        self._unreflected: list[tuple[int, str, str, bool, int]] = []

    def add(self, stored: Stored) -> None:
        """Take in one event, after those before it."""
        event, seq = stored.event, stored.seq
        if isinstance(event, SessionStarted | TurnSaid) and event.source is not None:
            brought = event.turn if isinstance(event, TurnSaid) else event.session
            self._db.execute("INSERT OR IGNORE INTO imports VALUES (?, ?)", (event.source, brought))
        if isinstance(event, TurnSaid):
            self._say(stored, event)
            return
        self._subjects += [
            (id, event.kind, seq) for field in _SUBJECTS if (id := getattr(event, field, None)) is not None
        ]
        self._named += [(name, event.kind, seq) for name in _named_by(event)]
        match event:
            case ReflectionDone(instead_of=None):
                self._drop("turn", *event.turns)
            case TurnDeleted():
                self._drop("turn", event.turn)
            case SessionDeleted():
                self._drop("session", event.session)

    def write(self) -> None:
        """Write what was gathered."""
        self._db.executemany("INSERT OR IGNORE INTO subjects VALUES (?, ?, ?)", self._subjects)
        self._db.executemany("INSERT OR IGNORE INTO named VALUES (?, ?, ?)", self._named)
        self._db.executemany("INSERT INTO unreflected VALUES (?, ?, ?, ?, ?)", self._unreflected)
        self._subjects.clear()
        self._named.clear()
        self._unreflected.clear()

    def _say(self, stored: Stored, event: TurnSaid) -> None:
        imported = event.source is not None
        if (event.role is not Role.TOOL and imported) or (
            event.role is Role.ASSISTANT and event.stop_reason is not None
        ):
            told = event.said_at if event.said_at is not None else stored.at
            self._unreflected.append((stored.seq, event.turn, event.session, imported, told))

    def _drop(self, column: str, *ids: str) -> None:
        self.write()
        self._db.executemany(f"DELETE FROM unreflected WHERE {column} = ?", [(id,) for id in ids])


def _named_by(event: Event) -> Iterator[str]:
    """The turns and chunks, and of a chunk the document, that an event of what was learned names."""
    match event:
        case SessionTitled() | CoreWritten() | StageSet():
            yield from event.sources
        case ObservationMade():
            yield from event.sources
            if event.instead_of is not None:
                yield event.instead_of
        case ObservationSupported():
            yield event.source
        case ObservationReinforced() | EntityNoted() | ApprovalAsked():
            yield event.by_turn
        case ObservationRetired(by_turn=str() as turn):
            yield turn
        case ChunkRead():
            yield event.document
        case ReferenceAdded(turn=str() as turn):
            yield turn
        case ReflectionDone():
            yield from event.turns
            if event.instead_of is not None:
                yield event.instead_of


def event_at(db: sqlite3.Connection, seq: int) -> Event:
    """One event by its number, as it is in a transaction."""
    return event_of(db.execute(f"{SELECT_EVENT} WHERE seq = ?", (seq,)).fetchone()).event


class SqliteSink:
    """A sink over the tables beside the log, in the transaction of whoever appends: `apply` writes what an event does.

    What it read stays known, so it lives no longer than that transaction.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._entries = Entries(db)
        self._nodes: dict[tuple[str, str], dict[str, Any] | None] = {}
        self._new: dict[tuple[str, str], None] = {}
        self._set: dict[tuple[str, str], dict[str, None]] = {}

    def apply(self, stored: Stored) -> None:
        """Write what an event does, after all that came before it."""
        project(stored, self)
        self._flush()
        self._entries.add(stored)
        self._entries.write()

    def event(self, seq: int) -> Event:
        return event_at(self._db, seq)

    def node(self, table: str, id: str) -> dict[str, Any] | None:
        key = table, id
        if key not in self._nodes:
            there = _TABLES[table]
            columns = ("id", *(name for name in there.read))
            row = self._db.execute(_select(there), (id,)).fetchone()
            self._nodes[key] = dict(zip(columns, row, strict=True)) if row is not None else None
        return self._nodes[key]

    def foresee(self, rel: str, start: str, steps: int) -> None:
        pass  # a row is read as fast singly

    def put_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        self._nodes[table, id] = {**dict.fromkeys(BESIDE[table]), "id": id, **properties}
        self._new[table, id] = None

    def set_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        node = self.node(table, id)
        if node is None:
            raise LookupError(f"there is no {table} {id}")
        node.update(properties)
        if (table, id) not in self._new:
            self._set.setdefault((table, id), {}).update(dict.fromkeys(properties))

    def put_rel(
        self,
        rel: str,
        start: str,
        end: str,
        properties: Mapping[str, Any] = NOTHING,
        *,
        to: str | None = None,
        key: str = "",
    ) -> None:
        if rel in _LINKS:
            _link(self._db, rel, start, end, to or _FIRST_END[rel], properties, key)

    def drop_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> None:
        if rel in _LINKS:
            dropped = "DELETE FROM links WHERE start = ? AND rel = ? AND target = ? AND key = ?"
            self._db.execute(dropped, (start, rel, end, key))

    def has_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> bool:
        query = "SELECT 1 FROM links WHERE start = ? AND rel = ? AND target = ? AND key = ?"
        return self._db.execute(query, (start, rel, end, key)).fetchone() is not None

    def starts(self, rels: tuple[str, ...], end: str, *, to: str) -> Sequence[tuple[str, str]]:
        self._flush()
        if rels[0] in _COLUMNS:
            return [(rels[0], start) for (start,) in self._db.execute(_COLUMNS[rels[0]], (end,))]
        query = f"SELECT rel, start FROM links WHERE target = ? AND rel IN ({_marks(len(rels))}) ORDER BY rel, start"
        return self._db.execute(query, (end, *rels)).fetchall()

    def edges(self, rel: str, end: str, *, to: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        rows = self._db.execute("SELECT start, key, seq FROM links WHERE target = ? AND rel = ?", (end, rel))
        return [(start, {_KEYS[rel]: key, "seq": seq}) for start, key, seq in rows.fetchall()]

    def ends(self, rel: str, start: str, *, to: str) -> Sequence[str]:
        query = "SELECT target FROM links WHERE start = ? AND rel = ? AND kind = ? ORDER BY target"
        return [target for (target,) in self._db.execute(query, (start, rel, to))]

    def _flush(self) -> None:
        """Write what was gathered; a row is written once, however often the event changed it."""
        for table, id in self._new:
            node, columns = self._nodes[table, id] or {}, BESIDE[table]
            insert = f"INSERT INTO {_TABLES[table].beside} VALUES ({_marks(len(columns))})"
            self._db.execute(insert, [node[name] for name in columns])
        for (table, id), changed in self._set.items():
            node, columns = self._nodes[table, id] or {}, tuple(name for name in changed if name in BESIDE[table])
            if columns:
                values = ", ".join(f'"{name}" = ?' for name in columns)
                update = f"UPDATE {_TABLES[table].beside} SET {values} WHERE id = ?"
                self._db.execute(update, [*(node[name] for name in columns), id])
        self._new.clear()
        self._set.clear()


# Of the relationships that a column says, those that are looked at backwards. Where heads of a turn that goes stand
# afterwards, their own rows tell.
_COLUMNS = {
    "REPLIES_TO": "SELECT id FROM turns WHERE above = ? AND NOT deleted ORDER BY id",
    "HEAD": "SELECT id FROM sessions WHERE id = ? AND false",
    "SAID_BY": "SELECT id FROM turns WHERE id = ? AND false",  # by whom it was told, and who that is, has no row
    "SUPERSEDES": "SELECT id FROM observations WHERE supersedes = ? ORDER BY id",
    "INSTEAD_OF": "SELECT id FROM observations WHERE instead_of = ? ORDER BY id",
    "PART_OF": "SELECT id FROM chunks WHERE document = ? AND live ORDER BY id",
}


def _select(table: NodeTable) -> str:
    listed = ", ".join(f'"{name}"' for name in ("id", *table.read))
    return f"SELECT {listed} FROM {table.beside} WHERE id = ?"


def _link(
    db: sqlite3.Connection, rel: str, start: str, target: str, kind: str, properties: Mapping[str, Any], key: str
) -> None:
    values = (rel, start, target, key, kind, *map(properties.get, ("at", "amount", "seq")))
    db.execute("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def _marks(count: int) -> str:
    return ", ".join("?" * count)
