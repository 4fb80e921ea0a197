"""What was learned, asked of a log beside whoever has the memory open; for one that is closed as well."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graph.errors import GraphFailure
from graph.reader import LogReader
from graph.readings.memory import MemoryReadings
from graph.recall.search import Recall
from graph.sqlite import LOG


class _NoGraph:
    """There is no graph here."""

    ready = False

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]:
        raise GraphFailure("The graph is open elsewhere.")


@contextmanager
def readings_beside(reader: LogReader, folder: Path) -> Iterator[MemoryReadings]:
    """The readings of the memory in `folder`, by a reader of its log."""
    recall = Recall(folder / LOG, _NoGraph())
    try:
        yield MemoryReadings(reader.snapshot, recall.in_world, recall.later)
    finally:
        recall.close()
