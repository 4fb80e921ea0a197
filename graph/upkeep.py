"""What the memory does for itself: what a crash cut off, what was erased and still lies in its own files.

All are finished with ordinary events in one append per session, so a crash in here is met the same way again.

A reply that is made anew begins with a head that moves, alone in its append, to a message that has a reply. Where the
crash came before the first word of the new one, the head goes back to where it was: nothing is lost from the path. A
person's own moves set a mark, or say what they undo, in the same append, and stand.

The copy is opened as a log and told the same: its own erasing events say what is gone and why, so that it verifies, and
a memory that is restored from it knows.

Invariants:
- `Purge.run` can be broken off at any moment, by an error of `progress` too, and done again from its beginning; what
  it has done already costs nothing then. `Purge.done` is the last step and the only one that says so.
- The lock of the writer is held for some milliseconds at a time, and let go of for as long in between.
"""

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from graph.console.workers import QueryWorkers
from graph.events import Event, HeadMoved, Role, StopReason, TurnSaid, TurnTaken, TurnWithheld, Undone
from graph.events.codec import fields_of
from graph.history.decisions import Decision, standing
from graph.ids import now_ms
from graph.kuzu.follower import Follower
from graph.log import byte_search, erasing
from graph.log.byte_search import INDEXES, Forms, forms_of, forms_of_texts, is_text, stems_of, words_in
from graph.log.log import TAIL, Log, Stream, check_chain
from graph.log.migrations import migrate
from graph.projection.paths import Paths
from graph.reader import LogReader
from graph.readings.exchanges import replies
from graph.readings.tree import own
from graph.sqlite import LOG, open_writer, writing
from graph.transfer.restoring import erase_again
from graph.values import Progress

# The last move of each session's head where nothing else happened with it, or followed but the answers of tools.
_LAST_MOVES = """
SELECT moved.seq, moved.version, moved.structure FROM events AS moved
WHERE moved.kind = 'head.moved' AND moved.kind <> 'turn.said'
AND NOT EXISTS (SELECT 1 FROM events AS beside WHERE beside.seq IN (moved.seq - 1, moved.seq + 1)
    AND beside.at = moved.at)
ORDER BY moved.seq
"""
_LATER = """
SELECT 1 FROM subjects WHERE id = :session AND seq > :move AND kind IN ('head.moved', 'turn.taken', 'session.deleted')
UNION ALL SELECT 1 FROM turns WHERE session = :session AND seq > :move AND role <> 'tool' AND placed = seq
"""


def recover(log: Log, reader: LogReader) -> int:
    """Make cut-off replies truncated turns, put queued messages on the path; returns how many replies there were."""
    streams = log.streams()
    recovered = sum(_recover_reply(log, reader, stream) for stream in streams)
    for move, session, head in _left_back(reader):
        log.append([Undone(events=(move,)), HeadMoved(session=session, turn=head)])
    for session in reader.waiting_sessions():
        _take_queued(log, reader, session)
    return recovered


def _recover_reply(log: Log, reader: LogReader, stream: Stream) -> bool:
    """A side row without a word, or of a reply that is stored, becomes no turn."""
    if not stream.text or reader.has_turn(stream.turn):
        log.drop_stream(stream.turn)
        return False
    asked = reader.turn(stream.parent) if stream.parent is not None else None
    reply = TurnSaid(
        turn=stream.turn,
        session=stream.session,
        parent=stream.parent,
        role=Role.ASSISTANT,
        speaker=stream.voice.speaker,
        client=asked.client if asked is not None else "clew",
        stop_reason=StopReason.CRASHED,
        model=stream.model,
        recalled=stream.recalled,
        witnesses=stream.voice.witnesses,
        text=stream.text,
    )
    kept_out = [TurnWithheld(turn=stream.turn)] if asked is not None and asked.withheld else []
    log.append([reply, *kept_out], ends_stream=stream.turn)
    return True


def _left_back(reader: LogReader) -> list[tuple[int, str, str | None]]:
    """Moves of a head back for a reply that never came: their events, their sessions, and where the heads were."""
    found: list[tuple[int, str, str | None]] = []
    with reader.snapshot() as db:
        for seq, version, structure in db.execute(_LAST_MOVES).fetchall():
            moved = fields_of("head.moved", version, structure)
            session, turn = moved["session"], moved["turn"]
            later = db.execute(_LATER, {"session": session, "move": seq}).fetchone() is not None
            if turn is not None and not later and _is_answered(db, session, turn):
                before = standing(db, Decision("head", session), before=seq)
                found.append((seq, session, Paths(db).kept(before)))
    return found


def _is_answered(db: sqlite3.Connection, session: str, turn: str) -> bool:
    """Whether a turn is a message that has a reply among a session's own turns."""
    return bool(own(db, session, [reply.id for reply in replies(db, turn) if not reply.deleted]))


def _take_queued(log: Log, reader: LogReader, session: str) -> None:
    parent = reader.session(session).head
    taken: list[Event] = []
    for turn in reader.waiting(session):
        taken.append(TurnTaken(turn=turn.id, session=session, parent=parent))
        parent = turn.id
    log.append(taken)


def purge_copy(path: Path, folder: Path) -> int:
    """Erase in the copy at `path` what is erased in the log of `folder`; how many of its events lost their text.

    Raises LogDamaged for what is no log that can be read, and LogUnwritable.
    """
    with writing(path), closing(open_writer(path)) as copy:
        migrate(copy)
        check_chain(copy, last=TAIL)
        erase_again(copy, path, folder)
        return _purge(Log(copy, path, now_ms), copy)


