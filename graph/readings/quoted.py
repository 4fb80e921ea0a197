"""What an observation or a chunk is quoted with in a prompt: its words, whose they are, and from when.

Read from the log, so that a prompt comes out the same while the graph is behind. A world may quote an observation that
it may see, while all that was made from stands there, and it was neither rejected nor retired by hand.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graph.ids import as_datetime
from graph.readings.belonging import Belongings
from graph.readings.kept import Sources, chunks
from graph.readings.paths import Paths
from graph.readings.rows import SAID, TURN, turn_of
from graph.visibility import EVERYONE, Viewer, for_all, sees_made

_MADE = """
SELECT made.at, made.structure, made.text, (
    SELECT judged.kind FROM events AS judged WHERE judged.item = made.item AND judged.kind IN (
        'observation.rejected', 'observation.retired', 'observation.promoted', 'observation.returned'
    ) AND judged.structure ->> '$.by_turn' IS NULL ORDER BY judged.seq DESC LIMIT 1
) FROM events AS made
WHERE made.item IN (SELECT value FROM json_each(?)) AND made.kind = 'observation.made' AND made.text IS NOT NULL
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
    paths = Paths(db)
    sources, belongings = Sources(db, paths), Belongings(db)
    found: dict[str, Believed] = {}
    for at, structure, text, judged in db.execute(_MADE, (json.dumps(list(ids)),)).fetchall():
        made = json.loads(structure)
        here = world if world is not None else made["world"]
        rejected = judged in ("observation.rejected", "observation.retired")
        if rejected or made["world"] not in paths.lineage(here).worlds:
            continue
        owner = belongings.of_sources(made["sources"]) if viewer is not EVERYONE else None
        if not sees_made(viewer, owner, everywhere=for_all(made["category"], made["origin"])):
            continue
        if sources.stand(made["sources"], here):
            found[made["observation"]] = _of(db, made, text, as_datetime(at))
    return found


def _of(db: sqlite3.Connection, made: dict[str, list[str]], text: str, at: datetime) -> Believed:
    listed = json.dumps(made["sources"])
    rows = db.execute(f"{TURN} WHERE said.turn IN (SELECT value FROM json_each(?)) AND {SAID}", (listed,))
    said = sorted((turn_of(row, 0) for row in rows), key=lambda turn: turn.at)
    id = str(made["observation"])
    if said:
        return Believed(id, said[0].role, said[0].speaker, text, said[-1].at)
    read = next(iter(chunks(db, made["sources"]).values()), None)
    return Believed(id, "note", read.title if read is not None else "", text, at)
