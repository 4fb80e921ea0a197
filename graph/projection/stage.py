"""What stands on the stage of a story along a path: as if its lines were set one after another, from turn to turn.

Of each aspect that is the line of the lowest turn on the path; of those of one turn the last. A line holds where the
turn it was set at is on the path, and the turns that its words may come from are there too, neither hidden nor deleted.
One that was set ahead of every turn comes before all others, on every path. What-ifs have the lines that were there
when they left.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from graph.projection.paths import EVER, lineage_of
from graph.projection.sources import is_over
from graph.projection.sqlite_tables import SqliteSink

_LINES = """
SELECT line.id, line.seq, line.world, line.owner, line.aspect, line.value, line."by", line."after", line.at,
    coalesce(said.depth, -1) AS depth
FROM stage_lines AS line LEFT JOIN turns AS said ON said.id = line."after"
WHERE line.world IN (SELECT value FROM json_each(:worlds)) AND line.seq < :before {} ORDER BY depth DESC, line.seq DESC
"""
_ONE = "AND line.owner = :owner AND line.aspect = :aspect"
_SOURCES = "SELECT target FROM links WHERE start = ? AND rel = 'SET_FROM'"


class Line(NamedTuple):
    """A row of `stage_lines`, and how many turns are above the one it was set at."""

    id: str
    seq: int
    world: str
    owner: str
    aspect: str
    value: str | None
    by: str
    after: str | None
    at: int
    depth: int

    @property
    def place(self) -> tuple[int, int]:
        """Where it comes among the lines of a path."""
        return self.depth, self.seq


class Stage:
    """The stage along the path to a turn, in one snapshot; None: before the first. Keep it no longer than that.

    To a `witness`, a member of the cast, nothing holds that comes from turns which it did not see.
    """

    def __init__(
        self, db: sqlite3.Connection, world: str, head: str | None, *, witness: str | None = None, since: int = 0
    ) -> None:
        """What a witness knows begins after event `since`."""
        self._db = db
        self._witness, self._since = witness, since
        self._tables = SqliteSink(db)
        self._lineage = lineage_of(db, world)
        self._known: dict[str, bool] = {}  # turns: whether they are on the path
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
        return next(self.history(owner, aspect, before=before), None)

    def every(self, owner: str | None = None) -> list[Line]:
        """All lines that hold, of one owner or of all, from the first turn to the last."""
        rows = self._rows("" if owner is None else "AND line.owner = :owner", EVER, owner or "")
        return [line for line in rows if self._holds(line)][::-1]

    def holding(self, seqs: Iterable[int]) -> set[int]:
        """Those of some lines, by the numbers of their events, that hold, whether the last of their kind or not."""
        wanted = set(seqs)
        return {line.seq for line in self._rows("", EVER) if line.seq in wanted and self._holds(line)}

    def history(self, owner: str, aspect: str, *, before: int = EVER) -> Iterator[Line]:
        """All that hold of one aspect, the last first."""
        return (line for line in self._rows(_ONE, before, owner, aspect) if self._holds(line))

    def _rows(self, which: str, before: int, owner: str = "", aspect: str = "") -> Iterator[Line]:
        given = {"worlds": json.dumps(self._lineage.worlds), "before": before, "owner": owner, "aspect": aspect}
        return (Line(*row) for row in self._db.execute(_LINES.format(which), given).fetchall())

    def _holds(self, line: Line) -> bool:
        if not self._lineage.knows(line.world, line.seq):
            return False
        there = line.after is None or self._is_on_path(line.after)
        return there and all(self._stands(source) for (source,) in self._db.execute(_SOURCES, (line.id,)))

    def _is_on_path(self, turn: str) -> bool:
        """One that is not here, where a chat was brought without the others of its story, is on no path."""
        if turn not in self._known:
            here = self._head is not None and self._tables.node("Turn", turn) is not None
            self._known[turn] = here and (turn == self._head or is_over(self._tables, turn, str(self._head)))
        return self._known[turn]

    def _stands(self, source: str) -> bool:
        turn = self._tables.node("Turn", source)
        if turn is None or turn["hidden"] or turn["deleted"] or not self._is_on_path(source):
            return False
        return self._witness is None or (
            turn["seq"] > self._since and self._witness in (turn["witnesses"] or "").split()
        )
