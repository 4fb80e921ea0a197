"""The event log: appends, the side rows of streaming replies, and erasing. One writer; not thread-safe by itself.

Invariants:
- One transaction per append: the events, their words, the end of a side row and what they erase, all or nothing.
- Sequence numbers run from 1 without a gap, and each event carries the hash of the one before it.
- The events of one append share their time, and no two appends have the same: a time says which events came before it,
  and one change by a person can be told from the next, also where the clock stands still or is put back.
- Erasing is itself an event: every text that is gone is named by a `text.erased`, and nothing else ever changes.
- What is made of a text that is gone meanwhile is stored without its words.
- What an event does is written to the tables beside the log in the same transaction (projection/sqlite_tables.py).
- With a text go its content hash and, if nobody else says it, its vectors, in the same transaction. It is read by
  nothing from then on; what files still hold of it is purged afterwards (graph/log/erasing.py).
"""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter

from graph import contents
from graph.contents import unsound
from graph.errors import LogDamaged
from graph.events import RECALLED, Event, Recalled, TextErased
from graph.events.codec import SELECT_EVENT, Stored, decode, encode, event_of, genesis, hash_link
from graph.ids import new_id, now_ms
from graph.letters import paired
from graph.log.admission import admit
from graph.log.erasing import Purging, bereft, erased_by
from graph.log.migrations import migrate
from graph.log.playing import require_heard, require_path
from graph.log.validation import refuse_emptied, refuse_stranger
from graph.projection import sqlite_tables
from graph.projection.sqlite_tables import PAGE, SqliteSink, event_at
from graph.sqlite import LOG, let_go, open_writer, reading, writing
from graph.values import ASSISTANT, Speaker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FILE = LOG
TAIL = 64  # events whose chain is checked at every opening; the doctor checks all
FORGOTTEN_AT_ONCE = 2_000  # vectors deleted in one transaction

_WORDS = ("words", "learned")  # the indexes of what was said, and of what was learned

INSERT = """
INSERT INTO events (seq, id, at, kind, version, structure, text, salt, text_hash, hash) VALUES (?,?,?,?,?,?,?,?,?,?)
"""


Told = Callable[[int, int], object]  # how many of how many events were read
Watching = TypeVar("Watching", bound=SqliteSink)


def untold(done: int, total: int) -> None:
    """Nobody is told."""


class _Rehearsed(Exception):
    """Rolls a rehearsal back."""


_SPEAKER = TypeAdapter(Speaker)


@dataclass(frozen=True, slots=True)
class Stream:
    """The side row of a reply that is still streaming, or that a crash cut off."""

    turn: str
    session: str
    parent: str | None
    model: str | None
    text: str
    recalled: tuple[Recalled, ...] = ()
    voice: Speaker = ASSISTANT


