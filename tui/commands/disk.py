"""What the home takes on the disk, part by part, and what may go where a part is large."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from graph.errors import MemoryFailure
from tui.text import size_of

if TYPE_CHECKING:
    from agent.home import Home

MUCH = 10**9  # bytes from which a part is told with what to do about it
LOG, WORDS, VECTORS, GRAPH = "log", "words", "vectors", "graph"
BACKUPS, MODELS, STATES, CACHES = "backups", "models", "KV states", "caches"
QUERIES, COPIES, OTHER = "queries", "copies for queries", "other files"

ADVICE = {
    LOG: "your chats; `clew delete` deletes one permanently, and the space is then reused",
    WORDS: "needed for search",
    VECTORS: "`clew rebuild` removes those of embedders no longer in use",
    GRAPH: "`clew rebuild` rebuilds it as small as possible",
    BACKUPS: "`clew backup --list` lists them; you can delete those you do not need",
    MODELS: "`clew models list` lists them, `clew models rm NAME` removes one",
    STATES: "lower kv_mb in the settings; they are rebuilt when needed",
    CACHES: "safe to delete while clew is not running",
    QUERIES: "the history is trimmed automatically; remove saved queries in the query screen",
    COPIES: "removed automatically when clew closes, or at its next start",
    OTHER: "clew keeps only small files in the memory folder; large ones are not clew's",
}
FREES = {  # what makes room where nothing can be written; clew itself may refuse all else there
    GRAPH: "graph.kuzu in the memory folder is safe to delete while clew is not running; it is rebuilt from the log",
    BACKUPS: ADVICE[BACKUPS],
    MODELS: ADVICE[MODELS],
    STATES: "the files in cache/kv are safe to delete while clew is not running; they are rebuilt when needed",
    CACHES: ADVICE[CACHES],
}


def parts_of(home: "Home") -> dict[str, int]:
    """Bytes of each part of the home; what cannot be looked at counts as nothing."""
    from graph.console.workers import FOLDER as APART
    from graph.transfer.backup import BACKUPS as FOLDER

    memory = home.memory
    log = sum(_size(path) for path in memory.glob("log.sqlite*"))
    graph = sum(_size(path) for path in memory.glob("graph.kuzu*"))
    vectors, words = _in_the_log(memory)
    copies = _size(memory / APART)
    states = _size(home.states)
    return {
        LOG: max(0, log - vectors - words),
        WORDS: words,
        VECTORS: vectors,
        GRAPH: graph,
        BACKUPS: _size(home.root / FOLDER),
        MODELS: _size(home.models),
        STATES: states,
        CACHES: _size(home.cache) - states,
        QUERIES: _size(home.queries),
        COPIES: copies,
        OTHER: max(0, _size(memory) - log - graph - copies),
    }


def told(parts: dict[str, int]) -> str:
    """The parts that take anything, the largest first."""
    found = sorted(((size, name) for name, size in parts.items() if size), reverse=True)
    return ", ".join(f"{name} {size_of(size)}" for size, name in found) or "nothing is stored yet"


def advice(parts: dict[str, int], *, least: int = 0, full: bool = False) -> str:
    """What may be done about the largest parts, those of `least` bytes or more; where the disk is `full`, about those
    that can be made smaller without writing anything.
    """
    what = FREES if full else ADVICE
    sizes = ((size, name) for name, size in parts.items() if size and size >= least and name in what)
    found = sorted(sizes, reverse=True)[:3]
    return " ".join(f"{name[:1].upper()}{name[1:]} ({size_of(size)}): {what[name]}." for size, name in found)


def _in_the_log(memory: Path) -> tuple[int, int]:
    from graph.reader import LogReader, vectors_and_words

    try:
        reader = LogReader.open(memory)
    except MemoryFailure:
        return 0, 0
    try:
        return vectors_and_words(reader)
    except MemoryFailure:
        return 0, 0
    finally:
        reader.close()


def _size(path: Path) -> int:
    """Bytes of a file, or of all in a folder; links are not followed, and what goes meanwhile counts as nothing."""
    if path.is_symlink() or not path.is_dir():
        return _bytes(path)
    return sum(_sizes(path))


def _sizes(folder: Path) -> Iterable[int]:
    for root, _, names in os.walk(folder):
        yield from (_bytes(Path(root, name)) for name in names)


def _bytes(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
