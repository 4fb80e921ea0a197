"""What an erasure takes with it, and what the log keeps of erased texts until no file has a byte of them.

A title, an observation, a core block, a line of a stage, a name or a question for approval names the turns and chunks
its words may come from, a relationship its observation; the result of a tool names what it quotes. Whoever names what
is gone loses its text with it, also one that is stored later.

Invariants:
- A text that is erased leaves the events in its append and is kept in `purging`, which nothing else reads, so that a
  purge that was broken off knows what to look for. It goes from there last.
- Every step can be broken off and done again. An event is in `purging`, without its text in the end, until the log's
  file and its write-ahead log have no byte of it.
- Nobody waits for long: the word indexes are rewritten in small pieces, a transaction each.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

from graph import contents
from graph.events import (
    FROM_MEMORY,
    ApprovalAsked,
    CoreWritten,
    DocumentRemoved,
    EntityNoted,
    Event,
    ObservationDeleted,
    ObservationMade,
    ReferenceAdded,
    ReferenceWritten,
    RelationNoted,
    SessionDeleted,
    SessionTitled,
    StageSet,
    TextErased,
    TurnDeleted,
)
from graph.events.codec import fields_of
from graph.log.byte_search import INDEXES, Finder, Forms, forms_of_stem, stems_of
from graph.log.migrations import version_of
from graph.projection.paths import descendants_of
from graph.projection.schema import statements
from graph.sqlite import open_writer, writing

ERASING = (TurnDeleted, ObservationDeleted, DocumentRemoved)

# The story of a session, of which no session is left.
_OVER = """
SELECT story FROM worlds WHERE id = (SELECT world FROM sessions WHERE id = ?) AND story IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM sessions AS own JOIN worlds AS each ON each.id = own.world
    WHERE each.story = worlds.story AND NOT own.deleted
)
"""
# What is called and stands in a story and its what-ifs, core blocks among it.
_OF_STORY = """
WITH played (id) AS (SELECT id FROM worlds WHERE story = :story)
SELECT seq FROM events WHERE text IS NOT NULL AND seq IN (
    SELECT name_seq FROM worlds WHERE id = :story
    UNION ALL SELECT seq FROM stage_lines WHERE world IN (SELECT id FROM played)
    UNION ALL SELECT CAST(wordings.id AS INTEGER) FROM wordings JOIN core_blocks ON core_blocks.id = wordings.owner
    WHERE wordings."of" = 'CoreBlock' AND core_blocks.world IN (SELECT id FROM played)
)
"""
# Who wrote what some events attached.
_WRITTEN = """
SELECT written.seq FROM subjects AS added JOIN subjects AS written ON written.id = added.id
WHERE added.kind = 'reference.added' AND written.kind = 'reference.written'
AND added.seq IN (SELECT value FROM json_each(?))
"""
# A reference whose address is erased, or of a chat that was deleted.
_NOWHERE = """
SELECT 1 FROM attachments AS own JOIN events AS event USING (seq) JOIN sessions ON sessions.id = own.session
WHERE own.id = ? AND (event.text IS NULL OR sessions.deleted)
"""
# What a session referred to, and who wrote that.
_REFERRED = """
SELECT event.seq FROM attachments AS own JOIN subjects ON subjects.id = own.id
JOIN events AS event ON event.seq = subjects.seq
WHERE own.session = ? AND event.text IS NOT NULL AND subjects.kind IN ('reference.added', 'reference.written')
"""
_NAMING = """
SELECT seq FROM named WHERE name IN (SELECT value FROM json_each(?)) AND kind IN
    ('session.titled', 'observation.made', 'core.written', 'entity.noted', 'approval.asked', 'stage.set',
    'reference.added')
