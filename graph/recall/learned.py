"""What was learned as columns in memory, beside those of the turns: observations with their proof, and chunks.

Invariants:
- Each table is what the graph says at event `at_event`; whether a turn is live is asked of the turns' columns, so that
  an observation can be judged for any world, and by what may be seen there.
- A memory in which nothing was learned asks the graph nothing: the log's index of kinds tells.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.kuzu.store import GraphStore
from graph.recall.columns import Columns
from graph.recall.table import NONE, Names, Table, coded
from graph.visibility import for_all

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

STATUSES = ("candidate", "active", "superseded", "invalid")
CANDIDATE, ACTIVE, SUPERSEDED, INVALID = range(len(STATUSES))
DERIVED, SUPPORTED, REINFORCED = "DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY"

_FIRST = "SELECT 1 FROM events WHERE kind <> 'turn.said' AND kind = ? LIMIT 1"  # as its index says it
_LAST_READ = "SELECT coalesce(max(seq), 0) FROM events WHERE kind <> 'turn.said' AND kind = 'document.read'"
_OBSERVATIONS = (
    "MATCH (n:Observation) {} RETURN n.id AS id, n.seq AS seq, n.status AS status, n.live AS live, "
    "n.current AS current, n.pinned AS pinned, n.world AS world, n.confidence AS confidence, n.kind AS kind, "
    "n.origin AS origin, n.at AS at, n.touched AS touched"
)
_CHUNKS = (
    "MATCH (n:Chunk) {} RETURN n.id AS id, n.seq AS seq, n.document AS document, coalesce(n.position, 0) AS position, "
    "n.live AS live, n.at AS at, n.touched AS touched"
)
_CHANGED = "WHERE n.touched > $after"
_PROOF = "MATCH (n:Observation)-[r:{}]->(s:{}) {} RETURN n.seq AS one, s.seq AS other, {} AS amount"
# What a person puts right is what the revision before theirs was made from.
_CORRECTED = (
    "MATCH (n:Observation)-[:SUPERSEDES]->(b:Observation)-[:DERIVED_FROM]->(s:Turn) WHERE n.origin = 'user' {} "
    "RETURN DISTINCT n.seq AS one, s.seq AS other, 0.0 AS amount"
)
_DOCUMENTS = "MATCH (d:Document) RETURN d.id AS id, d.title AS title, d.project AS project"


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
    """The observations and chunks of one open graph. `refresh` reads what changed since the last time."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
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
        self._at = {"observation.made": 0, "chunk.read": 0}
        self._last_read = 0
        self._known = {"observation.made": False, "chunk.read": False}

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
        """Bring the tables to where the turns' columns are, or later. Raises GraphFailure."""
        if self._due(db, "chunk.read", columns):
            self._read_chunks(self._at["chunk.read"])
            self._read_documents(db.execute(_LAST_READ).fetchone()[0])
            self._at["chunk.read"] = columns.at_event
        if self._due(db, "observation.made", columns):
            self._read_observations(columns, self._at["observation.made"])
            self._at["observation.made"] = columns.at_event

    def _due(self, db: sqlite3.Connection, kind: str, columns: Columns) -> bool:
        if not self._known[kind]:
            self._known[kind] = db.execute(_FIRST, (kind,)).fetchone() is not None
        return self._known[kind] and self._at[kind] != columns.at_event

    def _read_observations(self, columns: Columns, after: int) -> None:
        found = self._changed(_OBSERVATIONS, after)
        if not found.num_rows:
            return
        table = self.beliefs
        rows, _ = table.place(found)
        table["status"][rows] = coded(found["status"], STATUSES.index)
        for name in ("live", "current", "pinned", "confidence", "at"):
            table[name][rows] = found[name].to_numpy()
        table["world"][rows] = coded(found["world"], self.worlds.add)
        table["for_all"][rows] = [
            for_all(*each) for each in zip(found["kind"].to_pylist(), found["origin"].to_pylist(), strict=True)
        ]
        for name, edges in self.of_turns.items():
            query = _PROOF.format(name, "Turn", _CHANGED if after else "", "0.0" if name == DERIVED else "r.amount")
            self.of_turns[name] = edges.replace(rows, self._edges(query, columns, after))
        query = _CORRECTED.format("AND n.touched > $after" if after else "")
        self.corrected = self.corrected.replace(rows, self._edges(query, columns, after))
        for name, edges in self.of_chunks.items():
            if self.pieces.size:
                query = _PROOF.format(
                    name, "Chunk", _CHANGED if after else "", "0.0" if name == DERIVED else "r.amount"
                )
                self.of_chunks[name] = edges.replace(rows, self._edges(query, self.pieces, after))

    def _edges(self, query: str, ends: Table, after: int) -> Edges:
        found = self.store.columns(query, {"after": after} if after else {})
        one, other = self.beliefs.rows(found["one"].to_numpy()), ends.rows(found["other"].to_numpy())
        here = one != NONE  # what is newer than the observations that were read comes again with its own
        return Edges(one[here], other[here], found["amount"].to_numpy().astype("f4")[here])

    def _read_chunks(self, after: int) -> None:
        found = self._changed(_CHUNKS, after)
        if not found.num_rows:
            return
        table = self.pieces
        rows, _ = table.place(found)
        for name in ("position", "live", "at"):
            table[name][rows] = found[name].to_numpy()
        table["document"][rows] = coded(found["document"], self.documents.add)
        self._chain()

    def _read_documents(self, last: int) -> None:
        """Titles and projects of the documents; a reading may change them and no chunk."""
        if last != self._last_read:
            listed = self.store.columns(_DOCUMENTS).to_pylist()
            self.titles = {row["id"]: (row["title"] or "", row["project"]) for row in listed}
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

    def _changed(self, query: str, after: int) -> "pyarrow.Table":
        found = self.store.columns(query.format(_CHANGED if after else ""), {"after": after} if after else {})
        return found.sort_by("seq")
