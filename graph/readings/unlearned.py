"""What is left to reflect on, in every world, and what is left of observations whose source was taken away.

Their live sources and supports are to be reflected on anew, once for each set of them that has not been already. A
revision stands for those before it in its world, since it stands on all that they do.
"""

import json
import sqlite3
import threading
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from graph.errors import NotFound
from graph.events import MAIN_WORLD
from graph.readings import exchanges
from graph.readings.belonging import Belongings
from graph.readings.conversation import Readings
from graph.readings.paths import Paths
from graph.readings.proof import Query
from graph.readings.rows import SAID, TURN, turn_of
from graph.readings.unreflected import Living, UnreflectedTurns, above, is_gone, unit
from graph.readings.worlds import lineage_of, worlds
from graph.values import Unreflected

Row = dict[str, Any]

_DEAD = """
MATCH (o:Observation)-[:DERIVED_FROM]->(t:Turn:Chunk)
WHERE NOT o.live AND NOT o.deleted AND o.status <> 'invalid'
    AND (t.hidden OR t.deleted OR t.withheld OR (label(t) = 'Chunk' AND NOT t.live))
RETURN DISTINCT o.id AS id, o.supersedes AS supersedes, o.world AS world, o.seq AS seq, o.series AS series
ORDER BY seq
"""
_LEFT = """
MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t:Turn:Chunk)
WHERE o.id IN $ids AND NOT coalesce(t.withheld, false) AND (t.live OR label(t) = 'Turn')
RETURN DISTINCT o.id AS id, o.world AS world, t.id AS source, label(t) AS label,
    coalesce(t.session, t.document) AS place, t.at AS at, t.seq AS seq
ORDER BY at, seq
"""
_BEGAN = """
MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t:Turn:Chunk) WHERE o.series IN $series
RETURN o.series AS series, t.id AS source, min(o.seq) AS first
"""
# A reflection is of the world of what it made, just before it ended; one that made nothing counts everywhere.
_survivors_DONE = """
SELECT done.structure -> '$.turns', (
    SELECT made.structure ->> '$.world' FROM events AS made
    WHERE made.seq BETWEEN done.seq - 500 AND done.seq AND made.kind = 'observation.made'
    AND made.structure ->> '$.reflection' = done.structure ->> '$.reflection' LIMIT 1
) FROM named JOIN events AS done USING (seq)
WHERE named.name = ? AND named.kind = 'reflection.done' AND done.structure ->> '$.instead_of' = ?
"""


def survivors(db: sqlite3.Connection, query: Query, living: Living, limit: int) -> list[Unreflected]:
    """What is to be reflected on anew, of the oldest observation first: in its world, and in what-ifs that see more.

    What came with each revision is reflected on by itself, in order: so the later says more than the earlier again.
    """
    dead = query(_DEAD, {})
    revised = {(row["supersedes"], row["world"]) for row in dead}
    last = [row for row in dead if (row["id"], row["world"]) not in revised]
    left: dict[str, list[Row]] = defaultdict(list)
    for each in query(_LEFT, {"ids": [row["id"] for row in last]}) if last else []:
        left[each["id"]].append(each)
    views, belongings = _Views(db, living, left), Belongings(db)
    began = _began(query, {row["series"] for row in last if left[row["id"]]})
    found: list[Unreflected] = []
    for row in last:
        known: list[set[str]] = []  # what is reflected on in a world that the next one sees the memories of
        for world in views.of(row["world"]) if left[row["id"]] else ():
            standing = views.standing(row["id"], world)
            whole = {each["source"] for each in standing}
            if not whole or any(whole <= each for each in known):
                continue
            known.append(whole)
            place = standing[-1]["place"]
            found += [
                Unreflected(turns, place, world, belongings.project_of(turns), instead_of=row["id"])
                for turns in _in_order(standing, began, row["series"])
                if not _was_done(db, row["id"], turns, world)
            ]
    return found[: max(limit, 0)]


def _began(query: Query, series: set[str]) -> dict[tuple[str, str], int]:
    """By series and source: the revision that came with it."""
    rows = query(_BEGAN, {"series": sorted(series)}) if series else []
    return {(row["series"], row["source"]): row["first"] for row in rows}


def _in_order(standing: list[Row], began: dict[tuple[str, str], int], series: str) -> list[tuple[str, ...]]:
    """The sources that stand, those that came with one revision together."""
    groups: dict[int, list[str]] = defaultdict(list)
    for each in standing:
        groups[began[series, each["source"]]].append(each["source"])
    return [tuple(groups[first]) for first in sorted(groups)]


class _Views:
    """What is left of dead observations, as each world that is there sees it."""

    def __init__(self, db: sqlite3.Connection, living: Living, left: dict[str, list[Row]]) -> None:
        self._db, self._living, self._left = db, living, left
        self._worlds: list[tuple[str, list[str]]] | None = None  # with the worlds above each
        self._turns = {each["source"] for rows in left.values() for each in rows if each["label"] == "Turn"}
        self._standing: dict[str, set[str]] = {}

    def of(self, world: str) -> list[str]:
        """A world, and the what-ifs that see what was learned there."""
        if self._worlds is None:
            there = [each.id for each in worlds(self._db)]
            self._worlds = [(each, lineage_of(self._db, each).worlds) for each in there]
        return [world, *(each for each, above in self._worlds if world in above[1:])]

    def standing(self, observation: str, world: str) -> list[Row]:
        """The proof of an observation that stands in a world."""
        if world not in self._standing:
            self._standing[world] = self._living(self._db, self._turns, world)
        stands = self._standing[world]
        return [each for each in self._left[observation] if each["label"] != "Turn" or each["source"] in stands]


