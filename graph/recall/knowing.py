"""Whom a member of a story's cast knows of: who spoke, was named or told of in what it saw, as they were called there.

The graph has of each entity what was said last of it, by anybody, and of relationships those that hold for all who were
there; for one member it may be otherwise. So this is read from the log and the tables beside it.

Invariants: it is of stories only; what was noted is read on from where it was left, and anew after an erasure. Not
thread-safe: whoever recalls holds the lock of `Recall`.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.events.codec import fields_of
from graph.projection.entities import CHARACTER
from graph.projection.identities import Identities
from graph.readings.rows import AMONG
from graph.recall.columns import Columns
from graph.recall.learned import Edges, LearnedIndex
from graph.recall.naming import CHANGING_BY_HAND, NOBODY, NameIndex, last_changes
from graph.recall.request import VisibleRows
from graph.recall.table import NONE, Names, Table, read_columns
from graph.recall.walking import NEWEST
from graph.recall.witness import Witnessed

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

KEPT = 8  # members of whom it is kept whom they know
PERSON = "person"

_STORIES = "SELECT id FROM worlds WHERE story IS NOT NULL"
_NOTED = """
SELECT seq, version, structure, text FROM events
WHERE kind <> 'turn.said' AND kind = 'entity.noted' AND seq > ? ORDER BY seq
"""
_OBSERVATIONS = f"""
SELECT id, seq, relation, subject, object, until, polarity, word FROM observations
WHERE touched > ? AND world IN ({_STORIES}) ORDER BY +seq
"""
_ABOUT = f"""
SELECT made.seq AS one, links.key AS other FROM observations AS made
JOIN links ON links.start = made.id AND links.rel = 'ABOUT'
WHERE made.touched > ? AND made.world IN ({_STORIES})
"""
_CAST = f"""
SELECT subjects.id, event.text FROM subjects JOIN events AS event ON event.seq = subjects.seq
WHERE subjects.kind = 'cast.set' AND subjects.id {AMONG} ORDER BY subjects.seq
"""


@dataclass(frozen=True, slots=True)
class _Relation:
    """What an observation says of two entities, as it names them."""

    id: str
    kind: str
    subject: str
    object: str
    until: str | None
    holds: bool
    word: str | None


class KnownIdentities(Identities):
    """Who is who for a member of a cast: of some entities only, by kind and name, and nothing that names others."""

    def __init__(
        self,
        db: sqlite3.Connection,
        world: str,
        noted: Mapping[str, tuple[str, str | None]],
        *,
        knows: Callable[[str], bool],
    ) -> None:
        """`knows` says of turns and observations by id whether they are there for the member."""
        super().__init__(db, world)
        self._noted, self._all = dict(noted), True  # nothing more is read
        self._split = {split: other for split, other in self._split.items() if split[0] in noted and knows(split[1])}
        self._noted |= {other: (noted[entity][0], None) for (entity, _), other in self._split.items()}
        self._same = {
            one: other
            for one, other in self._same.items()
            if other in self._noted and (one in self._noted or one in self._aliases)
        }

    def _every(self) -> list[str]:
        return [id for id in self._noted if self._born.get(id, True)]

    @property
    def is_split(self) -> bool:
        """Whether somebody was told apart from another: then it matters which turns are known, and not only who."""
        return bool(self._split)


@dataclass(frozen=True, slots=True)
class Known:
    """Whom a member of a cast knows of: by what they are called, and who is who."""

    names: NameIndex
    who: KnownIdentities


class Acquaintances:
    """Who is named and told of in the stories of one log. `refresh` reads what changed since the last time."""

    def __init__(self) -> None:
        self._erased = -1  # nothing was read yet

    def _forget(self) -> None:
        import numpy as np

        self._at = 0
        self._erased = 0
        self._told = Names()  # the ids of entities
        self._words = Names()  # names and kinds
        self._notes: NDArray[np.int32] = np.zeros((4, 0), np.int32)  # rows of turns, who is told, its kind, its name
        self._noted: set[int] = set()
        self._about = Edges.none()  # from observations to who is told
        self._relations: dict[int, _Relation] = {}  # by the row of the observation
        self._kept: OrderedDict[tuple[str, str], tuple[tuple[object, ...], Known]] = OrderedDict()

    def refresh(self, db: sqlite3.Connection, columns: Columns, learned: LearnedIndex) -> None:
        """Bring it to where the columns are, in the same snapshot."""
        (erased,) = last_changes(db, "text.erased")
        if erased != self._erased:
            self._forget()
            self._erased = erased
        if self._at != columns.at_event:
            self._read_notes(db, columns)
            self._read_observations(db, learned)
            self._at = columns.at_event

    def known(self, db: sqlite3.Connection, columns: Columns, learned: LearnedIndex, sight: VisibleRows) -> Known:
        """Whom the member knows of whose view it is; in a snapshot to which this was refreshed."""
        import numpy as np

        view = sight.view
        assert view is not None
        turns, codes, _, names = self._notes
        seen = np.flatnonzero(view.turns[turns])
        first, last = (np.full(len(self._told), NONE, np.intp) for _ in range(2))
        first[codes[seen[::-1]]] = seen[::-1]  # of equal places numpy keeps the last
        called = seen[names[seen] != NONE]
        last[codes[called]] = called
        told = np.zeros(len(self._told), np.bool_)
        told[self._about.other[sight.known[self._about.one]]] = True
        told |= first != NONE
        changed = last_changes(db, "cast.set", *CHANGING_BY_HAND)
        key = (*map(np.ndarray.tobytes, (first, last, told)), *view.speakers, *changed)
        before, known = self._kept.get(view.of, ((), None))
        if known is None or before != key or known.who.is_split:
            known = self._know(db, columns, learned, sight, view, np.flatnonzero(told).tolist(), first, last)
            self._kept[view.of] = key, known
        self._kept.move_to_end(view.of)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return known

    def _know(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        learned: LearnedIndex,
        sight: VisibleRows,
        view: Witnessed,
        told: Sequence[int],
        first: "NDArray[np.intp]",
        last: "NDArray[np.intp]",
    ) -> Known:
        noted: dict[str, tuple[str, str | None]] = {}
        words, (_, _, kinds, names) = self._words.names, self._notes
        for code in told:
            kind = words[kinds[first[code]]] if first[code] != NONE else PERSON
            noted[self._told.names[code]] = kind, words[names[last[code]]] if last[code] != NONE else None
        for id in (*view.speakers, *NOBODY.intersection(noted)):  # an entity's name that nothing erases
            noted[id] = (id if id in NOBODY else PERSON), id
        for id, name in db.execute(_CAST, (json.dumps(list(noted)),)):
            noted[id] = CHARACTER, name or noted[id][1]

        def knows(item: str) -> bool:
            turn, made = columns.row_of(item), learned.beliefs.row_of(item)
            return bool((turn != NONE and view.turns[turn]) or (made != NONE and sight.known[made]))

        known = Known(NameIndex(), KnownIdentities(db, view.of[0], noted, knows=knows))
        known.names.take(known.who.everyone())
        return known

    def _read_notes(self, db: sqlite3.Connection, columns: Columns) -> None:
        import numpy as np

        stories = {columns.worlds.code(world) for (world,) in db.execute(_STORIES)} - {NONE}
        notes: list[tuple[int, int, int, int]] = []
        for _, version, structure, name in db.execute(_NOTED, (self._at,)) if stories else ():
            note = fields_of("entity.noted", version, structure)
            row = columns.row_of(note["by_turn"])
            if row == NONE or int(columns["world"][row]) not in stories:
                continue
            told = self._told.add(note["entity"])
            pair = row << 32 | told
            if pair not in self._noted:  # a turn that names somebody again adds nothing
                self._noted.add(pair)
                called = self._words.add(name) if name is not None else NONE
                notes.append((row, told, self._words.add(note["category"]), called))
        if notes:
            self._notes = np.concatenate([self._notes, np.array(notes, np.int32).T], axis=1)

    def _read_observations(self, db: sqlite3.Connection, learned: LearnedIndex) -> None:
        import numpy as np

        found = db.execute(_OBSERVATIONS, (self._at,)).fetchall()
        if not found:
            return
        rows = learned.beliefs.rows(np.array([seq for _, seq, *_ in found], np.int64))
        for row, (id, _, kind, subject, object, until, holds, word) in zip(rows.tolist(), found, strict=True):
            self._relations.pop(row, None)
            if kind is not None:
                self._relations[row] = _Relation(id, kind, subject, object, until, bool(holds), word)
        newer = read_columns(db, _ABOUT, self._at)
        one = learned.beliefs.rows(np.array(newer["one"], np.int64))
        other = np.array([self._told.add(each) for each in newer["other"]], np.intp)
        self._about = self._about.replace(rows, Edges(one, other, np.zeros(len(one), np.float32)))

    def ground(self, columns: Columns, learned: LearnedIndex, sight: VisibleRows, known: Known) -> "KnownGround":
        """What a walk goes over from those whom a member knows."""
        assert sight.view is not None
        in_use, who = sight.stood.in_use, known.who
        relations: list[tuple[_Relation, str, str]] = []
        for row, each in self._relations.items():
            if in_use[row]:
                ends = who.meant(each.subject, each.id), who.meant(each.object, each.id)
                if ends[0] != ends[1]:
                    relations.append((each, *ends))
        relations.sort(key=lambda found: found[0].id, reverse=True)
        about, notes = self._about.among(sight.known), self._notes[:2, sight.view.turns[self._notes[0]]]
        hanging = {
            "ABOUT": _Hanging(learned.beliefs, about.one, about.other),
            "MENTIONS": _Hanging(columns, notes[0], notes[1]),
        }
        return KnownGround(relations, hanging, self._told, who)


@dataclass(frozen=True, slots=True)
class _Hanging:
    """Memories or turns, and who is told in each."""

    table: Table
    rows: "NDArray[np.integer[Any]]"
    told: "NDArray[np.integer[Any]]"

    def of(self, who: KnownIdentities, names: Names, entity: str) -> "NDArray[np.intp]":
        """The rows that mean an entity, the newest first."""
        import numpy as np

        meant = who.told([entity])
        codes = np.array([names.code(id) for id in json.loads(meant.whole)], np.intp)
        found = [np.unique(self.rows[np.isin(self.told, codes)])]
        for listed, joined in ((meant.away, np.setdiff1d), (meant.also, np.union1d)):
            for told, item in (pair.split("\n", 1) for pair in json.loads(listed)):
                row = self.table.row_of(item)
                if ((self.rows == row) & (self.told == names.code(told))).any():
                    found.append(joined(found.pop(), [row]))
        return found[0][::-1].astype(np.intp)


class KnownGround:
    """What a walk goes over from those whom a member of a cast knows: a `Ground`."""

    def __init__(
        self,
        relations: Sequence[tuple[_Relation, str, str]],
        hanging: Mapping[str, _Hanging],
        told: Names,
        who: KnownIdentities,
    ) -> None:
        self._relations, self._hanging, self._told, self._who = relations, hanging, told, who
        self._rows: dict[tuple[str, str], NDArray[np.intp]] = {}

    def relations(self, ids: Sequence[str], kind: str, *, forward: bool) -> Iterator[dict[str, Any]]:
        asked, left = frozenset(ids), NEWEST * len(ids)
        for relation, subject, object in self._relations:
            one, other = (subject, object) if forward else (object, subject)
            if one in asked and kind in ("", relation.kind) and left > 0:
                left -= 1
                yield {
                    "id": one, "kind": relation.kind, "observation": relation.id, "other": other,
                    "until": relation.until, "holds": relation.holds,
                }  # fmt: skip

    def words(self, observations: Sequence[str]) -> Iterator[dict[str, Any]]:
        asked = frozenset(observations)
        return ({"id": each.id, "word": each.word} for each, *_ in self._relations if each.id in asked)

    def near(self, edge: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        seqs = self._hanging[edge].table["seq"]
        found = sorted(((int(seqs[row]), id) for id in ids for row in self._of(edge, id).tolist()), reverse=True)
        return [{"id": id, "seq": seq} for seq, id in found[: NEWEST * len(ids)]]

    def degrees(self, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        for id in ids:
            between = sum((one == id) + (other == id) for _, one, other in self._relations)
            yield {"id": id, "edge": "RELATES", "total": between}
            for edge in self._hanging:
                yield {"id": id, "edge": edge, "total": len(self._of(edge, id))}

    def _of(self, edge: str, id: str) -> "NDArray[np.intp]":
        if (edge, id) not in self._rows:
            self._rows[edge, id] = self._hanging[edge].of(self._who, self._told, id)
        return self._rows[edge, id]
