"""What was said by the hash of its words, and the vectors kept for it, of length 1: a cache in the log's file.

The log's file can be damaged or changed by others: a vector of another length than its embedder's, or with a number
that is none, would spoil every score that it enters. Checked in batches: 0.1 s for 250,000 vectors of 384 numbers.

Invariants:
- `contents` has every living text that can be embedded: turns, but those of tools, which only quote; observations and
  chunks; none that is blank.
- A vector belongs to a text, not to a turn: it is kept once per embedder however often the text is said, and goes
  with the last turn that says it. So a fork, an import done twice and a rebuilt graph embed nothing twice.
- What is kept is of length 1, as float16, little endian: half the bytes, and cosines off by less than 0.001.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import compress, groupby, islice
from typing import TYPE_CHECKING

from graph.errors import InvalidVector
from graph.events import FROM_MEMORY, ChunkRead, Event, ObservationMade, Role, TurnSaid
from graph.events.codec import fields_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


KEPT_TYPE, KEPT_BYTES = "<f2", 2
BATCH = 4_096
OFF = 0.01  # how far from 1 a squared length may be: ten times what float16 does to it


def sound(vectors: Sequence[bytes], dimension: int) -> "tuple[NDArray[np.float32], NDArray[np.bool_]]":
    """The sound ones as float32[sound, dimension], and which those are: bool[len(vectors)]."""
    import numpy as np

    size = dimension * KEPT_BYTES
    well = np.fromiter((len(vector) == size > 0 for vector in vectors), np.bool_, len(vectors))
    if not well.any():
        return np.zeros((0, 0), np.float32), well
    with np.errstate(invalid="ignore", over="ignore"):
        joined = b"".join(vectors if well.all() else compress(vectors, well))
        rows = np.frombuffer(joined, KEPT_TYPE).reshape(-1, dimension).astype(np.float32)
        straight = np.abs(np.einsum("ij,ij->i", rows, rows) - 1) <= OFF  # false for NaN
    if straight.all():
        return rows, well
    well[np.flatnonzero(well)] = straight
    return rows[straight], well


def unsound(db: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Number and embedder of every kept vector that nobody may use."""
    dimensions: dict[int, int] = dict(db.execute("SELECT id, dimension FROM embedders"))
    rows = db.execute("SELECT id, embedder, vector FROM vectors ORDER BY id")
    while batch := list(islice(rows, BATCH)):
        for embedder, each in groupby(sorted(batch, key=lambda row: row[1]), key=lambda row: row[1]):
            same = list(each)
            _, well = sound([vector for _, _, vector in same], dimensions.get(embedder, 0))
            yield from ((id, embedder) for (id, _, _), fine in zip(same, well.tolist(), strict=True) if not fine)


_EMBEDDED = """
is_embedded(events.kind, events.version, events.structure) AND hash_of(CAST(events.text AS BLOB)) IS NOT NULL
"""


def hash_of(text: bytes | None) -> bytes | None:
    """The content hash of a text in UTF-8: SHA-256; None for one that cannot be embedded, having no words."""
    return hashlib.sha256(text).digest() if text is not None and text.strip() else None


def teach(db: sqlite3.Connection) -> None:
    """Let a fresh connection hash texts in its queries, and tell which are embedded."""
    db.create_function("hash_of", 1, hash_of, deterministic=True)
    db.create_function("is_embedded", 3, _is_embedded, deterministic=True)


def _is_embedded(kind: str, version: int, structure: str) -> bool:
    """Whether what an event says is looked for by its meaning: not what only tells again what the memory holds."""
    if kind == "turn.said":
        said = fields_of(kind, version, structure)
        return bool(said["role"] != Role.TOOL and said.get("model") != FROM_MEMORY)
    return kind in ("observation.made", "chunk.read")


def note(db: sqlite3.Connection, seq: int, event: Event, text: str | None) -> None:
    """Remember the hash of what event `seq` says, if it is of a kind that is embedded."""
    match event:
        case TurnSaid() if not event.retells:
            pass
        case ObservationMade() | ChunkRead():
            pass
        case _:
            return
    hash = hash_of(text.encode()) if text is not None else None
    if hash is not None:
        db.execute("INSERT INTO contents VALUES (?, ?)", (seq, hash))


