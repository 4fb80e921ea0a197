"""What is left to reflect on, in every world, and what is left of observations whose source was taken away.

Their live sources and supports are to be reflected on anew, once for each set of them that has not been already. A
revision stands for those before it in its world, since it stands on all that they do. A synthesis leaves nothing: what
it was made from is reflected on for itself.
"""

import json
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from graph.errors import NotFound
from graph.events.codec import fields_of
from graph.projection.paths import Paths, lineage_of
from graph.readings import exchanges
from graph.readings.belonging import Belongings
from graph.readings.conversation import Readings
from graph.readings.rows import AMONG, dicts
from graph.readings.unreflected import Living, UnreflectedTurns, above, is_gone, unit
from graph.readings.worlds import worlds
from graph.values import Unreflected

Row = dict[str, Any]

_DEAD = """
SELECT DISTINCT o.id, o.supersedes, o.world, o.seq, o.series FROM observations AS o
JOIN links ON links.start = o.id AND links.rel = 'DERIVED_FROM'
LEFT JOIN turns AS t ON t.id = links.target LEFT JOIN chunks AS c ON c.id = links.target
WHERE NOT o.live AND NOT o.deleted AND NOT o.parents AND o.status <> 'invalid'
AND (t.hidden OR t.deleted OR t.withheld OR NOT c.live)
ORDER BY o.seq
"""
_LEFT = f"""
SELECT DISTINCT o.id, o.world, links.target AS source, links.kind AS label, coalesce(t.session, c.document) AS place,
    coalesce(t.at, c.at) AS at, coalesce(t.seq, c.seq) AS seq
FROM observations AS o JOIN links ON links.start = o.id AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY')
LEFT JOIN turns AS t ON t.id = links.target LEFT JOIN chunks AS c ON c.id = links.target
WHERE o.id {AMONG} AND (NOT t.withheld OR c.live) ORDER BY at, seq
"""
_BEGAN = f"""
SELECT o.series, links.target, min(o.seq) FROM observations AS o
JOIN links ON links.start = o.id AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY')
WHERE o.series {AMONG} GROUP BY o.series, links.target
"""
_DONE = """
SELECT done.seq, done.version, done.structure FROM named JOIN events AS done USING (seq)
WHERE named.name = ? AND named.kind = 'reflection.done' ORDER BY seq DESC
"""
# A reflection is of the world of what it made, just before it ended; one that made nothing counts everywhere.
_MADE = """
SELECT made.world, event.version, event.structure FROM observations AS made JOIN events AS event USING (seq)
WHERE made.seq BETWEEN ? - 500 AND ? ORDER BY made.seq
"""


def survivors(db: sqlite3.Connection, living: Living, limit: int) -> list[Unreflected]:
    """What is to be reflected on anew, of the oldest observation first: in its world, and in what-ifs that see more.

    What came with each revision is reflected on by itself, in order: so the later says more than the earlier again.
    """
    dead = dicts(db, _DEAD)
    revised = {(row["supersedes"], row["world"]) for row in dead}
    last = [row for row in dead if (row["id"], row["world"]) not in revised]
    left: dict[str, list[Row]] = defaultdict(list)
    for each in dicts(db, _LEFT, (json.dumps([row["id"] for row in last]),)):
        left[each["id"]].append(each)
    views, belongings = _Views(db, living, left), Belongings(db)
    began = _began(db, {row["series"] for row in last if left[row["id"]]})
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


def _began(db: sqlite3.Connection, series: set[str]) -> dict[tuple[str, str], int]:
    """By series and source: the revision that came with it."""
    rows = db.execute(_BEGAN, (json.dumps(sorted(series)),))
    return {(of, source): began for of, source, began in rows}


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
        set(turns) <= set(done["turns"]) and _made_in(db, seq, done["reflection"]) in above
        for seq, done in _reflections(db, observation)
        if done.get("instead_of") == observation
    )


def _reflections(db: sqlite3.Connection, named: str) -> list[tuple[int, dict[str, Any]]]:
    """The reflections that name a turn or an observation, the latest first."""
    rows = db.execute(_DONE, (named,)).fetchall()
    return [(seq, fields_of("reflection.done", version, structure)) for seq, version, structure in rows]


def _made_in(db: sqlite3.Connection, seq: int, reflection: str) -> str | None:
    """The world of the first observation that a reflection made, which ended with event `seq`."""
    for world, version, structure in db.execute(_MADE, (seq, seq)):
        if fields_of("observation.made", version, structure).get("reflection") == reflection:
            found: str = world
            return found
    return None


# What came of turns: what they made, and whatever became of it, what they supported and what they retired.
_TAUGHT = f"""
SELECT subjects.id, made.supersedes, named.name FROM named JOIN subjects USING (seq)
JOIN observations AS own ON own.id = subjects.id
LEFT JOIN observations AS made ON made.seq = named.seq
WHERE named.name {AMONG} AND named.kind IN ('observation.made', 'observation.supported', 'observation.retired')
AND (made.id IS NULL OR made.id = subjects.id)
"""

COUNTED = 200  # so much is counted one by one


class Unlearned(Readings):
    """The questions about what was not reflected on."""

    def __init__(self) -> None:
        self._left = UnreflectedTurns()
        self._looking = threading.Lock()  # guards what is left, which remembers

    def unreflected(self, limit: int) -> list[Unreflected]:
        """What was not reflected on: exchanges that ended, oldest first; then imported turns, in runs, oldest first.

        Last, for each observation that died because a source was taken away, its turns that are left.
        """
        with self._looking, self.snapshot() as db:
            found = self._left.find(db, self._living, limit)
            if len(found) < limit:
                found += survivors(db, self._living, limit - len(found))
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
            done = [each for _, each in _reflections(db, said.id)]
            together = [each["turns"] for each in done if each.get("instead_of") is None]
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
        """Those of the turns that a world sees and that are not kept out of memory."""
        paths = Paths(db)
        return {turn for turn in turns if paths.stand([turn], world)}
