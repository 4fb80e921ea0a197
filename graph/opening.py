"""Opens a graph file that can be trusted: whole, of this version, and of this very log.

The engine can take the whole process down over a damaged file. A mark is left while a file is being opened; it
outlives such a death, and the next opening then does not try the same file again.
"""

from pathlib import Path

from graph.errors import GraphFailure
from graph.reading import LogReader
from graph.schema import VERSION
from graph.store import FILE, GraphStore

MARK = "graph.opening"


def open_trusted(folder: Path, reader: LogReader) -> GraphStore | None:
    """The store of `folder`, or None where it has to be rebuilt."""
    mark = folder / MARK
    if mark.exists() or not (folder / FILE).exists():
        return None
    mark.touch(mode=0o600)
    try:
        store = GraphStore.open(folder / FILE)
    except GraphFailure:
        return None
    finally:
        mark.unlink()
    try:
        version, applied, link = store.applied()
        if version == VERSION and reader.link(applied).hex() == link:
            return store
    except GraphFailure:
        pass  # it opens and does not answer: as good as damaged
    store.close()
    return None


def forget_mark(folder: Path) -> None:
    """A file that was just made deserves to be tried."""
    (folder / MARK).unlink(missing_ok=True)