def fill(db: sqlite3.Connection) -> None:
    """Make the hashes anew from the texts, and drop vectors of what nobody says."""
    db.execute("DELETE FROM contents")
    db.execute(f"INSERT INTO contents SELECT seq, hash_of(CAST(text AS BLOB)) FROM events WHERE {_EMBEDDED}")
    db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM contents)")


def differing(db: sqlite3.Connection) -> int:
    """How many hashes are missing, left over or of another text."""
    query = f"""
    SELECT (SELECT count(*) FROM contents WHERE seq NOT IN (SELECT seq FROM events WHERE {_EMBEDDED}))
        + (SELECT count(*) FROM events LEFT JOIN contents USING (seq)
            WHERE {_EMBEDDED} AND contents.hash IS NOT hash_of(CAST(text AS BLOB)))
    """
    count: int = db.execute(query).fetchone()[0]
    return count


def drop(db: sqlite3.Connection, events: Sequence[int]) -> None:
    """Forget the hashes of events whose texts are erased, and the vectors of what nobody says any more."""
    listed = json.dumps(list(events))
    gone = "SELECT hash FROM contents WHERE seq IN (SELECT value FROM json_each(?))"
    hashes = {hash for (hash,) in db.execute(gone, (listed,))}
    db.execute("DELETE FROM contents WHERE seq IN (SELECT value FROM json_each(?))", (listed,))
    unsaid = """
    DELETE FROM vectors WHERE embedder IN (SELECT id FROM embedders) AND hash = :hash
    AND NOT EXISTS (SELECT 1 FROM contents WHERE hash = :hash)
    """
    db.executemany(unsaid, [{"hash": hash} for hash in hashes])


def keep(db: sqlite3.Connection, model: str, vectors: "Sequence[tuple[bytes, NDArray[np.floating]]]") -> None:
    """Keep the vectors of contents, by hash; what nobody says any more is left out. Raises InvalidVector."""
    if not vectors:
        return
    id, dimension = _embedder(db, model) or (None, None)
    packed: list[tuple[bytes, bytes]] = []
    for hash, values in vectors:
        packed.append((hash, pack(values, dimension)))
        dimension = len(packed[0][1]) // KEPT_BYTES
    if id is None:
        insert = "INSERT INTO embedders (name, dimension) VALUES (?, ?) RETURNING id"
        id = db.execute(insert, (model, dimension)).fetchone()[0]
    said = """
    INSERT OR IGNORE INTO vectors (embedder, hash, vector)
    SELECT :embedder, :hash, :vector WHERE EXISTS (SELECT 1 FROM contents WHERE hash = :hash)
    """
    db.executemany(said, [{"embedder": id, "hash": hash, "vector": vector} for hash, vector in packed])


def pack(values: "NDArray[np.floating]", dimension: int | None) -> bytes:
    """A vector of any length as it is kept; `dimension` is None for the first of its model. Raises InvalidVector."""
    import numpy as np

    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or vector.size == 0 or vector.size != (dimension or vector.size):
        raise InvalidVector(f"its shape is {vector.shape} where {(dimension or 'some',)} is expected")
    if not np.isfinite(vector).all():
        raise InvalidVector("a number in it is infinite, or none at all")
    largest = np.abs(vector).max()
    if largest == 0:
        raise InvalidVector("it is zero, which points nowhere")
    vector = vector / largest  # first, so that no square is too large or too small for a number
    kept: bytes = (vector / np.linalg.norm(vector)).astype(KEPT_TYPE).tobytes()
    return kept


def forget_some(db: sqlite3.Connection, model: str, limit: int) -> int:
    """Delete up to `limit` vectors of an embedder, and the embedder when none is left; returns how many."""
    some = """
    DELETE FROM vectors WHERE id IN (
        SELECT id FROM vectors WHERE embedder = (SELECT id FROM embedders WHERE name = ?) LIMIT ?
    )
    """
    deleted = db.execute(some, (model, limit)).rowcount
    if deleted < limit:
        db.execute("DELETE FROM embedders WHERE name = ?", (model,))
    return deleted


