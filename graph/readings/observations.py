"""What was learned: which observations there are, and the whole story of one.

A reading asks once which, once for all their proof and once for whom they are about, however many there are. A pin is
of a series: a revision takes the place of the one before it. The tables say how each stands in its own world; for a
what-if, which has others too, recall works it out (worlds.py).
"""

import json
import sqlite3
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Unpack

from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD
from graph.ids import as_ms
from graph.projection.identities import Identities
from graph.projection.paths import family_of, lineage_of
from graph.readings.exchanges import SHORTEST_PREFIX
from graph.readings.finding import fts_query
from graph.readings.newest import NewestFilter, NewestItem, NodeKind, first, learned
from graph.readings.proof import OBSERVATION, OWNERS, Row, proofs, relationships, with_proof
from graph.readings.rows import AMONG, among, dicts
from graph.readings.unlearned import Unlearned
from graph.readings.worlds import InWorld, is_wanted, pinned_series, standing_rows
from graph.values import Observation, Project, Related, Story, Wanted, seen_by
from graph.visibility import EVERYONE, Viewer

ANY = Wanted()

_IN_USE = "o.current"
_BY_DEATH = "(o.current OR NOT o.live AND o.status IN ('candidate', 'active'))"
_WORDS = "SELECT rowid FROM learned WHERE learned MATCH ?"
_MADE = "SELECT id, series, world FROM observations WHERE"
_OF_PROJECTS = f"""
SELECT of.project, count(DISTINCT o.id) FROM observations AS o JOIN ({OWNERS}) AS of ON of.observation = o.id
WHERE o.current AND o.world = 'main' GROUP BY of.project
"""
_OF_PROJECT = f"o.id IN (SELECT observation FROM ({OWNERS}) WHERE project = :project)"
_OLDEST_FIRST = "ORDER BY o.at, o.seq"
_RELATED = f"""
SELECT o.id, o.world, o.status, o.live, o.current, o.relation, o.subject, o.object, o.since, o.until, o.polarity, o.word
FROM observations AS o WHERE o.relation IS NOT NULL AND NOT o.deleted AND o.world {among("worlds")}
AND {{}} AND ({{}} {{}} {{}}) ORDER BY o.seq DESC LIMIT :most
"""
_IN_FORCE = Wanted(status="active")
MOST_RELATED = 20_000  # relationships that are read at once


SHORTEST_PAGE = 50  # observations that are read at once; a trend is known only when their proof is


# A turn is a source of the revisions that follow, too: those of its series that are in use do not rest on it alone.
_OUTDATED = f"""
SELECT said.target, newer.id, proof.target FROM links AS said
JOIN observations AS old ON old.id = said.start AND old.status = 'superseded'
JOIN observations AS newer ON newer.series = old.series AND newer.current AND newer.status = 'active'
JOIN links AS proof ON proof.start = newer.id AND proof.rel = 'DERIVED_FROM'
WHERE said.rel IN ('DERIVED_FROM', 'SUPPORTED_BY') AND said.target {AMONG} AND NOT EXISTS (
    SELECT 1 FROM links AS also JOIN observations AS still ON still.id = also.start AND still.current
    WHERE also.rel = 'DERIVED_FROM' AND also.target = said.target AND NOT EXISTS (
        SELECT 1 FROM observations AS older JOIN links AS first ON first.start = older.id
        WHERE older.series = still.series AND older.status = 'superseded'
        AND first.rel = 'DERIVED_FROM' AND first.target = said.target
    )
)
"""


