"""Who says the words of others: later turns that have a run of words in common with some texts.

A run is four words, or fewer that are twenty characters long; one of nothing but the commonest words is nobody's quote.
The word index proposes, the texts themselves decide. Bounded: of long texts some runs are looked for, evenly spread.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from graph.rows import KEPT, SAID, TURN, turn_of, turns_of
from graph.values import Turn

WORDS, CHARACTERS = 4, 20  # what makes a run
MOST_RUNS = 400  # that are looked for, of all texts together
AT_ONCE = 40  # runs in one query
MOST_FOUND = 50  # turns

_SAYING = "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    _WORD.findall(
        "a about all am an and any are as at be because been but by can could did do does for from get got had has have"
        " he her him his how i if in is it its just like me more most my no not now of on one or our out really she so"
        " some than that the their them then there they this to too up us was we were what when where which who why"
        " will with would you your don t s m re ll ve d"
    )
)

Run = tuple[str, ...]


def runs(text: str) -> Iterator[Run]:
    """The shortest run of words that begins at each word of a text."""
    words = _WORD.findall(text.casefold())
    for at in range(len(words)):
        for end in range(at + 1, min(at + WORDS, len(words)) + 1):
            run = tuple(words[at:end])
            if len(run) == WORDS or len(" ".join(run)) >= CHARACTERS:
                if not _COMMON.issuperset(run):
                    yield run
                break


def quoting(
    db: sqlite3.Connection, texts: Iterable[tuple[int, str]], *, but: Collection[str], erased: Collection[int]
) -> list[Turn]:
    """Turns that say words of texts with an earlier number than theirs, the oldest first.

    Those in `but` are left out, and those whose own words are among the `erased` events.
    """
    sought: dict[Run, int] = {}
    for seq, text in texts:
        for run in runs(text):
            sought[run] = min(seq, sought.get(run, seq))
    step = max(1, -(-len(sought) // MOST_RUNS))
    some = list(islice(sought.items(), 0, None, step))
    candidates: set[int] = set()
    for at in range(0, len(some), AT_ONCE):
        candidates |= _proposed(db, some[at : at + AT_ONCE])
    found = sorted(seq for seq in candidates - set(erased) if _says(db, seq, sought, but))
    rows = db.execute(f"{TURN} WHERE said.seq IN (SELECT value FROM json_each(?))", (json.dumps(found[:MOST_FOUND]),))
    return sorted(turns_of(db, rows.fetchall()), key=lambda turn: turn.at)


def _proposed(db: sqlite3.Connection, some: Sequence[tuple[Run, int]]) -> set[int]:
    phrases = " OR ".join(f'"{" ".join(run)}"' for run, _ in some)
    first = min(seq for _, seq in some)
    return {seq for (seq,) in db.execute(_SAYING, (phrases, first, 4 * MOST_FOUND))}


def _says(db: sqlite3.Connection, seq: int, sought: dict[Run, int], but: Collection[str]) -> bool:
    row = db.execute(f"{TURN} WHERE said.seq = ? AND {SAID} AND {KEPT}", (seq,)).fetchone()
    if row is None:
        return False
    turn = turn_of(row, 0)
    return turn.id not in but and any(sought.get(run, seq) < seq for run in runs(turn.text or ""))