def drop_vectors(db: sqlite3.Connection, ids: Sequence[int]) -> None:
    """Forget some vectors, and every embedder without one: its dimension comes anew with its next vector."""
    db.execute("DELETE FROM vectors WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),))
    db.execute("DELETE FROM embedders WHERE id NOT IN (SELECT embedder FROM vectors)")


def embedders(db: sqlite3.Connection) -> list[tuple[str, int, int]]:
    """Name, dimension and number of vectors of each embedder that was ever used, the last one last."""
    counted = "SELECT count(*) FROM vectors WHERE embedder = embedders.id"
    return db.execute(f"SELECT name, dimension, ({counted}) FROM embedders ORDER BY id").fetchall()


def embedded(db: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many contents have a vector of `model`, and how many contents there are."""
    done = "SELECT count(*) FROM vectors WHERE embedder = (SELECT id FROM embedders WHERE name = ?)"
    everything = "SELECT count(*) FROM (SELECT DISTINCT hash FROM contents)"  # an index walk, ten times as fast
    return db.execute(done, (model,)).fetchone()[0], db.execute(everything).fetchone()[0]


def vectors(db: sqlite3.Connection, model: str, *, after: int) -> Iterator[tuple[int, int, bytes]]:
    """Vector id, event and vector for vectors with an id past `after`: a row for each event that says the text."""
    query = """
    SELECT vectors.id, contents.seq, vectors.vector FROM vectors JOIN contents ON contents.hash = vectors.hash
    WHERE vectors.id > ? AND +vectors.embedder = (SELECT id FROM embedders WHERE name = ?) ORDER BY vectors.id
    """
    yield from db.execute(query, (after, model))


def vectors_of_later(db: sqlite3.Connection, model: str, *, after_seq: int) -> Iterator[tuple[int, int, bytes]]:
    """The same for events past `after_seq`, whose texts may have had a vector before they were said again."""
    query = """
    SELECT vectors.id, contents.seq, vectors.vector FROM contents CROSS JOIN vectors
    ON vectors.embedder = (SELECT id FROM embedders WHERE name = ?) AND vectors.hash = contents.hash
    WHERE contents.seq > ? ORDER BY contents.seq
    """
    yield from db.execute(query, (model, after_seq))


class UnembeddedContents:
    """Which contents have no vector of a model yet. Remembers how far everything has one, to walk over that once."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[int, int]] = {}  # by embedder: all contents of events low … high have a vector

    def find(self, db: sqlite3.Connection, model: str, limit: int) -> list[tuple[bytes, str]]:
        """Up to `limit` hashes and texts, newest first, each text once."""
        embedder = (_embedder(db, model) or (0, 0))[0]
        newest = db.execute("SELECT coalesce(max(seq), 0) FROM contents").fetchone()[0]
        low, high = self._done.get(embedder, (newest + 1, newest))
        above = list(_missing(db, embedder, high + 1, newest, limit))
        below = list(_missing(db, embedder, 0, low - 1, limit - len(above)))
        if not above and limit > 0:
            self._done[embedder] = (below[0][0] + 1 if below else 0, max(high, newest))
        found = {hash: seq for seq, hash in reversed(above + below)}  # a text that is said again counts as new
        query = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
        texts = dict(db.execute(query, (json.dumps(list(found.values())),)))
        ordered = sorted(found.items(), key=lambda each: -each[1])
        return [(hash, texts[seq]) for hash, seq in ordered if seq in texts]


def _embedder(db: sqlite3.Connection, model: str) -> tuple[int, int] | None:
    """Number and dimension of an embedder, None for one that has not kept a vector yet."""
    row: tuple[int, int] | None = db.execute("SELECT id, dimension FROM embedders WHERE name = ?", (model,)).fetchone()
    return row


def _missing(db: sqlite3.Connection, embedder: int, first: int, last: int, limit: int) -> Iterator[tuple[int, bytes]]:
    """Events from `last` down to `first` whose content has no vector, until `limit` different contents are found."""
    query = """
    SELECT seq, hash FROM contents WHERE seq BETWEEN ? AND ? AND NOT EXISTS (
        SELECT 1 FROM vectors WHERE vectors.embedder = ? AND vectors.hash = contents.hash
    ) ORDER BY seq DESC
    """
    seen: set[bytes] = set()
    rows = db.execute(query, (first, last, embedder))
    while len(seen) < limit and (row := rows.fetchone()) is not None:
        seen.add(row[1])
        yield row
    rows.close()
