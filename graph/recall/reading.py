"""One score for every chunk of a document, on the turns' scale: a document is scored as a chat of its chunks would be.

The chunk before and the one after lend what turns before and after lend. What a word is worth is told by all there is,
turns too: a word that only one chunk of a small document has is no rare one for that.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graph.recall.evidence import Evidence, Term, Tree
from graph.recall.learned import LearnedIndex
from graph.recall.lending import RELATED
from graph.recall.observing import ScoredObservations, told
from graph.recall.scoring import score
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    from graph.recall.observing import Mask


def read(
    learned: LearnedIndex, question: str, terms: Sequence[Term], cosines: "NDArray[np.float32] | None", may: "Mask"
) -> ScoredObservations:
    """The scores of all chunks for a question; `may` are those that may be hits."""
    import numpy as np

    table = learned.pieces
    scores = score(
        Evidence(
            question=question,
            size=table.size,
            tree=_tree(table["before"]),
            session=table["document"],
            sessions=len(learned.documents),
            speaker=np.zeros(table.size, np.int32),
            at=table["at"],
            seen=table["live"],
            terms=tuple(terms),
            cosines=cosines,
            named=(),
            since=None,
            until=None,
            trait=lambda trait, rows: np.zeros(len(rows), np.bool_),
        )
    )
    related = scores.lexical > 0
    if cosines is not None:
        related |= cosines >= RELATED
    own = told(scores.lexical, cosines, table["live"])
    nobody = np.full(table.size, NONE, np.intp)
    return ScoredObservations(scores.total, own, scores.lexical, cosines, {}, may & related, nobody)


def _tree(before: "NDArray[np.int32]") -> Tree:
    """A chain for each document."""
    import numpy as np

    follows = np.flatnonzero(before != NONE).astype(np.int32)
    after = np.full(len(before), NONE, np.int32)
    after[before[follows]] = follows
    up, down = (np.append(steps, np.int32(NONE)) for steps in (before, after))
    none = np.zeros(0, np.int32)
    return Tree(before, after, up[before], down[after], none, none)
