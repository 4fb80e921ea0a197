"""The words of a query and who said them: stems and their posting lists, from the log's word indexes.

Invariant: an append only adds to a list's end, which is read on the next use; what is erased calls for `forget`.

Invariants:
- The query is cut into words of letters and digits, and FTS5's own tokenizer says what their stems are, so that they
  agree with the index; no query syntax ever reaches it, so that any text is safe.
- An erasure lets go of all postings that are kept.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from unicodedata import category

from graph.projection.sqlite_tables import TablesInMemory
from graph.recall.columns import Columns
from graph.recall.evidence import Term
from graph.recall.learned import LearnedIndex
from graph.recall.scoring import worth_of
from graph.recall.table import NONE
from graph.sqlite import bound, open_reader, reading
from graph.whole_words import STOP_WORDS, TOKENIZER, becomes_stop_word, is_whole, names_in, small, whole, words_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

Stems = dict[str, tuple[str, int]]  # with a word that has each, and its place in the query
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

    def rows_among(
        self, db: sqlite3.Connection, stem: str, word: str, table: IndexedRows, among: "Mask"
    ) -> "NDArray[np.int32]":
        """Those of the rows that are among some."""
        rows = self.rows(db, stem, word, table)
        return rows[among[rows]]


MOST_TERMS = 8
MOST_ASKED = 96  # different terms looked up of a long query: half from its beginning, half from its end
LONGEST = 20_000  # characters of a query that are read, half from its beginning, half from its end
COMMON = 0.2  # terms that more turns than this share have say little: only where a query has no other

INDEXES = ("words", "learned")  # of turns; of observations and chunks

SYMBOL = "So"  # in Unicode: emoji and the like
_WORD = re.compile(r"[^\W_]+")
_TABLES = (
    *(f"CREATE VIRTUAL TABLE temp.{index}_vocabulary USING fts5vocab('main', '{index}', 'row')" for index in INDEXES),
    f"CREATE VIRTUAL TABLE temp.asked USING fts5(text, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE temp.asked_stems USING fts5vocab('temp', 'asked', 'instance')",
)
_HOLDING = "SELECT group_concat(seq) FROM events WHERE kind = 'turn.said' AND instr(text, ?) AND seq <= ?"
_LAST_ERASED = "SELECT max(seq) FROM events WHERE kind <> 'turn.said' AND kind = 'text.erased'"  # as its index says it


class Words:
    """The word index of a log, on a connection of its own."""

    def __init__(self, path: Path, *, until: int | None = None, tables: TablesInMemory | None = None) -> None:
        self._path = path
        self._until = until
        self._tables = tables
        self._db: sqlite3.Connection | None = None
        later = until is not None
        self.of_turns, self.of_learned = Postings("words", later=later), Postings("learned", later=later)
        self._asked: tuple[tuple[str, tuple[str, ...]] | None, Stems] = None, {}
        self._erased = 0  # the last erasure that was seen

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """The connection, in one snapshot of the log. Raises LogDamaged or LogUnreadable."""
        with reading(self._path):
            db = self._db = self._db or self._opened()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("ROLLBACK")

    def _opened(self) -> sqlite3.Connection:
        with ExitStack() as failing:
            db = failing.enter_context(closing(open_reader(self._path)))
            db.execute("PRAGMA temp_store = MEMORY")
            if self._until is not None:
                bound(db, self._until)
            if self._tables is not None:
                self._tables.attach(db)
            for statement in _TABLES:
                db.execute(statement)
            failing.pop_all()
        return db

    def terms(
        self,
        db: sqlite3.Connection,
        query: str,
        columns: Columns,
        *,
        without: Collection[str],
        among: "Mask | None" = None,
    ) -> list[Term]:
        """The query's terms that tell most, rarest first: at most 8, none of the stop words and of `without`.

        Which tell most is counted `among` some turns, in whose rows alone they are then, or about, in all.
        """
        self._forget_erased(db)
        words = self._stems(db, query, without)
        if not words:
            return self._symbols(db, query, columns, among)
        if among is not None:
            return self._terms_among(db, words, columns, among)
        said = self.of_turns
        last = columns.last
        counted = ((said.frequency(db, stem, word, last), stem) for stem, (word, _) in words.items())
        found = _whole_first(sorted((frequency, stem) for frequency, stem in counted if frequency), words)
        terms: list[Term] = []
        for _, stem in _telling(found, columns.size):
            word, place = words[stem]
            terms.append(Term(stem, place, said.rows(db, stem, word, columns)))
        return terms

    def _terms_among(self, db: sqlite3.Connection, words: Stems, columns: Columns, among: "Mask") -> list[Term]:
        import numpy as np

        rows = {stem: self.of_turns.rows_among(db, stem, word, columns, among) for stem, (word, _) in words.items()}
        found = _whole_first(sorted((len(each), stem) for stem, each in rows.items() if len(each)), words)
        telling = _telling(found, int(np.count_nonzero(among)))
        return [Term(stem, words[stem][1], rows[stem]) for _, stem in telling]

    def learned_terms(
        self,
        db: sqlite3.Connection,
        query: str,
        columns: Columns,
        learned: LearnedIndex,
        *,
        without: Collection[str],
        among: "tuple[Mask, Mask] | None" = None,
    ) -> tuple[list[Term], list[Term]]:
        """The terms that tell most of observations, and of chunks, each with its worth among all there is.

        Or `among` some turns and observations; there are no chunks then.
        """
        if not learned.size:
            return [], []
        said, known = self.of_turns, self.of_learned
        words = self._stems(db, query, without)
        if among is not None:
            return self._learned_among(db, words, columns, learned, *among), []
        last, count = learned.last, columns.size + learned.size
        counted = (
            (said.frequency(db, stem, word, columns.last) + known.frequency(db, stem, word, last), stem)
            for stem, (word, _) in words.items()
        )
        found = _whole_first(sorted((frequency, stem) for frequency, stem in counted if frequency), words)
        terms: tuple[list[Term], list[Term]] = ([], [])
        for frequency, stem in _telling(found, count):
            word, place = words[stem]
            worth = worth_of(count, frequency)
            events = known.rows(db, stem, word, learned)
            for each, table in zip(terms, (learned.beliefs, learned.pieces), strict=True):
                rows = table.rows(events.astype("i8"))
                each.append(Term(stem, place, rows[rows != NONE].astype(events.dtype), worth))
        return terms

    def _learned_among(
        self,
        db: sqlite3.Connection,
        words: Stems,
        columns: Columns,
        learned: LearnedIndex,
        turns: "Mask",
        known: "Mask",
    ) -> list[Term]:
        import numpy as np

        table = learned.beliefs
        counted: list[tuple[int, str]] = []
        rows: dict[str, NDArray[np.int32]] = {}
        for stem, (word, _) in words.items():
            made = table.rows(self.of_learned.rows(db, stem, word, learned).astype("i8"))
            rows[stem] = made[np.append(known, False)[made]].astype(np.int32)  # NONE is the last
            counted.append((len(self.of_turns.rows_among(db, stem, word, columns, turns)) + len(rows[stem]), stem))
        count = int(np.count_nonzero(turns)) + int(np.count_nonzero(known))
        return [
            Term(stem, words[stem][1], rows[stem], worth_of(count, frequency))
            for frequency, stem in _telling(_whole_first(sorted(each for each in counted if each[0]), words), count)
        ]

    def _stems(self, db: sqlite3.Connection, query: str, without: Collection[str]) -> Stems:
        """The stems of a query, which is asked for twice: of what was said, and of what was learned."""
        key = query, tuple(without)
        if self._asked[0] != key:
            self._asked = key, stems(db, query, without)
        return self._asked[1]

    def _symbols(self, db: sqlite3.Connection, query: str, columns: Columns, among: "Mask | None") -> list[Term]:
        """The emoji of a query that has nothing else, which are in no index: all texts are looked through."""
        import numpy as np

        said = query[:LONGEST]
        if _WORD.search(said):
            return []
        terms: list[Term] = []
        for place, symbol in enumerate(dict.fromkeys(each for each in said if category(each) == SYMBOL)):
            listed = db.execute(_HOLDING, (symbol, columns.last)).fetchone()[0] if len(terms) < MOST_TERMS else None
            if listed is not None:
                found = columns.rows(np.fromstring(listed, np.int64, sep=","))
                rows = np.sort(found[found != NONE]).astype(np.int32)
                if among is None or among[rows].any():
                    terms.append(Term(symbol, place, rows if among is None else rows[among[rows]]))
        return terms

    def warm(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Count the common terms ahead: counting takes the longer the more turns have one."""
        self.of_turns.warm(db, columns, columns.size)

    def forget(self) -> None:
        """Let go of what is kept by row: the rows are new."""
        self.of_turns.forget()
        self.of_learned.forget()

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _forget_erased(self, db: sqlite3.Connection) -> None:
        last = db.execute(_LAST_ERASED).fetchone()[0] or 0
        if last != self._erased:
            self.forget()
            self._erased = last


