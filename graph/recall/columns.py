"""The graph's turns as columns in memory, so that a filter or a step along an edge is one operation on an array.

Invariants:
- A row is a turn, and keeps its number for as long as the columns live.
- The columns are what the graph says at event `at`, never the log: liveness, edges and speakers are projections.
- `parent` is the row of the nearest turn it replies to that is not a tool's: a call and its result are no neighbours.
- Not thread-safe: whoever recalls holds the lock of `Recall`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.kuzu.store import GraphStore
from graph.recall.evidence import Tree
from graph.recall.table import NONE, Names, Table, coded

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

ROLES = ("user", "assistant", "note", "tool")
NOTE, TOOL = ROLES.index("note"), ROLES.index("tool")
ALL_SESSIONS = 100  # from so many on, all are read: the engine compares with each of a list

_NUMBERS = {  # column of a Turn to its type here
    "at": "i8",
    "index": "i4",
    "live": "?",
    "hidden": "?",
    "deleted": "?",
    "pinned": "?",
    "withheld": "?",
    "significance": "i1",
}
_CODES = {"session": "i4", "speaker": "i4", "world": "i4"}
_READ = ("id", "seq", "role", *_NUMBERS, *_CODES)
_UNJUDGED = {"withheld": "coalesce(t.withheld, false)", "significance": "coalesce(t.significance, 0)"}
_LISTED = ", ".join(f"{_UNJUDGED.get(name, f't.`{name}`')} AS `{name}`" for name in _READ)
_REPLIES, _ENDS = "MATCH (t:Turn)-[:REPLIES_TO]->(p:Turn)", "RETURN t.seq AS child, p.seq AS parent"
FEW = 8  # turns that changed since the last time


@dataclass(slots=True)
class SessionRow:
    """What recall asks of a session."""

    world: str
    project: str | None


class Columns(Table):
    """The turns of one open graph. `refresh` reads what changed since the last time."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__({"role": "i1", "parent": "i4", **_NUMBERS, **_CODES})
        self.store = store
        self.at_event = 0
        self.sessions, self.speakers, self.worlds, self.projects = Names(), Names(), Names(), Names()
        self.session_rows: list[SessionRow | None] = []
        self.liveness = 0  # counts changes of what is live; caches over live turns are keyed by it
        self._tree: Tree | None = None
        self._owners: NDArray[np.int32] | None = None
        self._assigned = 0  # the last event that gave a session another project, as far as that was read

    def refresh(self, applied: int) -> None:
        """Bring the columns to event `applied` or later. Raises GraphFailure."""
        if applied == self.at_event:
            return
        turns = self._changed() if self.at_event else self.store.columns(f"MATCH (t:Turn) RETURN {_LISTED}")
        if turns is not None and turns.num_rows:
            since = "WHERE t.touched > $after" if self.at_event else ""
            edges = self.store.columns(f"{_REPLIES} {since} {_ENDS}", {"after": self.at_event} if since else {})
            self._take(turns.sort_by("seq"), edges)
            self._read_sessions()
        self.at_event = applied

    def _changed(self) -> "pyarrow.Table | None":
        """The turns that changed, if any. Few are looked up singly: the engine scans every column it is asked for."""
        import pyarrow

        after = {"after": self.at_event}
        ids = self.store.columns("MATCH (t:Turn) WHERE t.touched > $after RETURN t.id AS id", after)["id"].to_pylist()
        if not ids:
            return None
        if len(ids) > FEW:
            return self.store.columns(f"MATCH (t:Turn) WHERE t.touched > $after RETURN {_LISTED}", after)
        one = f"MATCH (t:Turn {{id: $id}}) RETURN {_LISTED}"
        return pyarrow.concat_tables([self.store.columns(one, {"id": id}) for id in ids])

    def follow_projects(self, assigned: int) -> None:
        """Read again which session belongs to which project, if event `assigned` changed that since."""
        if not self._assigned < assigned <= self.at_event:
            return
        found = self.store.columns("MATCH (s:Session) RETURN s.id AS id, s.project AS project").to_pylist()
        for session in found:
            code = self.sessions.code(session["id"])
            if code != NONE and (row := self.session_rows[code]) is not None:
                row.project = session["project"]
        self._assigned, self._owners = assigned, None

    @property
    def tree(self) -> Tree:
        """How the turns follow each other; of several replies the newest live one is the child."""
        import numpy as np

        if self._tree is None:
            parent = self["parent"]
            child = np.full(self.size, NONE, np.int32)
            follows = np.flatnonzero(parent != NONE).astype(np.int32)
            live = self["live"][follows]
            for rows in (follows[~live], follows[live]):
                child[parent[rows]] = rows  # of equal places numpy keeps the last
            others = follows[child[parent[follows]] != follows]
            up, down = (np.append(steps, np.int32(NONE)) for steps in (parent, child))  # of NONE, NONE
            self._tree = Tree(parent, child, up[parent], down[child], others, parent[others])
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

    def _take(self, turns: "pyarrow.Table", edges: "pyarrow.Table") -> None:
        """Put turns, sorted by `seq`, into their rows: the known ones over what was there, the new ones at the end."""
        import numpy as np

        rows, new = self.place(turns)
        before = self["live"].copy() if not new.all() else None
        self._columns["role"][rows] = coded(turns["role"], lambda role: ROLES.index(role))
        for name, type in _NUMBERS.items():
            self._columns[name][rows] = turns[name].to_numpy().astype(type)
        for name, names in (("session", self.sessions), ("speaker", self.speakers), ("world", self.worlds)):
            self._columns[name][rows] = coded(turns[name], names.add)
        self._columns["parent"][rows] = NONE
        self._tree = None
        self._connect(self.rows(edges["child"].to_numpy()), self.rows(edges["parent"].to_numpy()))
        if before is not None and not np.array_equal(before, self["live"][: len(before)]):
            self.liveness += 1

    def _connect(self, children: "NDArray[np.intp]", parents: "NDArray[np.intp]") -> None:
        """Set parents, passing by the turns of tools; those have the parent the graph says."""
        import numpy as np

        here = children != NONE  # an edge may be newer than the turns that were read: it comes again with its turn
        children, parents = children[here], parents[here]
        parent, role = self._columns["parent"], self._columns["role"]
        parent[children] = parents
        while True:
            above = parent[children]
            passed = (above != NONE) & (role[np.maximum(above, 0)] == TOOL) & (role[children] != TOOL)
            if not passed.any():
                return
            parent[children[passed]] = parent[above[passed]]

    def _read_sessions(self) -> None:
        """Worlds and projects of sessions that are new."""
        unread = self.sessions.names[len(self.session_rows) :]
        if not unread:
            return
        some = "WHERE s.id IN $ids" if len(unread) < ALL_SESSIONS else ""
        listed = "s.id AS id, s.world AS world, s.project AS project"
        query = f"MATCH (s:Session) {some} RETURN {listed}"
        found = self.store.columns(query, {"ids": unread} if some else {}).to_pylist()
        read = {row["id"]: SessionRow(row["world"], row["project"]) for row in found}
        self.session_rows += [read.get(id) for id in unread]
        self._owners = None
