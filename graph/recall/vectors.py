"""One embedder's vectors as a matrix in memory, row by row beside the columns, for exact cosine similarity.

Invariants: a row is of length 1, or zero where there is no vector yet (`has` tells), which one that is damaged is too.
It is filled from the log's cache as vectors arrive there, never from a model. Not thread-safe: whoever recalls holds
the lock of `Recall`.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from graph.contents import BATCH, sound, vectors, vectors_of_later
from graph.recall.table import NONE, Table
from graph.values import Vector

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray


class Part:
    """The vectors of one table's rows."""

    def __init__(self, table: Table) -> None:
        import numpy as np

        self.table = table
        self.synced = 0  # events up to this number were looked up
        self.values: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.has: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def grow(self, dimension: int) -> None:
        """Room for all rows of the table."""
        import numpy as np

        size = self.table.size
        if size > len(self.has) or self.values.shape[1] != dimension:
            room = size + size // 4 + 64
            values = np.zeros((room, dimension), np.float32)
            if self.values.shape[1] == dimension:
                values[: len(self.values)] = self.values
            has = np.zeros(room, np.bool_)
            has[: len(self.has)] = self.has
            self.values, self.has = values, has

    def put(self, seqs: "NDArray[np.int64]", vectors: "NDArray[np.float32]") -> None:
        """Take the vectors of events that have a row; what the graph does not have yet comes later."""
        rows = self.table.rows(seqs)
        known = rows != NONE
        self.values[rows[known]] = vectors[known]
        self.has[rows[known]] = True

    def cosines(self, query: Vector) -> "NDArray[np.float32] | None":
        """float32[size]: how near each row is, as the query's cosines are read; 0 where there is no vector.

        None if nothing is embedded, or `query` has another dimension or is not a direction at all.
        """
        import numpy as np

        size, values = self.table.size, np.asarray(query.values, np.float32)
        if not self.values.size or values.shape != self.values.shape[1:] or not np.isfinite(values).all():
            return None
        length = float(np.linalg.norm(values))
        if length == 0 or len(self.has) < size:
            return None
        # BLAS is a little faster, but what equal rows come to depends on where they stand: they would not tie.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self.values[:size], values / np.float32(length))
        if (query.zero, query.slope) != (0, 1):
            read = (cosines - np.float32(query.zero)) * np.float32(query.slope)
            cosines = np.where(self.has[:size], np.clip(read, -1, 1), np.float32(0))
        return cosines


class Matrix:
    """The vectors of one model for some tables, the turns' first; `sync` brings in what is new."""

    def __init__(self, model: str, *tables: Table) -> None:
        self.model = model
        self._embedder = (0, 0)  # number and dimension, as the log has them
        self._after = 0  # the last vector's id that was read
        self._parts = tuple(Part(table) for table in tables)

    def sync(self, db: sqlite3.Connection) -> None:
        """Read the vectors that came since the last time, and those that new rows had before they were made."""
        row = db.execute("SELECT id, dimension FROM embedders WHERE name = ?", (self.model,)).fetchone()
        parts = [part for part in self._parts if part.table.size]
        if row is None or not parts:
            return
        if row != self._embedder:
            self._embedder, self._after = row, 0  # nothing of what was read stays
            self._parts = tuple(Part(part.table) for part in self._parts)
            parts = [part for part in self._parts if part.table.size]
        newest = db.execute("SELECT max(id) FROM vectors").fetchone()[0] or 0
        if newest > self._after:
            for batch in _batches(vectors(db, self.model, after=self._after)):
                self._put(parts, batch)
        for part in parts:
            if part.values.size:
                part.grow(self._embedder[1])
            if part.table.last > part.synced:
                if part.synced or self._after:  # of a table that was empty so far, from its first event on
                    known = part.synced or int(part.table["seq"][0]) - 1
                    for batch in _batches(vectors_of_later(db, self.model, after_seq=known)):
                        self._put([part], batch)
                part.synced = part.table.last
        self._after = max(newest, self._after)

    def of(self, tables: Sequence[Table]) -> bool:
        """Whether it is of these tables, and not of some that were before."""
        return all(part.table is table for part, table in zip(self._parts, tables, strict=True))

    def cosines(self, query: Vector, table: Table) -> "NDArray[np.float32] | None":
        """How near each row of a table is, None where that cannot be told."""
        return next(part for part in self._parts if part.table is table).cosines(query)

    def vector(self, table: Table, row: int) -> "NDArray[np.float32] | None":
        """float32[dimension] of one row; None where there is none."""
        part = next(part for part in self._parts if part.table is table)
        return part.values[row] if row < len(part.has) and part.has[row] else None

    def of_rows(self, table: Table, rows: "NDArray[np.intp]") -> "NDArray[np.float32]":
        """float32[len(rows), dimension], zero where there is none."""
        import numpy as np

        part = next(part for part in self._parts if part.table is table)
        if len(part.values) < table.size:
            return np.zeros((len(rows), self._embedder[1]), np.float32)
        return part.values[rows]

    def take(self, rows: "Sequence[int] | NDArray[np.intp]") -> "NDArray[np.float32] | None":
        """float32[len(rows), dimension]: the vectors of turns, zero where there is none; None if there are none."""
        import numpy as np

        values = self._parts[0].values
        return values.take(np.asarray(rows, np.intp), axis=0) if values.size else None

    def _put(self, parts: Sequence[Part], batch: list[tuple[int, int, bytes]]) -> None:
        import numpy as np

        kept, well = sound([vector for _, _, vector in batch], self._embedder[1])
        if not len(kept):
            return
        seqs = np.array([seq for _, seq, _ in batch], np.int64)[well]
        for part in parts:
            part.grow(self._embedder[1])  # only now: the dimension that was noted may be damaged, and any number
            part.put(seqs, kept)


def _batches(rows: Iterator[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, int, bytes]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
