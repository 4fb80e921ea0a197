"""One score for every observation, on the turns' scale: its own words and meaning, and the place its proof stands in.

An observation says what its turns say, shorter. So it is worth what the best of them is worth, with its own words and
meaning in place of the turn's: the neighbours, the session, the time and the speaker are the turn's. Where it says
what is asked as well as the turn does, it comes ahead of it by its boosts; where the turn says more, the turn does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graph.recall.columns import NOTE, Columns
from graph.recall.evidence import Scores, Term
from graph.recall.learned import DERIVED, REINFORCED, SUPPORTED, Edges, LearnedIndex
from graph.recall.lending import RELATED
from graph.recall.ranking import PIN, recency
from graph.recall.request import RecallRequest, VisibleRows
from graph.recall.scoring import AROUND, COSINE, SIGNIFICANT, WINDOW, WORDS
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Mask = NDArray[np.bool_]

OWN = COSINE + WINDOW / (1 + 2 * sum(AROUND))  # of the cosine, what a turn has of its own with all its neighbours
PROOF = 0.06  # more than one turn says it: the most that adds
SURE = 0.06  # the most that being sure adds, and being unsure takes
STANDS_FOR = (DERIVED,)
USUAL = 0.7  # confidence that neither adds nor takes
OF_THE_TURN = ("asking",)  # lifts of a turn that say nothing of what was learned from it


@dataclass(frozen=True, slots=True)
class ScoredObservations:
    """Observations or chunks with their scores: float32[size] each, and which of them may be hits.

    `own` is what their own words and meaning say; `lender` is the row of the turn whose place they stand in, NONE where
    that is a chunk's or nobody's. `corrected` are the rows of turns that a person put right, each with that of the
    observation that says how it is; of these `notes` were said for nothing else. `walked` is what
    came over relationships.
    """

    total: "Floats"
    own: "Floats"
    words: "Floats"
    cosines: "Floats | None"
    boosts: "dict[str, Floats]"
    may: "Mask"
    lender: "NDArray[np.intp]"
    corrected: Mapping[int, int] = field(default_factory=dict)
    walked: "Floats | None" = None
    notes: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RecallExtras:
    """What there is beside the turns, None where nothing was learned or it is not asked for."""

    observations: ScoredObservations | None = None
    chunks: ScoredObservations | None = None


def share_of(terms: Sequence[Term], size: int) -> "Floats":
    """float32[size], 0–1: the share of the terms, by their worth, that a row has."""
    import numpy as np

    share = np.zeros(size, np.float32)
    whole = sum(term.worth or 0.0 for term in terms)
    for term in terms:
        share[term.rows] += np.float32((term.worth or 0.0) / whole)
    return share


def observe(
    learned: LearnedIndex,
    columns: Columns,
    terms: Sequence[Term],
    cosines: "Floats | None",
    turns: Scores,
    said: "Floats",
    chunks: ScoredObservations | None,
    sight: VisibleRows,
    asked: RecallRequest,
    meaning: "Floats | None",
    lent: "Floats | None" = None,
) -> ScoredObservations:
    """The scores of all observations for a question; `said` is what turns say by themselves, as `told` has it.

    `cosines` are the observations', `meaning` the turns'; `lent` is what came to observations over relationships: it
    counts as far as the turn whose place one stands in was lent less.
    """
    import numpy as np

    table = learned.beliefs
    words = share_of(terms, table.size)
    one, note = _corrected_notes(learned, columns)
    np.maximum.at(words, one, turns.lexical[note])  # a correction is found by what the note said that it corrects
    if cosines is not None and meaning is not None:
        cosines = cosines.copy()
        np.maximum.at(cosines, one, meaning[note])
    own = told(words, cosines, sight.known)
    total, lender = own.copy(), np.full(table.size, NONE, np.intp)
    for relation in STANDS_FOR:
        _stand(total, lender, own, learned.of_turns[relation], _of_turns(turns), said)
        if chunks is not None:
            _stand(total, None, own, learned.of_chunks[relation], chunks.total, chunks.own)
    boosts = _boosts(learned, columns, sight, asked)
    for boost in boosts.values():
        total += boost
    may = words > 0
    if cosines is not None:
        may |= cosines >= RELATED
    if lent is not None:
        by_turn = np.zeros(1, np.float32) if turns.walked is None else np.append(turns.walked, np.float32(0))
        total += np.maximum(lent - by_turn[lender if turns.walked is not None else 0], 0)
        may |= lent > 0
    holds = sight.stood.in_use & sight.learned
    holds &= proof(learned, sight.asked_for, sight.chunks_asked_for, (DERIVED,)) > 0
    corrected = _corrected(learned, holds)
    notes = frozenset(row for row in corrected if columns["role"][row] == NOTE)
    return ScoredObservations(
        total.astype(np.float32), own, words, cosines, boosts, may & holds, lender, corrected, lent, notes
    )


def _corrected_notes(learned: LearnedIndex, columns: Columns) -> "tuple[NDArray[np.intp], NDArray[np.intp]]":
    """Observations with the notes that they put right."""
    import numpy as np

    edges = learned.corrected
    notes = np.append(columns["role"] == NOTE, False)[edges.other]  # NONE is the last
    return edges.one[notes], edges.other[notes]


def _corrected(learned: LearnedIndex, holds: "Mask") -> dict[int, int]:
    """The turns that observations which hold put right, each with the newest of these."""
    edges = learned.corrected
    pairs = zip(edges.one.tolist(), edges.other.tolist(), strict=True)
    return {other: one for one, other in sorted(pairs) if other != NONE and holds[one]}


def proof(learned: LearnedIndex, turns: "Mask", chunks: "Mask", relations: tuple[str, ...]) -> "NDArray[np.intp]":
    """How many of the turns and chunks that prove each observation are among those given."""
    import numpy as np

    size = learned.beliefs.size
    found = np.zeros(size, np.intp)
    for relation in relations:
        found += learned.of_turns[relation].count(turns, size)
        if relation in learned.of_chunks:
            found += learned.of_chunks[relation].count(chunks, size)
    return found


def confidence(learned: LearnedIndex, turns: "Mask") -> "Floats":
    """As it was made, and what live supports and reinforcements add, at most 1."""
    import numpy as np

    table = learned.beliefs
    sure = table["confidence"].copy()
    live = np.append(turns, False)
    for relation in (SUPPORTED, REINFORCED):
        edges = learned.of_turns[relation]
        sure += np.bincount(edges.one, edges.amount * live[edges.other], minlength=table.size).astype(np.float32)
    capped: Floats = np.minimum(sure, np.float32(1))
    return capped


def told(words: "Floats", cosines: "Floats | None", seen: "Mask") -> "Floats":
    """What rows say by themselves, in one measure for turns, observations and chunks: their words and their meaning."""
    import numpy as np

    said: Floats = np.float32(WORDS) * words
    if cosines is not None:
        known = seen & (cosines != 0)
        mean = np.float32(cosines[known].mean()) if known.any() else np.float32(0)  # of what is not embedded yet
        said += np.float32(OWN) * np.where(known, cosines, mean).astype(np.float32)
    return said


def _of_turns(turns: Scores) -> "Floats":
    """What turns are worth, but for what says nothing of what was learned from them."""
    worth = turns.total
    for name in OF_THE_TURN:
        if name in turns.boosts:
            worth = worth - turns.boosts[name]
    return worth


def _stand(
    total: "Floats", lender: "NDArray[np.intp] | None", own: "Floats", edges: Edges, ends: "Floats", said: "Floats"
) -> None:
    """Put observations in the place of the best end of their edges, less what it says more; `lender`: which it is."""
    import numpy as np

    none = np.float32(-np.inf)
    more = np.append(said, np.float32(0))[edges.other] - own[edges.one]
    worth = np.append(ends, none)[edges.other] - np.maximum(more, 0)
    np.maximum.at(total, edges.one, worth)
    if lender is not None:
        of_best = worth == total[edges.one]
        lender[edges.one[of_best]] = edges.other[of_best]


def _boosts(learned: LearnedIndex, columns: Columns, sight: VisibleRows, asked: RecallRequest) -> "dict[str, Floats]":
    import numpy as np

    table = learned.beliefs
    count = np.maximum(proof(learned, sight.anywhere, sight.chunks, (DERIVED, SUPPORTED)), 1)
    sure = (confidence(learned, sight.anywhere) - np.float32(USUAL)) / np.float32(1 - USUAL)
    edges = learned.of_turns[DERIVED]
    significance = np.zeros(table.size, np.float32)
    np.maximum.at(significance, edges.one, np.append(columns["significance"], 0)[edges.other].astype(np.float32))
    boosts = {
        "proof": np.float32(PROOF) * (1 - 1 / count),
        "confidence": np.float32(SURE) * np.clip(sure, -1, 1),
        "pin": np.where(sight.pins.beliefs, PIN, 0),
        "significance": np.float32(SIGNIFICANT) * significance,
    }
    if asked.intent.recent:
        newest = np.zeros(table.size, np.int64)
        np.maximum.at(newest, edges.one, np.append(columns["at"], 0)[edges.other])
        boosts["recency"] = recency(newest, asked.now)
    return {name: boost.astype(np.float32) for name, boost in boosts.items()}
