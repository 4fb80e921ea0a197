"""What is left of observations that died because a source was taken away: hidden, deleted, withheld, or read no more.

Their live sources and supports are to be reflected on anew, once for each set of them that has not been already. A
revision stands for those before it, since it stands on all that they do.
"""

import json
import sqlite3
from collections import defaultdict
from typing import Any

from graph.beliefs import Unreflected
from graph.proof import Query
from graph.unreflected import Living

_DEAD = """
MATCH (o:Observation)-[:DERIVED_FROM]->(t:Turn:Chunk)
WHERE NOT o.live AND NOT o.deleted AND o.status <> 'invalid'
    AND (t.hidden OR t.deleted OR t.withheld OR (label(t) = 'Chunk' AND NOT t.live))
RETURN DISTINCT o.id AS id, o.supersedes AS supersedes, o.world AS world, o.project AS project, o.seq AS seq
ORDER BY seq DESC
"""
_LEFT = """
MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t:Turn:Chunk)
WHERE o.id IN $ids AND NOT coalesce(t.withheld, false) AND (t.live OR label(t) = 'Turn')
RETURN DISTINCT o.id AS id, o.world AS world, t.id AS source, label(t) AS label,
    coalesce(t.session, t.document) AS place, t.at AS at, t.seq AS seq
ORDER BY at, seq
"""
_DONE = """
SELECT done.structure -> '$.turns' FROM named JOIN events AS done USING (seq)
WHERE named.name = ? AND named.kind = 'reflection.done' AND done.structure ->> '$.instead_of' = ?
"""


def survivors(db: sqlite3.Connection, query: Query, living: Living, limit: int) -> list[Unreflected]:
    """What is to be reflected on anew, of the newest observation first."""
    dead = query(_DEAD, {})
    revised = {row["supersedes"] for row in dead}
    last = [row for row in dead if row["id"] not in revised]
    left: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _standing(db, query(_LEFT, {"ids": [row["id"] for row in last]}), living) if last else []:
        left[row["id"]].append(row)
    found: list[Unreflected] = []
    for row in last:
        turns = tuple(each["source"] for each in left[row["id"]])
        if turns and len(found) < limit and not _was_done(db, row["id"], turns):
            place = left[row["id"]][-1]["place"]
            found.append(Unreflected(turns, place, row["world"], row["project"], instead_of=row["id"]))
    return found


def _standing(db: sqlite3.Connection, rows: list[dict[str, Any]], living: Living) -> list[dict[str, Any]]:
    """Those whose source stands in the world of what it proves."""
    turns: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["label"] == "Turn":
            turns[row["world"]].add(row["source"])
    standing = {world: living(db, each, world) for world, each in turns.items()}
    return [row for row in rows if row["label"] != "Turn" or row["source"] in standing[row["world"]]]


def _was_done(db: sqlite3.Connection, observation: str, turns: tuple[str, ...]) -> bool:
    """Whether a reflection had all these turns, and maybe more that are gone since."""
    done = db.execute(_DONE, (observation, observation))
    return any(set(turns) <= set(json.loads(named)) for (named,) in done)
