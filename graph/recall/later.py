"""What was said later on the topic of something older, so that nothing outdated is told as if it were so now.

Likeness finds the topic, not the change: so what is near is not judged but shown beside what it may outdate, the newest
first. A turn is as near as it is itself, and as what was learned from it is, which leaves out what else it says; one
that tells something of weight comes before one that does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.recall.columns import NOTE, ROLES, Columns
from graph.recall.learned import DERIVED, SUPPORTED, LearnedIndex
from graph.recall.table import NONE
from graph.recall.vectors import Matrix
from graph.recall.witness import Witnessed

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]

MOST = 3  # turns beside one thing: of 100 changes among as many other messages 93 were among the first three
CHOSEN_OF = 10  # turns that are near, of which some only ask
TELLS = 0.2  # what telling something of weight adds to a cosine
MATTERS = 0.1  # and what telling something that matters more than most adds to that
LEAST = 0.32  # from which a turn is on the same topic
AT_ONCE = 64  # older things, so that long lists take no more memory
LOOKED_AT = 8_000  # turns that are compared; of more the weighty, then the newest
USER = ROLES.index("user")


@dataclass(frozen=True, slots=True)
class Older:
    """Something that was said or learned: its vector, when it was last said (UTC milliseconds), the turns it is."""

    id: str
    vector: "Floats"
    at: int
    turns: frozenset[int]


def older_memory(
    columns: Columns,
    learned: LearnedIndex,
    matrix: Matrix,
    row: int,
    *,
    related: bool = False,
    view: Witnessed | None = None,
) -> Older | None:
    """An observation, as its turns last said it; None where nothing tells its meaning, or no turn says it.

    One that is `related` says how two stand to each other and no more ("I own Bo"): its turns say what it is about.
    Of a `view` only those turns say it that are in it.
    """
    said = [
        int(turn)
        for relation in (DERIVED, SUPPORTED)
        for turn in learned.of_turns[relation].of(row)
        if turn != NONE and (view is None or view.sources[turn])
    ]
    vectors = [matrix.vector(learned.beliefs, row), *(matrix.vector(columns, turn) for turn in said)]
    vector = next((each for each in (vectors[1:] if related else vectors) if each is not None), vectors[0])
    if vector is None or not said:
        return None
    return Older(learned.beliefs.ids([row])[0], vector, max(int(columns["at"][turn]) for turn in said), frozenset(said))


def older_turn(columns: Columns, matrix: Matrix, row: int) -> Older | None:
    """What a person said; None where nothing tells its meaning, or it was no person."""
    vector = matrix.vector(columns, row) if _said_by_people(columns, row) else None
    if vector is None:
        return None
    return Older(columns.ids([row])[0], vector, int(columns["at"][row]), frozenset({row}))


def later_turns(
    columns: Columns, learned: LearnedIndex, matrix: Matrix, may: "Mask", known: "Mask", older: Sequence[Older]
) -> dict[str, list[int]]:
    """For each older thing the rows of turns that were said later on its topic, the nearest first; `may` be told.

    `known` are the observations that there are for whoever asks.
    """
    import numpy as np

    rows = _compared(columns, may, min((each.at for each in older), default=0))
    values = matrix.take(rows) if len(rows) else None
    if values is None:
        return {}
    found: dict[str, list[int]] = {}
    for start in range(0, len(older), AT_ONCE):
        some = older[start : start + AT_ONCE]
        wanted = np.array([each.vector for each in some], np.float32)
        near = values @ wanted.T
        near = (near + np.maximum(near, _of_what_was_learned(columns, learned, matrix, rows, known, wanted))) / 2
        near += _by_weight(columns["significance"][rows])[:, None]
        for place, each in enumerate(some):
            score = np.where((columns["at"][rows] > each.at) & ~np.isin(rows, list(each.turns)), near[:, place], 0)
            best = np.flatnonzero(score >= LEAST)
            if len(best) > CHOSEN_OF:
                best = best[np.argpartition(-score[best], CHOSEN_OF)[:CHOSEN_OF]]
            found[each.id] = [int(rows[at]) for at in best[np.lexsort((best, -score[best]))]]
    return {id: chosen for id, chosen in found.items() if chosen}


def tell_most(columns: Columns, rows: Sequence[int], texts: Mapping[int, str]) -> list[int]:
    """The nearest of some turns that tell anything, the newest first: what only asks outdates nothing."""
    telling = [
        row
        for row in rows
        if row in texts and (columns["significance"][row] > 0 or not texts[row].rstrip().endswith(("?", "？")))
    ]
    return sorted(telling[:MOST], key=lambda row: (-int(columns["at"][row]), row))


def _by_weight(significance: "NDArray[np.int8]") -> "Floats":
    """What the weight of each turn, 0–3, adds to its nearness."""
    import numpy as np

    return np.asarray(np.float32(TELLS) * (significance > 0) + np.float32(MATTERS) * (significance > 1), np.float32)


def _compared(columns: Columns, may: "Mask", since: int) -> "NDArray[np.intp]":
    """What people said since then, and may be told."""
    import numpy as np

    rows = np.flatnonzero(may & _said_by_people(columns, slice(None)) & (columns["at"] > since))
    if len(rows) > LOOKED_AT:
        order = np.lexsort((-columns["at"][rows], columns["significance"][rows] == 0))
        rows = np.sort(rows[order[:LOOKED_AT]])
    return rows


def _said_by_people(columns: Columns, rows: int | slice) -> "Mask":
    """What people said: the user, and in a story whoever plays in it."""
    role, witnesses = columns["role"][rows], columns["witnesses"][rows]
    people: Mask = (role == USER) | (role == NOTE) | (witnesses != NONE)
    return people


def _of_what_was_learned(
    columns: Columns,
    learned: LearnedIndex,
    matrix: Matrix,
    rows: "NDArray[np.intp]",
    known: "Mask",
    wanted: "Floats",
) -> "Floats":
    """float32[rows, wanted]: how near what was learned from each turn is, at the best; -1 where nothing was."""
    import numpy as np

    near = np.full((len(rows), len(wanted)), -1, np.float32)
    made = learned.of_turns[DERIVED].among(known)
    place = np.full(columns.size + 1, NONE, np.intp)  # NONE is the last
    place[rows] = np.arange(len(rows))
    told = place[made.other] != NONE
    if told.any():
        np.maximum.at(near, place[made.other[told]], matrix.of_rows(learned.beliefs, made.one[told]) @ wanted.T)
    return near