class Remembered(Unlearned):
    """The questions about what was learned."""

    @abstractmethod
    def in_world(self, world: str) -> InWorld:
        """How everything stands in a world."""

    def memories(self, wanted: Wanted = ANY, *, now: datetime, limit: int = 200) -> list[Observation]:
        """The observations that are asked for, as they stand in that world, the newest first."""
        view = self._view(wanted.world)
        most, found, skip = max(limit, 0), list[Observation](), 0
        page = max(most, SHORTEST_PAGE)
        with self.snapshot() as db:
            pinned = _pinned_in(db, wanted.world)
            condition, values = _condition(db, wanted, pinned, view)
            while len(found) < most:
                matching = f"{OBSERVATION} WHERE {condition} ORDER BY o.at DESC, o.seq DESC LIMIT {page} OFFSET {skip}"
                rows = dicts(db, matching, values)
                here = rows if view is None else [row for row in standing_rows(rows, view) if is_wanted(wanted, row)]
                proved = with_proof(db, here, now, pinned, view)
                found += [
                    each
                    for each in proved
                    if wanted.trend in (None, each.trend)
                    and wanted.plain in (None, each.plain)
                    and wanted.fact_type in (None, each.fact_type)
                    and seen_by(wanted.viewer, each)
                ]
                if len(rows) < page:
                    break
                skip, page = skip + page, 4 * page
        return found[:most]

    def newest(self, kinds: Collection[NodeKind], limit: int, **within: Unpack[NewestFilter]) -> list[NewestItem]:
        """The live nodes of some kinds that a world sees, and there a chat of a project, the newest first.

        Of observations those that are in use, by when they were learned. Raises ValueError for a naive time.
        """
        found = super().newest([kind for kind in kinds if kind != "observation"], limit, **within)
        if "observation" not in kinds:
            return found
        wanted = Wanted(
            status="active",
            world=within.get("world", MAIN_WORLD),
            since=within.get("since"),
            until=within.get("until"),
            viewer=within.get("project", EVERYONE),
        )
        return first([*found, *map(learned, self.memories(wanted, now=datetime.now(UTC), limit=limit))], limit)

    def memory(self, id: str, *, now: datetime | None = None, world: str | None = None) -> Story:
        """An observation with its revisions and their proof, by its id or the first 6 or more characters of it.

        As they stand in `world`, or (None) in the observation's own. Raises NotFound or Ambiguous.
        """
        whole, series, own = self._made(id)
        here = own if world is None else world
        view = self._view(here)
        with self.snapshot() as db:
            revisions = self._all(db, "o.series = :series", {"series": series}, now, here)
            told = proofs(db, [each.id for each in revisions], view)
            made_from = {"ids": json.dumps(sorted({parent for each in revisions for parent in each.parents}))}
            parents = self._all(db, f"o.id {among('ids')}", made_from, now, here)
        observation = next((each for each in revisions if each.id == whole), None)
        if observation is None:
            gone = not self.chosen("o.id = :id", {"id": whole}, now, own)
            why = f"The memory {id} was forgotten." if gone else f"The memory {id} belongs to another world."
            raise NotFound(f"{why} `clew memories` lists the memories.")
        return Story(observation, tuple(revisions), told, tuple(parents))

    def observations(self, ids: Iterable[str], *, world: str | None = None) -> dict[str, Observation]:
        """Those of the observations that are live and have their text, by their ids.

        As they stand in `world`, or (None) each in its own.
        """
        wanted = {"ids": json.dumps(list(ids))}
        found = self.chosen(f"o.id {among('ids')} AND event.text IS NOT NULL", wanted, None, world)
        return {each.id: each for each in found if each.live}

    def outdated(self, turns: Iterable[str]) -> dict[str, frozenset[str]]:
        """Those of the turns of whose observations none holds any more, with what tells it anew: memories and turns.

        As the main world stands.
        """
        found: dict[str, set[str]] = {}
        with self.snapshot() as db:
            for turn, memory, source in db.execute(_OUTDATED, (json.dumps(list(turns)),)):
                found.setdefault(turn, set()).update((memory, source))
        return {turn: frozenset(newer - {turn}) for turn, newer in found.items()}

    def related(
        self, entities: Collection[str], *, world: str = MAIN_WORLD, among_them: bool = False, limit: int = MOST_RELATED
    ) -> list[Related]:
        """The relationships of some entities, or only those `among_them`, that are in force in a world.

        The newest first. It reads no proof, so that a hub with thousands of them costs milliseconds.
        """
        view = self._view(world)
        standing = "o.current AND o.status = 'active'" if view is None else "true"
        worlds = [world] if view is None else view.lineage.worlds
        with self.snapshot() as db:
            who = Identities(db, world)
            told_of = who.told([who.meant(entity) for entity in entities])
            one, other = (told_of.condition(end, "o.id") for end in ("o.subject", "o.object"))
            query = _RELATED.format(standing, one, "AND" if among_them else "OR", other)
            values = {**told_of.values(), "worlds": json.dumps(worlds), "most": max(limit, 0)}
            rows = dicts(db, query, values)
            if view is not None:
                rows = [row for row in standing_rows(rows, view) if is_wanted(_IN_FORCE, row)]
            told = relationships(who, rows)
        return [Related(row["id"], told[row["id"]]) for row in rows]

    def pinned_observations(self, world: str = MAIN_WORLD, *, project: Viewer = EVERYONE) -> list[Observation]:
        """Current ones of a world whose series is pinned there, the oldest first.

        Of those, the ones that a chat of a `project`, or of none, sees. A revision under review does not stand beside
        the one in use.
        """
        with self.snapshot() as db:
            pinned = {"series": json.dumps(sorted(_pinned_in(db, world)))}
            found = self._all(db, f"o.series {among('series')}", pinned, None, world)
        current = [each for each in found if each.current and seen_by(project, each)]
        in_use = {each.series for each in current if each.status == "active"}
        return [each for each in current if each.status == "active" or each.series not in in_use]

    def forgetting(self, id: str) -> list[Observation]:
        """All that has to go when an observation is forgotten, the oldest first; by an id as for `memory`.

        These are the revisions of its series and of every series that stands in for a dead one of them: what was hidden
        can come back, and would bring it along; and all that was made from one of them and another memory. Raises
        NotFound or Ambiguous.
        """
        _, series, _ = self._made(id)
        with self.snapshot() as db:
            family = {"family": json.dumps(family_of(db, series))}
            found = self._all(db, f"o.series {among('family')}", family, None, None)
        if not found:
            raise NotFound(f"The memory {id} was already forgotten. `clew memories` lists the memories.")
        return found

    def projects(self) -> list[Project]:
        """Every project that was made or that a session belongs to, by name, with its current observations."""
        with self.snapshot() as db:
            counted = dict(db.execute(_OF_PROJECTS).fetchall())
        return [replace(project, observations=counted.get(project.name, 0)) for project in super().projects()]

    def _view(self, world: str) -> InWorld | None:
        """How things stand in a what-if; None of main, of which the tables tell."""
        return None if world == MAIN_WORLD else self.in_world(world)

    def chosen(
        self, condition: str, values: Mapping[str, Any], now: datetime | None = None, world: str | None = None
    ) -> list[Observation]:
        """Observations of which a condition on rows `o` holds, the oldest first. For this package only."""
        with self.snapshot() as db:
            return self._all(db, condition, values, now, world)

    def _all(
        self,
        db: sqlite3.Connection,
        condition: str,
        values: Mapping[str, Any],
        now: datetime | None,
        world: str | None = None,
    ) -> list[Observation]:
        """Observations as they stand in a world that may see them, or (None) each in its own, the oldest first."""
        rows = dicts(db, f"{OBSERVATION} WHERE NOT o.deleted AND {condition} {_OLDEST_FIRST}", values)
        worlds = [world] if world is not None else dict.fromkeys(row["world"] for row in rows)
        found: dict[str, Observation] = {}
        for here in worlds:
            pinned, view = _pinned_in(db, here), self._view(here)
            of_it: list[Row] = [row for row in rows if row["world"] == here or world is not None]
            there = standing_rows(of_it, view) if view is not None else [r for r in of_it if r["world"] == here]
            proved = with_proof(db, there, now or datetime.now(UTC), pinned, view)
            found |= {each.id: each for each in proved}
        return [found[row["id"]] for row in rows if row["id"] in found]

    def _made(self, id: str) -> tuple[str, str, str]:
        """An observation's whole id, its series and its world. Raises NotFound or Ambiguous."""
        first = id.upper()  # ULIDs are upper case, people's typing is not
        with self.snapshot() as db:
            found = db.execute(f"{_MADE} id = ?", (id,)).fetchall()
            if not found and len(id) >= SHORTEST_PREFIX:
                like = f"{_MADE} id >= ? AND id < ? ORDER BY seq LIMIT 2"
                found = db.execute(like, (first, first + "\U0010ffff")).fetchall()
        if not found:
            raise NotFound(f"There is no memory {id}. `clew memories` lists them.")
        if len(found) > 1:
            raise Ambiguous(f"Several memories have ids starting with {id}. Give more characters.")
        whole, series, world = found[0]
        return whole, series, world