"""
_RELATIONS = """
SELECT seq FROM subjects WHERE kind = 'relation.noted' AND id IN (SELECT value FROM json_each(?))
"""
# What people said by hand of some entities, and whom they said it of: what was split off, and aliases.
_SAID_OF = """
SELECT seq FROM subjects WHERE kind IN ('entity.named', 'entity.aliased', 'entity.split')
AND id IN (SELECT value FROM json_each(?))
"""
_OF_EVENTS = "SELECT DISTINCT id FROM subjects WHERE kind LIKE 'entity.%' AND seq IN (SELECT value FROM json_each(?))"
# Those of some entities whom nothing names any more but some events, and who never spoke.
_NAMELESS = """
SELECT e.id FROM entities AS e WHERE e.id IN (SELECT value FROM json_each(:ids)) AND e.noted_seq IS NOT NULL
AND NOT EXISTS (
    SELECT 1 FROM subjects JOIN events AS event USING (seq) WHERE subjects.id = e.id
    AND subjects.kind = 'entity.noted' AND event.text IS NOT NULL AND seq NOT IN (SELECT value FROM json_each(:seqs))
)
"""
_WORDLESS = "SELECT 1 FROM observations AS o JOIN events AS e ON e.seq = o.seq WHERE o.id = ? AND e.text IS NULL"
_RETELLING = f"""
SELECT seq, version, structure FROM events WHERE seq IN (SELECT seq FROM turns WHERE role = 'tool')
OR kind = 'turn.said' AND instr(structure, '"model":"{FROM_MEMORY}"')
"""
# A turn or a chunk whose words are gone for good.
_GONE = """
SELECT 1 FROM json_each(?) AS source WHERE EXISTS (SELECT 1 FROM turns WHERE id = source.value AND deleted)
OR EXISTS (
    SELECT 1 FROM events WHERE text IS NULL AND text_hash IS NOT NULL AND seq IN (
        SELECT seq FROM turns WHERE id = source.value UNION ALL SELECT seq FROM chunks WHERE id = source.value
    )
)
"""


def erased_by(db: sqlite3.Connection, event: Event) -> TextErased | None:
    """The erasure that follows an event which was just stored; None where it takes no words away."""
    match event:
        case TurnDeleted() | ObservationDeleted() | DocumentRemoved():
            return TextErased(events=texts_of(db, event))
        case SessionDeleted(session=session):
            texts = {seq for (story,) in db.execute(_OVER, (session,)) for seq in texts_of_story(db, story)}
            texts |= _seqs(db, _REFERRED, session)
            return TextErased(events=tuple(sorted(texts))) if texts else None
        case _:
            return None


def texts_of_story(db: sqlite3.Connection, story: str) -> list[int]:
    """Which events carry words of a story beside its turns, and its sessions' own: by their numbers."""
    return [seq for (seq,) in db.execute(_OF_STORY, {"story": story})]


def texts_of(db: sqlite3.Connection, event: TurnDeleted | ObservationDeleted | DocumentRemoved) -> tuple[int, ...]:
    """Which events carry words of what `event` takes away, by their numbers in order."""
    seqs: set[int] = set()
    gone: set[str] = set()
    match event:
        case TurnDeleted():
            seqs |= _seqs(db, "SELECT seq FROM turns WHERE id = ?", event.turn)
            gone = {event.turn}
        case ObservationDeleted():
            forms = "SELECT seq, id FROM observations WHERE series IN (SELECT value FROM json_each(?))"
            _take(db.execute(forms, (_list(descendants_of(db, event.series)),)), seqs, gone)
        case DocumentRemoved():
            _take(db.execute("SELECT seq, id FROM chunks WHERE document = ?", (event.document,)), seqs, gone)
            seqs |= _seqs(db, "SELECT seq FROM subjects WHERE id = ? AND kind = 'document.read'", event.document)
    seqs |= _seqs(db, _NAMING, _list(gone))
    learned = "SELECT id FROM observations WHERE seq IN (SELECT value FROM json_each(?))"
    gone |= {id for (id,) in db.execute(learned, (_list(seqs),))}
    seqs |= _seqs(db, _RELATIONS, _list(gone))
    seqs |= _said_by_hand(db, seqs)
    seqs |= _seqs(db, _WRITTEN, _list(seqs))
    return tuple(sorted(seqs | set(_quoting(db, gone))))


