"""Which turn lent most to another, and the way from it: over replies, or because both are of one session."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from graph.recall.evidence import Evidence, Scores
from graph.recall.scoring import AFTER, AROUND, BEFORE, WINDOW, worth_of

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

RELATED = (
    0.25  # cosine of MiniLM below which English has nothing to do with a question; few that are asked for are lower
)
BESIDE = WINDOW / (1 + 2 * sum(AROUND))  # of the cosine beside a turn, where it has all its neighbours


@dataclass(frozen=True, slots=True)
class RecallPath:
    """From the turn that matched (`rows[0]`) to the one that was found: its rows, each the `relation` of the last.

    `relation` is "REPLIES_TO" or "REPLIED_TO"; or "IN_SESSION" where the session is all that joins the two.
    """

    relation: str
    rows: tuple[int, ...]


class Lending:
    """What turns lent each other for one question, looked up turn by turn: only those that are shown are explained."""

    def __init__(self, evidence: Evidence, scores: Scores) -> None:
        self._evidence = evidence
        self._scores = scores
        self._own = scores.lexical + scores.semantic
        self._leaders: dict[int, list[int]] = {}

    def matched(self, row: int) -> bool:
        """Whether a turn itself has to do with the question, by a word or by its meaning."""
        return bool(self._scores.lexical[row] > 0 or self._cosine(row) >= RELATED)

    def way(self, row: int) -> RecallPath | None:
        """From the turn that lent most; None if nothing was lent, or only by turns that did not match themselves."""
        graph, session = float(self._scores.graph[row]), float(self._scores.session[row])
        if self._scores.walked is not None:
            graph -= float(self._scores.walked[row])
        if graph <= 0:
            return None
        ways = [way for way in self._ways(row) if self._evidence.seen[way.rows[0]] and self.matched(way.rows[0])]
        worth = {way.rows[0]: self._lent(way, row) for way in ways}
        best = max(ways, key=lambda way: worth[way.rows[0]], default=None)
        leader = self._leader(row) if session > 0 else None
        if leader is not None and not self.matched(leader):
            leader = None
        if best is not None and not worth[best.rows[0]]:
            best = None
        nearer = best is not None and self._own[best.rows[0]] > self._own[row]
        if leader is None or (best is not None and (nearer or graph - session >= session)):
            return best
        return next((way for way in ways if way.rows[0] == leader), RecallPath("IN_SESSION", (leader, row)))

    def _ways(self, row: int) -> Iterator[RecallPath]:
        """From each turn that is near enough to lend."""
        tree = self._evidence.tree
        above: tuple[int, ...] = (row,)
        for _ in BEFORE:
            if (parent := int(tree.parent[above[0]])) < 0:
                break
            above = (parent, *above)
            yield RecallPath("REPLIES_TO", above)
        below: list[tuple[int, ...]] = [(row,)]
        for _ in AFTER:
            below = [(child, *rows) for rows in below for child in self._replies(rows[0])]
            yield from (RecallPath("REPLIED_TO", rows) for rows in below)

    def _replies(self, row: int) -> list[int]:
        tree = self._evidence.tree
        child = int(tree.child[row])
        others = tree.others[tree.others_of == row].tolist() if len(tree.others) else []
        return [child, *others] if child >= 0 else others

    def _lent(self, way: RecallPath, row: int) -> float:
        """What the first turn of a way lent the last, but for what an equal one lent too; to compare with others."""
        steps = len(way.rows) - 2
        share = (BEFORE if way.relation == "REPLIES_TO" else AFTER)[steps]
        seed, words = way.rows[0], 0.0
        if self._scores.near_words[row] > 0 and self._scores.lexical[seed] > 0:
            for weight, rows in self._weights:
                words += weight if _holds(rows, seed) and not _holds(rows, row) else 0.0
        meaning = AROUND[steps] * max(self._cosine(seed), 0.0) if steps < len(AROUND) else 0.0
        return share * words + BESIDE * meaning

    @cached_property
    def _weights(self) -> "list[tuple[float, NDArray[np.int32]]]":
        """The terms: the share of all that each is worth, and its rows."""
        import numpy as np

        seen = self._evidence.seen
        count = int(np.count_nonzero(seen))
        found = [(int(np.count_nonzero(seen[term.rows])), term.rows) for term in self._evidence.terms]
        idfs = [(worth_of(count, many), rows) for many, rows in found if many]
        whole = sum(idf for idf, _ in idfs)
        return [(idf / whole, rows) for idf, rows in idfs]

    def _leader(self, row: int) -> int | None:
        """The other turn of the session that is nearest in meaning."""
        import numpy as np

        cosines, session = self._evidence.cosines, int(self._evidence.session[row])
        if cosines is None:
            return None
        if session not in self._leaders:
            rows = np.flatnonzero((self._evidence.session == session) & self._evidence.seen)
            self._leaders[session] = rows[np.argsort(-cosines[rows], kind="stable")[:2]].tolist()
        return next((each for each in self._leaders[session] if each != row), None)

    def _cosine(self, row: int) -> float:
        return float(self._evidence.cosines[row]) if self._evidence.cosines is not None else 0.0


def _holds(rows: "NDArray[np.int32]", row: int) -> bool:
    place = int(rows.searchsorted(row))
    return place < len(rows) and int(rows[place]) == row
