"""What stands on the stage of a story along a path: of each aspect the last line that holds there.

A line holds where the turn it was set at is on the path, and the turns that its words may come from are there too, live
and neither hidden nor deleted. One that was set ahead of every turn holds in its world, and in the what-ifs that left
it later.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from graph.projection.paths import EVER, lineage_of
from graph.projection.sources import is_over
from graph.projection.sqlite_tables import SqliteSink

_LINES = """
SELECT id, seq, world, owner, aspect, value, "by", "after", at FROM stage_lines
WHERE world IN (SELECT value FROM json_each(:worlds)) AND seq < :before {} ORDER BY seq DESC
"""
_ONE = "AND owner = :owner AND aspect = :aspect"
_SOURCES = "SELECT target FROM links WHERE start = ? AND rel = 'SET_FROM'"


class Line(NamedTuple):
    """A row of `stage_lines`."""

    id: str
    seq: int
    world: str
    owner: str
    aspect: str
    value: str | None
    by: str
    after: str | None
    at: int


class Stage:
    """The stage along the path to a turn, in one snapshot; None: before the first. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection, world: str, head: str | None) -> None:
        self._db = db
        self._tables = SqliteSink(db)
        self._lineage = lineage_of(db, world)
        self._head = head

    def lines(self, *, before: int = EVER) -> dict[tuple[str, str], Line]:
        """By owner and aspect the line that holds, of those that came before an event."""
        found: dict[tuple[str, str], Line] = {}
        for line in self._rows("", before):
            if (line.owner, line.aspect) not in found and self._holds(line):
                found[line.owner, line.aspect] = line
        return found

    def line(self, owner: str, aspect: str, *, before: int = EVER) -> Line | None:
        """One of them."""
        return next((line for line in self.history(owner, aspect, before=before)), None)

    def history(self, owner: str, aspect: str, *, before: int = EVER) -> Iterator[Line]:
        """All that hold of one aspect, the last first."""
        return (line for line in self._rows(_ONE, before, owner, aspect) if self._holds(line))

    def _rows(self, which: str, before: int, owner: str = "", aspect: str = "") -> Iterator[Line]:
        given = {"worlds": json.dumps(self._lineage.worlds), "before": before, "owner": owner, "aspect": aspect}
        return (Line(*row) for row in self._db.execute(_LINES.format(which), given).fetchall())

    def _holds(self, line: Line) -> bool:
        known = self._lineage.knows(line.world, line.seq)
        there = known if line.after is None else self._is_on_path(line.after)
        return there and all(self._stands(source) for (source,) in self._db.execute(_SOURCES, (line.id,)))

    def _is_on_path(self, turn: str) -> bool:
        return self._head is not None and (turn == self._head or is_over(self._tables, turn, self._head))

    def _stands(self, source: str) -> bool:
        turn = self._tables.node("Turn", source)
        return turn is not None and not turn["hidden"] and not turn["deleted"] and self._is_on_path(source)
