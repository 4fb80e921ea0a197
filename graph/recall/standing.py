"""How observations stand in a world: live, current, and as what, by what that world sees.

Of the main world the tables know it. Of a what-if it is worked out as graph/projection/observations.py says it, from
all revisions that the what-if may see: its own, and those of the worlds it left. What it needs besides the columns is
read when a what-if is first asked about, and kept up to date from then on.

For a member of a story's cast it is worked out so from the turns that it saw, as if there were no others: what it does
not know of is not live for it, and revises, replaces and contradicts nothing. Documents it knows none.
"""

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.events import MAIN_WORLD
from graph.events.codec import fields_of
from graph.projection.paths import Lineage
from graph.readings.stories import since
from graph.readings.worlds import pinned_series, revisions_of, turns_by_hand
from graph.recall.columns import Columns
from graph.recall.learned import ACTIVE, CANDIDATE, DERIVED, INVALID, STATUSES, SUPERSEDED, Edges, LearnedIndex
from graph.recall.mask import sources, witnessed
from graph.recall.table import NONE, ReadColumns, coded, read_columns, read_touched
from graph.recall.views import Inheritance
from graph.recall.witness import Witnessed
from graph.values import SupposedState

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_DECIDING = "SELECT seq, judged, deleted, supersedes, instead_of FROM observations"
_RETIRED = """
SELECT made.seq AS one, said.seq AS other FROM links
JOIN observations AS made ON made.id = links.start JOIN turns AS said ON said.id = links.target
WHERE links.rel = 'RETIRED_BY'
"""
_PARENTS = """
SELECT made.seq AS one, parent.seq AS other FROM observations AS made
JOIN links ON links.start = made.id AND links.rel = 'SYNTHESIZED_FROM'
JOIN observations AS parent ON parent.id = links.target WHERE made.parents > 0
"""
_PINNED = """
SELECT events.seq, events.kind, version, structure FROM events
WHERE kind <> 'turn.said' AND kind IN ('pin.set', 'pin.cleared') ORDER BY seq
"""
_LAST_RESET = "SELECT coalesce(max(seq), 0) FROM events WHERE kind <> 'turn.said' AND kind = 'cast.reset'"
KEPT = 8  # views of members that are kept for the next question


@dataclass(frozen=True, slots=True)
class StandingColumns:
    """How each row of the observations stands in one world; what it may not see is not live there."""

    seen: "Mask"
    live: "Mask"
    current: "Mask"
    status: "NDArray[np.int8]"

    @property
    def in_use(self) -> "Mask":
        """Which are in use: what is superseded, proposed, under review or taken back is not."""
        found: Mask = self.current & (self.status == ACTIVE)
        return found


@dataclass(frozen=True, slots=True)
class Pins:
    """What is pinned by hand in one world; for a member of a cast, of what it knows of."""

    turns: "Mask"
    beliefs: "Mask"


