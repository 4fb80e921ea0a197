"""What was pinned by hand, as a world has it: by its own pins, and by those it found where it left its parent.

A pin is of a world: that in which it was set or cleared, or else that of what is pinned. The last one counts. A pin of
an observation is of its whole series.
"""

import sqlite3

from graph.worlds import Lineage

_OF_TURNS = """
SELECT pin.seq, pin.turn, pin.kind, coalesce(pin.structure ->> '$.world', begun.structure ->> '$.world')
FROM events AS pin
JOIN events AS said ON said.turn = pin.turn AND said.kind = 'turn.said'
JOIN events AS begun ON begun.session = said.session AND begun.kind IN ('session.started', 'session.forked')
WHERE pin.kind <> 'turn.said' AND pin.kind IN ('pin.set', 'pin.cleared') AND pin.turn IS NOT NULL ORDER BY pin.seq
"""
_OF_SERIES = """
SELECT pin.seq, made.series, pin.kind, coalesce(pin.structure ->> '$.world', made.structure ->> '$.world')
FROM events AS pin JOIN events AS made ON made.item = pin.item AND made.kind = 'observation.made'
WHERE pin.kind <> 'turn.said' AND pin.kind IN ('pin.set', 'pin.cleared') AND pin.item IS NOT NULL ORDER BY pin.seq
"""
_REVISIONS = """
SELECT made.item FROM events AS made
WHERE made.series IN (SELECT value FROM json_each(?)) AND made.kind = 'observation.made'
"""


def turns_by_hand(db: sqlite3.Connection, lineage: Lineage) -> dict[str, bool]:
    """The turns that were ever pinned or unpinned by hand, and whether they are pinned."""
    return _last(db, _OF_TURNS, lineage)


def pinned_series(db: sqlite3.Connection, lineage: Lineage) -> set[str]:
    """The series of observations that are pinned."""
    return {series for series, on in _last(db, _OF_SERIES, lineage).items() if on}


def revisions_of(db: sqlite3.Connection, series: str) -> list[str]:
    """All revisions of some series, given as a JSON list."""
    return [item for (item,) in db.execute(_REVISIONS, (series,))]


def _last(db: sqlite3.Connection, query: str, lineage: Lineage) -> dict[str, bool]:
    rows = db.execute(query).fetchall()
    return {item: kind == "pin.set" for seq, item, kind, world in rows if lineage.knows(world, seq)}
