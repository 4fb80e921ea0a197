"""Recall: what was said that matters for a question, the best first, each with why. Pure, and it calls no model.

Words and vectors propose, the graph says what is live and allowed and lends neighbours what matched beside them;
scoring makes one score of it; bounded boosts follow. Only the texts of the hits are read, and those that decide a cue.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from graph.follower import Follower
from graph.hits import Community, Filters, Hit, Vector
from graph.ids import as_ms
from graph.recall.columns import NONE, Columns
from graph.recall.communities import group, pick
from graph.recall.evidence import Evidence, Scores
from graph.recall.explain import Explainer, Newest, read_hits, read_texts, read_turns
from graph.recall.intent import Intent, read_intent, spoken
from graph.recall.lending import RELATED
from graph.recall.lexical import Words, says_anything
from graph.recall.mask import allowed, visible
from graph.recall.scoring import score
from graph.recall.traits import TraitTable
from graph.recall.vectors import Matrix

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

SPARE = 16  # more rows than asked for, in case a text was erased a moment ago
PIN, RECENT = 0.1, 0.3  # the most that a pin adds to a score, and being new where the newest is asked for
RECENT_HALF_LIFE_MS = 14 * 86_400_000
NOBODY = ("you", "assistant")


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
        with self._lock, self._reading() as (columns, db):
            if not columns.size or limit < 1:
                return []
            if not says_anything(query):
                return []
            intent = read_intent(query, now=now, timezone=timezone, names=_people(columns))
            evidence = self._weigh(db, columns, query, intent, vector, filters)
            may = allowed(columns, filters, visible(columns, filters))
            may[_rows(columns, filters.exclude)] = False
            spare = limit + SPARE
            if intent.route in ("recent", "thread") or not (evidence.terms or evidence.cosines is not None):
                rows = _newest(columns, evidence, may, spare) if _tells(intent) else []
                return read_hits(db, columns, rows, limit, Newest(columns, rows, named=bool(evidence.named)))
            scores = _boosted(columns, intent, score(evidence), as_ms(now))
            if not _tells(intent) and not scores.lexical.any():
                may &= _related(evidence)
            rows = _best(scores, may, spare)
            return read_hits(db, columns, rows, limit, Explainer(columns, evidence, scores, may))

    def spoken(self, query: str, *, now: datetime, timezone: tzinfo) -> str:
        """What to embed for a query. Raises GraphFailure while the graph is behind."""
        with self._lock:
            names = _people(self._read_columns())
        return spoken(query, now=now, timezone=timezone, names=names)

    def communities(self, model: str | None, *, filters: Filters, limit: int, per: int) -> list[Community]:
        """Turns that belong together, the largest communities first. Raises GraphFailure while the graph is behind."""
        with self._lock, self._reading() as (columns, db):
            edges = columns.store.columns("MATCH (a:Turn)-[:RECALLED]->(b:Turn) RETURN a.seq AS one, b.seq AS other")
            recalled = [columns.rows(edges[end].to_numpy()).tolist() for end in ("one", "other")]
            may = allowed(columns, filters, visible(columns, filters))
            texts = read_texts(db, columns, pick(columns, may, recalled[0] + recalled[1]).tolist())
            places = {row: place for place, row in enumerate(texts)}
            vectors = self._matrix_of(db, columns, model).take(list(texts)) if model is not None else None
            replies = zip(texts, columns["parent"][list(texts)].tolist(), strict=True)
            pairs = [
                [(places[one], places[other]) for one, other in rows if one in places and other in places]
                for rows in (replies, zip(*recalled, strict=True))
            ]
            seqs = columns["seq"][list(texts)]
        groups = group(list(texts.values()), vectors, *pairs)[:limit]  # takes its time, and holds nobody up
        with self._lock, self._words.snapshot() as db:
            chosen = [read_turns(db, seqs[list(each.places[:per])].tolist()) for each in groups]
        return [
            Community(turns, each.words, len(each.places)) for turns, each in zip(chosen, groups, strict=True) if turns
        ]

    def warm(self) -> None:
        """Read what the first recall would have to read. Raises GraphFailure while the graph is behind."""
        with self._lock, self._reading() as (columns, db):
            self._words.warm(db, columns)
            self._traits.warm(db, columns)
            newest = db.execute("SELECT name FROM embedders ORDER BY id DESC LIMIT 1").fetchone()
            if newest is not None and self._matrix is None:
                self._matrix_of(db, columns, newest[0])

    def close(self) -> None:
        with self._lock:
            self._words.close()

    @contextmanager
    def _reading(self) -> Iterator[tuple[Columns, sqlite3.Connection]]:
        """The columns first, then a snapshot of the log, which then has at least what they have."""
        columns = self._read_columns()
        with self._words.snapshot() as db:
            yield columns, db

    def _read_columns(self) -> Columns:
        """The columns as the graph is now; made anew when it was opened or rebuilt since."""
        store, applied = self._graph.standing()
        columns, self._columns = self._columns, None  # a refresh that fails half-way leaves nothing behind
        if columns is None or columns.store is not store or applied < columns.at_event:
            columns = Columns(store)
            self._matrix, self._traits = None, TraitTable()
            self._words.forget()
        columns.refresh(applied)
        self._columns = columns
        return columns

    def _matrix_of(self, db: sqlite3.Connection, columns: Columns, model: str) -> Matrix:
        if self._matrix is None or self._matrix.model != model:
            self._matrix = Matrix(model)
        self._matrix.sync(db, columns)
        return self._matrix

    def _weigh(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        query: str,
        intent: Intent,
        vector: Vector | None,
        filters: Filters,
    ) -> Evidence:
        cosines = None
        if vector is not None:
            cosines = self._matrix_of(db, columns, vector.model).cosines(vector.values, columns.size)
        return Evidence(
            question=query,
            size=columns.size,
            tree=columns.tree,
            session=columns["session"],
            sessions=len(columns.sessions),
            position=columns["index"],
            speaker=columns["speaker"],
            at=columns["at"],
            seen=_seeds(columns, filters),
            terms=tuple(self._words.terms(db, intent.words, columns, without=intent.names)),
            cosines=cosines,
            named=tuple(columns.speakers.code(name) for name in intent.names),
            since=None if intent.since is None else as_ms(intent.since),
            until=None if intent.until is None else as_ms(intent.until),
            trait=lambda trait, rows: self._traits.read(db, columns, trait, rows),
        )


def _people(columns: Columns) -> list[str]:
    """Who speaks in the memory, besides the user and the assistant."""
    return [name for name in columns.speakers.names if name not in NOBODY]


def _tells(intent: Intent) -> bool:
    """Whether there is anything to go by besides words and meaning."""
    return bool(intent.route in ("recent", "thread") or intent.names or intent.since or intent.until)


def _seeds(columns: Columns, filters: Filters) -> "NDArray[np.bool_]":
    """Turns that carry evidence: what is visible, but not the conversation that is going on, as far as it is excluded.

    The question itself was said there, and would match itself best; what was recalled from elsewhere before may still
    lead to its neighbours.
    """
    seen = visible(columns, filters)
    rows = _rows(columns, filters.exclude)
    if len(rows):
        here = columns["session"][rows] == columns["session"][rows.max()]
        seen[rows[here]] = False
    return seen


def _boosted(columns: Columns, intent: Intent, scores: Scores, now: int) -> Scores:
    """The scores with the boosts for pins, and for being new where that is asked for."""
    import numpy as np

    boosts = {"pin": np.where(columns["pinned"], np.float32(PIN), np.float32(0))}
    if intent.recent:
        age = np.maximum(now - columns["at"], 0).astype(np.float32)
        boosts["recency"] = np.float32(RECENT) * np.exp2(-age / np.float32(RECENT_HALF_LIFE_MS))
    total = scores.total.copy()
    for boost in boosts.values():
        total += boost
    return replace(scores, total=total, boosts={**scores.boosts, **boosts})


def _best(scores: Scores, may: "NDArray[np.bool_]", limit: int) -> list[int]:
    """The rows with the best scores of those that are allowed and have any evidence, the newest first of equals."""
    import numpy as np

    rows = np.flatnonzero(may & ((scores.lexical > 0) | (scores.semantic > 0) | (scores.graph > 0)))
    if len(rows) > limit:
        rows = np.sort(rows[np.argpartition(-scores.total[rows], limit)[:limit]])
    order = np.lexsort((-rows, -scores.total[rows]))
    return [int(row) for row in rows[order]]


def _newest(columns: Columns, evidence: Evidence, may: "NDArray[np.bool_]", limit: int) -> list[int]:
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


def _related(evidence: Evidence) -> "NDArray[np.bool_]":
    """The rows near enough in meaning to have to do with the question, and what they reply to and are replied with.

    Some turn is always the nearest: where no word was found, that alone is no reason to show it.
    """
    import numpy as np

    related = np.zeros(evidence.size, np.bool_)
    if evidence.cosines is not None:
        rows = np.flatnonzero(evidence.seen & (evidence.cosines >= RELATED))
        for reached in (rows, evidence.tree.parent[rows], evidence.tree.child[rows]):
            related[reached[reached != NONE]] = True
    return related


def _rows(columns: Columns, ids: Iterable[str]) -> "NDArray[np.intp]":
    """The rows of those of the ids that have one."""
    import numpy as np

    return np.array([row for id in ids if (row := columns.row_of(id)) != NONE], np.intp)
