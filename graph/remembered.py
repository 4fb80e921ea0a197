"""What was learned, as the graph has it: which observations there are, and the whole story of one.

A reading asks once which, once for all their proof and once for whom they are about, however many there are. A pin is
of a series: a revision takes the place of the one before it.
"""

import json
import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from graph.beliefs import Observation, Project, Story, Unreflected, Wanted
from graph.errors import Ambiguous, GraphFailure, NotFound
from graph.events import MAIN_WORLD
from graph.exchanges import SHORTEST_PREFIX
from graph.finding import fts_query
from graph.paths import Paths
from graph.proof import RETURN, proofs, with_proof
from graph.readings import Readings
from graph.rows import SAID, TURN, turn_of
from graph.survivors import survivors
from graph.unreflected import Pending

ANY = Wanted()

_IN_USE = "o.current"
_BY_DEATH = "(o.current OR (NOT o.live AND o.status IN ['candidate', 'active']))"
_NAMES = "MATCH (:Observation)-[:ABOUT]->(e:Entity) RETURN DISTINCT e.id AS id, coalesce(e.name, e.id) AS name"

# Every pin of an observation and the series it is of, the newest last.
_PINS = """
SELECT made.series, pin.kind FROM events AS pin
JOIN events AS made ON made.item = pin.item AND made.kind = 'observation.made'
WHERE pin.kind <> 'turn.said' AND pin.kind IN ('pin.set', 'pin.cleared') AND pin.item IS NOT NULL ORDER BY pin.seq
"""
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
_MADE = "SELECT item, series FROM events WHERE kind = 'observation.made' AND"
_SIGNIFICANCE = """
MATCH (t:Turn) WHERE t.live AND t.significance IS NOT NULL AND t.text IS NOT NULL
RETURN t.significance AS rating, count(*) AS turns
"""
_OF_PROJECTS = """
MATCH (o:Observation) WHERE o.current AND o.project IS NOT NULL RETURN o.project AS project, count(*) AS current
"""
_LIVING = "MATCH (t:Turn) WHERE t.id IN $ids AND t.live AND NOT t.withheld RETURN t.id AS id"

SHORTEST_PAGE = 50  # observations that are read at once; a trend is known only when their proof is
COUNTED = 200  # so much is counted one by one


