"""One score from words, meaning and neighbours: a weighted sum."""

from typing import TYPE_CHECKING

from graph.recall.evidence import Evidence, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1, B = 1.2, 0.75


def score(evidence: Evidence) -> Scores:
    """The scores of all rows."""
    import numpy as np

    lexical = _bm25(evidence)
    semantic = np.zeros(evidence.size, np.float32)
    if evidence.cosines is not None:
        semantic = np.where(evidence.seen, np.maximum(evidence.cosines, 0), 0).astype(np.float32)
    graph = 0.8 * _spread(evidence, lexical) + 0.3 * _spread(evidence, semantic) + 0.2 * _session(evidence, lexical)
    total = 1.2 * lexical + 0.8 * semantic + graph
    if len(evidence.named) == 1:
        total = total + np.where(evidence.speaker == evidence.named[0], np.float32(0.1), np.float32(0))
    return Scores(total, lexical, semantic, graph)


def _bm25(evidence: Evidence) -> "NDArray[np.float32]":
    import numpy as np

    total = np.zeros(evidence.size, np.float32)
    count = max(1, int(np.count_nonzero(evidence.seen)))
    average = max(1.0, float(evidence.length[evidence.seen].mean())) if count else 1.0
    most = 0.0
    for term in evidence.terms:
        idf = max(1e-3, float(np.log((count - term.frequency + 0.5) / (term.frequency + 0.5) + 1)))
        most += idf * (K1 + 1)
        shared = K1 * (1 - B + B * evidence.length[term.rows] / average)
        total[term.rows] += idf * term.counts * (K1 + 1) / (term.counts + shared)
    total[~evidence.seen] = 0
    return total / np.float32(most) if most else total


def _spread(evidence: Evidence, score: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """What the turn replied to and the best reply lend."""
    import numpy as np

    child = np.flatnonzero(evidence.parent >= 0)
    above = evidence.parent[child]
    lent = np.zeros_like(score)
    np.maximum.at(lent, above, score[child])
    lent[child] += score[above]
    return lent / np.float32(2)


def _session(evidence: Evidence, score: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    best = np.zeros(evidence.sessions, np.float32)
    np.maximum.at(best, evidence.session, score)
    return best[evidence.session]
