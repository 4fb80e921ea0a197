"""One embedder's vectors as a matrix in memory, row by row beside the columns, for exact cosine similarity.

Invariants: a row is of length 1, or zero where there is no vector yet (`has` tells), which one that is damaged is too.
It is filled from the log's cache as vectors arrive there, never from a model. Not thread-safe: whoever recalls holds
the lock of `Recall`.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from graph.contents import vectors, vectors_of_later
from graph.recall.columns import NONE, Columns
from graph.soundness import BATCH, sound

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray


class Matrix:
    """The vectors of one model; `sync` brings in what is new."""

    def __init__(self, model: str) -> None:
        import numpy as np

        self.model = model
        self._embedder = (0, 0)  # number and dimension, as the log has them
        self._after = 0  # the last vector's id that was read
        self._synced = 0  # events up to this number were looked up
        self._values: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._has: NDArray[np.bool_] = np.zeros(0, np.bool_)

    @property
    def dimension(self) -> int:
        """Numbers in a vector, 0 before the first."""
        return int(self._values.shape[1])

    def sync(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Read the vectors that came since the last time, and those that new turns had before they were said."""
        row = db.execute("SELECT id, dimension FROM embedders WHERE name = ?", (self.model,)).fetchone()
        if row is None or not columns.size:
            return
        if row != self._embedder:
            self.__init__(self.model)  # type: ignore[misc]  # forgotten and made anew: nothing of it stays
            self._embedder = row
        if self.dimension:
            self._grow(columns.size)
        newest = db.execute("SELECT max(id) FROM vectors").fetchone()[0] or 0
        if newest > self._after:
            for batch in _batches(vectors(db, self.model, after=self._after)):
                self._put(columns, batch)
            self._after = newest
        last = int(columns["seq"][-1])
        if last > self._synced:
            if self._synced:
                for batch in _batches(vectors_of_later(db, self.model, after_seq=self._synced)):
                    self._put(columns, batch)
            self._synced = last

    def cosines(self, query: "NDArray[np.float32]", size: int) -> "NDArray[np.float32] | None":
        """float32[size]: how near each row is, 0 where there is no vector.

        None if nothing is embedded, or `query` has another dimension or is not a direction at all.
        """
        import numpy as np

        values = np.asarray(query, np.float32)
        if not self.dimension or values.shape != (self.dimension,) or not np.isfinite(values).all():
            return None
        length = float(np.linalg.norm(values))
        if length == 0 or len(self._has) < size:
            return None
        # On one thread: this waits for memory, not for arithmetic, and BLAS's second would fight with the model's.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self._values[:size], values / np.float32(length))
        return cosines

    def take(self, rows: Sequence[int]) -> "NDArray[np.float32] | None":
        """float32[len(rows), dimension]: the vectors of some rows, zero where there is none; None if there are none."""
        return self._values[list(rows)] if self.dimension else None

    def _grow(self, size: int) -> None:
        import numpy as np

        dimension = self._embedder[1]
        if size > len(self._has):
            room = size + size // 4 + 64
            values = np.zeros((room, dimension), np.float32)
            values[: len(self._values)] = self._values if self.dimension else 0
            has = np.zeros(room, np.bool_)
            has[: len(self._has)] = self._has
            self._values, self._has = values, has

    def _put(self, columns: Columns, batch: list[tuple[int, int, bytes]]) -> None:
        import numpy as np

        kept, well = sound([vector for _, _, vector in batch], self._embedder[1])
        if not len(kept):
            return
        self._grow(columns.size)  # only now: the dimension that was noted may be damaged, and any number
        rows = columns.rows(np.array([seq for _, seq, _ in batch], np.int64)[well])
        known = rows != NONE  # what the graph does not have yet comes with `vectors_of_later`
        self._values[rows[known]] = kept[known]
        self._has[rows[known]] = True


def _batches(rows: Iterator[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, int, bytes]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch
