"""What an observation or a chunk is quoted with in a prompt: its words, whose they are, and from when.

Read from the log, so that a prompt comes out the same while the graph is behind. A world may quote an observation that
it may see, while all that was made from stands there, and it was neither rejected nor retired by hand.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph.events.codec import fields_of
from graph.ids import as_datetime
from graph.projection.paths import Paths
from graph.readings.belonging import Belongings
from graph.readings.kept import chunks
from graph.readings.rows import AMONG, members
from graph.visibility import EVERYONE, Viewer, for_all, sees_made

_MADE = f"""
SELECT made.at, event.version, event.structure, event.text FROM observations AS made
JOIN events AS event ON event.seq = made.seq
WHERE made.id {AMONG} AND made.judged <> 'invalid' AND event.text IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Believed:
    """An observation to quote: who said the oldest turn that it was made from, and when the newest was said."""

    id: str
    role: str
    speaker: str
    text: str
    at: datetime


def believed(
    db: sqlite3.Connection, ids: Iterable[str], world: str | None, viewer: Viewer = EVERYONE
) -> dict[str, Believed]:
    """Those of the observations that may be quoted in a world, or (None) in their own, to a viewer, by their ids."""
    paths, belongings = Paths(db), Belongings(db)
    found: dict[str, Believed] = {}
    for at, version, structure, text in db.execute(_MADE, (json.dumps(list(ids)),)).fetchall():
        made = fields_of("observation.made", version, structure)
        here = world if world is not None else made["world"]
        if made["world"] not in paths.lineage(here).worlds:
            continue
        owner = belongings.of_sources(made["sources"]) if viewer is not EVERYONE else None
        if not sees_made(viewer, owner, everywhere=for_all(made["category"], made["origin"])):
            continue
        if paths.stand(made["sources"], here):
            found[made["observation"]] = _of(db, made, text, as_datetime(at))
    return found


def _of(db: sqlite3.Connection, made: dict[str, Any], text: str, at: datetime) -> Believed:
    said = f"SELECT role, speaker, at FROM turns WHERE id {AMONG} ORDER BY at, seq"
    rows = db.execute(said, (json.dumps(made["sources"]),)).fetchall()
    id = str(made["observation"])
    if rows:
        role, speaker, _ = rows[0]
        called = members(db, [speaker]).get(speaker, speaker)
        return Believed(id, role, called, text, as_datetime(rows[-1][2]))
    read = next(iter(chunks(db, made["sources"]).values()), None)
    return Believed(id, "note", read.title if read is not None else "", text, at)
