"""What ties turns together beside replies, recall and likeness: what was learned of them, whom they name, and how
those stand to each other.

Memories and names are nodes beside the turns: what shares one is near. Bounded: at most MOST_MEMORIES of the memories
in use, the newest, and MOST_NAMES of the names, those that most share; but a name that more than HUB of all this share
tells nothing apart and is left out, as is whatever would hang on one node alone. Seen is only what the turns and
memories that are seen lead to.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graph.projection.entities import CHARACTER
from graph.projection.identities import Identities
from graph.readings.rows import AMONG
from graph.recall.learned import LearnedIndex
from graph.recall.table import NONE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_MEMORIES, MOST_NAMES = 500, 500
HUB = 40  # of turns and memories, of which a name is too common
PROOF, NAMED, RELATED = 0.5, 0.6, 0.5  # what an edge to a memory, to a name, and between two names weighs

_PROVEN = f"""
SELECT start, target FROM links WHERE target {AMONG} AND rel IN ('DERIVED_FROM', 'SUPPORTED_BY') ORDER BY start, target
"""
_NAMING = f"""
SELECT start, target FROM links
WHERE start {AMONG} AND rel IN ('MENTIONS', 'ABOUT') AND target NOT IN ('you', 'assistant') ORDER BY start, target
"""
_TOLD = f"""
SELECT start, key FROM links
WHERE start {AMONG} AND rel IN ('MENTIONS', 'ABOUT') AND key NOT IN ('you', 'assistant') ORDER BY start, key
"""
_RELATED = f"""
SELECT subject, object FROM observations WHERE id {AMONG} AND relation IS NOT NULL AND polarity ORDER BY seq
"""
_PEOPLE = f"""
SELECT e.id, CASE WHEN e.name_seq IS NULL THEN e.id ELSE event.text END FROM entities AS e
LEFT JOIN events AS event ON event.seq = e.name_seq WHERE e.id {AMONG} AND e.kind = 'person'
"""

Tie = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Ties:
    """Edges with their weights among `turns` places of turns and further ones; `people` are names by their places."""

    edges: list[Tie] = field(default_factory=list)
    people: dict[int, str] = field(default_factory=dict)


NO_TIES = Ties()


def read_ties(
    db: sqlite3.Connection,
    learned: LearnedIndex,
    in_use: "NDArray[np.bool_]",
    turns: Sequence[str],
    who: Identities | None = None,
) -> Ties:
    """The ties among turns, given by their ids in the order of their places; `in_use` are memories that are seen.

    Who is who, and what they are called, is as the graph has it, or as for somebody it is.
    """
    memories = _memories(db, learned, in_use, turns)
    named = _pairs(db, _NAMING, [*turns, *memories])
    if who is not None:
        named = [(start, who.meant(told, start)) for start, told in _pairs(db, _TOLD, [*turns, *memories])]
    sharing: dict[str, list[str]] = defaultdict(list)
    for start, name in named:
        sharing[name].append(start)
    telling = {name: starts for name, starts in sharing.items() if len(starts) <= HUB}
    ends = _pairs(db, _RELATED, memories)
    if who is not None:
        ends = [(who.meant(one), who.meant(other)) for one, other in ends]
    related = {(one, other): None for one, other in ends if one in telling and other in telling}
    joined = {name for pair in related for name in pair}
    shared = sorted(
        (name for name in telling if len(telling[name]) > 1 or name in joined), key=lambda n: -len(telling[n])
    )
    telling = {name: telling[name] for name in shared[:MOST_NAMES]}
    proven = {id for starts in telling.values() for id in starts} | {id for id, of in memories.items() if len(of) > 1}
    kept = [id for id in memories if id in proven]
    place = {id: number for number, id in enumerate((*turns, *kept, *telling))}
    edges = [(place[id], place[turn], PROOF) for id in kept for turn in memories[id]]
    edges += [(place[name], place[start], NAMED) for name, starts in telling.items() for start in starts]
    edges += [(place[one], place[other], RELATED) for one, other in related if one in place and other in place]
    called = _pairs(db, _PEOPLE, telling) if who is None else _people(who, telling)
    people = {place[id]: name for id, name in called if name}
    return Ties(edges, people)


def _memories(
    db: sqlite3.Connection, learned: LearnedIndex, in_use: "NDArray[np.bool_]", turns: Sequence[str]
) -> dict[str, list[str]]:
    """The memories in use that turns prove, the newest of them, each with those turns."""
    found: dict[str, list[str]] = defaultdict(list)
    for id, turn in _pairs(db, _PROVEN, turns):
        found[id].append(turn)
    rows = {id: row for id in found if (row := learned.beliefs.row_of(id)) != NONE and in_use[row]}
    newest = sorted(rows, key=lambda id: rows[id])[-MOST_MEMORIES:]
    return {id: found[id] for id in newest}


def _people(who: Identities, ids: Iterable[str]) -> list[tuple[str, str]]:
    """The people among some entities, with what they are called."""
    found = (who.entity(id) for id in ids)
    return [(each.id, each.name) for each in found if each.kind in ("person", CHARACTER)]


def _pairs(db: sqlite3.Connection, query: str, ids: Iterable[str] | Mapping[str, object]) -> list[tuple[str, str]]:
    return db.execute(query, (json.dumps(list(ids)),)).fetchall()
