"""What makes the tests' many memories cheap: folders in RAM, empty graphs that are copies of one, memory that is kept.

Every log has an identity of its own, which is all that an empty graph says of it: a copy with the other name is as good
as one made anew, for a fifth of the time, and the opening checks it as ever.
"""

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

from graph.events import Event
from graph.events.codec import genesis
from tests import marking

RAM = Path("/dev/shm")
ENOUGH_BYTES = 2 << 30

# The engine of the graph takes and frees some 100 MB for each little thing, and half of its time went into the pages
# that the system clears for it. With these glibc gives none of it back while the tests run, and asks for large pages.
# The threads of numpy's algebra would wait for work, spinning, on cores that the other workers need.
KEEPING = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
}

_ANY_LINK = genesis("any log").hex()  # where the name of a log stands in the graph that is copied


def in_ram() -> None:
    """Let pytest make its temporary folders in RAM, if there is enough, and programs may be run from there.

    To be called before pytest makes the first; it removes them as ever, all but those of the last tests that failed.
    """
    try:
        room = os.statvfs(RAM)
    except OSError:
        return
    runs = not room.f_flag & os.ST_NOEXEC
    if runs and room.f_bavail * room.f_frsize >= ENOUGH_BYTES and os.access(RAM, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(RAM))


def keep_memory() -> None:
    """Let the workers of pytest-xdist, which are started next, keep what memory they free."""
    os.environ.update(KEEPING)


def keep_it_no_longer() -> None:
    """What a worker starts is a clew like any other."""
    for name in KEEPING:
        os.environ.pop(name, None)


def temporary(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that is made without a name made in `folder`, by child processes too."""
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def cheap_memories(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on empty logs and graphs are copies of one; and what a rebuild took is kept for the next."""
    from graph.kuzu import rebuild
    from graph.log import log

    monkeypatch.setattr(log, "migrate", _cheap_migrate(folder))
    _cheap_graphs(folder, monkeypatch)
    monkeypatch.setattr(rebuild, "_give_back", lambda: None)


def _cheap_migrate(folder: Path) -> Callable[[sqlite3.Connection, Callable[[int, int], object]], None]:
    """A `migrate` that makes an empty log a copy of the one in `folder`, all but what the file knows of itself."""
    from graph.ids import new_id, now_ms
    from graph.log.log import hash_before
    from graph.log.migrations import migrate
    from graph.projection import sqlite_tables

    def nothing(seq: int) -> Event:
        raise LookupError(f"an empty log has no event {seq}")

    empty = folder / "log.sqlite"
    with closing(sqlite3.connect(empty, isolation_level=None)) as template:
        migrate(template)
        sqlite_tables.rebuild(template, (), nothing, lambda _: None)

    def migrated(db: sqlite3.Connection, progress: Callable[[int, int], object]) -> None:
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            with closing(sqlite3.connect(empty)) as template:
                template.backup(db)
            db.executemany("UPDATE meta SET value = ? WHERE key = ?", [(new_id(), "log"), (now_ms(), "created_at")])
            sqlite_tables.note(db, 0, hash_before(db, 1))
        migrate(db, progress)

    return migrated


def _cheap_graphs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a graph that is made, and one that is opened for a log without events, be copies."""
    from graph.kuzu.store import GraphStore
    from graph.memory import Memory
    from graph.projection.schema import META
    from graph.sqlite import GRAPH
    from graph.values import Progress

    create, open_file, open_graph = GraphStore.create, GraphStore.open, Memory.open_graph
    made: dict[tuple[int, str], bytes] = {}  # by version, which a test may change, and by the log's name in it
    making = threading.Lock()

    def version() -> int:
        return int(import_module(GraphStore.__module__).VERSION)

    def empty(link: str) -> bytes:
        with making:
            if (key := (version(), link)) not in made:
                path = folder / f"{len(made)}.kuzu"
                graph = create(path)
                graph.execute(f"MATCH (m:`{META.name}` {{id: 0}}) SET m.link = $link", {"link": link})
                graph.close()
                made[key] = path.read_bytes()
            return made[key]

    for link in ("", _ANY_LINK):  # now: it is no test that opens them
        empty(link)

    def seen(path: Path) -> GraphStore:
        marking.saw("restarts")
        return open_file(path)

    def created(path: Path) -> GraphStore:
        if path.exists():
            return create(path)
        try:
            path.write_bytes(empty(""))
        except OSError:
            path.unlink(missing_ok=True)
            return create(path)  # which tells the trouble
        return GraphStore.open(path)

    def opened(self: Memory, progress: Callable[[Progress], None]) -> None:
        if self.head() == 0 and not any(self._folder.glob("graph.*")):
            link = self._reader.link(0).hex()
            graph = empty(_ANY_LINK).replace(_ANY_LINK.encode(), link.encode())
            (self._folder / GRAPH).write_bytes(graph)
        open_graph(self, progress)

    monkeypatch.setattr(GraphStore, "open", seen)
    monkeypatch.setattr(GraphStore, "create", created)
    monkeypatch.setattr(Memory, "open_graph", opened)


def tried(models: Path, folder: Path) -> Path:
    """Try the default models, and learn from the chat's template, as a clew does first; where that is noted."""
    from models.frames import vocabulary_of
    from models.loading import load_model
    from models.probe import check_apart
    from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER, ModelStore

    memo, store = folder / "probed.json", ModelStore(models)
    check_apart(store.path(DEFAULT_CHAT), memo=memo, embeds=False)
    check_apart(store.path(DEFAULT_EMBEDDER), memo=memo, embeds=True)
    model, header = load_model(store.path(DEFAULT_CHAT), embeds=False, context=64, gpu_layers=0, memo=memo)
    vocabulary_of(model, header, memo)
    model.free()
    return memo


def say_tried(home: Path, memo: Path) -> None:
    """Let a home that is not there yet know what was tried."""
    cache = home / "cache"
    for made in (home, cache):
        made.mkdir(mode=0o700)
    (cache / memo.name).touch(mode=0o600)
    shutil.copyfile(memo, cache / memo.name)


def leave_as_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that are closed from now on are not folded together: nobody opens them again."""
    from graph.kuzu.store import GraphStore

    close = GraphStore._close_alone
    monkeypatch.setattr(GraphStore, "_close_alone", lambda self, *, fold: close(self, fold=False))
