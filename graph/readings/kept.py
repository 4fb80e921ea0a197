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
from graph.events import MAIN_WORLD
from graph.events.codec import fields_of
from graph.ids import as_datetime
from graph.projection.paths import Paths
from graph.readings.belonging import Belongings
from graph.readings.rows import AMONG, NEWEST, TURN, Raw
from graph.values import Chunk, CoreBlock, Document, Project
from graph.visibility import EVERYONE, Viewer, sees_made

_WRITTEN = """
SELECT seq, version, structure, text FROM events WHERE kind <> 'turn.said' AND kind = 'core.written' {} ORDER BY seq {}
"""
_MADE = """
SELECT projects.id, event.text, projects.status FROM projects JOIN events AS event ON event.seq = projects.seq
"""
# The latest reading of each document that was not removed.
_READINGS = """
SELECT event.at, event.version, event.structure, event.text FROM documents JOIN events AS event USING (seq)
WHERE NOT documents.deleted
"""
_CHUNKS = """
SELECT place.value, chunks.headings, event.text FROM json_each(?) AS place
JOIN chunks ON chunks.id = place.value JOIN events AS event ON event.seq = chunks.seq ORDER BY place.key
"""
_PIECES = """
SELECT chunks.id, event.text FROM chunks JOIN events AS event ON event.seq = chunks.seq
WHERE chunks.document = ? AND event.text IS NOT NULL ORDER BY chunks.seq
"""
_NOTES = """
SELECT id FROM sessions
WHERE client = ? AND coalesce(project, '') = ? AND world = ? AND NOT deleted ORDER BY seq LIMIT 1
"""
_RATED = f"{TURN} WHERE said.significance = ? AND event.text IS NOT NULL {NEWEST}"


def blocks(db: sqlite3.Connection, world: str, viewer: Viewer = EVERYONE) -> list[CoreBlock]:
    """The core blocks of a world that a viewer sees, by name: of each the latest version that may be shown.

    One that says nothing is left out. In a what-if that may be a version of the world it left, from before it did: each
    is named with its own world. What a project says in a block stands for what all see in it.
    """
    paths = Paths(db)
    lineage, belongings = paths.lineage(world), Belongings(db)
    found: dict[tuple[str, str | None], CoreBlock] = {}
    for seq, version, structure, text in db.execute(_WRITTEN.format("", "DESC")).fetchall():
        written = fields_of("core.written", version, structure)
        name, of, project = written["block"], written["world"], written.get("project")
        if (name, project) in found or text is None or not lineage.knows(of, seq):
            continue
        if sees_block(belongings, viewer, written) and paths.stand(written["sources"], world):
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
    owned = db.execute("SELECT project FROM sessions WHERE project IS NOT NULL AND NOT deleted")
    sessions = Counter(project for (project,) in owned)
    made = {name: (text or "", status) for name, text, status in db.execute(_MADE)}
    found = []
    for name in sorted(made.keys() | sessions.keys(), key=lambda each: (each.casefold(), each)):
        description, status = made.get(name, ("", "active"))
        standing: Literal["active", "archived"] = "archived" if status == "archived" else "active"
        found.append(Project(name, description, standing, sessions[name], 0))
    return found


def documents(db: sqlite3.Connection) -> list[Document]:
    """The documents as they were read last, the newest reading first."""
    return [_document(*row) for row in db.execute(f"{_READINGS} ORDER BY documents.seq DESC")]


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
    held = "SELECT id FROM chunks WHERE document = ? AND live ORDER BY position"
    return [chunk for (chunk,) in db.execute(held, (id,))]


def chunks(db: sqlite3.Connection, ids: Iterable[str], viewer: Viewer = EVERYONE) -> dict[str, Chunk]:
    """Those of the chunks that their document, as it was read last, holds, and that a viewer sees."""
    wanted = set(ids)
    of = f"SELECT document FROM chunks WHERE id {AMONG} AND live"
    rows = db.execute(f"{_READINGS} AND documents.id IN ({of})", (json.dumps(list(wanted)),)).fetchall()
    found = {chunk.id: chunk for row in rows if _sees(viewer, row) for chunk in _chunks(db, row, wanted)}
    return found


