"""The turns as columns in memory, so that a filter or a step along an edge is one operation on an array.

Invariants:
- A row is a turn, and keeps its number for as long as the columns live.
- The columns are what the tables beside the log say at event `at_event`.
- `parent` is the row of the nearest turn it replies to that is not a tool's: a call and its result are no neighbours.
- `witnesses` is NONE of what was said outside of stories.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.recall.evidence import Tree
from graph.recall.table import NONE, Names, ReadColumns, Table, coded, read_columns, read_touched

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

ROLES = ("user", "assistant", "note", "tool")
NOTE, TOOL = ROLES.index("note"), ROLES.index("tool")

_NUMBERS = {  # column of a Turn to its type here
    "at": "i8",
    "live": "?",
    "hidden": "?",
    "deleted": "?",
    "pinned": "?",
    "withheld": "?",
    "significance": "i1",
}
_CODES = {"session": "i4", "speaker": "i4", "world": "i4", "witnesses": "i4"}
_UNJUDGED = {"significance": "coalesce(significance, 0) AS significance"}
_LISTED = ", ".join(_UNJUDGED.get(name, f'"{name}"') for name in ("id", "seq", "role", *_NUMBERS, *_CODES))
_TURNS = f"SELECT {_LISTED} FROM turns"
_REPLIES = """
SELECT reply.seq AS child, over.seq AS parent FROM turns AS reply JOIN turns AS over ON over.id = reply.above
WHERE reply.touched > ? AND NOT reply.deleted
"""


@dataclass(slots=True)
class SessionRow:
    """What recall asks of a session."""

    world: str
    project: str | None


class Columns(Table):
    """The turns of one log. `refresh` reads what changed since the last time."""

    def __init__(self) -> None:
        super().__init__({"role": "i1", "parent": "i4", **_NUMBERS, **_CODES})
        self.at_event = 0
        self.sessions, self.speakers, self.worlds, self.projects = Names(), Names(), Names(), Names()
        self.crowds = Names()  # of those who saw a turn of a story, as the tables have them
        self.session_rows: list[SessionRow | None] = []
        self.liveness = 0  # counts changes of what is live; caches over live turns are keyed by it
        self._tree: Tree | None = None
        self._owners: NDArray[np.int32] | None = None
        self._assigned = 0  # the last event that gave a session another project, as far as that was read

    def refresh(self, db: sqlite3.Connection, applied: int) -> None:
        """Bring the columns to event `applied`, which is the last of a snapshot."""
        if applied == self.at_event:
            return
        turns = read_touched(db, _TURNS, self.at_event)
        if turns["seq"]:
            self._take(turns, read_columns(db, _REPLIES, self.at_event))
            self._read_sessions(db)
        self.at_event = applied

    def follow_projects(self, db: sqlite3.Connection, assigned: int) -> None:
        """Read again which session belongs to which project, if event `assigned` changed that since."""
        if not self._assigned < assigned <= self.at_event:
            return
        for id, project in db.execute("SELECT id, project FROM sessions"):
            code = self.sessions.code(id)
            if code != NONE and (row := self.session_rows[code]) is not None:
                row.project = project
        self._assigned, self._owners = assigned, None

    @property
    def tree(self) -> Tree:
        """How the turns follow each other; of several replies the newest live one is the child."""
        if self._tree is None:
            self._tree = Tree.of(self["parent"], self["live"])
        return self._tree

    @property
    def owners(self) -> "NDArray[np.int32]":
        """The project of each session, by code; NONE for none."""
        import numpy as np

        if self._owners is None:
            projects = (row.project if row is not None else None for row in self.session_rows)
            codes = [self.projects.add(project) if project is not None else NONE for project in projects]
            self._owners = np.array(codes, np.int32)
        return self._owners

    def session_of(self, row: int) -> str:
        return self.sessions.names[int(self._columns["session"][row])]

    def speaker_of(self, row: int) -> str:
        return self.speakers.names[int(self._columns["speaker"][row])]

    def role_of(self, row: int) -> str:
        return ROLES[int(self._columns["role"][row])]

    def _take(self, turns: ReadColumns, edges: ReadColumns) -> None:
        """Put turns, sorted by `seq`, into their rows: the known ones over what was there, the new ones at the end."""
        import numpy as np

        rows, new = self.place(turns)
        before = self["live"].copy() if not new.all() else None
        self._columns["role"][rows] = coded(turns["role"], lambda role: ROLES.index(role))
        for name, type in _NUMBERS.items():
            self._columns[name][rows] = np.array(turns[name], type)
        coding = {
            "session": self.sessions, "speaker": self.speakers, "world": self.worlds, "witnesses": self.crowds,
        }  # fmt: skip
        for name, names in coding.items():
            self._columns[name][rows] = coded(turns[name], names.add)
        self._columns["parent"][rows] = NONE
        self._tree = None
        ends = (self.rows(np.array(edges[end], np.int64)) for end in ("child", "parent"))
        self._connect(*ends)
        if before is not None and not np.array_equal(before, self["live"][: len(before)]):
            self.liveness += 1

    def _connect(self, children: "NDArray[np.intp]", parents: "NDArray[np.intp]") -> None:
        """Set parents, passing by the turns of tools; those have the parent the graph says."""
        import numpy as np

        parent, role = self._columns["parent"], self._columns["role"]
        parent[children] = parents
        while True:
            above = parent[children]
            passed = (above != NONE) & (role[np.maximum(above, 0)] == TOOL) & (role[children] != TOOL)
            if not passed.any():
                return
            parent[children[passed]] = parent[above[passed]]

    def _read_sessions(self, db: sqlite3.Connection) -> None:
        """Worlds and projects of sessions that are new."""
        for id in self.sessions.names[len(self.session_rows) :]:
            row = db.execute("SELECT world, project FROM sessions WHERE id = ?", (id,)).fetchone()
            self.session_rows.append(SessionRow(*row) if row is not None else None)
            self._owners = None