def _purge(log: Log, copy: sqlite3.Connection) -> int:
    """Nobody else has the file open: all of it at once."""
    waiting = erasing.waiting(copy)
    if waiting:
        for index in INDEXES:
            copy.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        log.drop_vectors(erasing.leftover_vectors(copy))
        log.blank(waiting)
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        log.forget_purged(waiting)
    copy.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, as it was made
    return len(waiting)


Tell = Callable[[Progress], None]
BREATH_S = 0.002  # in which whoever waits for the lock gets it
VECTORS_AT_ONCE = 500


class Purge:
    """Lets nothing be left of what is erased. All methods block, in any thread but for one purge at a time."""

    def __init__(
        self, folder: Path, log: Log, writing: threading.Lock, reader: LogReader, graph: Follower, apart: QueryWorkers
    ) -> None:
        self._folder, self._log, self._writing = folder, log, writing
        self._reader, self._graph, self._apart = reader, graph, apart

    def waiting(self) -> dict[int, str]:
        """The events whose texts wait to be purged, with the texts."""
        with self._reader.snapshot() as db:
            return erasing.waiting(db)

    def words(self, seqs: Collection[int] | None = None) -> dict[str, frozenset[bytes]]:
        """The words of erased texts (None: of all that wait) in the forms that are in nothing that is kept.

        Beside them each text as a whole: its words may all be said elsewhere, and it nowhere.
        """
        texts = [text for seq, text in self.waiting().items() if seqs is None or seq in seqs]
        return self.unkept(forms_of_texts(texts) | forms_of(words_in(texts)), seqs)

    def unkept(self, forms: Forms, seqs: Collection[int] | None = None) -> dict[str, frozenset[bytes]]:
        """Some words in those forms that are in nothing that is kept.

        What waits to be purged counts as kept, but for the events that are being purged (None: all).
        """
        waiting = [] if seqs is None else [text for seq, text in self.waiting().items() if seq not in seqs]
        with self._reader.snapshot() as db:
            stems = set(erasing.kept_stems(db, (word for word, each in forms.items() if not is_text(each))))
        stems.update(stem for each in stems_of(sorted(words_in(waiting))).values() for stem in each)
        return erasing.unkept(
            forms, chain(self._kept(), (f"{text}\n".encode(errors="replace") for text in waiting)), stems
        )

    def that_quote(self, texts: Collection[str], seqs: Collection[int], also_kept: Iterable[str] = ()) -> set[str]:
        """Those of some short texts that quote what is erased in these events, and nothing that is kept says."""
        waiting = self.waiting()
        found = byte_search.shared(texts, (text for seq, text in waiting.items() if seq in seqs))
        others = (text for seq, text in waiting.items() if seq not in seqs)
        kept = chain(also_kept, others, (page.decode(errors="replace") for page in self._kept()))
        said = byte_search.kept_of(set().union(*found.values()), kept)
        return {text for text, pieces in found.items() if pieces - said}

    def only_there(self, names: Collection[str], seqs: Collection[int]) -> set[str]:
        """Those of some names, in small letters, that stand in what is erased in these events, and in nothing kept."""
        gone = [text.casefold() for seq, text in self.waiting().items() if seq in seqs]
        found = {name for name in names if any(name in text for text in gone)}
        for page in self._kept() if found else ():
            found -= {name for name in found if name.encode() in page.lower()}
        return found

    def run(self, progress: Tell) -> None:
        """Leave nothing of what is erased in word indexes, vectors and graph. Raises LogUnwritable or GraphFailure."""
        for index in INDEXES:
            self._rewrite(index, progress)
        self._drop_vectors(progress)
        self._graph.purge(progress)
        self._apart.erased()  # a copy that was made of the graph before

    def done(self, seqs: Collection[int]) -> bool:
        """These texts are nowhere else: let go of them, and leave no byte in the log's own files.

        False while somebody reads the log, who keeps it as it was: it is to be tried again. Raises LogUnwritable.
        """
        with self._writing:
            self._log.blank(seqs)
        if not erasing.empty_wal(self._folder / LOG):
            return False
        with self._writing:
            self._log.forget_purged(seqs)
        return True

    def copy(self, path: Path) -> int:
        """Erase in a copy of this log what was erased here since, for good. How many events had to be.

        Raises LogDamaged or LogUnwritable where that cannot be done.
        """
        return purge_copy(path, self._folder)

    def compact(self) -> None:
        """Write the log's file anew, where a page kept a byte of what is gone; nobody writes meanwhile."""
        with self._writing:
            self._log.compact()
        erasing.empty_wal(self._folder / LOG)

    def _rewrite(self, index: str, progress: Tell) -> None:
        first, done = True, 0
        while True:
            progress(Progress("purging", done, 0))
            with self._writing:
                more = self._log.rewrite_words(index, first=first)
            if not more:
                return
            first, done = False, done + 1
            self._breathe()

    def _drop_vectors(self, progress: Tell) -> None:
        with self._reader.snapshot() as db:
            ids = erasing.leftover_vectors(db)
        for at in range(0, len(ids), VECTORS_AT_ONCE):
            progress(Progress("purging", at, len(ids)))
            with self._writing:
                self._log.drop_vectors(ids[at : at + VECTORS_AT_ONCE])
            self._breathe()

    def _breathe(self) -> None:
        """Let others have the lock: one that is taken again at once is never theirs."""
        threading.Event().wait(BREATH_S)

    def _kept(self) -> Iterator[bytes]:
        """All that is kept, in pages, each of a snapshot of its own: a long one would hold up the log."""
        with self._reader.snapshot() as db:
            yield b"".join(erasing.kept_beside(db))
        last = 0
        while True:
            with self._reader.snapshot() as db:
                last, page = erasing.kept_by(db, after=last)
            if not last:
                return
            yield page
