"""Recall: what was said that matters for a question, the best first, each with why. Pure, and it calls no model.

Words and vectors propose, the graph says what is live and allowed and lends neighbours what matched beside them;
scoring makes one score of it; bounded boosts follow. Only the texts of the hits are read.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from graph.events import Strategy
from graph.follower import Follower
from graph.hits import Boost, Filters, Hit, Reason, Step, Vector
from graph.ids import as_datetime, as_ms
from graph.recall.columns import Columns
from graph.recall.evidence import Evidence, Scores
from graph.recall.intent import Intent, read_intent, spoken
from graph.recall.lexical import Words
from graph.recall.mask import allowed, visible
from graph.recall.scoring import score
from graph.recall.traits import TraitTable
from graph.recall.vectors import Matrix
from graph.rows import session_by_id

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

SPARE = 16  # more rows than asked for, in case a text was erased a moment ago
SEMANTIC_RANKS = 100  # every turn has a cosine; the strategy found only the nearest
PIN, TIME, RECENCY = 0.05, 0.15, 0.10  # the most that each boost adds to a score
RECENCY_HALF_LIFE_MS = 14 * 86_400_000
NOBODY = ("you", "assistant")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question on its way through the strategies."""

    evidence: Evidence
    scores: Scores
    allowed: "NDArray[np.bool_]"


class Recall:
    """Recall over one memory. Thread-safe: one question at a time."""

    def __init__(self, log: Path, graph: Follower) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._words = Words(log)
        self._columns: Columns | None = None
        self._matrix: Matrix | None = None
        self._traits = TraitTable()

    def recall(
        self, query: str, *, vector: Vector | None, filters: Filters, now: datetime, timezone: tzinfo, limit: int
    ) -> list[Hit]:
        """The hits for a question, the best first, at most `limit`. Raises GraphFailure while the graph is behind."""
        with self._lock:
            columns = self._read_columns()
            if not columns.size or limit < 1:
                return []
            with self._words.snapshot() as db:
                return self._find(db, columns, query, vector, filters, now, timezone, limit)

    def _find(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        query: str,
        vector: Vector | None,
        filters: Filters,
        now: datetime,
        timezone: tzinfo,
        limit: int,
    ) -> list[Hit]:
        intent = read_intent(query, now=now, timezone=timezone, names=self._names(columns))
        asked = self._ask(db, columns, intent, query, vector, filters, as_ms(now))
        rows = _best(asked, limit + SPARE + len(filters.exclude))
        excluded = filters.exclude
        chosen = [row for row, id in zip(rows, columns.ids(rows), strict=True) if id not in excluded]
        return _explained(db, columns, asked, chosen[: limit + SPARE], limit)

    def spoken(self, query: str, *, now: datetime, timezone: tzinfo) -> str:
        """What to embed for a query. Raises GraphFailure while the graph is behind."""
        with self._lock:
            names = self._names(self._read_columns())
        return spoken(query, now=now, timezone=timezone, names=names)

    def close(self) -> None:
        with self._lock:
            self._words.close()

    def _names(self, columns: Columns) -> list[str]:
        """People that speak in the memory, besides the user and the assistant."""
        return [name for name in columns.speakers.names if name not in NOBODY]

    def _read_columns(self) -> Columns:
        """The columns as the graph is now; made anew when it was opened or rebuilt since."""
        store, applied = self._graph.standing()
        columns = self._columns
        if columns is None or columns.store is not store or applied < columns.at_event:
            columns = Columns(store)
            self._matrix, self._traits = None, TraitTable()
            self._words.forget()
        self._columns = None  # a refresh that fails half-way leaves nothing behind
        columns.refresh(applied)
        self._columns = columns
        return columns

    def _ask(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        intent: Intent,
        query: str,
        vector: Vector | None,
        filters: Filters,
        now: int,
    ) -> _Asked:
        import numpy as np

        seen = visible(columns, filters)
        evidence = Evidence(
            question=query,
            size=columns.size,
            tree=columns.tree,
            session=columns["session"],
            sessions=len(columns.sessions),
            position=columns["index"],
            speaker=columns["speaker"],
            at=columns["at"],
            seen=seen,
            terms=tuple(self._words.terms(db, intent.words, columns, without=intent.names)),
            cosines=None if vector is None else self._cosines(db, columns, vector),
            named=tuple(columns.speakers.code(name) for name in intent.names),
            since=None if intent.since is None else as_ms(intent.since),
            until=None if intent.until is None else as_ms(intent.until),
            trait=lambda trait, rows: self._traits.read(db, columns, trait, rows),
        )
        scores = score(evidence)
        boosts = {"pin": np.where(columns["pinned"], np.float32(PIN), np.float32(0))}
        if intent.recent:
            age = np.maximum(now - columns["at"], 0).astype(np.float32)
            boosts["recency"] = RECENCY * np.exp2(-age / RECENCY_HALF_LIFE_MS)
        total = sum(boosts.values(), start=scores.total)
        scores = replace(scores, total=total, boosts={**scores.boosts, **boosts})
        return _Asked(evidence, scores, allowed(columns, filters, seen))

    def _cosines(self, db: sqlite3.Connection, columns: Columns, vector: Vector) -> "NDArray[np.float32] | None":
        if self._matrix is None or self._matrix.model != vector.model:
            self._matrix = Matrix(vector.model)
        self._matrix.sync(db, columns)
        return self._matrix.cosines(vector.values, columns.size)


