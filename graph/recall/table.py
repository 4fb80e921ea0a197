"""Rows of the tables beside the log, as columns in memory: what turns, observations and chunks have in common.

Invariants: a row is an event's, in the order of the log (`seq` ascends), and keeps its number for as long as the table
lives, so that words and vectors can be aligned to it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

NONE = -1
ReadColumns = dict[str, Sequence[Any]]


def read_columns(db: sqlite3.Connection, query: str, *values: object) -> ReadColumns:
    """The columns of a query's rows, by their names."""
    cursor = db.execute(query, values)
    rows = cursor.fetchall()
    columns = zip(*rows, strict=True) if rows else ((),) * len(cursor.description)
    return dict(zip((name for name, *_ in cursor.description), columns, strict=True))


def read_touched(db: sqlite3.Connection, query: str, at: int) -> ReadColumns:
    """The rows of a query that changed after event `at`, in the order of the log.

    All of them are read in that order; of a few SQLite, left to itself, would look for them among all.
    """
    return read_columns(db, f"{query} WHERE touched > ? ORDER BY {'+' if at else ''}seq", at)


class Names:
    """Strings as small numbers, in the order they came."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        """The number of a name, NONE if it never came."""
        return self._codes.get(name, NONE)

    def add(self, name: str) -> int:
        if name not in self._codes:
            self._codes[name] = len(self.names)
            self.names.append(name)
        return self._codes[name]

    def __len__(self) -> int:
        return len(self.names)


class Table:
    """Columns that grow. Not thread-safe: whoever recalls holds the lock of `Recall`."""

    def __init__(self, types: Mapping[str, str]) -> None:
        import numpy as np

        self.size = 0
        self._places: dict[bytes, int] = {}  # of ids, filled when first asked for
        every = {"seq": "i8", "id": "S26", **types}
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, type) for name, type in every.items()}

    def __getitem__(self, column: str) -> "NDArray[Any]":
        """One value for each row."""
        return self._columns[column][: self.size]

    @property
    def last(self) -> int:
        """The newest event that has a row, 0 before the first."""
        return int(self._columns["seq"][self.size - 1]) if self.size else 0

    def rows(self, seqs: "NDArray[np.int64]") -> "NDArray[np.intp]":
        """The rows of events by number, NONE for what has none here."""
        import numpy as np

        known = self["seq"]
        if not self.size:
            return np.full(len(seqs), NONE, np.intp)
        places = np.minimum(np.searchsorted(known, seqs), self.size - 1)
        return np.where(known[places] == seqs, places, NONE)

    def ids(self, rows: Iterable[int]) -> list[str]:
        """The ids of rows."""
        column = self._columns["id"]
        return [str(column[row], "utf-8") for row in rows]

    def row_of(self, id: str) -> int:
        """The row of an id, NONE if there is none."""
        if len(self._places) < self.size:
            first = len(self._places)
            self._places.update((each, first + place) for place, each in enumerate(self["id"][first:].tolist()))
        return self._places.get(id.encode(), NONE)

    def place(self, read: ReadColumns) -> "tuple[NDArray[np.intp], NDArray[np.bool_]]":
        """The rows of what was read, sorted by `seq`: the known ones, new ones at the end; and which are new."""
        import numpy as np

        seqs = np.array(read["seq"], np.int64)
        rows = self.rows(seqs)
        new = rows == NONE
        rows[new] = self.size + np.arange(new.sum())
        self._grow(self.size + int(new.sum()), read["id"])
        self._columns["seq"][rows] = seqs
        self._columns["id"][rows] = np.array(read["id"], self._columns["id"].dtype)
        return rows, new

    def _grow(self, size: int, ids: Iterable[str]) -> None:
        import numpy as np

        self.size = size
        if size > len(self._columns["seq"]):
            room = size + size // 4 + 64
            for name, column in self._columns.items():
                grown = np.zeros(room, column.dtype)
                grown[: len(column)] = column
                self._columns[name] = grown
        longest = max((len(id.encode()) for id in ids), default=0)
        if longest > self._columns["id"].dtype.itemsize:  # ours have 26 characters; an import's may have more
            self._columns["id"] = self._columns["id"].astype(f"S{longest}")


def coded(column: Sequence[str | None], code: Callable[[str], int]) -> "NDArray[np.int32]":
    """A column of strings as numbers, NONE for null: each different string is looked up once."""
    import numpy as np

    codes: dict[str | None, int] = {None: NONE}
    for value in column:
        if value is not None and value not in codes:
            codes[value] = code(value)
    return np.fromiter((codes[value] for value in column), np.int32, len(column))
