"""One score from words, meaning and neighbours: a weighted sum."""

import re
from typing import TYPE_CHECKING

from graph.recall.evidence import Evidence, Scores, Tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = ((0.7, 0.5), (0.5, 0.35), (0.35, 0.2))  # of a term's worth, one, two, three turns before and after
WORDS, COSINE, WINDOW, SESSION, SPEAKER, DATE, START, ASKING, TIME, NUMBER = (
    6.0,
    5.0,
    4.0,
    3.0,
    0.8,
    2.0,
    0.5,
    -0.7,
    0.5,
    0.5,
)
WEIGHED = 512
DAY_MS = 86_400_000


def score(evidence: Evidence) -> Scores:
    """The scores of all rows."""
    import numpy as np

    zero = np.zeros(evidence.size, np.float32)
    lexical, near = _words(evidence)
    semantic, window, best = zero, zero, zero
    if evidence.cosines is not None:
        semantic = np.where(evidence.seen, evidence.cosines, np.float32(0))
        window = _window(evidence, semantic)
        session = np.full(evidence.sessions, -1, np.float32)
        np.maximum.at(session, evidence.session, semantic)
        best = session[evidence.session]
    graph = WORDS * (near - lexical) + WINDOW * window + SESSION * best
    total = WORDS * lexical + COSINE * semantic + graph
    total = total + START * np.exp(-evidence.position.astype(np.float32) / 3)
    boosts: dict[str, NDArray[np.float32]] = {}
    if evidence.named:
        said = evidence.speaker == evidence.named[0]
        boosts["speaker"] = np.where(
            said, np.float32(SPEAKER if len(evidence.named) == 1 else SPEAKER / 2), np.float32(0)
        )
    if evidence.since is not None or evidence.until is not None:
        since, until = evidence.since or 0, evidence.until or 2**62
        outside = np.maximum(np.maximum(since - evidence.at, evidence.at - until), 0) / DAY_MS
        boosts["time"] = (DATE * np.exp(-outside / 7)).astype(np.float32)
    for boost in boosts.values():
        total = total + boost
    candidates = np.flatnonzero(evidence.seen)
    if len(candidates) > WEIGHED:
        candidates = candidates[np.argpartition(-total[candidates], WEIGHED)[:WEIGHED]]
    traits = evidence.traits(candidates)
    total[candidates] += ASKING * traits.asks
    question = evidence.question.lower()
    if question.startswith("when"):
        total[candidates] += TIME * traits.dated
    if re.search("how (?:many|long|often|much)", question):
        total[candidates] += NUMBER * traits.counted
    return Scores(total, lexical, semantic, np.maximum(near - lexical + window - semantic, 0), boosts)


def _words(evidence: Evidence) -> "tuple[NDArray[np.float32], NDArray[np.float32]]":
    """What of the question's terms a turn has, and what it has with the turns around it, 0–1."""
    import numpy as np

    own, near = np.zeros(evidence.size, np.float32), np.zeros(evidence.size, np.float32)
    count = int(np.count_nonzero(evidence.seen))
    whole = 0.0
    for term in evidence.terms:
        rows = term.rows[evidence.seen[term.rows]]
        idf = float(np.log1p((count - len(rows) + 0.5) / (len(rows) + 0.5)))
        whole += idf
        worth = np.zeros(evidence.size, np.float32)
        above = below = rows
        layers = []
        for before, after in STEPS:
            above, below = _up(evidence.tree, above), _down(evidence.tree, below)
            layers += [(after, below), (before, above)]
        for share, reached in sorted(layers, key=lambda layer: layer[0]):
            worth[reached] = share
        worth[rows] = 1
        near += np.float32(idf) * worth
        own[rows] += np.float32(idf)
    own[~evidence.seen] = 0
    near[~evidence.seen] = 0
    return (own / np.float32(whole), near / np.float32(whole)) if whole else (own, near)


def _up(tree: Tree, rows: "NDArray[np.int32]") -> "NDArray[np.int32]":
    above = tree.parent[rows]
    return above[above >= 0]


def _down(tree: Tree, rows: "NDArray[np.int32]") -> "NDArray[np.int32]":
    import numpy as np

    below = tree.child[rows]
    below = below[below >= 0]
    if len(tree.others):
        below = np.concatenate([below, tree.others[np.isin(tree.others_of, rows)]])
    return below


def _window(evidence: Evidence, cosines: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """The weighted mean of the cosines two turns up and down."""
    import numpy as np

    tree = evidence.tree
    total, weight = cosines.copy(), np.ones(evidence.size, np.float32)
    for steps in (tree.parent, tree.child):
        place, there = steps, steps >= 0
        for share in (np.float32(0.8), np.float32(0.64)):
            total += share * np.where(there, cosines[place], 0)
            weight += share * there
            following = np.where(there, steps[place], -1)
            place, there = following, following >= 0
    return np.where(evidence.seen, total / weight, np.float32(0))
