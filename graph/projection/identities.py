"""Who is who in a world: what entities are called there and are, and whom one means by them.

What was noted in turns is in the tables; what people said by hand is read from the log, as far as the world knows of
it. For main the tables say the same (projection/entities.py), and so does the graph. Stories are apart: their casts are
known in them alone, and in them nobody else is but whom their own turns name.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph.events import (
    MAIN_WORLD,
    EntityAliased,
    EntityChange,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntitySplit,
)
from graph.events.codec import SELECT_EVENT, event_of
from graph.projection.entities import CHARACTER, followed
from graph.projection.paths import lineage_of
from graph.values import Entity

_BY_HAND = f"""
{SELECT_EVENT} WHERE kind <> 'turn.said'
AND kind IN ('entity.named', 'entity.kinded', 'entity.aliased', 'entity.merged', 'entity.split') ORDER BY seq
"""
_NOTED = """
SELECT e.id, e.noted_kind, CASE WHEN e.noted_seq IS NULL THEN e.id
    ELSE substr(event.text, 1, instr(event.text || char(10), char(10)) - 1) END
FROM entities AS e LEFT JOIN events AS event ON event.seq = e.noted_seq
"""
Value = TypeVar("Value")
_SPEAKERS = "SELECT id FROM entities WHERE noted_seq IS NULL"
_CAST = "SELECT owner, world, seq FROM stage_lines WHERE aspect = 'seat' AND world IN (SELECT value FROM json_each(?))"
_NAMED_IN = """
SELECT DISTINCT links.key FROM links JOIN turns ON turns.id = links.start JOIN worlds ON worlds.id = turns.world
WHERE links.rel = 'MENTIONS' AND worlds.story = (SELECT story FROM worlds WHERE id = ?)
"""
_IS_STORY = "SELECT 1 FROM worlds WHERE id = ? AND story IS NOT NULL"


def _among(name: str) -> str:
    return f"IN (SELECT value FROM json_each(:{name}))"


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told where some are meant: any of `whole`, but not by an item of `away`, or one of `also`.

    The latter two are lists of an entity and an item, in two lines each. All are JSON, for a query.
    """

    whole: str
    away: str
    also: str

    def condition(self, entity: str, item: str, *, of: str = "told") -> str:
        """That a row names one of those that are meant, in SQL; of the columns that tell the entity and the item.

        `of` is a word for the parameters, which `values` gives.
        """
        pair = f"{entity} || char(10) || {item}"
        whole, away, also = map(_among, (f"{of}_whole", f"{of}_away", f"{of}_also"))
        return f"({entity} {whole} AND {pair} NOT {away} OR {pair} {also})"

    def values(self, *, of: str = "told") -> dict[str, str]:
        return {f"{of}_whole": self.whole, f"{of}_away": self.away, f"{of}_also": self.also}