class Standings:
    """How observations stand, over the tables of one log. Not thread-safe, as they are not."""

    def __init__(self) -> None:
        self._inheritance = Inheritance()
        self._at = 0
        self._size = 0
        self._deciding: dict[str, NDArray[np.int64]] = {}
        self._retired: Edges | None = None
        self._parents: Edges | None = None  # of syntheses
        self._found: dict[tuple[str, str | None], tuple[int, StandingColumns]] = {}
        self._views: OrderedDict[tuple[str, str], tuple[int, Witnessed]] = OrderedDict()
        self._resets: tuple[int, dict[tuple[str, str], int]] = 0, {}

    def inherited(self, db: sqlite3.Connection, columns: Columns, world: str) -> "Mask | None":
        """The turns that a what-if has from other worlds; None of the main one. Raises GraphFailure."""
        return None if world == MAIN_WORLD else self._inheritance.inherited(db, columns, world)

    def witnessed(self, db: sqlite3.Connection, columns: Columns, world: str, member: str) -> Witnessed:
        """What a member of a cast saw of a world, since it was reset. Raises GraphFailure."""
        at, view = self._views.get((world, member), (0, None))
        if view is None or at != columns.at_event:
            saw = witnessed(columns, member, self._reset(db, columns, world, member))
            stands = sources(columns, world, self.inherited(db, columns, world))
            view = Witnessed(columns, (world, member), stands & saw)
            self._views[world, member] = columns.at_event, view
        self._views.move_to_end((world, member))
        while len(self._views) > KEPT:
            self._found.pop(self._views.popitem(last=False)[0], None)
        return view

    def of(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        learned: LearnedIndex,
        world: str,
        member: str | None = None,
    ) -> StandingColumns:
        """How they stand in a world, or for a member of its cast. Raises GraphFailure."""
        if member is None and (world == MAIN_WORLD or not learned.beliefs.size):
            return _in_main(learned, sources(columns, world, None))
        at, stood = self._found.get((world, member), (0, None))
        if stood is None or at != columns.at_event:
            pieces = learned.pieces["live"]
            if member is None:
                turns = sources(columns, world, self.inherited(db, columns, world))
            else:
                turns, pieces = self.witnessed(db, columns, world, member).sources, pieces & False
            self._refresh(db, columns, learned)
            lineage = self._inheritance.lineage(db, world)
            stood = self._work_out(learned, lineage, turns, pieces, alone=member is not None)
            self._found[world, member] = columns.at_event, stood
        return stood

    def pins(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        learned: LearnedIndex,
        world: str,
        member: str | None = None,
    ) -> Pins:
        """What is pinned by hand in a world; the tables know it of the main one.

        For a member of its cast those pins count that are of what it knows of.
        """
        import numpy as np

        if world == MAIN_WORLD and member is None:
            return Pins(columns["pinned"], learned.beliefs["pinned"])
        lineage = self._inheritance.lineage(db, world)
        turns, beliefs = np.zeros(columns.size, np.bool_), np.zeros(learned.beliefs.size, np.bool_)
        by_hand = turns_by_hand(db, lineage)
        turns[[row for id, on in by_hand.items() if on and (row := columns.row_of(id)) != NONE]] = True
        if member is not None:
            known = self.of(db, columns, learned, world, member).live
            seen = self.witnessed(db, columns, world, member).turns
            return Pins(turns & seen, self._pinned(db, learned, lineage, known))
        revisions = revisions_of(db, pinned_series(db, lineage))
        beliefs[[row for id in revisions if (row := learned.beliefs.row_of(id)) != NONE]] = True
        return Pins(turns, beliefs)

    def _pinned(self, db: sqlite3.Connection, learned: LearnedIndex, lineage: Lineage, known: "Mask") -> "Mask":
        """The known revisions that are pinned, by pins of known ones; it takes known ones to join some to a series."""
        import numpy as np

        table = learned.beliefs
        first, pinned = _first(self._deciding["supersedes"], known), np.zeros(table.size, np.bool_)
        for seq, kind, version, structure in db.execute(_PINNED).fetchall():
            pin = fields_of(kind, version, structure)
            row = table.row_of(pin.get("observation") or "")
            home = pin.get("world") or learned.worlds.names[table["world"][row]] if row != NONE else ""
            if row != NONE and known[row] and lineage.knows(home, seq):
                pinned[first[row]] = kind == "pin.set"
        found: Mask = known & pinned[first]
        return found

    def _reset(self, db: sqlite3.Connection, columns: Columns, world: str, member: str) -> int:
        """The event after which the memory of a member begins in a world, 0 if it was never reset."""
        last = db.execute(_LAST_RESET).fetchone()[0]
        if self._resets[0] != last:
            self._resets = last, {}
        known = self._resets[1]
        found = known.get((world, member))
        if found is None:
            found = since(db, world, None, member) if last else 0
            if columns.worlds.code(world) != NONE:  # else it may not have begun
                known[world, member] = found
        return found

    def supposing(
        self, db: sqlite3.Connection, columns: Columns, learned: LearnedIndex, world: str, supposed: SupposedState
    ) -> StandingColumns:
        """How they would stand in a what-if if things were as supposed. Raises GraphFailure."""
        self.of(db, columns, learned, world)  # what decides is up to date then
        turns = would_stand(columns, world, self._inheritance.inherited(db, columns, world), supposed)
        judged, deleted = self._deciding["judged"].copy(), self._deciding["deleted"] != 0
        for id, (status, gone) in supposed.judged.items():
            if (row := learned.beliefs.row_of(id)) != NONE:
                judged[row], deleted[row] = STATUSES.index(status), gone
        pieces = learned.pieces["live"].copy()
        for id, live in supposed.pieces.items():
            if (row := learned.pieces.row_of(id)) != NONE:
                pieces[row] = live
        pardoned = [row for id in supposed.pardoned if (row := learned.beliefs.row_of(id)) != NONE]
        return self._stand(learned, self._inheritance.lineage(db, world), turns, pieces, judged, deleted, pardoned)

    def _work_out(
        self, learned: LearnedIndex, lineage: Lineage, turns: "Mask", pieces: "Mask", *, alone: bool
    ) -> StandingColumns:
        judged, deleted = self._deciding["judged"], self._deciding["deleted"] != 0
        return self._stand(learned, lineage, turns, pieces, judged, deleted, [], alone=alone)

    def _stand(
        self,
        learned: LearnedIndex,
        lineage: Lineage,
        turns: "Mask",
        pieces: "Mask",
        judged: "NDArray[np.int64]",
        deleted: "Mask",
        pardoned: list[int],
        *,
        alone: bool = False,
    ) -> StandingColumns:
        """As it is from some turns and chunks; `alone`, as if nothing else had been made than what stands on them."""
        import numpy as np

        table = learned.beliefs
        before, instead_of = self._deciding["supersedes"], self._deciding["instead_of"]
        seen = _seen(learned, lineage)
        live = seen & ~deleted & whole(learned, turns, pieces)
        assert self._retired is not None
        assert self._parents is not None
        retired = self._retired.count(turns, table.size) > 0
        retired[pardoned] = False
        in_use = (judged == ACTIVE) & ~retired
        later = _said_later(live, in_use, before)
        status = np.where(later, np.int8(SUPERSEDED), judged.astype(np.int8))
        status[retired | (judged == INVALID)] = INVALID
        replaced = np.append(live, False)[instead_of]  # NONE is the last
        current = live & ~replaced & np.isin(status, (CANDIDATE, ACTIVE))
        parents = self._parents
        if alone:  # revisions have the parents of the first, where there is one
            parents = parents.among(before[_first(before, live)] == NONE)
        current = _with_parents(current, status == ACTIVE, parents)
        return StandingColumns(seen, live, current, status.astype(np.int8))

    def _refresh(self, db: sqlite3.Connection, columns: Columns, learned: LearnedIndex) -> None:
        """Read what decides how observations stand, as far as it changed."""
        import numpy as np

        table = learned.beliefs
        if self._at == columns.at_event and self._size == table.size:
            return
        for name in ("judged", "deleted", "supersedes", "instead_of"):
            grown = np.full(table.size, NONE, np.int64)
            grown[: self._size] = self._deciding.get(name, grown)[: self._size]
            self._deciding[name] = grown
        found = read_touched(db, _DECIDING, self._at if self._size else 0)
        if not found["seq"] and self._parents is not None:  # nothing changed that hangs on one
            self._at = columns.at_event
            return
        self._take(learned, found)
        edges = read_columns(db, _RETIRED)
        one, other = (np.array(edges[end], np.int64) for end in ("one", "other"))
        self._retired = Edges(table.rows(one), columns.rows(other), np.zeros(len(one), np.float32))
        edges = read_columns(db, _PARENTS)
        one, other = (np.array(edges[end], np.int64) for end in ("one", "other"))
        self._parents = Edges(table.rows(one), table.rows(other), np.zeros(len(one), np.float32))
        self._at, self._size = columns.at_event, table.size

    def _take(self, learned: LearnedIndex, found: ReadColumns) -> None:
        import numpy as np

        table = learned.beliefs
        rows = table.rows(np.array(found["seq"], np.int64))
        values: dict[str, NDArray[Any]] = {
            "judged": coded(found["judged"], STATUSES.index),
            "deleted": np.array(found["deleted"], np.int64),
            "supersedes": coded(found["supersedes"], table.row_of),
            "instead_of": coded(found["instead_of"], table.row_of),
        }
        for name, column in values.items():
            self._deciding[name][rows] = column