def _was_done(db: sqlite3.Connection, observation: str, turns: tuple[str, ...], world: str) -> bool:
    """Whether a reflection had all these turns, and maybe more that are gone since, where the world sees it."""
    above = {None, *lineage_of(db, world).worlds}
    return any(
        set(turns) <= set(json.loads(named)) and made_in in above
        for named, made_in in db.execute(_survivors_DONE, (observation, observation))
    )


_LIVING = "MATCH (t:Turn) WHERE t.id IN $ids AND t.live AND t.world = 'main' AND NOT t.withheld RETURN t.id AS id"
# What turns were reflected on together, the latest first; and what came of turns.
_unlearned_DONE = """
SELECT done.structure -> '$.turns' FROM named JOIN events AS done USING (seq)
WHERE named.name = ? AND named.kind = 'reflection.done' AND done.structure ->> '$.instead_of' IS NULL ORDER BY seq DESC
"""
_TAUGHT = """
SELECT event.item, event.structure ->> '$.supersedes', named.name FROM named JOIN events AS event USING (seq)
WHERE named.name IN (SELECT value FROM json_each(?))
AND named.kind IN ('observation.made', 'observation.supported', 'observation.retired')
"""

COUNTED = 200  # so much is counted one by one


class Unlearned(Readings):
    """The questions about what was not reflected on. Each raises GraphFailure while the graph is closed."""

    def __init__(self) -> None:
        self._left = UnreflectedTurns()
        self._looking = threading.Lock()  # guards what is left, which remembers

    @property
    @abstractmethod
    def graph_ready(self) -> bool:
        """Whether the graph has everything the log has, and follows it."""

    @abstractmethod
    def graph_has(self, seq: int) -> bool:
        """Whether the graph follows, and has event `seq`."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query, a row a dictionary."""

    def unreflected(self, limit: int) -> list[Unreflected]:
        """What was not reflected on: exchanges that ended, oldest first; then imported turns, in runs, oldest first.

        Last, for each observation that died because a source was taken away, its turns that are left. Raises
        GraphFailure where the graph does not answer.
        """
        with self._looking, self.snapshot() as db:
            found = self._left.find(db, self._living, limit)
            if len(found) < limit and self.graph_ready:
                found += survivors(db, self.query, self._living, limit - len(found))
        return found

    def unreflected_count(self) -> int:
        """About how much there is to reflect on; exactly while it is little."""
        found = self.unreflected(COUNTED)
        if len(found) < COUNTED:
            return len(found)
        with self._looking, self.snapshot() as db:
            return max(COUNTED, sum(self._left.open(db)))

    def reflected(self, turn: str) -> Unreflected:
        """The exchange a turn is of, or the turns it was reflected on with, to be reflected on again.

        By its id or the first 6 or more characters of it. Raises NotFound, also where something of it is hidden,
        deleted, withheld or not on a path, and Ambiguous.
        """
        with self.snapshot() as db:
            said = exchanges.turn_named(db, turn)
            together = [json.loads(turns) for (turns,) in db.execute(_unlearned_DONE, (said.id,))]
            if not together and (reply := exchanges.exchange(db, said.id).reply) is not None:
                together = [[*above(db, reply.id), reply.id]]
            kept = [tuple(each for each in turns if not is_gone(db, each)) for turns in together]
            units = [unit(db, turns, said.session) for turns in kept if turns]
        for found in units:
            if len(self.quotable(found.turns, world=found.world)) == len(found.turns):
                return found
        why = "is hidden, deleted, kept out of memory, or not on the path" if together else "has no reply yet"
        raise NotFound(f"Nothing can be learned from {turn}: it, or something of its exchange, {why}.")

    def taught(self, turns: Collection[str]) -> dict[str, set[str]]:
        """The observations that any of the turns made, supported, revised or retired, and which of the turns.

        Whatever became of them since.
        """
        found: dict[str, set[str]] = {}
        with self.snapshot() as db:
            for observation, revised, turn in db.execute(_TAUGHT, (json.dumps(list(turns)),)):
                for each in filter(None, (observation, revised)):
                    found.setdefault(each, set()).add(turn)
        return found

    def _living(self, db: sqlite3.Connection, turns: Collection[str], world: str) -> set[str]:
        """Those of the turns that a world sees and that are not kept out of memory.

        A graph that lags behind this very snapshot is not asked: what it does not have yet would be out until something
        brings it back.
        """
        head = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        if world == MAIN_WORLD and self.graph_has(head):
            return {row["id"] for row in self.query(_LIVING, {"ids": list(turns)})} if turns else set()
        paths, listed = Paths(db), json.dumps(list(turns))
        rows = db.execute(
            f"{TURN} WHERE {SAID} AND said.turn IN (SELECT value FROM json_each(?))", (listed,)
        ).fetchall()
        said = [turn_of(row, 0) for row in rows]
        return {turn.id for turn in said if not turn.withheld and paths.sees(turn, world)}
