"""A relationship that is stated, as events: what it makes, supports, revises and ends.

An observation says one relationship. What is stated again is proof of it; an end, or the contrary, is a revision of it,
so that what was stays readable; and where there is one at a time, a new one ends the one before. Ends are the names of
entities, in any case; whoever is new becomes one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from graph.events import (
    MAIN_WORLD,
    EntityKind,
    EntityNoted,
    Event,
    ObservationKind,
    ObservationMade,
    ObservationSupported,
    Relation,
    RelationNoted,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.relations import SPEAKER, kinds
from graph.values import Observation, Wanted

YOU = "you"
MOST = 10_000  # relationships of one entity
STEP = 0.1  # what saying it again adds to the confidence
_ENDS: dict[str, EntityKind] = {  # what an object that is new is, by the kind of relationship; else a person
    "lives_in": "place",
    "works_for": "organisation",
    "member_of": "group",
    "owns": "thing",
}


@dataclass(frozen=True, slots=True)
class Stated:
    """A relationship as it was stated; the ends are names, `you` who speaks. `ended` is one that is over."""

    subject: str
    kind: str
    object: str
    since: str | None = None
    until: str | None = None
    polarity: bool = True
    ended: bool = False
    word: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a relationship was stated: in a turn, on a day, in a world and a project; and by whom it is taken down."""

    turn: str
    day: date
    speaker: str = YOU
    world: str = MAIN_WORLD
    project: str | None = None
    origin: Literal["model", "verbatim", "user"] = "user"
    status: Literal["candidate", "active"] = "active"
    confidence: float = 1.0
    reflection: str | None = None


class Relating:
    """The events of what is stated in one turn, one relationship after the other. Blocks: it reads the memory."""

    def __init__(self, memory: Memory, origin: Origin) -> None:
        self._memory, self._from = memory, origin
        self._noted: dict[str, str] = {}  # ids of who is new here, by folded name
        self._ended: set[str] = set()  # observations that have a later revision by now
        self.events: list[Event] = []

    def state(self, stated: Stated) -> str:
        """Take one in; the id of the observation that says it now. ValueError where both ends are one."""
        subject, object = self._entity(stated.subject), self._entity(stated.object, stated.kind)
        if subject == object:
            raise ValueError(f"{stated.subject} and {stated.object} are the same")
        until = stated.until or (self._from.day.isoformat() if stated.ended else None)
        relation = Relation(
            subject=subject,
            kind=stated.kind,
            object=object,
            since=stated.since,
            until=until,
            polarity=stated.polarity,
            word=stated.word,
        )
        rule = kinds()[stated.kind]
        known = self._known(subject, object if rule.symmetric else subject)
        same = next((each for each in known if _same(each, relation)), None)
        if same is not None and _adds_nothing(same, relation):
            if self._from.turn not in (*same.sources, *same.supports):
                self.events.append(ObservationSupported(observation=same.id, source=self._from.turn, amount=STEP))
            return same.id
        if rule.single and relation.polarity and until is None:
            for other in known if same is None else [each for each in known if each.id != same.id]:
                self._close(other, relation)
        return self._make(relation, (stated.subject, stated.object), before=same)

    def _close(self, other: Observation, new: Relation) -> None:
        """End what held of the subject until a new one of the kind came."""
        was = other.relationship
        if was is None or was.kind != new.kind or was.until is not None or not was.polarity:
            return
        symmetric = kinds()[new.kind].symmetric
        if was.subject.id != new.subject and not symmetric:
            return
        until = new.since or self._from.day.isoformat()
        if was.since is not None and until[: len(was.since)] < was.since[: len(until)]:
            return  # the new one is the older one: it was told later
        ended = Relation(
            subject=was.subject.id, kind=was.kind, object=was.object.id, since=was.since, until=until, word=None
        )
        self._make(ended, (was.subject.name, was.object.name), before=other)

    def _make(self, relation: Relation, names: Sequence[str], *, before: Observation | None) -> str:
        id, told = new_id(), self._from
        if before is not None:
            self._ended.add(before.id)
        subject, object = (SPEAKER if name.casefold() == YOU else name for name in names)
        text = kinds()[relation.kind].says(
            subject, object, polarity=relation.polarity, since=relation.since, until=relation.until
        )
        made = ObservationMade(
            observation=id,
            series=before.series if before is not None else id,
            supersedes=before.id if before is not None else None,
            world=told.world,
            project=told.project,
            about=tuple(dict.fromkeys((relation.subject, relation.object))),
            category=ObservationKind.RELATIONSHIP,
            status=told.status,
            confidence=told.confidence,
            grounded=True,
            origin=told.origin,
            reflection=told.reflection,
            sources=tuple(dict.fromkeys((told.turn, *(before.sources if before is not None else ())))),
            text=text,
        )
        self.events += [made, RelationNoted.of(id, relation)]
        return id

    def _known(self, *entities: str) -> list[Observation]:
        """What is in use of entities' relationships."""
        found: dict[str, Observation] = {}
        for entity in dict.fromkeys(entities):
            wanted = Wanted(status="active", world=self._from.world, related=True, entity=entity)
            of_it = self._memory.readings.memories(wanted, now=datetime.now(UTC), limit=MOST)
            found |= {each.id: each for each in of_it}
        return [e for e in found.values() if e.project == self._from.project and e.id not in self._ended]

    def _entity(self, name: str, kind: str = "") -> str:
        called = " ".join(name.split())
        folded = called.casefold()
        if folded in self._noted:
            return self._noted[folded]
        if folded == YOU:
            return self._from.speaker
        found = self._memory.readings.entities([called]).get(called)
        if found is None:
            found = new_id()
            category = _ENDS.get(kind, "person")
            self.events.append(EntityNoted(entity=found, category=category, by_turn=self._from.turn, text=called))
        self._noted[folded] = found
        return found


def _same(known: Observation, relation: Relation) -> bool:
    """Whether it is of the same two and the same kind, whichever way round where that makes no difference."""
    there = known.relationship
    if there is None or there.kind != relation.kind or (there.until is not None and relation.until is None):
        return False
    ends, wanted = (there.subject.id, there.object.id), (relation.subject, relation.object)
    return ends == wanted or (kinds()[relation.kind].symmetric and ends == wanted[::-1])


def _adds_nothing(known: Observation, relation: Relation) -> bool:
    there = known.relationship
    return (
        there is not None
        and there.polarity == relation.polarity
        and relation.since in (None, there.since)
        and relation.until in (None, there.until)
    )
