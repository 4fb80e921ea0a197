"""What makes the tests' many memories cheap: folders in RAM, empty graphs that are copies of one, memory that is kept.

A log is made anew for every memory, with an identity of its own. That is all an empty graph says of it, so that a copy
with the other name is as good as one made anew, for a fifth of the time; the opening checks it as ever.
"""

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

RAM = Path("/dev/shm")
ENOUGH_BYTES = 2 << 30

# The engine of the graph takes and frees some 100 MB for each little thing, and half of its time went into the pages
# that the system clears for it. With these glibc gives none of it back while the tests run.
KEEPING = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
}


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


def cheap_graphs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on a memory without events, whose graph is opened for the first time, is given a copy of one.

    And what a rebuild took is kept for the next.
    """
    from graph import rebuild
    from graph.files import GRAPH
    from graph.memory import Memory
    from graph.values import Progress

    open_graph = Memory.open_graph
    making = threading.Lock()
    made: list[tuple[bytes, bytes]] = []

    def template() -> tuple[bytes, bytes]:
        """An empty graph, and the hash in it that names its log."""
        with making:
            if not made:
                memory = Memory.open(folder, command="test")
                open_graph(memory, lambda _: None)
                name = named(memory)
                memory.close()
                made.append(((folder / GRAPH).read_bytes(), name))
            return made[0]

    def named(memory: Memory) -> bytes:
        return memory._reader.link(0).hex().encode()

    def opened(self: Memory, progress: Callable[[Progress], None]) -> None:
        if self.head() == 0 and not any(self._folder.glob("graph.*")):
            graph, name = template()
            (self._folder / GRAPH).write_bytes(graph.replace(name, named(self)))
        open_graph(self, progress)

    monkeypatch.setattr(Memory, "open_graph", opened)
    monkeypatch.setattr(rebuild, "_give_back", lambda: None)
