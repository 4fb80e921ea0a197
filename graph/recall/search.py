"""Recall: what was said that matters for a question, the best first, each with why. Pure, and it calls no model.

Words and vectors propose, the graph says what is live and allowed and lends neighbours what matched beside them;
scoring makes one score of it; bounded boosts follow. Only the texts of the hits are read, and those that decide a cue.
"""

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from graph.errors import GraphFailure
from graph.events import MAIN_WORLD
from graph.ids import as_datetime, as_ms
from graph.projection.identities import Identities
from graph.projection.paths import lineage_of
from graph.projection.sqlite_tables import TablesInMemory, last_of
from graph.readings.rows import AMONG
from graph.readings.worlds import InWorld
from graph.recall.columns import Columns
from graph.recall.communities import group, pick
from graph.recall.evidence import Evidence, Scores, Term
from graph.recall.explain import Explainer, NewestFirst, read_hits, read_texts, read_turns, speakers_of
from graph.recall.intent import Intent, read_intent, spoken
from graph.recall.joining import join
from graph.recall.knowing import Acquaintances, Known
from graph.recall.later import Older, later_turns, older_memory, older_turn, tell_most
from graph.recall.learned import LearnedIndex
from graph.recall.lexical import Words, says_anything, stems_of, words_of
from graph.recall.naming import NameIndex
from graph.recall.nearest import nearest
from graph.recall.observation_hits import tell
from graph.recall.observing import RecallExtras, observe, told
from graph.recall.ranking import best, boosted, newest, related, spread, walked
from graph.recall.reading import read
from graph.recall.request import RecallRequest, VisibleRows, rows_of, see, tells
from graph.recall.scoring import score
from graph.recall.standing import Standings
from graph.recall.table import NONE, Table
from graph.recall.ties import read_ties
from graph.recall.traits import TraitTable
from graph.recall.vectors import Matrix
from graph.recall.walking import AskedGraph, GraphGround, Reached, walk
from graph.recall.world_masks import changes_of, observations_of, turns_of
from graph.values import Both, CalledBy, Community, Filters, Hit, Later, SupposedState, Vector
from graph.visibility import Viewer

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

ALL = Filters()
SPARE = 16  # more rows than asked for, in case a text was erased a moment ago
NOBODY = ("you", "assistant")
_RECALLED = "MATCH (a:Turn)-[:RECALLED]->(b:Turn) RETURN a.seq AS one, b.seq AS other"
RECALLED_S = 10.0
_ASSIGNED = "SELECT coalesce(max(seq), 0) FROM events WHERE kind <> 'turn.said' AND kind = 'project.assigned'"

_RELATED = f"SELECT id FROM observations WHERE relation IS NOT NULL AND id {AMONG}"

LearnedTerms = tuple[list[Term], list[Term]]