def _between(columns: Columns, since: datetime | None, until: datetime | None) -> "NDArray[np.bool_]":
    import numpy as np

    at = columns["at"]
    inside = np.ones(columns.size, np.bool_)
    if since is not None:
        inside &= at >= as_ms(since)
    if until is not None:
        inside &= at < as_ms(until)
    return inside


def _best(asked: _Asked, limit: int) -> list[int]:
    """The rows with the best scores of those that are allowed and have any evidence, the newest first of equals."""
    import numpy as np

    total = asked.scores.total
    has = asked.scores.lexical + asked.scores.semantic + asked.scores.graph > 0
    candidates = np.flatnonzero(asked.allowed & has)
    if len(candidates) > limit:
        nearest = np.argpartition(-total[candidates], limit)[:limit]
        candidates = np.sort(candidates[nearest])
    order = np.lexsort((-candidates, -total[candidates]))
    return [int(row) for row in candidates[order]]


def _explained(db: sqlite3.Connection, columns: Columns, asked: _Asked, rows: Sequence[int], limit: int) -> list[Hit]:
    """The rows as hits, with text, session and reasons; rows whose text is gone are left out."""
    seqs = {row: int(columns["seq"][row]) for row in rows}
    query = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
    texts = dict(db.execute(query, (json.dumps(list(seqs.values())),)).fetchall())
    kept = [row for row in rows if seqs[row] in texts][:limit]
    names = _session_names(db, {columns.session_of(row) for row in kept})
    hits = []
    for row, id in zip(kept, columns.ids(kept), strict=True):
        session = columns.session_of(row)
        boosts = tuple(
            Boost(name, round(float(amount[row]), 4)) for name, amount in asked.scores.boosts.items() if amount[row] > 0
        )
        hits.append(
            Hit(
                kind="turn",
                id=id,
                session=session,
                session_name=names.get(session),
                role=columns.role_of(row),
                speaker=columns.speaker_of(row),
                text=texts[seqs[row]],
                at=as_datetime(int(columns["at"][row])),
                score=float(asked.scores.total[row]),
                reasons=_reasons(asked, row),
                boosts=boosts,
                path=_path(columns, asked, row),
            )
        )
    return hits


def _reasons(asked: _Asked, row: int) -> tuple[Reason, ...]:
    """The strategies that found a row, with its rank among the rows allowed, the best rank first."""
    import numpy as np

    scores, cosines = asked.scores, asked.evidence.cosines
    strategies: list[tuple[Strategy, NDArray[np.float32]]] = [("lexical", scores.lexical), ("graph", scores.graph)]
    if cosines is not None:
        strategies.append(("semantic", cosines))
    found = []
    for strategy, values in strategies:
        value = float(values[row])
        if value > 0:
            rank = 1 + int(np.count_nonzero(asked.allowed & (values > value)))
            if strategy != "semantic" or rank <= SEMANTIC_RANKS:
                found.append(Reason(strategy, rank, value))
    return tuple(sorted(found, key=lambda reason: reason.rank))


def _path(columns: Columns, asked: _Asked, row: int) -> tuple[Step, ...]:
    """How a row was reached, if what matched best is a neighbour: what matched there, and the edge from there."""
    import numpy as np

    own = asked.scores.lexical + asked.scores.semantic
    parent = int(columns["parent"][row])
    neighbours = [(int(child), "REPLIED_TO") for child in np.flatnonzero(columns["parent"] == row)]
    if parent >= 0:
        neighbours.append((parent, "REPLIES_TO"))
    best = max(neighbours, key=lambda each: own[each[0]], default=None)
    if best is None or own[best[0]] <= own[row]:
        return ()
    strategy = "lexical" if asked.scores.lexical[best[0]] >= asked.scores.semantic[best[0]] else "semantic"
    seed, id = columns.ids([int(best[0]), row])
    return (Step(strategy, seed), Step(best[1], id))


def _session_names(db: sqlite3.Connection, sessions: Iterable[str]) -> dict[str, str | None]:
    return {id: session_by_id(db, id).name for id in sessions}