def would_stand(columns: Columns, world: str, inherited: "Mask", supposed: SupposedState) -> "Mask":
    """The turns that would stand in a what-if if some of them were as supposed."""
    stands: Mask = sources(columns, world, inherited).copy()
    own = columns.worlds.code(world)
    for id, turn in supposed.turns.items():
        if (row := columns.row_of(id)) != NONE:
            held = turn.live if columns["world"][row] == own else inherited[row] and not turn.hidden
            stands[row] = held and not turn.deleted and not turn.withheld
    return stands


def whole(learned: LearnedIndex, turns: "Mask", pieces: "Mask | None" = None) -> "Mask":
    """Observations of which every source stands; `pieces` of documents that do, if not those that are live."""
    size = learned.beliefs.size
    made_from = learned.of_turns[DERIVED].all(size) + learned.of_chunks[DERIVED].all(size)
    standing = learned.of_turns[DERIVED].count(turns, size)
    standing = standing + learned.of_chunks[DERIVED].count(learned.pieces["live"] if pieces is None else pieces, size)
    complete: Mask = (made_from > 0) & (standing == made_from)
    return complete


def _in_main(learned: LearnedIndex, turns: "Mask") -> StandingColumns:
    """As the tables say, as far as the turns' columns say so too."""
    table = learned.beliefs
    seen: Mask = table["world"] == learned.worlds.code(MAIN_WORLD)
    live: Mask = seen & table["live"] & whole(learned, turns)
    return StandingColumns(seen, live, live & table["current"], table["status"])