def _said_by_hand(db: sqlite3.Connection, seqs: set[int]) -> set[int]:
    """What people called those by hand whom nothing names any more once the words of some events are gone."""
    found, known = set[int](), set[str]()
    ids = {id for (id,) in db.execute(_OF_EVENTS, (_list(seqs),))}
    while ids - known:
        known |= ids
        nameless = db.execute(_NAMELESS, {"ids": _list(ids), "seqs": _list(seqs)}).fetchall()
        said = {seq for (seq,) in db.execute(_SAID_OF, (_list(id for (id,) in nameless),))}
        found |= said
        ids = {id for (id,) in db.execute(_OF_EVENTS, (_list(said),))} - known
    return found


def _quoting(db: sqlite3.Connection, gone: set[str]) -> Iterator[int]:
    """The turns that tell again what is gone."""
    for seq, version, structure in db.execute(_RETELLING):
        recalled = fields_of("turn.said", version, structure).get("recalled", ())
        if any(item["id"] in gone for item in recalled):
            yield seq


def bereft(db: sqlite3.Connection, event: Event) -> Event:
    """An event as it is stored: without its text, if something it names was erased before it came."""
    match event:
        case (
            ObservationMade(sources=sources)
            | CoreWritten(sources=sources)
            | SessionTitled(sources=sources)
            | StageSet(sources=sources)
        ):
            names = sources
        case EntityNoted(by_turn=turn) | ApprovalAsked(by_turn=turn):
            names = (turn,)
        case ReferenceAdded(session=session, turn=turn):
            deleted = db.execute("SELECT 1 FROM sessions WHERE id = ? AND deleted", (session,)).fetchone() is not None
            if deleted:
                return event.model_copy(update={"text": None})
            names = (turn,) if turn is not None else ()
        case ReferenceWritten(reference=reference):
            erased = db.execute(_NOWHERE, (reference,)).fetchone() is not None
            return event.model_copy(update={"text": None}) if erased else event
        case RelationNoted(observation=observation):
            erased = db.execute(_WORDLESS, (observation,)).fetchone() is not None
            return event.model_copy(update={"text": None}) if erased else event
        case _:
            return event
    gone = db.execute(_GONE, (_list(names),)).fetchone() is not None
    return event.model_copy(update={"text": None}) if gone else event


def _take(rows: Iterable[tuple[int, str]], seqs: set[int], ids: set[str]) -> None:
    for seq, id in rows:
        seqs.add(seq)
        ids.add(id)


def _seqs(db: sqlite3.Connection, query: str, value: str) -> set[int]:
    return {seq for (seq,) in db.execute(query, (value,))}


def _list(values: Iterable[str | int]) -> str:
    return json.dumps(list(values))


PIECE = 200  # pages of a word index rewritten in one transaction: some 10 ms
READ_AT_ONCE = 2_000
PATIENCE_MS = 100  # to have the write-ahead log for oneself, while nobody else can write


class Purging(ABC):
    """The part of the log that purges; for its one writer, but for `empty_wal`."""

    _db: sqlite3.Connection
    _path: Path

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[sqlite3.Connection]: ...

    def rewrite_words(self, index: str, *, first: bool) -> bool:
        """Rewrite a piece of a word index, without what was deleted from it; False when nothing is left to do."""
        with self._transaction() as db:
            before = db.total_changes
            piece = -PIECE if first else PIECE  # negative: all of the index is to become one piece
            db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)", (piece,))
            return db.total_changes - before >= 2

    def drop_vectors(self, ids: Collection[int]) -> None:
        """Delete vectors of what nobody says."""
        with self._transaction() as db:
            contents.drop_vectors(db, list(ids))

    def blank(self, seqs: Collection[int]) -> None:
        """Let go of texts that were purged everywhere else; their events stay noted until `forget_purged`."""
        listed = json.dumps(list(seqs))
        chosen = "seq IN (SELECT value FROM json_each(?))"
        with self._transaction() as db:
            others = db.execute(f"SELECT seq, text FROM purging WHERE NOT {chosen}", (listed,)).fetchall()
            blanks = db.execute(f"SELECT seq FROM purging WHERE {chosen}", (listed,)).fetchall()
            db.execute("DELETE FROM purging")  # all of it: then every page of the table is overwritten
            db.executemany("INSERT INTO purging VALUES (?, ?)", [*others, *((seq, "") for (seq,) in blanks)])

    def forget_purged(self, seqs: Collection[int]) -> None:
        """Nothing is left to do for these events, if nothing of them came back."""
        with self._transaction() as db:
            listed = json.dumps(list(seqs))
            db.execute("DELETE FROM purging WHERE text = '' AND seq IN (SELECT value FROM json_each(?))", (listed,))

    def compact(self) -> None:
        """Write the whole file anew, where a page kept what was deleted from it. Slow: nobody can write meanwhile."""
        with writing(self._path):
            self._db.execute("VACUUM")


