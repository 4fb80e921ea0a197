"""Main, the stories and the what-ifs, and how things and pins stand in one.

A pin is of a world: that in which it was set or cleared, or else that of what is pinned. The last one counts. A pin of
an observation is of its whole series.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD
from graph.events.codec import fields_of
from graph.ids import as_datetime
from graph.projection.paths import Lineage
from graph.readings.rows import AMONG
from graph.values import RevisionStanding, Wanted, World

SHORTEST_PREFIX = 6
# The first session of a what-if begins it, but not that of a story; worlds of which all sessions were deleted are over.
_WORLDS = """
SELECT worlds.id, named.text, worlds.parent, worlds.fork, own.id, worlds.seq, event.at, own.origin, worlds.story
FROM worlds JOIN events AS event ON event.seq = worlds.seq LEFT JOIN events AS named ON named.seq = worlds.name_seq
LEFT JOIN sessions AS own ON own.seq = worlds.seq
WHERE (worlds.parent IS NOT NULL OR worlds.story IS NOT NULL)
AND EXISTS (SELECT 1 FROM sessions WHERE world = worlds.id AND NOT deleted)
ORDER BY worlds.seq
"""
_PINS = """
SELECT seq, kind, version, structure FROM events
WHERE kind <> 'turn.said' AND kind IN ('pin.set', 'pin.cleared') ORDER BY seq
"""


def worlds(db: sqlite3.Connection) -> list[World]:
    """Main, then the stories and what-ifs, the oldest first, without those that have no session left.

    What-ifs come without their names.
    """
    rows = db.execute(_WORLDS).fetchall()
    return [
        World(MAIN_WORLD, None),
        *(
            World(id, name, parent, fork, session, seq, as_datetime(at), origin, story)
            for id, name, parent, fork, session, seq, at, origin, story in rows
        ),
    ]


def world_by(db: sqlite3.Connection, id: str) -> World:
    """A world by its id, the first characters of it, or a session that is in it. Raises NotFound or Ambiguous."""
    there, of_session = worlds(db), world_of(db, id)
    exact = [world for world in there if world.id in (id, of_session)]
    first = id.casefold()
    found = exact or [w for w in there if len(id) >= SHORTEST_PREFIX and w.id.casefold().startswith(first)]
    if not found:
        raise NotFound(f"There is no world {id}. `clew tree` shows where what-ifs start; the main world is `main`.")
    if len(found) > 1:
        raise Ambiguous(f"Several worlds have ids starting with {id}. Give more characters.")
    return found[0]


def world_of(db: sqlite3.Connection, session: str) -> str | None:
    """The world a session is of, None if there is no such session."""
    row = db.execute("SELECT world FROM sessions WHERE id = ?", (session,)).fetchone()
    return row[0] if row is not None else None


def turns_by_hand(db: sqlite3.Connection, lineage: Lineage) -> dict[str, bool]:
    """The turns that were ever pinned or unpinned by hand, and whether they are pinned."""
    return _last(db, "turn", "SELECT id, world FROM turns WHERE id = ?", lineage)


def pinned_series(db: sqlite3.Connection, lineage: Lineage) -> set[str]:
    """The series of observations that are pinned."""
    made = "SELECT series, world FROM observations WHERE id = ?"
    return {series for series, on in _last(db, "observation", made, lineage).items() if on}


def revisions_of(db: sqlite3.Connection, series: Collection[str]) -> list[str]:
    """All revisions of some series."""
    listed = json.dumps(list(series))
    return [id for (id,) in db.execute(f"SELECT id FROM observations WHERE series {AMONG}", (listed,))]


def _last(db: sqlite3.Connection, of: str, home: str, lineage: Lineage) -> dict[str, bool]:
    """Whether each thing that a query calls by its name, and tells the world of, was pinned last."""
    found: dict[str, bool] = {}
    for seq, kind, version, structure in db.execute(_PINS).fetchall():
        pin = fields_of(kind, version, structure)
        if (id := pin.get(of)) is not None:
            name, own = db.execute(home, (id,)).fetchone()
            if lineage.knows(pin.get("world") or own, seq):
                found[name] = kind == "pin.set"
    return found


@dataclass(frozen=True, slots=True)
class InWorld:
    """What a world may see, and how it stands there.

    `observations` by id, those that are not live too. `seen` gives those of some turns that the world sees, and whether
    what is made of each may be believed: it may not be of what is withheld.
    """

    lineage: Lineage
    observations: dict[str, RevisionStanding]
    seen: Callable[[Iterable[str]], dict[str, bool]]

    def standing(self, turns: Iterable[str]) -> set[str]:
        """Those of some turns that stand in the world."""
        return {turn for turn, stands in self.seen(turns).items() if stands}


def standing_rows(rows: Iterable[Mapping[str, Any]], view: InWorld) -> list[dict[str, Any]]:
    """Rows of observations as they stand in a world; without those it may not see."""
    return [{**row, **asdict(view.observations[row["id"]])} for row in rows if row["id"] in view.observations]


def is_wanted(wanted: Wanted, row: Mapping[str, Any]) -> bool:
    """Whether an observation stands as it is asked for."""
    if wanted.status not in (None, row["status"]):
        return False
    if wanted.everything or wanted.status in ("superseded", "invalid"):
        return bool(wanted.dead or row["live"])
    return bool(row["current"] or (wanted.dead and not row["live"] and row["status"] in ("candidate", "active")))
