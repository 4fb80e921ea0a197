"""Which rows of a table have a word: the posting lists of one of the log's word indexes, kept as they are asked for.

Invariant: an append only adds to a list's end, which is read on the next use; what is erased calls for `forget`.
"""

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

FEW = 50  # rows below which nothing is common
RARE = 200  # a term that fewer than one row in so many has is counted when it is asked for
KEPT = 4_000_000  # in memory, 4 bytes each


class IndexedRows(Protocol):
    """What an index is of: which of its events have a row, and how far they were read."""

    @property
    def last(self) -> int: ...

    def rows(self, seqs: "NDArray[np.int64]") -> "NDArray[np.intp]": ...


@dataclass(slots=True)
class _Kept:
    """What is known of a stem: how many rows have it, and maybe which, as of event `at`."""

    frequency: int
    at: int
    rows: "NDArray[np.int32] | None" = None


class Postings:
    """The lists of one table's rows, from the FTS5 table `index`, whose rowids are events.

    `later`: the index has events that the table will never have, and they are not counted.
    """

    def __init__(self, index: str, *, later: bool = False) -> None:
        self._later = later
        self._until = f"SELECT count(*) FROM {index} WHERE {index} MATCH ? AND rowid <= ?"
        self._listed = f"SELECT group_concat(rowid) FROM {index} WHERE {index} MATCH ? AND rowid > ? AND rowid <= ?"
        self._counted = f"SELECT term, doc FROM temp.{index}_vocabulary"
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0

    def warm(self, db: sqlite3.Connection, table: IndexedRows, size: int) -> None:
        """Count the common terms ahead: counting takes the longer the more rows have one."""
        if self._later:
            return
        for stem, frequency in db.execute(f"{self._counted} WHERE doc > ?", (max(FEW, size // RARE),)):
            if stem not in self._kept:
                self._kept[stem] = _Kept(frequency, table.last)

    def forget(self) -> None:
        """Let go of everything: the rows are new, or words were erased."""
        self._kept.clear()
        self._size = 0

    def frequency(self, db: sqlite3.Connection, stem: str, word: str, last: int) -> int:
        """About how many rows have a stem, by one of its words: counted anew when the log has grown by a twentieth."""
        kept = self._kept.get(stem)
        grown = 0 if kept is None else last - kept.at
        if kept is None or (grown and not kept.frequency) or (kept.rows is None and grown > 100 + kept.at // 20):
            kept = self._kept[stem] = _Kept(self._count(db, stem, word, last), last)
        return kept.frequency

    def _count(self, db: sqlite3.Connection, stem: str, word: str, last: int) -> int:
        if self._later:
            counted: int = db.execute(self._until, (f'"{word}"', last)).fetchone()[0]
            return counted
        row = db.execute(f"{self._counted} WHERE term = ?", (stem,)).fetchone()
        return row[1] if row is not None else 0

    def rows(self, db: sqlite3.Connection, stem: str, word: str, table: IndexedRows) -> "NDArray[np.int32]":
        """The rows of `table` that have a stem, by one of its words, in order; what came since is read."""
        import numpy as np

        kept, last = self._kept.setdefault(stem, _Kept(0, 0)), table.last
        rows, after = (kept.rows, kept.at) if kept.rows is not None else (np.zeros(0, np.int32), 0)
        if after < last:
            listed = db.execute(self._listed, (f'"{word}"', after, last)).fetchone()[0]
            if listed is not None:
                found = table.rows(np.fromstring(listed, np.int64, sep=","))
                rows = np.concatenate([rows, found[found != NONE].astype(np.int32)])
        self._size += len(rows) - (0 if kept.rows is None else len(kept.rows))
        self._kept[stem] = _Kept(len(rows), last, rows)
        self._kept.move_to_end(stem)
        while self._size > KEPT:
            _, dropped = self._kept.popitem(last=False)
            self._size -= 0 if dropped.rows is None else len(dropped.rows)
        return rows