class Log(Purging):
    """The writing side of `log.sqlite`. `Log.open` creates, migrates and checks it."""

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        clock: Callable[[], int],
        progress: Told = untold,
    ) -> None:
        """Over a log of the newest version; its tables are made anew if they are not of it."""
        self._db = db
        self._path = path
        self._clock = clock
        self._seq, self._hash = _head(db)
        self._at: int = db.execute("SELECT coalesce(max(at), 0) FROM events WHERE seq = ?", (self._seq,)).fetchone()[0]
        if not (sqlite_tables.are_whole(db) and sqlite_tables.are_current(db, self._seq, self._hash)):
            self.rebuild_tables(progress)

    @classmethod
    def open(cls, folder: Path, *, clock: Callable[[], int] = now_ms, progress: Told = untold) -> "Log":
        """Open the log of `folder`, and make its tables anew if they are not of it: `progress` hears how far that is.

        Raises LogUnwritable, LogNewer, or LogDamaged if the last events do not chain.
        """
        path = folder / FILE
        refuse_stranger(folder)
        db = open_writer(path)
        try:
            with writing(path):
                refuse_emptied(db, folder)
                migrate(db, progress)
                check_chain(db, last=TAIL)
                db.execute("UPDATE meta SET value = value + 1 WHERE key = 'starts'")
            return cls(db, path, clock, progress)
        except BaseException:
            db.close()
            raise

    @property
    def head(self) -> int:
        """The sequence number of the last event, 0 before the first."""
        return self._seq

    @property
    def starts(self) -> int:
        """How often this log was opened for writing."""
        with writing(self._path):
            count: int = self._db.execute("SELECT value FROM meta WHERE key = 'starts'").fetchone()[0]
            return count

    def append(self, events: Sequence[Event], *, ends_stream: str | None = None) -> list[Stored]:
        """Store `events` durably, in order, each followed by the erasure it causes. Returns `events` as stored.

        Raises InvalidEvent or LogUnwritable, and then nothing of the call is stored.
        """
        with self._transaction() as db:
            head, at, written = self._write_all(db, SqliteSink(db), events)
            if ends_stream is not None:
                db.execute("DELETE FROM streams WHERE turn = ?", (ends_stream,))
        self._seq, self._hash, self._at = *head, at
        return [stored for stored, caused in written if not caused]

    @contextmanager
    def merging(self) -> Iterator[tuple[sqlite3.Connection, Callable[[Event, str | None, bool], Stored]]]:
        """One transaction for events from elsewhere, which are stored one by one with the function given.

        It takes an event, its id (None: a new one) and whether it comes as a tombstone, without its text; it raises
        InvalidEvent where that cannot follow, and the others can be stored all the same. Raises LogUnwritable, and then
        nothing of the transaction is stored.
        """
        head, at = (self._seq, self._hash), max(self._clock(), self._at + 1)
        with self._transaction() as db:
            sink = SqliteSink(db)

            def store(event: Event, id: str | None = None, erased: bool = False) -> Stored:
                nonlocal head
                head, stored = self._write(db, sink, event, head, at, id=id, erased=erased)
                if (erasure := erased_by(db, event)) is not None:
                    head, _ = self._write(db, sink, erasure, head, at)
                return stored

            yield db, store
            sqlite_tables.note(db, *head)
        if head[0] > self._seq:
            self._seq, self._hash, self._at = *head, at

    def rehearse(
        self, events: Sequence[Event], watching: Callable[[sqlite3.Connection], Watching]
    ) -> tuple[list[Stored], Watching]:
        """What an append of `events` would store, the erasures that it causes among it; nothing of it is kept.

        And the sink that was made by `watching`, through which it all went. Raises InvalidEvent or LogUnwritable, as
        the append would.
        """
        stored: list[Stored] = []
        with contextlib.suppress(_Rehearsed), self._transaction() as db:
            sink = watching(db)
            stored = [each for each, _ in self._write_all(db, sink, events)[2]]
            raise _Rehearsed
        return stored, sink

    def stream(self, stream: Stream) -> None:
        """Keep what a streaming reply has so far, in place of what was kept of it before.

        Raises LogUnwritable, or InvalidEvent where it could never be a turn: whoever opens the log makes it one.
        """
        with self._transaction() as db:
            require_heard(db, stream.session, stream.voice.speaker, None, stream.voice.witnesses)
            require_path(db, stream.session, stream.parent)
            db.execute(
                "INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    stream.turn,
                    stream.session,
                    stream.parent,
                    stream.model,
                    paired(stream.text),
                    RECALLED.dump_json(stream.recalled, exclude_defaults=True).decode(),
                    _SPEAKER.dump_json(stream.voice, exclude_defaults=True).decode(),
                ),
            )

    def streams(self) -> list[Stream]:
        """The side rows there are: at an opening, the replies that the last run could not end."""
        with writing(self._path):
            rows = self._db.execute("SELECT turn, session, parent, model, text, recalled, voice FROM streams")
            return [
                Stream(
                    turn, session, parent, model, text, RECALLED.validate_json(recalled), _SPEAKER.validate_json(voice)
                )
                for turn, session, parent, model, text, recalled, voice in rows
            ]

    def drop_stream(self, turn: str) -> None:
        """Forget a side row that became no turn."""
        with self._transaction() as db:
            db.execute("DELETE FROM streams WHERE turn = ?", (turn,))

    def keep_vectors(self, model: str, vectors: "Sequence[tuple[bytes, NDArray[np.floating]]]") -> None:
        """Keep vectors of contents by hash, in one transaction. Raises InvalidVector or LogUnwritable: none is kept."""
        with self._transaction() as db:
            contents.keep(db, model, vectors)

    def forget_embedder(self, model: str) -> bool:
        """Delete some of a model's vectors, the model with the last ones; False when all are gone."""
        with self._transaction() as db:
            return contents.forget_some(db, model, FORGOTTEN_AT_ONCE) == FORGOTTEN_AT_ONCE

    def words_agree(self) -> bool:
        """Whether the word indexes match the texts, word by word."""
        try:
            with reading(self._path):
                for index in _WORDS:
                    self._db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except LogDamaged:
            return False
        return True

    def rebuild_tables(self, progress: Told = untold) -> None:
        """Make the tables beside the events anew. Raises LogUnwritable, or LogDamaged; then they are as they were."""
        with self._transaction() as db:
            events, head = _all_events(db), self._seq
            reads = partial(event_at, db)
            sqlite_tables.rebuild(db, events, reads, lambda seq: progress(seq, head))
            sqlite_tables.note(db, self._seq, self._hash)

    def rebuild_words(self) -> None:
        """Make anew what is kept beside the events: word indexes, content hashes … Raises LogUnwritable."""
        with self._transaction() as db:
            for index in _WORDS:
                db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
            contents.fill(db)

    def drop_unsound(self) -> int:
        """Delete the vectors that nobody may use, some at a time; returns how many. Raises LogUnwritable."""
        with writing(self._path):
            ids = [id for id, _ in unsound(self._db)]
        for at in range(0, max(1, len(ids)), FORGOTTEN_AT_ONCE):
            with self._transaction() as db:
                contents.drop_vectors(db, ids[at : at + FORGOTTEN_AT_ONCE])
        return len(ids)

    def close(self) -> None:
        self._db.close()
        let_go(self._path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with writing(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    with contextlib.suppress(sqlite3.DatabaseError):  # SQLite may have rolled back by itself
                        self._db.execute("ROLLBACK")
                raise

    def _write_all(
        self, db: sqlite3.Connection, sink: SqliteSink, events: Sequence[Event]
    ) -> tuple[tuple[int, bytes], int, list[tuple[Stored, bool]]]:
        """Put `events` behind the last, each followed by the erasure it causes: the new head, the time, what is stored.

        With each stands whether it is such an erasure.
        """
        head, at = (self._seq, self._hash), max(self._clock(), self._at + 1)
        written: list[tuple[Stored, bool]] = []
        for event in events:
            head, row = self._write(db, sink, event, head, at)
            written.append((row, False))
            if (erasure := erased_by(db, event)) is not None:
                head, row = self._write(db, sink, erasure, head, at)
                written.append((row, True))
        sqlite_tables.note(db, *head)
        return head, at, written

    def _write(
        self,
        db: sqlite3.Connection,
        sink: SqliteSink,
        event: Event,
        head: tuple[int, bytes],
        at: int,
        *,
        id: str | None = None,
        erased: bool = False,
    ) -> tuple[tuple[int, bytes], Stored]:
        """Put `event` after `head` (number and hash of the event before) and return the new head."""
        admit(db, event)
        event = event.model_copy(update={"text": None}) if erased else bereft(db, event)
        row = encode(event, seq=head[0] + 1, id=id or new_id(), at=at, before=head[1])
        db.execute(INSERT, astuple(row))
        contents.note(db, row.seq, event, row.text)
        if isinstance(event, TextErased):
            _erase(db, event.events)
        stored = Stored(row.seq, row.id, row.at, decode(row.kind, row.version, row.structure, row.text))
        sink.apply(stored)
        return (row.seq, row.hash), stored


def _all_events(db: sqlite3.Connection) -> Iterator[Stored]:
    """Every event in order, read in pages: tables cannot be dropped while a query is not at its end."""
    after = 0
    while rows := db.execute(f"{SELECT_EVENT} WHERE seq > ? ORDER BY seq LIMIT {PAGE}", (after,)).fetchall():
        yield from map(event_of, rows)
        after = rows[-1][0]


def check_chain(db: sqlite3.Connection, *, last: int | None = None) -> int:
    """Verify numbers and hashes of the `last` events (None: all); returns how many there were. Raises LogDamaged."""
    head = _head(db)[0]
    first = max(1, head - last + 1) if last is not None else 1
    before = hash_before(db, first)
    query = "SELECT seq, id, at, kind, version, structure, text_hash, hash FROM events WHERE seq >= ? ORDER BY seq"
    expected = first
    for seq, id, at, kind, version, structure, text_hash, link in db.execute(query, (first,)):
        if seq != expected or hash_link(before, seq, id, at, kind, version, structure, text_hash) != link:
            raise LogDamaged(
                f"Event {expected} of the log does not match the chain of hashes: it was changed after it was written. "
                "Nothing will be added to it. Restore a backup; `clew log` can still read it."
            )
        before, expected = link, expected + 1
    return expected - first


def _head(db: sqlite3.Connection) -> tuple[int, bytes]:
    row = db.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return row if row is not None else (0, hash_before(db, 1))


def hash_before(db: sqlite3.Connection, seq: int) -> bytes:
    """The hash event `seq` chains to: that of the event before it, or of the log itself; empty past the end."""
    if seq == 1:
        return genesis(db.execute("SELECT value FROM meta WHERE key = 'log'").fetchone()[0])
    row = db.execute("SELECT hash FROM events WHERE seq = ?", (seq - 1,)).fetchone()
    return row[0] if row is not None else b""


def _erase(db: sqlite3.Connection, events: tuple[int, ...]) -> None:
    listed = json.dumps(events)
    db.execute(
        "INSERT OR IGNORE INTO purging SELECT seq, text FROM events "
        "WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL",
        (listed,),
    )
    db.execute(
        "UPDATE events SET text = NULL, salt = NULL WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL",
        (listed,),
    )
    contents.drop(db, events)
