"""The whole graph anew: fold the log in memory, load the tables in bulk, put the new file in the old one's place.

Until the last step nothing but new files is touched, so it can be broken off at any moment. The graph that was there
before is set aside (the last one is kept) for whoever wants to know what was wrong with it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from graph.codec import Stored
from graph.reading import LogReader
from graph.schema import META, NODES, RELS
from graph.store import FILE, GraphStore
from graph.tables import Tables, fold
from graph.values import Progress

PAGE = 2_000  # events read, and rows loaded, at a time
ROWS = 20_000

NEW, ASIDE = FILE + ".new", FILE + ".aside"
_COMPANIONS = ("", ".wal", ".tmp", ".lock", ".shadow")


def build(folder: Path, reader: LogReader, progress: Callable[[Progress], None]) -> None:
    """Make `graph.kuzu.new` of all events up to now. Raises LogDamaged or GraphFailure."""
    remove(folder, NEW)
    head = reader.head()
    tables = fold(_told(events_of(reader, head), head, progress), reader.event)
    store = GraphStore.create(folder / NEW)
    try:
        _load(store, tables, lambda: progress(Progress("rebuilding", head, head)))
        with store.transaction():
            statement = f"MATCH (m:`{META.name}` {{id: 0}}) SET m.applied = $applied, m.link = $link"
            store.execute(statement, {"applied": head, "link": reader.link(head).hex()})
    finally:
        store.close()


def install(folder: Path) -> None:
    """Set the graph that is there aside and put the new one in its place; neither may be open."""
    set_aside(folder)
    _move(folder, NEW, FILE)


def set_aside(folder: Path) -> None:
    """Keep the graph that is there under another name, in place of the one kept before."""
    if any((folder / (FILE + companion)).exists() for companion in _COMPANIONS):
        remove(folder, ASIDE)
        _move(folder, FILE, ASIDE)


def remove(folder: Path, name: str) -> None:
    """Delete a graph and what the engine left beside it."""
    for companion in _COMPANIONS:
        (folder / (name + companion)).unlink(missing_ok=True)


def events_of(reader: LogReader, head: int, *, after: int = 0) -> Iterator[Stored]:
    """The events up to number `head`, read in pages."""
    while after < head:
        page = reader.events(after=after, limit=min(PAGE, head - after))
        yield from page
        after = page[-1].seq


def _told(events: Iterator[Stored], head: int, progress: Callable[[Progress], None]) -> Iterator[Stored]:
    for stored in events:
        if stored.seq % PAGE == 1:
            progress(Progress("rebuilding", stored.seq, head))
        yield stored


def _load(store: GraphStore, tables: Tables, breathe: Callable[[], None]) -> None:
    """Load all tables; `breathe` is called between batches."""
    for table in NODES:
        rows = list(tables.nodes[table.name].values())
        for start in range(0, len(rows), ROWS):
            breathe()
            batch = rows[start : start + ROWS]
            columns = dict(zip(table.names, zip(*batch, strict=True), strict=True))
            store.copy(table.name, columns, dict(table.columns))
    for rel in RELS:
        ends = list(tables.rels[rel.name])
        for start in range(0, len(ends), ROWS):
            breathe()
            starts, stops = zip(*ends[start : start + ROWS], strict=True)
            store.copy(rel.name, {"from": starts, "to": stops}, {"from": "STRING", "to": "STRING"})


def _move(folder: Path, old: str, new: str) -> None:
    for companion in reversed(_COMPANIONS):  # the file itself last: without it there is no graph
        if (folder / (old + companion)).exists():
            (folder / (old + companion)).replace(folder / (new + companion))
