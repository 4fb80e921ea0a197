"""The words of a query and who said them: terms, their document frequencies and postings, from the log's word index.

Invariants:
- The query is cut into terms by FTS5's own tokenizer, so that stems agree; no query syntax is involved, so that any
  text is safe.
- Postings come from the index term by term and are kept while the term's document frequency stays the same, for appends
  only raise it; an erasure, which lowers it, lets go of them all.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from graph.recall.columns import NONE, Columns
from graph.recall.evidence import Term
from graph.sqlite import open_reader, reading

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

MOST_TERMS = 8
MOST_ASKED = 96  # different terms looked up of a long query: half from its beginning, half from its end
LONGEST = 20_000  # characters of a query that are read, half from its beginning, half from its end
MOST_POSTINGS = 24_000  # read for one query, the rarest terms first: about 12 ms; the first term comes in any case
KEPT_POSTINGS = 4_000_000  # in memory, 8 bytes each

TOKENIZER = "porter unicode61 remove_diacritics 2"  # as in the log's schema

# Words that say nothing about what is meant; English, for the others their frequency tells.
STOP_WORDS = (
    "a about after all also an and any are as at be been before being but by can could d did didn do does doesn doing "
    "don during each few for from further had has have having he her hers herself him himself his how i if in into is "
    "isn it its itself just ll m me more most my myself no nor not now of off on once only or other our ours ourselves "
    "out over own re s same she should so some such t than that the their theirs them themselves then there these they "
    "this those through to too under until up ve very was wasn we were what when where which while who whom whose why "
    "will with would you your yours yourself yourselves"
)

_TABLES = (
    "CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'row')",
    "CREATE VIRTUAL TABLE temp.places USING fts5vocab('main', 'words', 'instance')",
    f"CREATE VIRTUAL TABLE temp.asked USING fts5(text, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE temp.asked_places USING fts5vocab('temp', 'asked', 'instance')",
)


class Words:
    """The word index of a log, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._path = path
        self._db: sqlite3.Connection | None = None
        self._kept: OrderedDict[str, tuple[int, NDArray[np.int32], NDArray[np.float32]]] = OrderedDict()
        self._postings = 0
        self._lengths: NDArray[np.float32] = np.zeros(0, np.float32)
        self._measured = 0  # events up to this number have their length
        self._erased = 0  # the last erasure that was seen

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """The connection, in one snapshot of the log. Raises LogDamaged."""
        with reading(self._path):
            if self._db is None:
                self._db = open_reader(self._path)
                self._db.execute("PRAGMA temp_store = MEMORY")
                for statement in _TABLES:
                    self._db.execute(statement)
            self._db.execute("BEGIN")
            try:
                yield self._db
            finally:
                self._db.execute("ROLLBACK")

    def terms(self, db: sqlite3.Connection, query: str, columns: Columns, *, without: Collection[str]) -> list[Term]:
        """The query's terms that tell most, rarest first: at most 8, none of the stop words and of `without`."""
        self._forget_erased(db)
        asked = self._stems(db, query, without)
        found = sorted(
            (frequency, place, stem) for stem, place in asked.items() if (frequency := _frequency(db, stem)) > 0
        )
        terms: list[Term] = []
        read = 0
        for frequency, place, stem in found[:MOST_TERMS]:
            read += frequency
            if terms and (read > MOST_POSTINGS or 2 * frequency > columns.size > 20):
                break
            terms.append(Term(stem, place, frequency, *self._read(db, stem, frequency, columns)))
        return terms

    def lengths(self, db: sqlite3.Connection, columns: Columns) -> "NDArray[np.float32]":
        """float32[rows]: words in each turn, as the index counts them; 0 where it has none."""
        import numpy as np

        if len(self._lengths) < columns.size:
            grown = np.zeros(columns.size + columns.size // 4 + 64, np.float32)
            grown[: len(self._lengths)] = self._lengths
            self._lengths = grown
        last = int(columns["seq"][-1]) if columns.size else 0
        if last > self._measured:
            sizes = db.execute("SELECT id, sz FROM words_docsize WHERE id > ? AND id <= ?", (self._measured, last))
            measured = [(seq, _varint(size)) for seq, size in sizes]
            rows = columns.rows(np.array([seq for seq, _ in measured], np.int64))
            known = rows != NONE
            self._lengths[rows[known]] = np.array([length for _, length in measured], np.float32)[known]
            self._measured = last
        return self._lengths[: columns.size]

    def forget(self) -> None:
        """Let go of what is kept by row: the rows are new."""
        import numpy as np

        self._kept.clear()
        self._postings = self._measured = 0
        self._lengths = np.zeros(0, np.float32)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _stems(self, db: sqlite3.Connection, query: str, without: Collection[str]) -> dict[str, int]:
        """The stems of a query and the place of each in it, without those of `without`."""
        clipped = query if len(query) <= LONGEST else query[: LONGEST // 2] + " " + query[-LONGEST // 2 :]
        texts = [(1, clipped.replace("\0", " ")), (2, " ".join(without)), (3, STOP_WORDS)]
        db.executemany("INSERT INTO temp.asked (rowid, text) VALUES (?, ?)", texts)
        places = db.execute("SELECT doc, term, offset FROM temp.asked_places ORDER BY doc DESC, offset").fetchall()
        left_out = {stem for doc, stem, _ in places if doc != 1}
        stems: dict[str, int] = {}
        for doc, stem, place in places:
            if doc == 1 and stem not in left_out:
                stems.setdefault(stem, place)
        ordered = list(stems.items())
        if len(ordered) > MOST_ASKED:
            ordered = ordered[: MOST_ASKED // 2] + ordered[-MOST_ASKED // 2 :]
        return dict(ordered)

    def _forget_erased(self, db: sqlite3.Connection) -> None:
        query = "SELECT max(seq) FROM events WHERE kind <> 'turn.said' AND kind = 'text.erased'"  # as its index says it
        last = db.execute(query).fetchone()[0] or 0
        if last != self._erased:
            self._kept.clear()
            self._postings, self._erased = 0, last

    def _read(
        self, db: sqlite3.Connection, stem: str, frequency: int, columns: Columns
    ) -> "tuple[NDArray[np.int32], NDArray[np.float32]]":
        import numpy as np

        kept = self._kept.get(stem)
        if kept is not None and kept[0] == frequency:
            self._kept.move_to_end(stem)
            return kept[1], kept[2]
        query = "SELECT doc, count(*) FROM temp.places WHERE term = ? GROUP BY doc"
        found = np.array(db.execute(query, (stem,)).fetchall(), np.int64).reshape(-1, 2)
        rows = columns.rows(found[:, 0])
        known = rows != NONE
        postings = rows[known].astype(np.int32), found[known, 1].astype(np.float32)
        if known.all():  # else the graph is behind the log by what an append is just adding
            self._keep(stem, frequency, *postings)
        return postings

    def _keep(self, stem: str, frequency: int, rows: "NDArray[np.int32]", counts: "NDArray[np.float32]") -> None:
        old = self._kept.pop(stem, None)
        self._postings += len(rows) - (len(old[1]) if old else 0)
        self._kept[stem] = frequency, rows, counts
        while self._postings > KEPT_POSTINGS:
            _, (_, dropped, _) = self._kept.popitem(last=False)
            self._postings -= len(dropped)


def _frequency(db: sqlite3.Connection, stem: str) -> int:
    row = db.execute("SELECT doc FROM temp.terms WHERE term = ?", (stem,)).fetchone()
    return row[0] if row is not None else 0


def _varint(size: bytes) -> int:
    """The first of SQLite's variable-length numbers: seven bits a byte, the high bit says that more come."""
    number = 0
    for byte in size[:8]:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number