def _telling(found: list[tuple[int, str]], size: int) -> Iterator[tuple[int, str]]:
    """The rarest few, given in order; common ones only where there is no other."""
    common = max(FEW, COMMON * size)
    for place, (frequency, stem) in enumerate(found[:MOST_TERMS]):
        if place and frequency > common:
            return
        yield frequency, stem


def says_anything(query: str) -> bool:
    """Whether there is a letter, a digit or an emoji in a query: quotes and stars are nothing to look for."""
    return any(each.isalnum() or category(each) == SYMBOL for each in query)


def words_of(query: str) -> list[str]:
    """The different words of a query, folded, in order: what the place of a term counts."""
    return list(dict.fromkeys(words_in(_clipped(query))))


def _clipped(query: str) -> str:
    return query if len(query) <= LONGEST else f"{query[: LONGEST // 2]} {query[-LONGEST // 2 :]}"


def stems(db: sqlite3.Connection, query: str, without: Collection[str]) -> Stems:
    """The stems of a query, without those of the stop words and of `without`: a word that has each, and its place.

    What is written as a name is there whole, and as others are, too, which counts where nothing has the name.
    """
    words, names = words_of(query), set(names_in(_clipped(query)))
    told = set(words_in(" ".join(without)))
    left_out = [STOP_WORDS, " ".join(without)]
    texts = [*left_out, *words]
    db.execute("DELETE FROM temp.asked")
    db.executemany("INSERT INTO temp.asked (rowid, text) VALUES (?, ?)", enumerate(texts))
    found = db.execute("SELECT doc, term FROM temp.asked_stems ORDER BY doc").fetchall()
    ignored = {stem for doc, stem in found if doc < len(left_out)}
    named: dict[str, tuple[str, int]] = {}
    for doc, stem in found:
        word, place = texts[doc], doc - len(left_out)
        if place < 0:
            continue
        if (word in names or becomes_stop_word(word)) and word not in told:
            named.setdefault(whole(word), (whole(word), place))
        if becomes_stop_word(word):
            stem = word = small(word)
        if stem not in ignored:
            named.setdefault(stem, (word, place))
    if len(named) > MOST_ASKED:
        ordered = list(named.items())
        return dict(ordered[: MOST_ASKED // 2] + ordered[-MOST_ASKED // 2 :])
    return named


def _whole_first(found: list[tuple[int, str]], words: Stems) -> list[tuple[int, str]]:
    """Without the stems of names that are there whole."""
    there = {words[stem][1] for _, stem in found if is_whole(stem)}
    return [each for each in found if is_whole(each[1]) or words[each[1]][1] not in there]


def stems_of(db: sqlite3.Connection, texts: Sequence[str]) -> list[frozenset[str]]:
    """The stems of each of some short texts, without those of the stop words."""
    db.execute("DELETE FROM temp.asked")
    db.executemany("INSERT INTO temp.asked (rowid, text) VALUES (?, ?)", enumerate([STOP_WORDS, *texts]))
    found: list[set[str]] = [set() for _ in range(len(texts) + 1)]
    for doc, stem in db.execute("SELECT doc, term FROM temp.asked_stems").fetchall():
        found[doc].add(stem)
    kept = ({small(word) for word in words_in(text) if becomes_stop_word(word)} for text in texts)
    return [frozenset((each - found[0]) | names) for each, names in zip(found[1:], kept, strict=True)]
