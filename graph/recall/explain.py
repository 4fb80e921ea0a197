"""Rows become hits: the text, the session, and why: rank per strategy, boosts, and the way through the graph."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graph.events import Strategy
from graph.ids import as_datetime
from graph.readings.rows import AMONG, TURN, members, session_by_id, turns_of
from graph.recall.columns import Columns
from graph.recall.evidence import Evidence, Scores
from graph.recall.lending import Lending, RecallPath
from graph.recall.table import NONE, Table
from graph.recall.walking import Reached, Way
from graph.values import Boost, Hit, Reason, Step, Turn

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

SEMANTIC_RANKS = 100  # every turn has a cosine; the strategy found only the nearest
LEAST_BOOST = 0.001
BESIDE_TIME = "beside_time"  # the boost of what was said some days before or after the time asked about


def read_hits(
    db: sqlite3.Connection, columns: Columns, texts: Mapping[int, str], why: "Explainer | NewestFirst", *, named: bool
) -> dict[int, Hit]:
    """Rows, given with their texts, as hits; with the names of their chats if these may be told."""
    names = {id: session_by_id(db, id).name for id in {columns.session_of(row) for row in texts if named}}
    speakers = speakers_of(db, columns, texts)
    return {
        row: Hit(
            kind="turn",
            id=id,
            session=columns.session_of(row),
            session_name=names.get(columns.session_of(row)),
            role=columns.role_of(row),
            speaker=speakers[row],
            text=text,
            at=as_datetime(int(columns["at"][row])),
            score=why.score(row),
            reasons=why.reasons(row),
            boosts=why.boosts(row),
            path=why.path(row),
            way=why.way(row),
        )
        for (row, text), id in zip(texts.items(), columns.ids(texts), strict=True)
    }


def speakers_of(db: sqlite3.Connection, columns: Columns, rows: Collection[int]) -> dict[int, str]:
    """Who said each row: the members of a cast by their names."""
    found = {row: columns.speaker_of(row) for row in rows}
    names = members(db, {found[row] for row in rows if columns["witnesses"][row] != NONE})
    return {row: names.get(who, who) for row, who in found.items()}


def read_texts(db: sqlite3.Connection, columns: Table, rows: Iterable[int]) -> dict[int, str]:
    """The texts of rows, where they are still there; a reply that stayed empty has none."""
    seqs = {int(columns["seq"][row]): row for row in rows}
    query = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
    found = db.execute(query, (json.dumps(list(seqs)),))
    return {seqs[seq]: text for seq, text in found if text and not text.isspace()}


def read_turns(db: sqlite3.Connection, seqs: Sequence[int]) -> tuple[Turn, ...]:
    """The turns of events, in their order, those that have a text."""
    query = f"{TURN} WHERE said.seq {AMONG} AND event.text IS NOT NULL"
    found = db.execute(query, (json.dumps(list(seqs)),)).fetchall()
    by_seq = {row[0]: turn for row, turn in zip(found, turns_of(db, found), strict=True)}
    return tuple(by_seq[seq] for seq in seqs if seq in by_seq)


class Explainer:
    """Why rows were found by what matched."""

    def __init__(
        self, columns: Columns, evidence: Evidence, scores: Scores, may: "NDArray[np.bool_]", reached: Reached
    ) -> None:
        self._columns = columns
        self._reached = reached
        self._evidence = evidence
        self._scores = scores
        self._lending = Lending(evidence, scores)
        self._ways: dict[int, RecallPath | None] = {}
        strategies: list[tuple[Strategy, NDArray[np.float32]]] = [("lexical", scores.lexical), ("graph", scores.graph)]
        if evidence.cosines is not None:
            strategies.append(("semantic", evidence.cosines))
        self._strategies = [(name, values, values[may]) for name, values in strategies]

    def score(self, row: int) -> float:
        return float(self._scores.total[row])

    def reasons(self, row: int) -> tuple[Reason, ...]:
        """The strategies that found a row, with its rank among the rows that may be hits, the best first.

        Scores are the share of the question's words, the cosine, and what other turns, nearby or of the session, add.
        """
        import numpy as np

        found = []
        for strategy, values, all_values in self._strategies:
            value = values[row]
            if value > 0 and (strategy != "graph" or self._walked(row) or self._way(row) is not None):
                rank = 1 + int(np.count_nonzero(all_values > value))
                if strategy != "semantic" or rank <= SEMANTIC_RANKS:
                    found.append(Reason(strategy, rank, float(value)))
        return tuple(sorted(found, key=lambda reason: reason.rank))

    def boosts(self, row: int) -> tuple[Boost, ...]:
        amounts = ((name, float(values[row])) for name, values in self._scores.boosts.items())
        return tuple(
            Boost(BESIDE_TIME if name == "time" and not self._in_time(row) else name, amount)
            for name, amount in amounts
            if abs(amount) >= LEAST_BOOST
        )

    def path(self, row: int) -> tuple[Step, ...]:
        """The way to a row from what lent it most: a turn that matched, or whom the question names."""
        walked = self._walked(row)
        if walked is not None:
            return walked.steps(self._columns.ids([row])[0])
        way = self._way(row)
        if way is None:
            return ()
        seed = way.rows[0]
        strategy = "lexical" if self._scores.lexical[seed] >= self._scores.semantic[seed] else "semantic"
        first = Step(strategy, self._columns.ids([seed])[0])
        if way.relation == "IN_SESSION":
            return (first, Step("IN_SESSION", self._columns.session_of(row)))
        shown = [each for each in way.rows[1:-1] if self._evidence.seen[each]]  # not by the name of what is hidden
        return (first, *(Step(way.relation, id) for id in self._columns.ids([*shown, row])))

    def way(self, row: int) -> str:
        """The same in words, where relationships led to it."""
        walked = self._walked(row)
        return walked.told(self._reached.names) if walked is not None else ""

    def _walked(self, row: int) -> Way | None:
        """The way over relationships, where that lent more than the turns around."""
        lent = self._scores.walked
        if lent is None or lent[row] <= 0 or lent[row] < self._scores.graph[row] - lent[row]:
            return None
        return self._reached.turns.get(row)

    def _way(self, row: int) -> RecallPath | None:
        if row not in self._ways:
            self._ways[row] = self._lending.way(row)
        return self._ways[row]

    def _in_time(self, row: int) -> bool:
        at, since, until = int(self._evidence.at[row]), self._evidence.since, self._evidence.until
        return (since is None or at >= since) and (until is None or at < until)


class NewestFirst:
    """Why rows were found by when they were said, and maybe by whom: their order is the whole reason."""

    def __init__(self, columns: Columns, rows: Sequence[int], *, named: bool) -> None:
        self._columns = columns
        self._ranks = {row: place for place, row in enumerate(rows, start=1)}
        self._named = named

    def score(self, row: int) -> float:
        return 1 / self._ranks[row]

    def reasons(self, row: int) -> tuple[Reason, ...]:
        return (Reason("recency", self._ranks[row], self.score(row)),)

    def boosts(self, row: int) -> tuple[Boost, ...]:
        return ()

    def way(self, row: int) -> str:
        return ""

    def path(self, row: int) -> tuple[Step, ...]:
        if not self._named:
            return ()
        return (Step("named", self._columns.speaker_of(row)), Step("SAID_BY", self._columns.ids([row])[0]))
