"""Which earlier texts of core blocks a prompt may go on holding, once there are later ones."""

import json
import sqlite3
from collections.abc import Iterable

from graph.kept import Sources
from graph.paths import Paths

_VERSIONS = """
SELECT own.seq, own.structure FROM events AS own
WHERE own.seq IN (SELECT value FROM json_each(?)) AND own.kind = 'core.written' AND trim(own.text) <> ''
"""
_EMPTIED = """
SELECT later.seq, later.structure ->> '$.world' FROM events AS later WHERE later.seq > ? AND later.kind <> 'turn.said'
AND later.kind = 'core.written' AND later.text = '' AND later.structure ->> '$.block' = ?
"""


def versions(db: sqlite3.Connection, seqs: Iterable[int], world: str | None) -> set[int]:
    """Those of the versions of core blocks that may still be shown in a world, or (None) in their own.

    Their words are there, what they were made from stands there, and the block was not emptied there since.
    """
    paths = Paths(db)
    sources, found = Sources(db, paths), set[int]()
    for seq, structure in db.execute(_VERSIONS, (json.dumps(sorted(set(seqs))),)).fetchall():
        written = json.loads(structure)
        lineage = paths.lineage(world if world is not None else written["world"])
        emptied = db.execute(_EMPTIED, (seq, written["block"])).fetchall()
        if lineage.knows(written["world"], seq) and not any(lineage.knows(of, later) for later, of in emptied):
            found |= {seq} if sources.stand(written["sources"], lineage.world) else set()
    return found
