"""What is kept besides the conversation, as the log tells it: core blocks, projects, documents and their chunks.

Read from the log, so that it is known while the graph is behind, and beside the holder.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from graph.contents import hash_of
from graph.errors import NotFound
from graph.ids import as_datetime
from graph.readings.belonging import Belongings
from graph.readings.paths import Paths
from graph.readings.rows import PROJECT, SAID, TURN, Raw, said_row, turn_of
from graph.readings.worlds import BEGUN
from graph.values import Chunk, CoreBlock, Document, Project
from graph.visibility import EVERYONE, Viewer, sees_made

_OF_KIND = "SELECT seq, structure, text FROM events WHERE kind <> 'turn.said' AND kind = ? ORDER BY seq DESC"
# The latest reading of each document that was not removed.
_READINGS = """
SELECT read.at, read.structure, read.text FROM events AS read
WHERE read.kind <> 'turn.said' AND read.kind = 'document.read'
AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.item = read.item AND later.seq > read.seq
    AND later.kind IN ('document.read', 'document.removed'))
"""
_CHUNKS = """
SELECT place.value, place.key, read.structure, read.text FROM json_each(?) AS place
JOIN events AS read ON read.item = place.value AND read.kind = 'chunk.read' ORDER BY place.key
"""
_PIECES = """
SELECT read.item, read.text FROM named JOIN events AS read USING (seq)
WHERE named.name = ? AND named.kind = 'chunk.read' AND read.text IS NOT NULL ORDER BY read.seq
"""
_DOCUMENTS_OF = """
SELECT DISTINCT structure ->> '$.document' FROM events
WHERE item IN (SELECT value FROM json_each(?)) AND kind = 'chunk.read'
"""
_NOTES = f"""
SELECT begun.session FROM events AS begun WHERE {BEGUN} AND begun.structure ->> '$.client' = ?
AND {PROJECT} = ? AND begun.structure ->> '$.world' = ? AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
) ORDER BY begun.seq LIMIT 1
"""
_RATED = f"""
{TURN} WHERE {SAID} AND said.turn IN (
    SELECT rating.turn FROM events AS rating WHERE rating.kind <> 'turn.said' AND rating.kind = 'turn.rated'
    AND rating.structure ->> '$.significance' = ?
    AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.turn = rating.turn AND later.kind = 'turn.rated'
        AND later.seq > rating.seq)
) AND said.text IS NOT NULL ORDER BY said.told DESC, said.seq DESC
"""
_IS_TURN = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said'"


class Sources:
    """Whether what something was made from stands in a world: turns it sees that are not withheld, chunks there are."""

    def __init__(self, db: sqlite3.Connection, paths: Paths) -> None:
        self._db = db
        self._paths = paths
        self._known: dict[tuple[str, str], bool] = {}

    def stand(self, sources: Iterable[str], world: str) -> bool:
        """Whether all of them stand in a world."""
        return all(self._stands(source, world) for source in sources)

    def _stands(self, source: str, world: str) -> bool:
        if (source, world) not in self._known:
            self._known[source, world] = self._look(source, world)
        return self._known[source, world]

    def _look(self, source: str, world: str) -> bool:
        if self._db.execute(_IS_TURN, (source,)).fetchone() is None:
            return bool(chunks(self._db, [source]))
        turn = turn_of(said_row(self._db, source), 0)
        return self._paths.sees(turn, world) and not turn.withheld


def blocks(db: sqlite3.Connection, world: str, viewer: Viewer = EVERYONE) -> list[CoreBlock]:
    """The core blocks of a world that a viewer sees, by name: of each the latest version that may be shown.

    One that says nothing is left out. In a what-if that may be a version of the world it left, from before it did: each
    is named with its own world. What a project says in a block stands for what all see in it.
    """
    paths = Paths(db)
    sources, lineage, belongings = Sources(db, paths), paths.lineage(world), Belongings(db)
    found: dict[tuple[str, str | None], CoreBlock] = {}
    for seq, structure, text in db.execute(_OF_KIND, ("core.written",)).fetchall():
        written = json.loads(structure)
        name, of, project = written["block"], written["world"], written.get("project")
        if (name, project) in found or text is None or not lineage.knows(of, seq):
            continue
        if sees_block(belongings, viewer, written) and sources.stand(written["sources"], world):
            found[name, project] = CoreBlock(name, of, text, written["by"], seq, project)
    said = [block for block in found.values() if block.text.strip()]
    own = {block.name for block in said if block.project is not None and viewer is not EVERYONE}
    shown = [block for block in said if block.project is not None or block.name not in own]
    return sorted(shown, key=lambda block: (block.name, block.project or ""))


def sees_block(belongings: Belongings, viewer: Viewer, written: dict[str, Any]) -> bool:
    """Whether a viewer sees a version of a core block: an agent's belongs where its proof does."""
    owner = belongings.of_sources(written["sources"]) if written["sources"] else written.get("project")
    return sees_made(viewer, owner, everywhere=written["by"] == "user")


def projects(db: sqlite3.Connection) -> list[Project]:
    """Every project that was made or that a session belongs to, by name; without the number of its observations."""
    deleted = "SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'"
    query = f"SELECT {PROJECT} FROM events AS begun WHERE {BEGUN} AND NOT EXISTS ({deleted})"
    sessions = Counter(project for (project,) in db.execute(query) if project)
    made: dict[str, tuple[str, str]] = {}
    for _, structure, text in db.execute(_OF_KIND, ("project.made",)):
        event = json.loads(structure)
        made.setdefault(event["project"], (text or "", event["status"]))
    found = []
    for name in sorted(made.keys() | sessions.keys(), key=lambda each: (each.casefold(), each)):
        description, status = made.get(name, ("", "active"))
        standing: Literal["active", "archived"] = "archived" if status == "archived" else "active"
        found.append(Project(name, description, standing, sessions[name], 0))
    return found


def documents(db: sqlite3.Connection) -> list[Document]:
    """The documents as they were read last, the newest reading first."""
    return [_document(*row) for row in db.execute(f"{_READINGS} ORDER BY read.seq DESC")]


def document(db: sqlite3.Connection, id: str) -> Document:
    """One document. Raises NotFound."""
    return _document(*_reading(db, id))


def document_chunks(db: sqlite3.Connection, id: str) -> list[Chunk]:
    """The chunks of a document as it was read last, in order. Raises NotFound."""
    return list(_chunks(db, _reading(db, id)))


def chunk_hashes(db: sqlite3.Connection, id: str) -> dict[bytes, str]:
    """Chunk by content hash, of all that was ever read of a document; of several alike the one that it holds."""
    held = set(held_chunks(db, id))
    texts = sorted(db.execute(_PIECES, (id,)), key=lambda row: row[0] in held)
    hashed = ((hash_of(text.encode()), chunk) for chunk, text in texts)
    return {hash: chunk for hash, chunk in hashed if hash is not None}


def held_chunks(db: sqlite3.Connection, id: str) -> list[str]:
    """The ids of the chunks that a document holds as it was read last, in order; none of one that is not there."""
    row = db.execute(f"{_READINGS} AND read.item = ?", (id,)).fetchone()
    return list(json.loads(row[1])["chunks"]) if row is not None else []


def chunks(db: sqlite3.Connection, ids: Iterable[str], viewer: Viewer = EVERYONE) -> dict[str, Chunk]:
    """Those of the chunks that their document, as it was read last, holds, and that a viewer sees."""
    wanted = set(ids)
    of = [document for (document,) in db.execute(_DOCUMENTS_OF, (json.dumps(list(wanted)),))]
    rows = db.execute(f"{_READINGS} AND read.item IN (SELECT value FROM json_each(?))", (json.dumps(of),)).fetchall()
    seen = [row for row in rows if sees_made(viewer, json.loads(row[1]).get("project"), everywhere=True)]
    return {chunk.id: chunk for row in seen for chunk in _chunks(db, row, wanted)}


def rated(db: sqlite3.Connection, significance: int, world: str) -> Iterator[Raw]:
    """Rows of the turns that a world sees and that were rated so last, the newest first."""
    paths = Paths(db)
    return (row for row in db.execute(_RATED, (significance,)).fetchall() if paths.sees(turn_of(row, 0), world))


def notes_session(db: sqlite3.Connection, project: str | None, world: str, client: str) -> str | None:
    """Where a client that holds no chats keeps what is stated in a world, for a project or for none."""
    row = db.execute(_NOTES, (client, project or "", world)).fetchone()
    return row[0] if row is not None else None


def _reading(db: sqlite3.Connection, id: str) -> tuple[int, str, str | None]:
    row: tuple[int, str, str | None] | None = db.execute(f"{_READINGS} AND read.item = ?", (id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no document {id}. `clew ingest` without a path lists them.")
    return row


def _document(at: int, structure: str, text: str | None) -> Document:
    read = json.loads(structure)
    title, _, path = (text or "").partition("\n")
    return Document(
        id=read["document"],
        title=title,
        path=path,
        type=read["category"],
        project=read.get("project"),
        tags=tuple(read["tags"]),
        size=read["size"],
        at=as_datetime(at),
        chunks=len(read["chunks"]),
    )


def _chunks(
    db: sqlite3.Connection, reading: tuple[int, str, str | None], only: set[str] | None = None
) -> Iterator[Chunk]:
    """The chunks of a reading that have their text, in order; of those in `only`, if it is given."""
    whole, held = _document(*reading), json.loads(reading[1])["chunks"]
    places = [(chunk, place) for place, chunk in enumerate(held) if only is None or chunk in only]
    rows = db.execute(_CHUNKS, (json.dumps([chunk for chunk, _ in places]),)).fetchall()
    for (_, place), (id, _, structure, text) in zip(places, rows, strict=True):
        if text is None:
            continue
        lines, headings = text.split("\n"), json.loads(structure)["headings"]
        yield Chunk(
            id=id,
            document=whole.id,
            title=whole.title,
            path=whole.path,
            position=place,
            headings=tuple(lines[:headings]),
            text="\n".join(lines[headings:]),
            at=whole.at,
        )


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