class Identities:
    """The entities of one world, in one snapshot. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection, world: str = MAIN_WORLD) -> None:
        self._db = db
        self._names: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._aliases: dict[str, str] = {}
        self._same: dict[str, str] = {}
        self._split: dict[tuple[str, str], str] = {}
        self._born: dict[str, bool] = {}  # those that were split off or are aliases: whether they are so in the world
        self._noted: dict[str, tuple[str, str | None]] = {}
        self._all = False
        self._here: list[str] = []  # those whom the world may know, once all are read
        self._lineage = lineage = lineage_of(db, world)
        for row in db.execute(_BY_HAND).fetchall():
            stored = event_of(row)
            event = stored.event
            assert isinstance(event, EntityChange)
            known = lineage.knows(event.world, stored.seq)
            match event:
                case EntitySplit(other=new, text=text) | EntityAliased(alias=new, text=text):
                    if new not in self._born and text is not None and known:
                        self._names[new] = text
                    self._born[new] = known or self._born.get(new, False)
            if known:
                self._take(event)

    def _take(self, event: EntityChange) -> None:
        match event:
            case EntityNamed(entity=entity, text=text):
                _put(self._names, entity, text)
            case EntityKinded(entity=entity, category=kind):
                _put(self._kinds, entity, kind)
            case EntityAliased(alias=alias, entity=of):
                _put(self._aliases, alias, of)
                _put(self._same, alias, of)
                self._born[alias] = of is not None
            case EntityMerged(entity=entity, into=into):
                _put(self._same, entity, into)
            case EntitySplit(entity=entity, other=other, items=items):
                for split, there in list(self._split.items()):
                    if split[0] == entity and there == other:
                        del self._split[split]
                self._split |= {(entity, item): other for item in items}

    def meant(self, told: str, item: str | None = None) -> str:
        """Whom a turn or an observation means that names an entity."""
        return followed(told, lambda here: self._split.get((here, item)) if item is not None else None, self._same.get)

    def name(self, entity: str) -> str | None:
        """What one is called; None where all that named it was erased."""
        self._load([entity])
        return self._names.get(entity) or self._noted.get(entity, ("", None))[1]

    def noted(self, entity: str) -> str | None:
        """What one is noted to be called, whatever a person calls it."""
        self._load([entity])
        return self._noted.get(entity, ("", None))[1]

    def leads_to(self, entity: str, other: str) -> bool:
        """Whether an entity is another, or the same as it over others."""
        here: str | None = entity
        while here not in (None, other):
            here = self._same.get(here or "")
        return here == other

    def given(self, entity: str) -> str | None:
        """What a person calls one by hand."""
        return self._names.get(entity)

    def names(self, entities: Iterable[str]) -> dict[str, str]:
        """What some are called that have a name, read at once."""
        wanted = list(entities)
        self._load(wanted)
        return {id: name for id in wanted if (name := self.name(id))}

    def called(self, name: str) -> list[str]:
        """Those who have a name or an alias, in any case, or an id; a speaker is the first. What messages call one who
        is called otherwise by hand is meant so where nobody else is."""
        return list(self.lookup([name]).get(" ".join(name.split()).casefold(), ()))

    def lookup(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """The same of several names, read once for all, by these in small letters; and who is told by that name."""
        wanted = {" ".join(name.split()).casefold() for name in names}
        found: dict[str, dict[str, str]] = {}
        speakers = {id for (id,) in self._db.execute(_SPEAKERS)} if wanted else set[str]()
        every = sorted(self._every(), key=lambda id: (id not in speakers, id)) if wanted else []
        told = [(id, name) for id in every for name in (id, self.name(id))]
        before = [(id, self._noted[id][1]) for id in every if id in self._names]
        for called in (told, before):
            taken = {*found}
            for id, name in called:
                if name is not None and (folded := name.casefold()) in wanted - taken:
                    found.setdefault(folded, {}).setdefault(self.meant(id), id)
        return found

    def one_of(self, ids: Sequence[str]) -> str | None:
        """Who is meant by a name that some have: a speaker, or who was named last where a person told them apart."""
        if len(ids) < 2:
            return ids[0] if ids else None
        if self.are_told_apart(ids):
            return max(ids, key=self._named_last)
        speaks = self._db.execute(f"{_SPEAKERS} AND id = ?", ids[:1]).fetchone()
        return ids[0] if speaks is not None else ids[-1]

    def are_told_apart(self, ids: Collection[str]) -> bool:
        """Whether a person told some apart: one was split off from another, or named so by hand."""
        return len(ids) > 1 and any(id in self._born or id in self._names for id in ids)

    def _named_last(self, id: str) -> tuple[int, str]:
        told = self.told([id])
        last = f"SELECT max(seq) FROM links WHERE rel = 'MENTIONS' AND {told.condition('key', 'start')}"
        return self._db.execute(last, told.values()).fetchone()[0] or 0, id

    def told(self, meant: Collection[str]) -> Told:
        """Who is told where some are meant."""
        every = {*meant, *self._same}
        whole = [id for id in sorted(every) if self.meant(id) in meant]
        away, also = list[str](), list[str]()
        for entity, item in self._split:
            for told in {entity, *self._same}:
                there = self.meant(told, item) in meant
                if there != (self.meant(told) in meant):
                    (also if there else away).append(f"{told}\n{item}")
        return Told(json.dumps(whole), json.dumps(sorted(set(away))), json.dumps(sorted(set(also))))

    def entity(self, id: str) -> Entity:
        """One that is meant, with all it is called besides."""
        merged = sorted(each for each in self._same if self.meant(each) == id)
        aliases = [(alias, text) for alias in self._aliases if alias in merged and (text := self.name(alias))]
        name = self.name(id) or ""
        others = dict.fromkeys(other for each in merged if (other := self.name(each)) and other != name)
        return Entity(id, name, self._kind(id), tuple(others), tuple(aliases), tuple({*merged} - {*self._aliases}))

    def names_of(self, told: Iterable[str]) -> dict[str, list[str]]:
        """All that those are called whom some are, and which of these they are; as they speak, too."""
        found: dict[str, list[str]] = {}
        for id in told:
            who = self.entity(self.meant(id)) if id in self._names or self._same else None
            for name in dict.fromkeys([id, *((who.name, *who.others) if who is not None else ())]):
                found.setdefault(name, []).append(id)
        return found

    def everyone(self) -> list[Entity]:
        """All that are someone of their own and have a name, by that."""
        found = [self.entity(id) for id in self._every() if self.meant(id) == id and self.name(id)]
        return sorted(found, key=lambda each: (each.name.casefold(), each.id))

    def _kind(self, id: str) -> str:
        self._load([id])
        return self._kinds.get(id) or self._noted.get(id, ("person", None))[0]

    def _every(self) -> list[str]:
        if not self._all:
            self._noted = {id: (kind, name) for id, kind, name in self._db.execute(_NOTED)}
            self._here = [id for id in self._known() if self._born.get(id, True)]
            self._all = True
        return self._here

    def _known(self) -> list[str]:
        """Those of all entities whom the world may know."""
        if self._db.execute(_IS_STORY, (self._lineage.world,)).fetchone() is None:
            return [id for id, (kind, _) in self._noted.items() if kind != CHARACTER]
        seated = self._db.execute(_CAST, (json.dumps(self._lineage.worlds),))
        cast = {member for member, world, seq in seated if self._lineage.knows(world, seq)}
        known = {*cast, *self._born, *(id for (id,) in self._db.execute(_NAMED_IN, (self._lineage.world,)))}
        return [id for id in self._noted if id in known]

    def _load(self, ids: Iterable[str]) -> None:
        lacking = [id for id in ids if id not in self._noted] if not self._all else []
        if lacking:
            rows = self._db.execute(f"{_NOTED} WHERE e.id {_among('ids')}", {"ids": json.dumps(lacking)})
            self._noted |= {id: (kind, name) for id, kind, name in rows}


def _put(there: dict[str, Value], key: str, value: Value | None) -> None:
    if value is None:
        there.pop(key, None)
    else:
        there[key] = value
