"""What was learned, as the graph has it: which observations there are, and the whole story of one.

A reading asks once which, once for all their proof and once for whom they are about, however many there are. A pin is
of a series: a revision takes the place of the one before it. The graph knows how each stands in its own world; for a
what-if, which has others too, recall works it out (worlds.py).
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Unpack

from graph.errors import Ambiguous, GraphFailure, NotFound
from graph.events import MAIN_WORLD
from graph.ids import as_ms
from graph.readings.exchanges import SHORTEST_PREFIX
from graph.readings.finding import fts_query
from graph.readings.newest import NewestFilter, NewestItem, NodeKind, first, learned
from graph.readings.proof import RETURN, proofs, with_proof
from graph.readings.unlearned import Unlearned
from graph.readings.worlds import InWorld, is_wanted, lineage_of, pinned_series, standing_rows
from graph.values import Observation, Project, Story, Wanted, seen_by
from graph.visibility import EVERYONE, Viewer

ANY = Wanted()

_IN_USE = "o.current"
_BY_DEATH = "(o.current OR (NOT o.live AND o.status IN ['candidate', 'active']))"
_NAMES = "MATCH (:Observation)-[:ABOUT]->(e:Entity) RETURN DISTINCT e.id AS id, coalesce(e.name, e.id) AS name"

# A series, those that were made again because one of it died, those it was made again for, and so on.
_FAMILY = """
WITH RECURSIVE family (series) AS (
    SELECT :series
    UNION
    SELECT died.series FROM family
    JOIN events AS own ON own.series = family.series AND own.kind = 'observation.made'
    JOIN events AS died ON died.item = own.structure ->> '$.instead_of' AND died.kind = 'observation.made'
    UNION
    SELECT again.series FROM family
    JOIN events AS own ON own.series = family.series AND own.kind = 'observation.made'
    JOIN named ON named.name = own.item AND named.kind = 'observation.made'
    JOIN events AS again ON again.seq = named.seq
)
SELECT series FROM family
"""
_WORDS = "SELECT rowid FROM learned WHERE learned MATCH ?"
_MADE = "SELECT item, series, structure ->> '$.world' FROM events WHERE kind = 'observation.made' AND"
_SIGNIFICANCE = """
MATCH (t:Turn) WHERE t.live AND t.world = 'main' AND t.significance IS NOT NULL AND t.text IS NOT NULL
RETURN t.significance AS rating, count(*) AS turns
"""
_RATED = """
MATCH (t:Turn) WHERE t.significance IS NOT NULL AND t.text IS NOT NULL RETURN t.id AS id, t.significance AS rating
"""
_OF_PROJECTS = """
MATCH (o:Observation)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document)
WHERE o.current AND o.world = 'main' AND s.project IS NOT NULL
RETURN s.project AS project, count(DISTINCT o.id) AS current
"""

_OF_PROJECT = """
EXISTS {
    MATCH (o)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document) WHERE s.project = $project
}
"""

SHORTEST_PAGE = 50  # observations that are read at once; a trend is known only when their proof is


class Remembered(Unlearned):
    """The questions about what was learned that need the graph. Each raises GraphFailure while that is closed."""

    @abstractmethod
    def in_world(self, world: str) -> InWorld:
        """How everything stands in a world. Raises GraphFailure while the graph is behind."""

    def memories(self, wanted: Wanted = ANY, *, now: datetime, limit: int = 200) -> list[Observation]:
        """The observations that are asked for, as they stand in that world, the newest first. Raises GraphFailure."""
        pinned = self._pinned_series(wanted.world)
        view = self._view(wanted.world)
        condition, values = self._condition(wanted, pinned, view)
        most, found, skip = max(limit, 0), list[Observation](), 0
        page = max(most, SHORTEST_PAGE)
        while len(found) < most:
            matching = f"MATCH (o:Observation) WHERE {condition} {RETURN} ORDER BY o.at DESC, o.seq DESC"
            rows = self.query(f"{matching} SKIP {skip} LIMIT {page}", values)
            here = rows if view is None else [row for row in standing_rows(rows, view) if is_wanted(wanted, row)]
            proved = with_proof(self.query, here, now, pinned, view)
            found += [each for each in proved if wanted.trend in (None, each.trend) and seen_by(wanted.viewer, each)]
            if len(rows) < page:
                break
            skip, page = skip + page, 4 * page
        return found[:most]

    def newest(self, kinds: Collection[NodeKind], limit: int, **within: Unpack[NewestFilter]) -> list[NewestItem]:
        """The live nodes of some kinds that a world sees, and there a chat of a project, the newest first.

        Of observations those that are in use, by when they were learned. Raises GraphFailure for them alone, and
        ValueError for a naive time.
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

        As they stand in `world`, or (None) in the observation's own. Raises NotFound, Ambiguous or GraphFailure.
        """
        whole, series, own = self._made(id)
        here = own if world is None else world
        revisions = self._all("o.series = $series", {"series": series}, now, here)
        observation = next((each for each in revisions if each.id == whole), None)
        if observation is None:
            gone = not self._all("o.id = $id", {"id": whole}, now, own)
            why = f"The memory {id} was forgotten." if gone else f"The memory {id} belongs to another world."
            raise NotFound(f"{why} `clew memories` lists the memories.")
        told = proofs(self.query, [each.id for each in revisions], self._view(here))
        return Story(observation, tuple(revisions), told)

    def observations(self, ids: Iterable[str], *, world: str | None = None) -> dict[str, Observation]:
        """Those of the observations that are live and have their text, by their ids. Raises GraphFailure.

        As they stand in `world`, or (None) each in its own.
        """
        found = self._all("o.id IN $ids AND o.text IS NOT NULL", {"ids": list(ids)}, None, world)
        return {each.id: each for each in found if each.live}

    def pinned_observations(self, world: str = MAIN_WORLD, *, project: Viewer = EVERYONE) -> list[Observation]:
        """Current ones of a world whose series is pinned there, the oldest first; none while the graph is behind.

        Of those, the ones that a chat of a `project`, or of none, sees. A revision under review does not stand beside
        the one in use.
        """
        pinned = self._pinned_series(world)
        if not pinned or not self.graph_ready:
            return []
        try:
            found = self._all("o.series IN $series", {"series": sorted(pinned)}, None, world)
        except GraphFailure:
            return []
        current = [each for each in found if each.current and seen_by(project, each)]
        in_use = {each.series for each in current if each.status == "active"}
        return [each for each in current if each.status == "active" or each.series not in in_use]

    def forgetting(self, id: str) -> list[Observation]:
        """All that has to go when an observation is forgotten, the oldest first; by an id as for `memory`.

        These are the revisions of its series and of every series that stands in for a dead one of them: what was hidden
        can come back, and would bring it along. Raises NotFound, Ambiguous or GraphFailure.
        """
        _, series, _ = self._made(id)
        with self.snapshot() as db:
            family = [each for (each,) in db.execute(_FAMILY, {"series": series})]
        found = self._all("o.series IN $family", {"family": family}, None, None)
        if not found:
            raise NotFound(f"The memory {id} was already forgotten. `clew memories` lists the memories.")
        return found

    def significance(self, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns that a world sees were rated 0, 1, 2 and 3."""
        rows = self._asked(_SIGNIFICANCE if world == MAIN_WORLD else _RATED)
        if rows is None:
            return super().significance(world)
        counted = dict.fromkeys(range(4), 0)
        if world == MAIN_WORLD:
            return counted | {row["rating"]: row["turns"] for row in rows}
        seen = self.in_world(world).seen(row["id"] for row in rows)
        return counted | Counter(row["rating"] for row in rows if row["id"] in seen)

    def projects(self) -> list[Project]:
        """Every project that was made or that a session belongs to, by name, with its current observations.

        While the graph is behind, these are not counted.
        """
        counted = {row["project"]: row["current"] for row in self._asked(_OF_PROJECTS) or []}
        return [replace(project, observations=counted.get(project.name, 0)) for project in super().projects()]

    def _asked(self, cypher: str) -> list[dict[str, Any]] | None:
        """What the graph answers, None while it is behind."""
        if not self.graph_ready:
            return None
        try:
            return self.query(cypher)
        except GraphFailure:
            return None

    def _view(self, world: str) -> InWorld | None:
        """How things stand in a what-if; None of main, of which the graph tells."""
        return None if world == MAIN_WORLD else self.in_world(world)

    def _all(
        self, condition: str, values: Mapping[str, Any], now: datetime | None, world: str | None = None
    ) -> list[Observation]:
        """Observations as they stand in a world that may see them, or (None) each in its own, the oldest first."""
        matching = f"MATCH (o:Observation) WHERE NOT o.deleted AND {condition} {RETURN} ORDER BY o.at, o.seq"
        rows = self.query(matching, values)
        worlds = [world] if world is not None else dict.fromkeys(row["world"] for row in rows)
        found: dict[str, Observation] = {}
        for here in worlds:
            pinned, view = self._pinned_series(here), self._view(here)
            of_it = [row for row in rows if row["world"] == here or world is not None]
            there = standing_rows(of_it, view) if view is not None else [r for r in of_it if r["world"] == here]
            proved = with_proof(self.query, there, now or datetime.now(UTC), pinned, view)
            found |= {each.id: each for each in proved}
        return [found[row["id"]] for row in rows if row["id"] in found]

    def _condition(self, wanted: Wanted, pinned: set[str], view: InWorld | None) -> tuple[str, dict[str, Any]]:
        """What an observation has to be, in Cypher, and the values in it."""
        conditions: list[str] = ["NOT o.deleted", "o.world IN $worlds"]
        values: dict[str, Any] = {"worlds": [wanted.world] if view is None else view.lineage.worlds}
        if view is None:
            conditions.append(_standing(wanted))
        given: dict[str, tuple[str, Any]] = {
            "status": ("o.status = $status", wanted.status if view is None else None),
            "kind": ("o.kind = $kind", wanted.kind and str(wanted.kind)),
            "project": (_OF_PROJECT, wanted.project),
            "about": (
                "EXISTS { MATCH (o)-[:ABOUT]->(e:Entity) WHERE e.id IN $about }",
                self._entities(wanted.about) if wanted.about is not None else None,
            ),
            "text": ("o.seq IN $text", self._worded(wanted.text) if wanted.text is not None else None),
            "since": ("o.at >= $since", wanted.since and as_ms(wanted.since)),
            "until": ("o.at < $until", wanted.until and as_ms(wanted.until)),
            "pinned": (f"{'' if wanted.pinned else 'NOT '}o.series IN $pinned", _some(pinned, wanted.pinned)),
        }
        for name, (condition, value) in given.items():
            if value is not None:
                conditions.append(condition)
                values[name] = value
        return " AND ".join(conditions), values

    def _entities(self, name: str) -> list[str]:
        """The entities of a name, in any case."""
        sought = " ".join(name.split()).casefold()
        return [row["id"] for row in self.query(_NAMES) if row["name"].casefold() == sought] or [""]

    def _worded(self, text: str) -> list[int]:
        """The events of what was learned whose words are the given ones."""
        words = fts_query(text)
        if not words:
            return [0]
        with self.snapshot() as db:
            return [seq for (seq,) in db.execute(_WORDS, (words,))] or [0]

    def _pinned_series(self, world: str) -> set[str]:
        with self.snapshot() as db:
            return pinned_series(db, lineage_of(db, world))

    def _made(self, id: str) -> tuple[str, str, str]:
        """An observation's whole id, its series and its world. Raises NotFound or Ambiguous."""
        first = id.upper()  # ULIDs are upper case, people's typing is not
        with self.snapshot() as db:
            found = db.execute(f"{_MADE} item = ?", (id,)).fetchall()
            if not found and len(id) >= SHORTEST_PREFIX:
                like = f"{_MADE} item >= ? AND item < ? ORDER BY seq LIMIT 2"
                found = db.execute(like, (first, first + "\U0010ffff")).fetchall()
        if not found:
            raise NotFound(f"There is no memory {id}. `clew memories` lists them.")
        if len(found) > 1:
            raise Ambiguous(f"Several memories have ids starting with {id}. Give more characters.")
        whole, series, world = found[0]
        return whole, series, world


def _standing(wanted: Wanted) -> str:
    """Whether live, current or dead ones are asked for."""
    if wanted.everything:
        return "true" if wanted.dead else "o.live"
    if wanted.status in ("superseded", "invalid"):
        return "true" if wanted.dead else "o.live"
    return _BY_DEATH if wanted.dead else _IN_USE


def _some(pinned: set[str], asked: bool | None) -> list[str] | None:
    return None if asked is None else sorted(pinned) or [""]