class Recall:
    """Recall over one memory, or over one of the past: `until` an event, with the tables as they were then.

    Thread-safe: one question at a time.
    """

    def __init__(
        self, log: Path, graph: AskedGraph, *, until: int | None = None, tables: TablesInMemory | None = None
    ) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._over = ""
        self._words = Words(log, until=until, tables=tables)
        self._columns: Columns | None = None
        self._learned: LearnedIndex
        self._matrix: Matrix | None = None
        self._traits = TraitTable()
        self._standings = Standings()
        self._names = NameIndex()
        self._acquaintances: Acquaintances

    def forget(self) -> None:
        """Read everything anew the next time: tables and vectors were made anew."""
        with self._lock:
            self._columns = None

    def search(
        self,
        query: str,
        *,
        vector: Vector | None = None,
        filters: Filters = ALL,
        now: datetime,
        timezone: tzinfo,
        limit: int = 10,
        kin: Sequence[CalledBy] = (),
        asks: frozenset[str] = frozenset(),
    ) -> list[Hit]:
        """What was said that matters for `query`, the best first, each with why; calls no model.

        `vector` is the query's embedding, if there is one; `now` is aware; `kin` are those whom the query means by what
        they are to somebody, `asks` the kinds of relationship that it asks for. Raises GraphFailure once it is closed.
        """
        with self._lock, self._reading() as (columns, db):
            if not (columns.size or self._learned.size) or limit < 1 or not says_anything(query):
                return []
            sight = see(db, columns, self._learned, self._standings, filters)
            people = self._people(db, columns, sight, filters.world)
            intent = read_intent(query, now=now, timezone=timezone, names=people)
            asked = RecallRequest(query, intent, vector, filters, as_ms(now), tuple(kin), asks)
            evidence = self._weigh(db, columns, asked, sight, people)
            terms = self._learned_terms(db, columns, sight, intent.words, intent.names)
            if intent.route in ("recent", "thread"):
                return _in_time(db, columns, evidence, intent, sight, limit)
            reached = self._walk(db, columns, asked, sight)
            if evidence.cosines is None and not any((evidence.terms, *terms, reached)):
                return _in_time(db, columns, evidence, intent, sight, limit)
            hits = self._join(db, columns, asked, evidence, terms, reached, sight, limit)
            later = self._later(db, columns, [hit.id for hit in hits], sight, filters.exclude)
            return [replace(hit, later=later.get(hit.id, ())) for hit in hits]

    def later(
        self, ids: Sequence[str], *, world: str, project: Viewer, witness: str | None = None
    ) -> dict[str, tuple[Later, ...]]:
        """What people said later on the topic of each observation or turn of theirs, the newest first.

        Only as far as a chat of a project, or of none, sees it in a world, or a member of its cast; and there are
        vectors.
        """
        with self._lock, self._reading() as (columns, db):
            filters = Filters(world=world, project=project, witness=witness)
            return self._later(db, columns, ids, see(db, columns, self._learned, self._standings, filters))

    def _later(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        ids: Sequence[str],
        sight: VisibleRows,
        without: Iterable[str] = (),
    ) -> dict[str, tuple[Later, ...]]:
        newest = self._matrix.model if self._matrix is not None else _newest_embedder(db)
        if newest is None or not ids:
            return {}
        matrix, learned, view = self._matrix_of(db, columns, newest), self._learned, sight.view
        bare = {id for (id,) in db.execute(_RELATED, (json.dumps(list(ids)),))}
        older: list[Older | None] = [
            older_memory(columns, learned, matrix, row, related=id in bare, view=view)
            for id in ids
            if (row := learned.beliefs.row_of(id)) != NONE and sight.known[row]
        ]
        older += [
            older_turn(columns, matrix, row)
            for id in ids
            if (row := columns.row_of(id)) != NONE and (view is None or view.turns[row])
        ]
        may = sight.turns_allowed.copy()
        may[rows_of(columns, without)] = False  # the message itself, for one
        found = later_turns(columns, learned, matrix, may, sight.known, [each for each in older if each is not None])
        rows = sorted({row for chosen in found.values() for row in chosen})
        texts = read_texts(db, columns, rows)
        speakers = speakers_of(db, columns, rows)
        told = {row: _told_later(columns, row, speakers[row], texts[row]) for row in rows if row in texts}
        most = {id: tell_most(columns, chosen, texts) for id, chosen in found.items()}
        return {id: tuple(told[row] for row in chosen) for id, chosen in most.items() if chosen}

    def _join(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        asked: RecallRequest,
        evidence: Evidence,
        terms: LearnedTerms,
        reached: Reached,
        sight: VisibleRows,
        limit: int,
    ) -> list[Hit]:
        """What words, meaning and relationships find among turns, observations and chunks, as hits."""
        plain, question = score(evidence), words_of(asked.intent.words)
        if reached.turns:
            plain = walked(plain, reached.lend(evidence, question))
        lent = None
        if reached.beliefs:
            lent = reached.lend_beliefs(evidence, terms[0], self._learned.beliefs.size, question)
        if asked.intent.several:
            plain = spread(evidence, plain)
        scores = boosted(columns, sight.pins.turns, asked.intent, plain, asked.now)
        found = self._weigh_learned(columns, asked, evidence, terms, plain, sight, lent)
        may = sight.turns_free.copy()
        if not tells(asked.intent) and not scores.lexical.any():
            may &= related(evidence, plain)
        spare = limit + SPARE
        rows = best(scores, may, spare * (2 if found.observations else 1))  # some say what an observation says
        tables: tuple[Table, Table, Table] = (columns, self._learned.pieces, self._learned.beliefs)
        turns, chunks, observations = (rows_of(table, asked.filters.exclude) for table in tables)
        held = turns, chunks, observations
        places = join(rows, scores, found, self._learned, held, limit, SPARE)
        why = Explainer(columns, evidence, scores, may, reached)
        return tell(db, columns, self._learned, places, limit, why, found, sight, reached)

    def _walk(self, db: sqlite3.Connection, columns: Columns, asked: RecallRequest, sight: VisibleRows) -> Reached:
        """What relationships lead to from whom the question means."""
        learned = self._learned
        if sight.view is not None:
            known = self._known(db, columns, sight)
            seeds = known.names.seeds(asked.query, asked.kin)
            if not seeds:
                return Reached()
            ground = self._acquaintances.ground(columns, learned, sight, known)
            return walk(ground, seeds, known.names.names, columns, learned, sight, asked.asks)
        if not self._graph.ready:
            return Reached()
        self._names.refresh(db, columns)
        seeds = self._names.seeds(asked.query, asked.kin)
        return walk(GraphGround(self._graph), seeds, self._names.names, columns, learned, sight, asked.asks)

    def near(
        self,
        text: str,
        *,
        vector: Vector | None,
        world: str,
        project: Viewer,
        limit: int,
        under_review: bool = False,
        witness: str | None = None,
    ) -> list[tuple[str, float, float]]:
        """The observations nearest to some words: id, cosine, share of the words."""
        with self._lock, self._reading() as (columns, db):
            learned = self._learned
            if not learned.beliefs.size or limit < 1:
                return []
            if vector is not None:
                self._matrix_of(db, columns, vector.model)
            filters = Filters(world=world, project=project, witness=witness)
            sight = see(db, columns, learned, self._standings, filters)
            return nearest(
                db,
                learned,
                sight,
                stems_of(db, [text])[0],
                self._learned_terms(db, columns, sight, text, ())[0],
                self._near(vector, learned.beliefs, sight),
                under_review=under_review,
                limit=limit,
            )

    def in_world(self, world: str, *, witness: str | None = None) -> InWorld:
        """How everything stands in a world, or for a member of its cast."""
        with self._lock, self._reading() as (columns, db):
            lineage = lineage_of(db, world)
            found = observations_of(db, columns, self._learned, self._standings, world, witness)
        return InWorld(lineage, found, lambda turns: self._seen(world, turns, witness))

    def supposing(self, worlds: Iterable[str], supposed: SupposedState, *, also: Iterable[str]) -> dict[str, Both]:
        """How observations stand in what-ifs, and would if things were as supposed: what changes, and `also` some."""
        listed = list(also)
        with self._lock, self._reading() as (columns, db):
            return {
                world: changes_of(db, columns, self._learned, self._standings, world, supposed, listed)
                for world in worlds
            }

    def _seen(self, world: str, turns: Iterable[str], witness: str | None) -> dict[str, bool]:
        with self._lock, self._reading() as (columns, db):
            return turns_of(db, columns, self._standings, world, turns, witness)

    def spoken(
        self,
        query: str,
        *,
        now: datetime,
        timezone: tzinfo,
        world: str = MAIN_WORLD,
        witness: str | None = None,
    ) -> str:
        """What to embed for a query: speakers' names and times in it mislead."""
        with self._lock, self._reading() as (columns, db):
            if witness is None:
                names = _people(columns, db, world)
            else:
                filters = Filters(world=world, witness=witness)
                names = self._people(db, columns, see(db, columns, self._learned, self._standings, filters), world)
        return spoken(query, now=now, timezone=timezone, names=names)

    def communities(
        self, model: str | None, *, filters: Filters = ALL, limit: int = 8, per: int = 6
    ) -> list[Community]:
        """Turns that belong together in the memory graph, with the words that set them apart, the largest first.

        `model` is the key of the embedder whose vectors tell likeness; None: words do. Raises GraphFailure while the
        graph is closed.
        """
        import numpy as np

        edges = self._graph.query(_RECALLED, None, timeout_s=RECALLED_S)
        with self._lock, self._reading() as (columns, db):
            recalled = [
                columns.rows(np.array([row[end] for row in edges], np.int64)).tolist() for end in ("one", "other")
            ]
            sight = see(db, columns, self._learned, self._standings, filters)
            may, pinned, who, parent = sight.turns_allowed, columns["pinned"], None, columns["parent"]
            if sight.view is not None:
                kept = [pair for pair in zip(*recalled, strict=True) if NONE not in pair and may[list(pair)].all()]
                recalled = [[pair[end] for pair in kept] for end in (0, 1)]
                pinned, who, parent = sight.pins.turns, self._known(db, columns, sight).who, sight.view.tree.parent
            texts = read_texts(db, columns, pick(columns, may, pinned, recalled[0] + recalled[1]).tolist())
            places = {row: place for place, row in enumerate(texts)}
            vectors = self._matrix_of(db, columns, model).take(list(texts)) if model is not None else None
            replies = zip(texts, parent[list(texts)].tolist(), strict=True)
            pairs = [
                [(places[one], places[other]) for one, other in rows if one in places and other in places]
                for rows in (replies, zip(*recalled, strict=True))
            ]
            seqs = columns["seq"][list(texts)]
            in_use = sight.learned & sight.stood.in_use
            ties = read_ties(db, self._learned, in_use, list(columns.ids(texts)), who)
        found = group(list(texts.values()), vectors, pairs[0], pairs[1], ties)  # takes its time, and holds nobody up
        groups = found[:limit]
        with self._lock, self._words.snapshot() as db:
            chosen = [read_turns(db, seqs[list(each.places[:per])].tolist()) for each in groups]
        return [
            Community(turns, each.words, len(each.places), each.people)
            for turns, each in zip(chosen, groups, strict=True)
            if turns
        ]

    def warm(self) -> None:
        """Read the turns and vectors that are kept in memory, ahead of the first question."""
        with self._lock, self._reading() as (columns, db):
            self._words.warm(db, columns)
            self._traits.warm(db, columns)
            self._names.refresh(db, columns)
            newest = _newest_embedder(db)
            if newest is not None and self._matrix is None:
                self._matrix_of(db, columns, newest)

    def close(self, why: str = "The memory is closed.") -> None:
        """Let go of the connection; whoever asks from then on is told `why`."""
        with self._lock:
            self._over = why
            self._words.close()

    @contextmanager
    def _reading(self) -> Iterator[tuple[Columns, sqlite3.Connection]]:
        """A snapshot of the log, and the columns as they are in it; anew after a refresh that failed half-way.

        Raises GraphFailure once it is closed.
        """
        if self._over:
            raise GraphFailure(self._over)
        with self._words.snapshot() as db:
            columns, self._columns = self._columns, None
            if columns is None:
                columns, self._learned = Columns(), LearnedIndex()
                self._matrix, self._traits, self._standings = None, TraitTable(), Standings()
                self._names, self._acquaintances = NameIndex(), Acquaintances()
                self._words.forget()
            columns.refresh(db, last_of(db))
            self._learned.refresh(db, columns)
            columns.follow_projects(db, db.execute(_ASSIGNED).fetchone()[0])
            self._columns = columns
            yield columns, db

    def _matrix_of(self, db: sqlite3.Connection, columns: Columns, model: str) -> Matrix:
        tables = (columns, self._learned.beliefs, self._learned.pieces)
        if self._matrix is None or self._matrix.model != model or not self._matrix.of(tables):
            self._matrix = Matrix(model, *tables)
        self._matrix.sync(db)
        return self._matrix

    def _weigh(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        asked: RecallRequest,
        sight: VisibleRows,
        people: Mapping[str, Sequence[str]],
    ) -> Evidence:
        cosines, intent, view = None, asked.intent, sight.view
        if asked.vector is not None:
            cosines = self._matrix_of(db, columns, asked.vector.model).cosines(asked.vector, columns)
            cosines = cosines if view is None else _of_some(cosines, view.turns)
        among = None if view is None else view.turns
        speakers = None if view is None else list(people)
        return Evidence(
            question=asked.query,
            size=columns.size,
            tree=columns.tree if view is None else view.tree,
            session=columns["session"],
            sessions=len(columns.sessions),
            speaker=columns["speaker"],
            at=columns["at"],
            seen=_seeds(columns, sight, asked.filters),
            terms=tuple(self._words.terms(db, intent.words, columns, without=intent.names, among=among)),
            cosines=cosines,
            named=tuple(columns.speakers.code(speaker) for name in intent.names for speaker in people[name]),
            since=None if intent.since is None else as_ms(intent.since),
            until=None if intent.until is None else as_ms(intent.until),
            trait=lambda trait, rows: self._traits.read(db, columns, trait, rows, speakers),
        )

    def _weigh_learned(
        self,
        columns: Columns,
        asked: RecallRequest,
        evidence: Evidence,
        terms: LearnedTerms,
        turns: Scores,
        sight: VisibleRows,
        lent: "NDArray[np.float32] | None",
    ) -> RecallExtras:
        """What there is to say for observations and chunks, where there are any."""
        learned, kinds = self._learned, asked.filters.kinds
        chunks = observations = None
        if learned.pieces.size and kinds & {"chunk", "observation"} and sight.view is None:
            near = self._near(asked.vector, learned.pieces, sight)
            chunks = read(learned, asked.query, terms[1], near, sight.chunks_free)
        if sight.known.any() and "observation" in kinds:
            near = self._near(asked.vector, learned.beliefs, sight)
            said = told(turns.lexical, evidence.cosines, evidence.seen)
            meaning = evidence.cosines
            observations = observe(learned, columns, terms[0], near, turns, said, chunks, sight, asked, meaning, lent)
        return RecallExtras(observations, chunks)

    def _near(self, vector: Vector | None, table: Table, sight: VisibleRows) -> "NDArray[np.float32] | None":
        """How near observations or chunks are."""
        if vector is None or self._matrix is None:
            return None
        cosines = self._matrix.cosines(vector, table)
        return cosines if sight.view is None else _of_some(cosines, sight.known)

    def _learned_terms(
        self, db: sqlite3.Connection, columns: Columns, sight: VisibleRows, words: str, without: Collection[str]
    ) -> LearnedTerms:
        among = (sight.view.turns, sight.known) if sight.view is not None else None
        return self._words.learned_terms(db, words, columns, self._learned, without=without, among=among)

    def _known(self, db: sqlite3.Connection, columns: Columns, sight: VisibleRows) -> Known:
        self._acquaintances.refresh(db, columns, self._learned)
        return self._acquaintances.known(db, columns, self._learned, sight)

    def _people(self, db: sqlite3.Connection, columns: Columns, sight: VisibleRows, world: str) -> dict[str, list[str]]:
        """Who speaks, by all that they are called in a world, or by a member of its cast."""
        if sight.view is None:
            return _people(columns, db, world)
        speakers, who = sight.view.speakers, self._known(db, columns, sight).who
        found = {name: list(ids) for name, ids in who.names_of(speakers).items()}
        for id, name in who.names(speakers).items():
            if id not in found.setdefault(name, []):
                found[name].append(id)
        return {name: ids for name, ids in found.items() if name not in NOBODY}