def _sees(viewer: Viewer, reading: Raw) -> bool:
    return sees_made(viewer, fields_of("document.read", *reading[1:3]).get("project"), everywhere=True)


def rated(db: sqlite3.Connection, significance: int, world: str) -> Iterator[Raw]:
    """Rows of the turns that a world sees and that were rated so last, the newest first."""
    paths = Paths(db)
    return (row for row in db.execute(_RATED, (significance,)).fetchall() if paths.sees(row[-1], world))


def significance(db: sqlite3.Connection, world: str) -> dict[int, int]:
    """How many turns with words that a world sees were rated 0, 1, 2 and 3."""
    rated = """
    FROM turns AS said JOIN events AS event USING (seq) WHERE said.significance IS NOT NULL AND event.text IS NOT NULL
    """
    if world == MAIN_WORLD:
        here = f"{rated} AND said.live AND said.world = 'main' GROUP BY said.significance"
        return dict.fromkeys(range(4), 0) | dict(db.execute(f"SELECT said.significance, count(*) {here}").fetchall())
    paths = Paths(db)
    rows = db.execute(f"SELECT said.significance, said.id {rated}").fetchall()
    return dict.fromkeys(range(4), 0) | Counter(rating for rating, turn in rows if paths.sees(turn, world))


def notes_session(db: sqlite3.Connection, project: str | None, world: str, client: str) -> str | None:
    """Where a client that holds no chats keeps what is stated in a world, for a project or for none."""
    row = db.execute(_NOTES, (client, project or "", world)).fetchone()
    return row[0] if row is not None else None


def _reading(db: sqlite3.Connection, id: str) -> Raw:
    row: Raw | None = db.execute(f"{_READINGS} AND documents.id = ?", (id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no document {id}. `clew ingest` without a path lists them.")
    return row


def _document(at: int, version: int, structure: str, text: str | None) -> Document:
    read = fields_of("document.read", version, structure)
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


def _chunks(db: sqlite3.Connection, reading: Raw, only: set[str] | None = None) -> Iterator[Chunk]:
    """The chunks of a reading that have their text, in order; of those in `only`, if it is given."""
    whole, held = _document(*reading), fields_of("document.read", *reading[1:3])["chunks"]
    places = [(chunk, place) for place, chunk in enumerate(held) if only is None or chunk in only]
    rows = db.execute(_CHUNKS, (json.dumps([chunk for chunk, _ in places]),)).fetchall()
    for (_, place), (id, headings, text) in zip(places, rows, strict=True):
        if text is None:
            continue
        lines = text.split("\n")
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


def versions(db: sqlite3.Connection, seqs: Iterable[int], world: str | None, viewer: Viewer = EVERYONE) -> set[int]:
    """Those of the versions of core blocks that may still be shown in a world, or (None) in their own.

    Their words are there, what they were made from stands there, the block was not emptied there since, and the viewer
    sees them.
    """
    paths, belongings, found = Paths(db), Belongings(db), set[int]()
    listed = json.dumps(sorted(set(seqs)))
    chosen = db.execute(_WRITTEN.format(f"AND seq {AMONG} AND trim(text) <> ''", ""), (listed,)).fetchall()
    emptied = [
        (seq, fields_of("core.written", version, structure))
        for seq, version, structure, _ in db.execute(_WRITTEN.format("AND text = ''", ""))
    ]
    for seq, version, structure, _ in chosen:
        written = fields_of("core.written", version, structure)
        lineage = paths.lineage(world if world is not None else written["world"])
        if not sees_block(belongings, viewer, written) or not lineage.knows(written["world"], seq):
            continue
        block = written["block"], written.get("project")
        over = any(
            later > seq and (each["block"], each.get("project")) == block and lineage.knows(each["world"], later)
            for later, each in emptied
        )
        if not over and paths.stand(written["sources"], lineage.world):
            found.add(seq)
    return found