def empty_wal(path: Path) -> bool:
    """Move all of a log's write-ahead log into its file and cut it off; False while a reader holds it. Any thread."""
    with writing(path), closing(open_writer(path)) as db:
        db.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # most of it, while others write
        busy: int = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy


def waiting(db: sqlite3.Connection) -> dict[int, str]:
    """The events whose texts wait to be purged, and the texts; blank where only the log is left to do."""
    return dict(db.execute("SELECT seq, text FROM purging ORDER BY seq"))


def waits(db: sqlite3.Connection) -> bool:
    """Whether something waits to be purged; also in a log of an earlier version, where nothing does."""
    return version_of(db) >= 4 and db.execute("SELECT 1 FROM purging LIMIT 1").fetchone() is not None


def leftover_vectors(db: sqlite3.Connection) -> list[int]:
    """Vectors of what nobody says any more."""
    return [id for (id,) in db.execute("SELECT id FROM vectors WHERE hash NOT IN (SELECT hash FROM contents)")]


def unkept(forms: Forms, kept: Iterable[bytes], stems: Iterable[str] = ()) -> dict[str, frozenset[bytes]]:
    """Words in those forms that are in nothing that is kept: whoever has one of them has kept what is gone.

    `stems` are those that the word indexes keep, also for words that are written otherwise.
    """
    common = Finder(form for each in forms.values() for form in each).find(kept) if forms else set()
    common |= {form for stem in stems for form in forms_of_stem(stem)}
    return {word: each - common for word, each in forms.items() if each - common}


def kept_stems(db: sqlite3.Connection, words: Iterable[str]) -> Iterator[str]:
    """The stems of some words that are in what the word indexes lead to: of a text that is there to be read."""
    for word, stems in stems_of(sorted(words)).items():
        for stem in stems:
            found = (f"SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT 1" for index in INDEXES)
            asked = f'"{word if len(stems) == 1 else stem}"'
            if any(db.execute(query, (asked,)).fetchone() is not None for query in found):
                yield stem


def kept_by(db: sqlite3.Connection, *, after: int) -> tuple[int, bytes]:
    """The texts and structures of some events that follow number `after`, and the last of these; 0: there is none."""
    query = "SELECT seq, structure, coalesce(text, '') FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    rows = db.execute(query, (after, READ_AT_ONCE)).fetchall()
    lines = "\n".join(f"{structure}\n{text}" for _, structure, text in rows)
    return (rows[-1][0] if rows else 0), lines.encode(errors="replace") + b"\n"


def kept_beside(db: sqlite3.Connection) -> Iterator[bytes]:
    """What the log's file has beside events: its schema, what it knows of itself, and replies that stream."""
    for query in (
        "SELECT coalesce(sql, name) FROM sqlite_schema",
        "SELECT value FROM meta",
        "SELECT name FROM embedders",
        "SELECT text || ' ' || coalesce(model, '') || ' ' || recalled FROM streams",
    ):
        for (value,) in db.execute(query):
            yield f"{value}\n".encode(errors="replace")
    yield "\n".join(statements()).encode()
