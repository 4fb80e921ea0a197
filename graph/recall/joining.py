"""Turns, observations and chunks in one list, the best first, and nothing in it twice.

An observation and a turn it was made from say the same: of the two the better one stays. Where a person corrected what
a turn says, their words stand before it; a note that is corrected says nothing any more. A document is read at length
and a chat is not, so that chunks may take but a share of the places.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.recall.evidence import Scores
from graph.recall.learned import DERIVED, LearnedIndex
from graph.recall.observing import STANDS_FOR, RecallExtras, ScoredObservations
from graph.values import Kind

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

SHARE = 3  # one place of so many may be a chunk's, while there is anything else
OF_ONE = 2  # chunks of one document among as many places as turns have in a prompt
PER = 6


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row of one of the tables, with its score."""

    kind: Kind
    row: int
    score: float


def best(found: ScoredObservations, limit: int) -> list[int]:
    """The rows with the best scores that may be hits, the newest first of equals."""
    import numpy as np

    rows = np.flatnonzero(found.may)
    if len(rows) > limit:
        rows = np.sort(rows[np.argpartition(-found.total[rows], limit)[:limit]])
    order = np.lexsort((-rows, -found.total[rows]))
    return [int(row) for row in rows[order]]


def join(
    rows: Sequence[int],
    turns: Scores,
    found: RecallExtras,
    learned: LearnedIndex,
    held: "tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]",
    limit: int,
    spare: int,
) -> list[ScoredRow]:
    """Places from turns, the best first, and what was learned: `limit` of them, and some to spare.

    `held` are the turns, chunks and observations that the prompt holds; one of these tells its turns there already.
    """
    places = [ScoredRow("turn", row, float(turns.total[row])) for row in rows]
    more: tuple[tuple[Kind, ScoredObservations | None], ...] = (
        ("observation", found.observations),
        ("chunk", found.chunks),
    )
    for kind, each in more:
        if each is not None:
            places += [ScoredRow(kind, row, float(each.total[row])) for row in best(each, limit + spare)]
    places.sort(key=lambda place: (-place.score, place.kind == "turn"))  # of equals the observation
    turns_held, chunks_held, observations_held = (set(rows.tolist()) for rows in held)
    once = _once(places, learned, turns_held, chunks_held, found.observations)
    fresh = [place for place in once if place.kind != "observation" or place.row not in observations_held]
    return _bounded(fresh, learned, limit, spare)


def _once(
    places: Iterable[ScoredRow],
    learned: LearnedIndex,
    told: set[int],
    chunks: set[int],
    beliefs: ScoredObservations | None,
) -> list[ScoredRow]:
    """Without what the places before it say already, or the turns and chunks that are known as it is."""
    corrected, notes = (beliefs.corrected, beliefs.notes) if beliefs is not None else ({}, frozenset[int]())
    kept: list[ScoredRow] = []
    for place in places:
        match place.kind:
            case "turn":
                new = place.row not in told
                if new and (right := corrected.get(place.row)) is not None:
                    kept.append(ScoredRow("observation", right, place.score))
                    told.update(learned.of_turns[DERIVED].of(right).tolist())
                    new = place.row not in notes
                told.add(place.row)
            case "chunk":
                new = place.row not in chunks
                chunks.add(place.row)
            case _:
                said = {int(row) for relation in STANDS_FOR for row in learned.of_turns[relation].of(place.row)}
                read = {int(row) for relation in STANDS_FOR for row in learned.of_chunks[relation].of(place.row)}
                new = not (said <= told and read <= chunks)
                if new:
                    told |= said
                    chunks |= read
        if new:
            kept.append(place)
    return kept


def _bounded(places: Sequence[ScoredRow], learned: LearnedIndex, limit: int, spare: int) -> list[ScoredRow]:
    """The first places, with no more chunks among them than have a share, unless there is too little else."""
    documents: dict[int, int] = {}
    kept: list[ScoredRow] = []
    over: list[ScoredRow] = []
    room = max(1, limit // SHARE)
    each = max(OF_ONE, limit // PER)
    for place in places:
        if place.kind == "chunk":
            document = int(learned.pieces["document"][place.row])
            if room <= 0 or documents.get(document, 0) >= each:
                over.append(place)
                continue
            documents[document] = documents.get(document, 0) + 1
            room -= 1
        kept.append(place)
    if len(kept) < limit and over:
        kept = sorted([*kept, *over[: limit - len(kept)]], key=lambda place: -place.score)
    return kept[: limit + spare]
