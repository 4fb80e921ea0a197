"""Which turns come first: bounded boosts, the best, the newest, and what has to do with a question at all."""

from dataclasses import replace
from typing import TYPE_CHECKING

from graph.recall.columns import Columns
from graph.recall.evidence import Evidence, Scores
from graph.recall.intent import Intent
from graph.recall.lending import RELATED
from graph.recall.scoring import SIGNIFICANT
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

PIN, RECENT = 0.1, 0.15  # the most that a pin adds to a score, and being new where the newest is asked for
RECENT_HALF_LIFE_MS = 14 * 86_400_000

# Where several answers are asked for, what each place taken takes from the others of its chat, and from the turns next
# to it: the other answers were told elsewhere. On half of LoCoMo +0.3 points of all turns, +1.3 of those of questions
# with several answers; for all questions -0.5.
AGAIN, BESIDE = 0.1, 0.1
PLACES = 24
LOOKED_AT = 400


def boosted(columns: Columns, pinned: "NDArray[np.bool_]", intent: Intent, scores: Scores, now: int) -> Scores:
    """The scores with the boosts for pins, for what matters much, and for being new where that is asked for."""
    import numpy as np

    boosts = {"pin": np.where(pinned, np.float32(PIN), np.float32(0))}
    if columns["significance"].any():
        boosts["significance"] = np.float32(SIGNIFICANT) * columns["significance"].astype(np.float32)
    if intent.recent:
        boosts["recency"] = recency(columns["at"], now)
    total = scores.total.copy()
    for boost in boosts.values():
        total += boost
    return replace(scores, total=total, boosts={**scores.boosts, **boosts})


def walked(scores: Scores, lent: "NDArray[np.float32]") -> Scores:
    """The scores with what was lent over relationships."""
    return replace(scores, total=scores.total + lent, graph=scores.graph + lent, walked=lent)


def spread(evidence: Evidence, scores: Scores) -> Scores:
    """The scores with those lowered that stand close to better ones, place by place from the best on."""
    import numpy as np

    rows = np.flatnonzero(evidence.seen)
    if len(rows) > LOOKED_AT:
        rows = rows[np.argpartition(-scores.total[rows], LOOKED_AT)[:LOOKED_AT]]
    left, session, tree = scores.total[rows].copy(), evidence.session[rows], evidence.tree
    taken, less = np.zeros(evidence.sessions, np.float32), np.zeros(evidence.size, np.float32)
    for _ in range(min(PLACES, len(rows))):
        place = int(left.argmax())
        row = rows[place]
        less[row] = scores.total[row] - left[place]
        left[place] = -np.inf
        left[session == session[place]] -= np.float32(AGAIN)
        left[(tree.parent[rows] == row) | (rows == tree.parent[row])] -= np.float32(BESIDE)
        taken[session[place]] += 1
    rest = np.ones(evidence.size, np.bool_)
    rest[rows[np.isneginf(left)]] = False
    less[rest] = np.float32(AGAIN) * taken[evidence.session[rest]]
    less[~evidence.seen] = 0
    return replace(scores, total=scores.total - less, boosts={**scores.boosts, "again": -less})


def best(scores: Scores, may: "NDArray[np.bool_]", limit: int) -> list[int]:
    """The rows with the best scores of those that are allowed and have any evidence, the newest first of equals."""
    import numpy as np

    rows = np.flatnonzero(may & ((scores.lexical > 0) | (scores.semantic > 0) | (scores.graph > 0)))
    if len(rows) > limit:
        rows = np.sort(rows[np.argpartition(-scores.total[rows], limit)[:limit]])
    order = np.lexsort((-rows, -scores.total[rows]))
    return [int(row) for row in rows[order]]


def newest(columns: Columns, evidence: Evidence, may: "NDArray[np.bool_]", limit: int) -> list[int]:
    """The newest rows in the time that is asked for, said by whom is named."""
    import numpy as np

    if evidence.since is not None:
        may = may & (evidence.at >= evidence.since)
    if evidence.until is not None:
        may = may & (evidence.at < evidence.until)
    if evidence.named:
        may = may & np.isin(evidence.speaker, evidence.named)
    rows = np.flatnonzero(may)
    order = np.lexsort((-rows, -evidence.at[rows]))[:limit]
    return [int(row) for row in rows[order]]


def recency(at: "NDArray[np.int64]", now: int) -> "NDArray[np.float32]":
    """The lift of being new: half of it is left after two weeks."""
    import numpy as np

    age = np.maximum(now - at, 0).astype(np.float32)
    lift: NDArray[np.float32] = np.float32(RECENT) * np.exp2(-age / np.float32(RECENT_HALF_LIFE_MS))
    return lift


def related(evidence: Evidence, scores: Scores) -> "NDArray[np.bool_]":
    """The rows near enough in meaning to have to do with the question, and what they reply to and are replied with; and
    those that were reached over relationships.

    Some turn is always the nearest: where no word was found, that alone is no reason to show it.
    """
    import numpy as np

    related = np.zeros(evidence.size, np.bool_)
    if evidence.cosines is not None:
        rows = np.flatnonzero(evidence.seen & (evidence.cosines >= RELATED))
        for reached in (rows, evidence.tree.parent[rows], evidence.tree.child[rows]):
            related[reached[reached != NONE]] = True
    if scores.walked is not None:
        related |= scores.walked > 0
    return related
