"""The whole graph anew: fold the log in memory, load the tables in bulk, put the new file in the old one's place.

A short log is followed instead, as if its events came now.

Until the last step nothing but new files is touched, so it can be broken off at any moment. The graph that was there
before is set aside (the last one is kept) for whoever wants to know what was wrong with it.
"""

import contextlib
import ctypes
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from graph.errors import GraphFailure
from graph.events.codec import Stored
from graph.kuzu import engine, room
from graph.kuzu.overlay import follow
from graph.kuzu.store import GraphStore
from graph.projection.schema import META, NODES, RELS
from graph.projection.tables import Tables, fold, uncollected
from graph.reader import LogReader
from graph.sqlite import GRAPH as FILE
from graph.values import Progress

PAGE = 2_000  # events read at a time
FEW = 30  # events that are followed, in one transaction: loading takes 10 ms a table, however little there is
ROWS = 131_072  # rows loaded at a time: one node group, which the engine would rewrite for every smaller piece

NEW, ASIDE = FILE + ".new", FILE + ".aside"
Item = TypeVar("Item")


def build(folder: Path, reader: LogReader, progress: Callable[[Progress], None]) -> None:
    """Make `graph.kuzu.new` of all events up to now. Raises LogDamaged, or GraphFailure (NoRoom)."""
    remove(folder, NEW)
    room.require(folder, room.TO_OPEN + 2 * reader.size)
    head = reader.head()
    events = _told(events_of(reader, head), head, progress)
    few = list(events) if 0 < head <= FEW else []
    with uncollected():
        tables = None if few else fold(events, reader.event)
    try:
        store = GraphStore.create(folder / NEW)
    except GraphFailure:
        _give_way(folder)
        raise

    def breathe() -> None:
        progress(Progress("rebuilding", head, head))
        room.require(folder, room.TO_FOLLOW)

    whole = False
    try:
        if tables is None:
            breathe()
            follow(store, few, reader)
        else:
            _load(store, tables, breathe)
            with store.transaction():
                statement = f"MATCH (m:`{META.name}` {{id: 0}}) SET m.applied = $applied, m.link = $link"
                store.execute(statement, {"applied": head, "link": reader.link(head).hex()})
        whole = True
    finally:
        store.close()
        del tables
        _give_back()
        if store.spoilt or not whole:
            _give_way(folder)
    if store.spoilt:
        raise GraphFailure("The new graph could not be completed. Everything is safe in the log.")


def install(folder: Path) -> None:
    """Set the graph that is there aside and put the new one in its place; neither may be open."""
    set_aside(folder)
    _move(folder, NEW, FILE)


def set_aside(folder: Path) -> None:
    """Keep the graph that is there under another name, in place of the one kept before."""
    if any(os.path.lexists(folder / (FILE + companion)) for companion in engine.COMPANIONS):
        remove(folder, ASIDE)
        _move(folder, FILE, ASIDE)


def remove(folder: Path, name: str) -> None:
    """Delete a graph and what the engine left beside it, also folders of these names; links, not where they lead."""
    for companion in engine.COMPANIONS:
        path = folder / (name + companion)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def discard(folder: Path) -> None:
    """Delete every graph there is, none of which may be open: the next opening makes one of the log."""
    for name in (FILE, NEW, ASIDE):
        remove(folder, name)


def _give_way(folder: Path) -> None:
    """Free what a failed build takes, also where the engine, which is not closed after a failure, has it open."""
    for companion in engine.COMPANIONS:
        with contextlib.suppress(OSError):
            os.truncate(folder / (NEW + companion), 0)
    remove(folder, NEW)


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
    """Load all tables and empty them, so that the memory they took serves the next; `breathe` goes between batches."""
    for table in NODES:
        for batch in _batches(list(tables.nodes.pop(table.name).values())):
            breathe()
            columns = dict(zip(table.names, zip(*batch, strict=True), strict=True))
            store.copy(table.name, columns, dict(table.columns))
    for rel, end in [(each, end) for each in RELS for end in each.ends]:
        types = {"from": "STRING", "to": "STRING", **dict(rel.columns)}
        for rows in _batches([(*ends[:2], *values) for ends, values in tables.rels.pop((rel.name, end)).items()]):
            breathe()
            columns = dict(zip(types, zip(*rows, strict=True), strict=True))
            store.copy(rel.name, columns, types, ends=(rel.start, end) if len(rel.ends) > 1 else None)


def _batches(rows: list[Item]) -> Iterator[list[Item]]:
    """The rows in pieces from the end, each forgotten when the next is asked for."""
    while rows:
        yield rows[-ROWS:]
        del rows[-ROWS:]


def _give_back() -> None:
    """Return to the system what the rebuild took: both allocators would keep hundreds of megabytes for next time."""
    engine.release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None  # glibc has it
    if trim is not None:
        trim(0)


def _move(folder: Path, old: str, new: str) -> None:
    for companion in reversed(engine.COMPANIONS):  # the file itself last: without it there is no graph
        if os.path.lexists(folder / (old + companion)):
            (folder / (old + companion)).replace(folder / (new + companion))