def _newest_embedder(db: sqlite3.Connection) -> str | None:
    found = db.execute("SELECT name FROM embedders ORDER BY id DESC LIMIT 1").fetchone()
    return found[0] if found is not None else None


def _of_some(cosines: "NDArray[np.float32] | None", known: "NDArray[np.bool_]") -> "NDArray[np.float32] | None":
    """The cosines, where there are any of what is known."""
    return cosines if cosines is not None and cosines[known].any() else None


def _told_later(columns: Columns, row: int, speaker: str, text: str) -> Later:
    return Later(
        turn=columns.ids([row])[0],
        session=columns.session_of(row),
        role=columns.role_of(row),
        speaker=speaker,
        text=text,
        at=as_datetime(int(columns["at"][row])),
    )


def _people(columns: Columns, db: sqlite3.Connection, world: str) -> dict[str, list[str]]:
    """Who speaks in the memory, besides the user and the assistant, by all that a world calls them."""
    speakers = [name for name in columns.speakers.names if name not in NOBODY]
    called = Identities(db, world).names_of(speakers) if speakers else {}
    return {name: who for name, who in called.items() if name not in NOBODY}


def _seeds(columns: Columns, sight: VisibleRows, filters: Filters) -> "NDArray[np.bool_]":
    """Turns that carry evidence: what is visible, but not the conversation that is going on, as far as it is excluded.

    The question itself was said there, and would match itself best; what was recalled from elsewhere before may still
    lead to its neighbours.
    """
    seen = sight.turns.copy()
    rows = rows_of(columns, filters.exclude)
    if sight.view is not None:
        rows = rows[sight.view.turns[rows]]
    if len(rows):
        here = columns["session"][rows] == columns["session"][rows.max()]
        seen[rows[here]] = False
    return seen


def _in_time(
    db: sqlite3.Connection, columns: Columns, evidence: Evidence, intent: Intent, sight: VisibleRows, limit: int
) -> list[Hit]:
    """The newest turns in the time that is asked for, said by whom is named."""
    rows = newest(columns, evidence, sight.turns_free, limit + SPARE) if tells(intent) else []
    there = read_texts(db, columns, rows)
    texts = {row: there[row] for row in [row for row in rows if row in there][:limit]}
    why = NewestFirst(columns, rows, named=bool(evidence.named))
    return list(read_hits(db, columns, texts, why, named=sight.view is None).values())
