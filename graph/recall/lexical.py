"""The words of a query and who said them: stems, how many turns have each, and which, from the log's word index.

Invariants:
- The query is cut into words of letters and digits, and FTS5's own tokenizer says what their stems are, so that they
  agree with the index; no query syntax ever reaches it, so that any text is safe.
- Postings come from the index term by term and are kept: an append only adds to their end, which is read on the next
  use; an erasure lets go of them all.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from graph.recall.columns import NONE, Columns
from graph.recall.evidence import Term
from graph.sqlite import open_reader, reading

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

MOST_TERMS = 8
MOST_ASKED = 96  # different terms looked up of a long query: half from its beginning, half from its end
LONGEST = 20_000  # characters of a query that are read, half from its beginning, half from its end
COMMON = 0.2  # terms that more turns than this share have say little: only where a query has no other
RARE = 200  # a term that fewer than one turn in so many has is counted when it is asked for
FEW = 50  # turns below which nothing is common
KEPT_POSTINGS = 4_000_000  # in memory, 4 bytes each

TOKENIZER = "porter unicode61 remove_diacritics 2"  # as in the log's schema

# Words that say nothing about what is meant, those of asking too; English, for other languages frequency has to tell.
STOP_WORDS = (
    "a about according after ago all also an and any are as at be been before being but by can could d describe "
    "described did didn do does doesn doing don done during each few for from further get got had has have having "
    "he her hers herself him himself his how i if in into is isn it its itself just kind kinds likely ll m many "
    "me mention mentioned might more most my myself no nor not now of off on once one only or other our ours "
    "ourselves out over own re s said same say she should so some sort such t tell than that the their theirs "
    "them themselves then there these they this those through to told too type types under until up use used ve "
    "very was wasn we were what when where which while who whom whose why will with would you your yours yourself "
    "yourselves"
)

SYMBOL = "So"  # in Unicode: emoji and the like
_WORD = re.compile(r"[^\W_]+")
_TABLES = (
    "CREATE VIRTUAL TABLE temp.frequencies USING fts5vocab('main', 'words', 'row')",
    f"CREATE VIRTUAL TABLE temp.asked USING fts5(text, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE temp.asked_stems USING fts5vocab('temp', 'asked', 'instance')",
)
_POSTINGS = "SELECT group_concat(rowid) FROM words WHERE words MATCH ? AND rowid > ? AND rowid <= ?"
_HOLDING = "SELECT group_concat(seq) FROM events WHERE kind = 'turn.said' AND instr(text, ?) AND seq <= ?"
_FREQUENCIES = "SELECT term, doc FROM temp.frequencies"
_LAST_ERASED = "SELECT max(seq) FROM events WHERE kind <> 'turn.said' AND kind = 'text.erased'"  # as its index says it


@dataclass(slots=True)
class _Kept:
    """What is known of a stem: how many turns have it, and maybe which rows, as of event `at`."""

    frequency: int
    at: int
    rows: "NDArray[np.int32] | None" = None


class Words:
    """The word index of a log, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._postings = 0
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
        last = int(columns["seq"][-1]) if columns.size else 0
        words = _stems(db, query, without)
        if not words:
            return self._symbols(db, query, columns, last)
        found = sorted((frequency, stem) for stem in words if (frequency := self._frequency(db, stem, last)))
        common = max(FEW, COMMON * columns.size)
        terms: list[Term] = []
        for frequency, stem in found[:MOST_TERMS]:
            if terms and frequency > common:
                break
            word, place = words[stem]
            terms.append(Term(stem, place, self._rows(db, stem, word, columns, last)))
        return terms

    def _symbols(self, db: sqlite3.Connection, query: str, columns: Columns, last: int) -> list[Term]:
        """The emoji of a query that has nothing else, which are in no index: all texts are looked through."""
        import numpy as np

        said = query[:LONGEST]
        if _WORD.search(said):
            return []
        terms: list[Term] = []
        for place, symbol in enumerate(dict.fromkeys(each for each in said if category(each) == SYMBOL)):
            listed = db.execute(_HOLDING, (symbol, last)).fetchone()[0] if len(terms) < MOST_TERMS else None
            if listed is not None:
                found = columns.rows(np.fromstring(listed, np.int64, sep=","))
                terms.append(Term(symbol, place, np.sort(found[found != NONE]).astype(np.int32)))
        return terms

    def warm(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Count the common terms ahead: counting takes the longer the more turns have one."""
        last = int(columns["seq"][-1]) if columns.size else 0
        for stem, frequency in db.execute(f"{_FREQUENCIES} WHERE doc > ?", (max(FEW, columns.size // RARE),)):
            if stem not in self._kept:
                self._kept[stem] = _Kept(frequency, last)

    def forget(self) -> None:
        """Let go of what is kept by row: the rows are new."""
        self._kept.clear()
        self._postings = 0

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _forget_erased(self, db: sqlite3.Connection) -> None:
        last = db.execute(_LAST_ERASED).fetchone()[0] or 0
        if last != self._erased:
            self.forget()
            self._erased = last

    def _frequency(self, db: sqlite3.Connection, stem: str, last: int) -> int:
        """About how many turns have a stem: counted anew when the log has grown by a twentieth."""
        kept = self._kept.get(stem)
        grown = 0 if kept is None else last - kept.at
        if kept is None or (grown and not kept.frequency) or (kept.rows is None and grown > 100 + kept.at // 20):
            row = db.execute(f"{_FREQUENCIES} WHERE term = ?", (stem,)).fetchone()
            kept = self._kept[stem] = _Kept(row[1] if row is not None else 0, last)
        return kept.frequency

    def _rows(self, db: sqlite3.Connection, stem: str, word: str, columns: Columns, last: int) -> "NDArray[np.int32]":
        """The rows that have a stem, in order: those kept, and those said since."""
        import numpy as np

        kept = self._kept[stem]
        rows, after = (kept.rows, kept.at) if kept.rows is not None else (np.zeros(0, np.int32), 0)
        if after < last:
            listed = db.execute(_POSTINGS, (f'"{word}"', after, last)).fetchone()[0]
            if listed is not None:
                found = columns.rows(np.fromstring(listed, np.int64, sep=","))
                rows = np.concatenate([rows, found[found != NONE].astype(np.int32)])
        self._postings += len(rows) - (0 if kept.rows is None else len(kept.rows))
        self._kept[stem] = _Kept(len(rows), last, rows)
        self._kept.move_to_end(stem)
        while self._postings > KEPT_POSTINGS:
            _, dropped = self._kept.popitem(last=False)
            self._postings -= 0 if dropped.rows is None else len(dropped.rows)
        return rows


def says_anything(query: str) -> bool:
    """Whether there is a letter, a digit or an emoji in a query: quotes and stars are nothing to look for."""
    return any(each.isalnum() or category(each) == SYMBOL for each in query)


def _stems(db: sqlite3.Connection, query: str, without: Collection[str]) -> dict[str, tuple[str, int]]:
    """The stems of a query, without those of the stop words and of `without`: a word that has each, and its place."""
    clipped = query if len(query) <= LONGEST else f"{query[: LONGEST // 2]} {query[-LONGEST // 2 :]}"
    words = list(dict.fromkeys(_WORD.findall(clipped.lower())))
    left_out = [STOP_WORDS, " ".join(without)]
    texts = [*left_out, *words]
    db.executemany("INSERT INTO temp.asked (rowid, text) VALUES (?, ?)", enumerate(texts))
    found = db.execute("SELECT doc, term FROM temp.asked_stems ORDER BY doc").fetchall()
    ignored = {stem for doc, stem in found if doc < len(left_out)}
    stems: dict[str, tuple[str, int]] = {}
    for doc, stem in found:
        if doc >= len(left_out) and stem not in ignored:
            stems.setdefault(stem, (texts[doc], doc - len(left_out)))
    if len(stems) > MOST_ASKED:
        ordered = list(stems.items())
        return dict(ordered[: MOST_ASKED // 2] + ordered[-MOST_ASKED // 2 :])
    return stems