def _condition(
    db: sqlite3.Connection, wanted: Wanted, pinned: set[str], view: InWorld | None
) -> tuple[str, dict[str, Any]]:
    """What an observation has to be, in SQL, and the values in it."""
    conditions: list[str] = ["NOT o.deleted", f"o.world {among('worlds')}"]
    values: dict[str, Any] = {"worlds": json.dumps([wanted.world] if view is None else view.lineage.worlds)}
    if view is None:
        conditions.append(_standing(wanted))
    if wanted.related:
        conditions.append("o.relation IS NOT NULL")
    some_pinned = None if wanted.pinned is None else json.dumps(sorted(pinned))
    given: dict[str, tuple[str, Any]] = {
        "status": ("o.status = :status", wanted.status if view is None else None),
        "kind": ("o.kind = :kind", wanted.kind and str(wanted.kind)),
        "project": (_OF_PROJECT, wanted.project),
        "relation": ("o.relation = :relation", wanted.relation),
        "text": (f"o.seq {among('text')}", json.dumps(_worded(db, wanted.text)) if wanted.text is not None else None),
        "since": ("o.at >= :since", wanted.since and as_ms(wanted.since)),
        "until": ("o.at < :until", wanted.until and as_ms(wanted.until)),
        "pinned": (f"o.series {'' if wanted.pinned else 'NOT '}{among('pinned')}", some_pinned),
    }
    for name, (condition, value) in given.items():
        if value is not None:
            conditions.append(condition)
            values[name] = value
    who = Identities(db, wanted.world)
    if wanted.about is not None:
        told = who.told(who.called(wanted.about))
        named = told.condition("key", "start", of="about")
        conditions.append(f"EXISTS (SELECT 1 FROM links WHERE start = o.id AND rel = 'ABOUT' AND {named})")
        values |= told.values(of="about")
    if wanted.entity is not None:
        told = who.told([who.meant(wanted.entity)])
        ends = " OR ".join(told.condition(end, "o.id", of="entity") for end in ("o.subject", "o.object"))
        conditions.append(f"({ends})")
        values |= told.values(of="entity")
    return " AND ".join(conditions), values


def _worded(db: sqlite3.Connection, text: str) -> list[int]:
    """The events of what was learned whose words are the given ones, names whole where anything has them so."""
    for names in (True, False):
        words = fts_query(text, names=names)
        if words and (found := [seq for (seq,) in db.execute(_WORDS, (words,))]):
            return found
    return []


def _pinned_in(db: sqlite3.Connection, world: str) -> set[str]:
    return pinned_series(db, lineage_of(db, world))


def _standing(wanted: Wanted) -> str:
    """Whether live, current or dead ones are asked for."""
    if wanted.everything:
        return "true" if wanted.dead else "o.live"
    if wanted.status in ("superseded", "invalid"):
        return "true" if wanted.dead else "o.live"
    return _BY_DEATH if wanted.dead else _IN_USE