def _seen(learned: LearnedIndex, lineage: Lineage) -> "Mask":
    """Observations that a world may see: its own, and those of the worlds above it.

    Whether it does is for their sources to say: what is learned late of old turns tells nothing later than they do.
    """
    import numpy as np

    seen: Mask = np.isin(learned.beliefs["world"], [learned.worlds.code(world) for world in lineage.worlds])
    return seen


def _first(before: "NDArray[np.int64]", known: "Mask") -> "NDArray[np.int64]":
    """The first revision that each goes back to, over those that are known."""
    import numpy as np

    joined = known & np.append(known, False)[before]  # NONE is the last
    first = np.where(joined, before, np.arange(len(before)))
    while not np.array_equal(further := first[first], first):
        first = further
    return first


def _said_later(live: "Mask", in_use: "Mask", before: "NDArray[np.int64]") -> "Mask":
    """Those that a later one says more than: one that is live and in use, or that such a one says more than itself."""
    import numpy as np

    more = live & in_use
    while True:
        later = np.zeros(len(live) + 1, np.bool_)
        later[before[more]] = True  # NONE is the last
        grown = live & (in_use | later[:-1])
        if np.array_equal(grown, more):
            return later[:-1]
        more = grown


def _with_parents(current: "Mask", active: "Mask", parents: Edges) -> "Mask":
    """Those of the current ones whose parents, where they have some, are all current and in use."""
    import numpy as np

    while True:
        lost = np.append(~(current & active), True)[parents.other]  # NONE is the last
        left = current.copy()
        left[parents.one[lost]] = False
        if np.array_equal(left, current):
            return left
        current = left
