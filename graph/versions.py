"""Which earlier texts of core blocks a prompt may go on holding, once there are later ones."""

import json
import sqlite3
from collections.abc import Iterable

from graph.belonging import Belongings
from graph.kept import Sources, sees_block
from graph.paths import Paths
from graph.visibility import EVERYONE, Viewer

_VERSIONS = """
SELECT own.seq, own.structure FROM events AS own
WHERE own.seq IN (SELECT value FROM json_each(?)) AND own.kind = 'core.written' AND trim(own.text) <> ''
"""
_EMPTIED = """
SELECT later.seq, later.structure ->> '$.world' FROM events AS later WHERE later.seq > ? AND later.kind <> 'turn.said'
AND later.kind = 'core.written' AND later.text = '' AND later.structure ->> '$.block' = ?
AND later.structure ->> '$.project' IS ?
"""


def versions(db: sqlite3.Connection, seqs: Iterable[int], world: str | None, viewer: Viewer = EVERYONE) -> set[int]:
    """Those of the versions of core blocks that may still be shown in a world, or (None) in their own.

    Their words are there, what they were made from stands there, the block was not emptied there since, and the viewer
    sees them.
    """
    paths = Paths(db)
    sources, belongings, found = Sources(db, paths), Belongings(db), set[int]()
    for seq, structure in db.execute(_VERSIONS, (json.dumps(sorted(set(seqs))),)).fetchall():
        written = json.loads(structure)
        lineage = paths.lineage(world if world is not None else written["world"])
        if not sees_block(belongings, viewer, written):
            continue
        emptied = db.execute(_EMPTIED, (seq, written["block"], written.get("project"))).fetchall()
        if lineage.knows(written["world"], seq) and not any(lineage.knows(of, later) for later, of in emptied):
            found |= {seq} if sources.stand(written["sources"], lineage.world) else set()
    return found
