"""Observations and chunks become hits: the text, whose words they are, what proves them, and why they were found."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graph.ids import as_datetime
from graph.readings.rows import session_by_id
from graph.recall.columns import Columns
from graph.recall.explain import LEAST_BOOST, SEMANTIC_RANKS, Explainer, read_hits, read_texts, speakers_of
from graph.recall.joining import ScoredRow
from graph.recall.learned import DERIVED, SUPPORTED, LearnedIndex
from graph.recall.observing import RecallExtras, ScoredObservations
from graph.recall.request import VisibleRows
from graph.recall.table import NONE, Table
from graph.recall.walking import Reached
from graph.values import Boost, Hit, Kind, Reason, Step, place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def tell(
    db: sqlite3.Connection,
    columns: Columns,
    learned: LearnedIndex,
    places: Sequence[ScoredRow],
    limit: int,
    why: Explainer,
    found: RecallExtras,
    sight: VisibleRows,
    reached: Reached,
) -> list[Hit]:
    """The first `limit` places whose text is still there, as hits; only those are explained."""
    tables: dict[Kind, Table] = {"turn": columns, "observation": learned.beliefs, "chunk": learned.pieces}
    texts = {
        kind: read_texts(db, table, [place.row for place in places if place.kind == kind])
        for kind, table in tables.items()
    }
    kept = [place for place in places if place.row in texts[place.kind]][:limit]
    turns = {place.row: texts["turn"][place.row] for place in kept if place.kind == "turn"}
    said = read_hits(db, columns, turns, why, named=sight.view is None)
    teller = HitBuilder(db, columns, learned, sight, reached)
    hits: list[Hit] = []
    for place in kept:
        text = texts[place.kind][place.row]
        if place.kind == "observation" and found.observations is not None:
            hits.append(teller.observation(place.row, text, found.observations))
        elif place.kind == "chunk" and found.chunks is not None:
            hits.append(teller.chunk(place.row, text, found.chunks))
        else:
            hits.append(said[place.row])
    return hits


@dataclass(slots=True)
class HitBuilder:
    """Makes hits of rows, in one snapshot of the log."""

    db: sqlite3.Connection
    columns: Columns
    learned: LearnedIndex
    sight: VisibleRows
    reached: Reached
    _names: dict[str, str | None] = field(default_factory=dict)

    def observation(self, row: int, text: str, found: ScoredObservations) -> Hit:
        """An observation as a hit; its session and speaker are those of the oldest turn it was made from.

        Of a chat that may not be looked into, which made a memory that is seen everywhere, nothing is told.
        """
        table = self.learned.beliefs
        made_from = self.learned.of_turns[DERIVED].of(row)
        said = [int(each) for each in made_from if each != NONE]
        read = [int(each) for each in self.learned.of_chunks[DERIVED].of(row) if each != NONE]
        first = min(said, key=lambda each: (int(self.columns["at"][each]), each), default=NONE)
        id = table.ids([row])[0]
        best, apart = self._best(row, said, read, found), first != NONE and not self.sight.here[first]
        reasons = [Reason("observation", _rank(found, found.own, row), _score(found, row))]
        path: tuple[Step, ...] = (Step("observation", id),) if apart else (Step("observation", id), Step(DERIVED, best))
        walked = found.walked is not None and found.walked[row] > 0
        if walked and found.walked is not None:
            reasons.append(Reason("graph", _rank(found, found.walked, row), float(found.walked[row])))
            path = replace(self.reached.beliefs[row], edge="ABOUT").steps(id)
        return Hit(
            kind="observation",
            id=id,
            session=self.columns.session_of(first) if first != NONE and not apart else "",
            session_name=self._name(self.columns.session_of(first)) if first != NONE and not apart else None,
            role=self.columns.role_of(first) if first != NONE else "note",
            speaker=speakers_of(self.db, self.columns, [first])[first] if first != NONE else "you",
            text=text,
            at=as_datetime(self._said_at(row)),
            score=float(found.total[row]),
            reasons=tuple(reasons),
            boosts=_boosts(found, row),
            path=path,
            way=self.reached.beliefs[row].told(self.reached.names) if walked else "",
            sources=tuple(dict.fromkeys((*(() if apart else (best,)), *self._proof(row)))),
        )

    def _best(self, row: int, said: list[int], read: list[int], found: ScoredObservations) -> str:
        """The turn or chunk whose place it takes: the one that proves it best for this question."""
        lender = int(found.lender[row])
        if lender != NONE or said:
            return self.columns.ids([lender if lender != NONE else said[0]])[0]
        return self.learned.pieces.ids([read[0]])[0]

    def _proof(self, row: int) -> list[str]:
        """The live turns and chunks that it was made from and that say the same, oldest first."""
        ends = (
            (self.columns, self.sight.turns, self.learned.of_turns),
            (self.learned.pieces, self.sight.chunks, self.learned.of_chunks),
        )
        found = {
            (int(table["at"][each]), table.ids([int(each)])[0])
            for table, live, edges in ends
            for relation in (DERIVED, SUPPORTED)
            for each in edges[relation].of(row)
            if each != NONE and live[each]
        }
        return [id for _, id in sorted(found)]

    def _said_at(self, row: int) -> int:
        """When the newest turn it was made from was said: a revision is as new as its last word."""
        made_from = self.learned.of_turns[DERIVED].of(row)
        times = [int(self.columns["at"][each]) for each in made_from if each != NONE]
        return max(times, default=int(self.learned.beliefs["at"][row]))

    def chunk(self, row: int, text: str, found: ScoredObservations) -> Hit:
        """A chunk as a hit; its headings stand in the name of the session, which is the document."""
        table = self.learned.pieces
        document = self.learned.documents.names[int(table["document"][row])]
        headings, body = self._parts(row, text)
        title = self.learned.titles.get(document, ("", None))[0]
        near = found.cosines
        reasons = [Reason("lexical", _rank(found, found.words, row), float(found.words[row]))]
        if near is not None and near[row] > 0:
            reasons.append(Reason("semantic", _rank(found, near, row), float(near[row])))
        return Hit(
            kind="chunk",
            id=table.ids([row])[0],
            session=document,
            session_name=place_of(title, headings),
            role="note",
            speaker=title,
            text=body,
            at=as_datetime(int(table["at"][row])),
            score=float(found.total[row]),
            reasons=tuple(sorted((each for each in reasons if _counts(each)), key=lambda each: each.rank)),
            boosts=_boosts(found, row),
            path=(Step("PART_OF", document),),
        )

    def _parts(self, row: int, text: str) -> tuple[list[str], str]:
        """The headings that lead to a chunk, and its words."""
        query = "SELECT headings FROM chunks WHERE seq = ?"
        (count,) = self.db.execute(query, (int(self.learned.pieces["seq"][row]),)).fetchone()
        lines = text.split("\n")
        return lines[: count or 0], "\n".join(lines[count or 0 :]).strip()

    def _name(self, session: str) -> str | None:
        if self.sight.view is not None:
            return None  # it may say what the member did not see
        if session not in self._names:
            self._names[session] = session_by_id(self.db, session).name
        return self._names[session]


def _score(found: ScoredObservations, row: int) -> float:
    """How near it is: the cosine, or the share of the words where there is none."""
    return float(found.words[row] if found.cosines is None else found.cosines[row])


def _rank(found: ScoredObservations, values: "NDArray[np.float32]", row: int) -> int:
    import numpy as np

    return 1 + int(np.count_nonzero(values[found.may] > values[row]))


def _counts(reason: Reason) -> bool:
    return reason.score > 0 and (reason.strategy != "semantic" or reason.rank <= SEMANTIC_RANKS)


def _boosts(found: ScoredObservations, row: int) -> tuple[Boost, ...]:
    amounts = ((name, float(values[row])) for name, values in found.boosts.items())
    return tuple(Boost(name, amount) for name, amount in amounts if abs(amount) >= LEAST_BOOST)
