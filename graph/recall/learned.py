"""What was learned as columns in memory, beside those of the turns: observations with their proof, and chunks.

Invariants:
- Each table is what those beside the log say where the turns' columns are; whether a turn is live is asked of these,
  so that an observation can be judged for any world, and by what may be seen there.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.recall.columns import Columns
from graph.recall.table import NONE, Names, ReadColumns, Table, coded, read_columns, read_touched
from graph.visibility import for_all

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

STATUSES = ("candidate", "active", "superseded", "invalid")
CANDIDATE, ACTIVE, SUPERSEDED, INVALID = range(len(STATUSES))
DERIVED, SUPPORTED, REINFORCED = "DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY"

_OBSERVATIONS = """
SELECT id, seq, status, live, current, pinned, world, confidence, kind, origin, at FROM observations
"""
_CHUNKS = "SELECT id, seq, document, coalesce(position, 0) AS position, live, at FROM chunks"
_PROOF = """
SELECT made.seq AS one, source.seq AS other, coalesce(links.amount, 0.0) AS amount FROM observations AS made
JOIN links ON links.start = made.id AND links.rel = ? JOIN {} AS source ON source.id = links.target
WHERE made.touched > ?
"""
# What a person puts right is what the revision before theirs was made from.
_CORRECTED = """
SELECT DISTINCT made.seq AS one, source.seq AS other, 0.0 AS amount FROM observations AS made
JOIN links ON links.start = made.supersedes AND links.rel = 'DERIVED_FROM'
JOIN turns AS source ON source.id = links.target
WHERE made.origin = 'user' AND made.touched > ?
"""
_DOCUMENTS = """
SELECT documents.id, event.text, documents.project FROM documents
JOIN events AS event ON event.seq = documents.seq
"""
_LAST_READ = "SELECT coalesce(max(seq), 0) FROM documents"


@dataclass(slots=True)
class Edges:
    """Edges of one kind, as pairs of rows: those of observations, and of what they lead to."""

    one: "NDArray[np.intp]"
    other: "NDArray[np.intp]"
    amount: "NDArray[np.float32]"

    @classmethod
    def none(cls) -> "Edges":
        import numpy as np

        return cls(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.float32))

    def replace(self, changed: "NDArray[np.intp]", newer: "Edges") -> "Edges":
        """These, but for those of the changed rows, whose edges are the newer ones."""
        import numpy as np

        kept = ~np.isin(self.one, changed)
        return Edges(
            np.concatenate([self.one[kept], newer.one]),
            np.concatenate([self.other[kept], newer.other]),
            np.concatenate([self.amount[kept], newer.amount]),
        )

    def among(self, rows: "NDArray[np.bool_]") -> "Edges":
        """Those of some rows."""
        kept = rows[self.one]
        return Edges(self.one[kept], self.other[kept], self.amount[kept])

    def of(self, row: int) -> "NDArray[np.intp]":
        """What a row's edges lead to, in order."""
        import numpy as np

        found: NDArray[np.intp] = np.unique(self.other[self.one == row])
        return found

    def all(self, size: int) -> "NDArray[np.intp]":
        """For each row, how many edges it has."""
        import numpy as np

        return np.bincount(self.one, minlength=size)

    def count(self, where: "NDArray[np.bool_]", size: int) -> "NDArray[np.intp]":
        """For each row, how many of its edges lead to where `where` holds; what has no row there does not."""
        import numpy as np

        holds = np.append(where, False)[self.other]  # NONE is the last
        return np.bincount(self.one[holds], minlength=size)


