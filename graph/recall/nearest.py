"""The observations in use that are nearest to some words: what is known already of what was just said. Reads no turn.

Nearness is meaning and words together: the cosine, and the share of an observation's own words that are said. Turns
make it no slower: only observations are looked at, and the words of the few that are nearest.
"""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graph.recall.evidence import Term
from graph.recall.explain import read_texts
from graph.recall.learned import LearnedIndex
from graph.recall.lexical import stems_of
from graph.recall.observing import share_of
from graph.recall.request import VisibleRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SPARE = 3  # times as many as asked for have their words compared


def nearest(
    db: sqlite3.Connection,
    learned: LearnedIndex,
    sight: VisibleRows,
    said: frozenset[str],
    terms: Sequence[Term],
    cosines: "NDArray[np.float32] | None",
    *,
    under_review: bool,
    limit: int,
) -> list[tuple[str, float, float]]:
    """Ids with cosine and share of words, the nearest first.

    `said` are the stems of the words, `terms` those of them that tell most.
    """
    import numpy as np

    table = learned.beliefs
    may = sight.learned & (sight.stood.current if under_review else sight.stood.in_use)
    meaning = np.zeros(table.size, np.float32) if cosines is None else np.maximum(cosines, 0)
    shares = share_of(terms, table.size)
    rows = np.flatnonzero(may & ((shares > 0) | (meaning > 0)))
    rows = rows[np.lexsort((-rows, -(shares + meaning)[rows]))][: limit * SPARE]
    found = []
    for row, own in _words_of(db, learned, rows.tolist()).items():
        found.append((table.ids([row])[0], float(meaning[row]), len(own & said) / len(own) if own else 0.0))
    return sorted(found, key=lambda each: (-(each[1] + each[2]), each[0]))[:limit]


def _words_of(db: sqlite3.Connection, learned: LearnedIndex, rows: Sequence[int]) -> dict[int, frozenset[str]]:
    """The stems of observations whose text is there; worked out once each, which costs more than all the rest."""
    texts = read_texts(db, learned.beliefs, rows)
    fresh = [row for row in texts if row not in learned.stems]
    learned.stems.update(zip(fresh, stems_of(db, [texts[row] for row in fresh]), strict=True))
    return {row: learned.stems[row] for row in texts}
