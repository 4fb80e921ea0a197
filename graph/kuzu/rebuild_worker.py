"""Builds the new graph of a purge: that of a large log in a process of its own, so that nobody here waits for it.

The child says how far it is, a line a step, and ends with the process that started it, however that ends: its standard
input is a pipe that closes then. What it leaves is removed by whoever builds or opens next.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from graph.errors import GraphFailure, LogDamaged, MemoryFailure
from graph.kuzu import rebuild
from graph.reader import LogReader
from graph.values import Progress

SMALL = 5_000  # events that are folded and loaded here at once: it takes less than starting the child

Tell = Callable[[Progress], None]


def build(folder: Path, reader: LogReader, tell: Tell) -> None:
    """Make `graph.kuzu.new` of all events up to now. Raises LogDamaged, GraphFailure, or whatever `tell` does."""
    if reader.head() <= SMALL:
        rebuild.build(folder, reader, tell)
        return
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "graph.kuzu.rebuild_worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C is for us; we end the child
        )
    except OSError as e:
        raise GraphFailure(f"The new graph could not be begun: {e}. Everything is safe in the log.") from e
    try:
        _listen(child, tell)
    except BaseException:
        child.kill()
        raise
    finally:
        child.communicate()
        if child.returncode != 0:
            rebuild.remove(folder, rebuild.NEW)


def _listen(child: subprocess.Popen[str], tell: Tell) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        kind, _, rest = line.rstrip("\n").partition(" ")
        match kind:
            case "damaged":
                raise LogDamaged(rest)
            case "failed":
                raise GraphFailure(rest)
            case _:
                tell(Progress("rebuilding", int(kind), int(rest)))
    if child.wait() != 0:
        raise GraphFailure("The new graph could not be built: its process ended. Everything is safe in the log.")


def _end_with(parent: int) -> None:
    """End when the other end of standard input is gone."""
    while os.read(parent, 1):
        pass
    os._exit(1)


def main(argv: list[str]) -> int:
    """Build the graph of a folder, at a low priority, and say how far it is."""
    os.umask(0o077)
    if hasattr(os, "nice"):
        os.nice(10)
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    try:
        reader = LogReader.open(Path(argv[0]))
        rebuild.build(Path(argv[0]), reader, lambda step: print(step.done, step.total, flush=True))
    except MemoryFailure as error:
        kind = "damaged" if isinstance(error, LogDamaged) else "failed"
        with suppress(OSError):
            print(kind, " ".join(str(error).split()), flush=True)
        return 1
    reader.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