class LearnedIndex:
    """The observations and chunks of one log. `refresh` reads what changed since the last time."""

    def __init__(self) -> None:
        self.beliefs = Table(
            {
                "status": "i1", "live": "?", "current": "?", "pinned": "?", "world": "i4", "for_all": "?",
                "confidence": "f4", "at": "i8",
            }
        )  # fmt: skip
        self.pieces = Table({"document": "i4", "position": "i4", "live": "?", "at": "i8", "before": "i4"})
        self.worlds, self.documents = Names(), Names()
        self.titles: dict[str, tuple[str, str | None]] = {}  # of documents: title and project
        self.of_turns = {name: Edges.none() for name in (DERIVED, SUPPORTED, REINFORCED)}
        self.of_chunks = {name: Edges.none() for name in (DERIVED, SUPPORTED)}
        self.corrected = Edges.none()  # of observations that a person stated, to the turns that they put right
        self.stems: dict[int, frozenset[str]] = {}  # of observations by row, as far as they were asked for
        self._at = 0
        self._last_read = 0

    @property
    def size(self) -> int:
        return self.beliefs.size + self.pieces.size

    @property
    def last(self) -> int:
        """The newest event that has a row in either table."""
        return max(self.beliefs.last, self.pieces.last)

    def project_of(self, document: str) -> str | None:
        """The project that a document belongs to."""
        return self.titles.get(document, ("", None))[1]

    def rows(self, seqs: "NDArray[np.int64]") -> "NDArray[np.intp]":
        """The events themselves: of a list that is of both tables, each then takes its own."""
        import numpy as np

        return seqs.astype(np.intp)

    def refresh(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Bring the tables to where the turns' columns are, in the same snapshot."""
        if self._at != columns.at_event:
            self._read_chunks(db)
            self._read_documents(db)
            self._read_observations(db, columns)
            self._at = columns.at_event

    def _read_observations(self, db: sqlite3.Connection, columns: Columns) -> None:
        import numpy as np

        found = read_touched(db, _OBSERVATIONS, self._at)
        if not found["seq"]:
            return
        table = self.beliefs
        rows, _ = table.place(found)
        table["status"][rows] = coded(found["status"], STATUSES.index)
        for name in ("live", "current", "pinned", "confidence", "at"):
            table[name][rows] = np.array(found[name])
        table["world"][rows] = coded(found["world"], self.worlds.add)
        table["for_all"][rows] = [for_all(*each) for each in zip(found["kind"], found["origin"], strict=True)]
        for name, edges in self.of_turns.items():
            newer = read_columns(db, _PROOF.format("turns"), name, self._at)
            self.of_turns[name] = edges.replace(rows, self._edges(newer, columns))
        self.corrected = self.corrected.replace(rows, self._edges(read_columns(db, _CORRECTED, self._at), columns))
        for name, edges in self.of_chunks.items():
            newer = read_columns(db, _PROOF.format("chunks"), name, self._at)
            self.of_chunks[name] = edges.replace(rows, self._edges(newer, self.pieces))

    def _edges(self, found: ReadColumns, ends: Table) -> Edges:
        import numpy as np

        one, other = (np.array(found[end], np.int64) for end in ("one", "other"))
        return Edges(self.beliefs.rows(one), ends.rows(other), np.array(found["amount"], np.float32))

    def _read_chunks(self, db: sqlite3.Connection) -> None:
        import numpy as np

        found = read_touched(db, _CHUNKS, self._at)
        if not found["seq"]:
            return
        table = self.pieces
        rows, _ = table.place(found)
        for name in ("position", "live", "at"):
            table[name][rows] = np.array(found[name])
        table["document"][rows] = coded(found["document"], self.documents.add)
        self._chain()

    def _read_documents(self, db: sqlite3.Connection) -> None:
        """Titles and projects of the documents; a reading may change them and no chunk."""
        last = db.execute(_LAST_READ).fetchone()[0]
        if last != self._last_read:
            self.titles = {
                id: ((text or "").partition("\n")[0], project) for id, text, project in db.execute(_DOCUMENTS)
            }
            self._last_read = last

    def _chain(self) -> None:
        """What stands before each chunk in its document, among the live ones."""
        import numpy as np

        table = self.pieces
        table["before"][:] = NONE
        rows = np.flatnonzero(table["live"])
        rows = rows[np.lexsort((table["position"][rows], table["document"][rows]))]
        same = table["document"][rows[1:]] == table["document"][rows[:-1]]
        table["before"][rows[1:][same]] = rows[:-1][same]
