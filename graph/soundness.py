"""Which of the kept vectors are directions of length 1, as they were written; the others are read by nobody.

The log's file can be damaged or changed by others: a vector of another length than its embedder's, or with a number
that is none, would spoil every score that it enters. Checked in batches: 0.1 s for 250,000 vectors of 384 numbers.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import compress, groupby, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
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
