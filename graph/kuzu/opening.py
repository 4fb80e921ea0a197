"""Opens a graph file that can be trusted: whole, of this version, of this very log, and without erased words.

Two marks stand beside the file, and either makes the next opening rebuild it:
- `graph.opening` while a file is being opened. The engine can take the whole process down over a damaged one; the
  mark outlives that.
- `graph.purge` from before a text is erased in the graph, where it is gone at once, until a rebuild leaves no file
  with its bytes: the engine keeps what it overwrites.
"""

from pathlib import Path

from graph.errors import GraphFailure
from graph.kuzu import room
from graph.kuzu.store import GraphStore
from graph.kuzu.truncation import testify
from graph.projection.schema import VERSION
from graph.reader import LogReader
from graph.sqlite import GRAPH as FILE

OPENING, PURGE = "graph.opening", "graph.purge"


def open_trusted(folder: Path, reader: LogReader) -> GraphStore | None:
    """The store of `folder`, or None where it has to be rebuilt. Raises NoRoom before the engine is asked."""
    marked = (folder / OPENING).exists() or (folder / PURGE).exists()
    if marked or not (folder / FILE).is_file():
        return None
    room.require(folder, room.TO_OPEN)
    mark(folder, OPENING)
    try:
        store = GraphStore.open(folder / FILE)
    except GraphFailure:
        return None
    finally:
        unmark(folder, OPENING)
    try:
        version, applied, link = store.applied()
        known = reader.link(applied).hex() == link
        if version == VERSION and known:
            return store
        if not known:
            testify(folder, applied=applied, link=link)
    except GraphFailure:
        pass  # it opens and does not answer: as good as damaged
    store.close()
    return None


def mark(folder: Path, name: str) -> None:
    (folder / name).touch(mode=0o600)


def unmark(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
