"""Which earlier texts of core blocks a prompt may go on holding, once there are later ones."""

import json
import sqlite3
from collections.abc import Iterable

from graph.kept import Sources
from graph.paths import Paths

_VERSIONS = """
SELECT own.seq, own.structure FROM events AS own
WHERE own.seq IN (SELECT value FROM json_each(?)) AND own.kind = 'core.written' AND trim(own.text) <> ''
AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.seq > own.seq AND later.kind <> 'turn.said'
    AND later.kind = 'core.written' AND later.text = ''
    AND later.structure ->> '$.block' = own.structure ->> '$.block'
    AND later.structure ->> '$.world' = own.structure ->> '$.world')
"""


def versions(db: sqlite3.Connection, seqs: Iterable[int]) -> set[int]:
    """Those of the versions of core blocks that may still be shown, by the numbers of their events.

    Their words are there, what they were made from stands, and the block was not emptied since.
    """
    sources = Sources(db, Paths(db))
    rows = db.execute(_VERSIONS, (json.dumps(sorted(set(seqs))),)).fetchall()
    return {seq for seq, structure in rows if sources.stand(json.loads(structure)["sources"])}