class Remembered(Readings):
    """The questions about what was learned that need the graph. Each raises GraphFailure while that is closed."""

    def __init__(self) -> None:
        self._left = Pending()
        self._looking = threading.Lock()  # guards what is left, which remembers

    @property
    @abstractmethod
    def graph_ready(self) -> bool:
        """Whether the graph has everything the log has, and follows it."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query, a row a dictionary."""

    def memories(self, wanted: Wanted = ANY, *, now: datetime, limit: int = 200) -> list[Observation]:
        """The observations that are asked for, the newest first. Raises GraphFailure."""
        pinned = self._pinned_series()
        condition, values = self._condition(wanted, pinned)
        most, found, skip = max(limit, 0), list[Observation](), 0
        page = max(most, SHORTEST_PAGE)
        while len(found) < most:
            matching = f"MATCH (o:Observation) WHERE {condition} {RETURN} ORDER BY o.at DESC, o.seq DESC"
            rows = self.query(f"{matching} SKIP {skip} LIMIT {page}", values)
            proved = with_proof(self.query, rows, now, pinned)
            found += [each for each in proved if wanted.trend in (None, each.trend)]
            if len(rows) < page:
                break
            skip, page = skip + page, 4 * page
        return found[:most]

    def memory(self, id: str, *, now: datetime | None = None) -> Story:
        """An observation with its revisions and their proof, by its id or the first 6 or more characters of it.

        Raises NotFound, Ambiguous or GraphFailure.
        """
        whole, series = self._made(id)
        revisions = self._all("o.series = $series", {"series": series}, now)
        observation = next((each for each in revisions if each.id == whole), None)
        if observation is None:
            raise NotFound(f"The memory {id} was forgotten. `clew memories` lists what there is.")
        return Story(observation, tuple(revisions), proofs(self.query, [each.id for each in revisions]))

    def observations(self, ids: Iterable[str]) -> dict[str, Observation]:
        """Those of the observations that are live and have their text, by their ids. Raises GraphFailure."""
        found = self._all("o.id IN $ids AND o.live AND o.text IS NOT NULL", {"ids": list(ids)}, None)
        return {each.id: each for each in found}

    def pinned_observations(self, world: str = MAIN_WORLD) -> list[Observation]:
        """Current ones of a world whose series is pinned, the oldest first; none while the graph is behind.

        A revision under review does not stand beside the one in use.
        """
        pinned = self._pinned_series()
        if not pinned or not self.graph_ready:
            return []
        try:
            values = {"series": sorted(pinned), "world": world}
            found = self._all("o.series IN $series AND o.current AND o.world = $world", values, None)
        except GraphFailure:
            return []
        in_use = {each.series for each in found if each.status == "active"}
        return [each for each in found if each.status == "active" or each.series not in in_use]

    def forgetting(self, id: str) -> list[Observation]:
        """All that has to go when an observation is forgotten, the oldest first; by an id as for `memory`.

        These are the revisions of its series and of every series that stands in for a dead one of them: what was hidden
        can come back, and would bring it along. Raises NotFound, Ambiguous or GraphFailure.
        """
        _, series = self._made(id)
        with self.snapshot() as db:
            family = [each for (each,) in db.execute(_FAMILY, {"series": series})]
        found = self._all("o.series IN $family", {"family": family}, None)
        if not found:
            raise NotFound(f"The memory {id} was forgotten already. `clew memories` lists what there is.")
        return found

    def significance(self) -> dict[int, int]:
        """How many live turns were rated 0, 1, 2 and 3."""
        rows = self._asked(_SIGNIFICANCE)
        if rows is None:
            return super().significance()
        return dict.fromkeys(range(4), 0) | {row["rating"]: row["turns"] for row in rows}

    def projects(self) -> list[Project]:
        """Every project that was made or that a session belongs to, by name, with its current observations.

        While the graph is behind, these are not counted.
        """
        counted = {row["project"]: row["current"] for row in self._asked(_OF_PROJECTS) or []}
        return [replace(project, observations=counted.get(project.name, 0)) for project in super().projects()]

    def unreflected(self, limit: int) -> list[Unreflected]:
        """What was not reflected on: exchanges that ended, oldest first; then imported turns, in runs, oldest first.

        Last, for each observation that died because a source was taken away, its turns that are left. Raises
        GraphFailure where the graph does not answer.
        """
        with self._looking, self.snapshot() as db:
            found = self._left.find(db, self._living, limit)
            if len(found) < limit and self.graph_ready:
                found += survivors(db, self.query, limit - len(found))
        return found

    def unreflected_count(self) -> int:
        """About how much there is to reflect on; exactly while it is little."""
        found = self.unreflected(COUNTED)
        if len(found) < COUNTED:
            return len(found)
        with self._looking, self.snapshot() as db:
            return max(COUNTED, sum(self._left.open(db)))

    def _asked(self, cypher: str) -> list[dict[str, Any]] | None:
        """What the graph answers, None while it is behind."""
        if not self.graph_ready:
            return None
        try:
            return self.query(cypher)
        except GraphFailure:
            return None

    def _living(self, db: sqlite3.Connection, turns: Collection[str]) -> set[str]:
        """Those of the turns that are live and not kept out of memory."""
        if self.graph_ready:
            return {row["id"] for row in self.query(_LIVING, {"ids": list(turns)})} if turns else set()
        paths, listed = Paths(db), json.dumps(list(turns))
        rows = db.execute(
            f"{TURN} WHERE {SAID} AND said.turn IN (SELECT value FROM json_each(?))", (listed,)
        ).fetchall()
        said = [turn_of(row, 0) for row in rows]
        return {turn.id for turn in said if not turn.withheld and paths.live(turn)}

    def _all(self, condition: str, values: Mapping[str, Any], now: datetime | None) -> list[Observation]:
        matching = f"MATCH (o:Observation) WHERE NOT o.deleted AND {condition} {RETURN} ORDER BY o.at, o.seq"
        return with_proof(self.query, self.query(matching, values), now or datetime.now(UTC), self._pinned_series())

    def _condition(self, wanted: Wanted, pinned: set[str]) -> tuple[str, dict[str, Any]]:
        """What an observation has to be, in Cypher, and the values in it."""
        conditions, values = ["NOT o.deleted", "o.world = $world", _standing(wanted)], {"world": wanted.world}
        given: dict[str, tuple[str, Any]] = {
            "status": ("o.status = $status", wanted.status),
            "kind": ("o.kind = $kind", wanted.kind and str(wanted.kind)),
            "project": ("o.project = $project", wanted.project),
            "about": (
                "EXISTS { MATCH (o)-[:ABOUT]->(e:Entity) WHERE e.id IN $about }",
                self._entities(wanted.about) if wanted.about is not None else None,
            ),
            "text": ("o.seq IN $text", self._worded(wanted.text) if wanted.text is not None else None),
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

    def _pinned_series(self) -> set[str]:
        with self.snapshot() as db:
            last = dict(db.execute(_PINS))
        return {series for series, kind in last.items() if kind == "pin.set"}

    def _made(self, id: str) -> tuple[str, str]:
        """An observation's whole id and its series. Raises NotFound or Ambiguous."""
        first = id.upper()  # ULIDs are upper case, people's typing is not
        with self.snapshot() as db:
            found = db.execute(f"{_MADE} item = ?", (id,)).fetchall()
            if not found and len(id) >= SHORTEST_PREFIX:
                like = f"{_MADE} item >= ? AND item < ? ORDER BY seq LIMIT 2"
                found = db.execute(like, (first, first + "\U0010ffff")).fetchall()
        if not found:
            raise NotFound(f"There is no memory {id}. `clew memories` lists them.")
        if len(found) > 1:
            raise Ambiguous(f"Several memories begin with {id}. Give more characters of the one you mean.")
        whole, series = found[0]
        return whole, series


def _standing(wanted: Wanted) -> str:
    """Whether live, current or dead ones are asked for."""
    if wanted.everything:
        return "true" if wanted.dead else "o.live"
    if wanted.status in ("superseded", "invalid"):
        return "true" if wanted.dead else "o.live"
    return _BY_DEATH if wanted.dead else _IN_USE


def _some(pinned: set[str], asked: bool | None) -> list[str] | None:
    return None if asked is None else sorted(pinned) or [""]
