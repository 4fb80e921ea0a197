"""Relationships that are stated, as events: what each makes, supports, revises and ends.

An observation says one relationship. What is stated again is proof of it; an end, or the contrary, is a revision of it,
so that what was stays readable; and where there is one at a time, a new one ends the one before. Ends are the names of
entities, in any case; whoever is new becomes one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from agent.errors import AgentError
from graph.events import (
    MAIN_WORLD,
    EntityKind,
    EntityNoted,
    Event,
    ObservationKind,
    ObservationMade,
    ObservationRetired,
    ObservationSupported,
    Relation,
    RelationNoted,
)
from graph.ids import new_id
from graph.readings.memory import MemoryReadings
from graph.relations import SPEAKER, kinds
from graph.values import Observation, Relationship, Wanted

YOU = "you"
ME = ("me", "i", "myself", YOU)  # as a person types it
MOST = 10_000  # relationships of one entity
STEP = 0.1  # what saying it again adds to the confidence
_OBJECTS: dict[str, EntityKind] = {  # what an object is, by the kind of relationship; else a person, as all subjects
    "lives_in": "place",
    "works_for": "organisation",
    "member_of": "group",
    "owns": "thing",
}
_OPEN = ("likes", "knows", "met", "other")  # their objects may be anything


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
    instead_of: str | None = None  # what died, of whose turns that are left it is read again


@dataclass(frozen=True, slots=True)
class _Held:
    """What is known of two: in the memory, or made here."""

    id: str
    series: str
    relation: Relation
    names: tuple[str, str]
    sources: tuple[str, ...]
    proof: tuple[str, ...]
    in_use: bool = True  # not under review


class Relating:
    """The events of what is stated, one relationship after the other. Blocks: it reads the memory.

    `noted` are the ids of those who are named for the first time in the same append, by their names; `beside` is what
    the same append says of observations besides.
    """

    def __init__(
        self, readings: MemoryReadings, noted: Mapping[str, str] | None = None, beside: Sequence[Event] = ()
    ) -> None:
        self._readings = readings
        self._noted = {name.casefold(): id for name, id in (noted or {}).items()}
        made = [each for each in beside if isinstance(each, ObservationMade)]
        self._replaced = {each.supersedes: each.observation for each in made if each.supersedes is not None}
        self._retired = {each.observation for each in beside if isinstance(each, ObservationRetired)}
        self._supported = {(each.observation, each.source) for each in beside if isinstance(each, ObservationSupported)}
        self._meant: dict[tuple[str, str], str | None] = {}  # by what names somebody, and the world
        self._saying: set[str] = set()  # observations of the append that say a relationship by now
        self._made: dict[str, _Held] = {}
        self._ended: set[str] = set()  # observations that have a later revision by now
        self.kinds: dict[str, EntityKind] = {}  # what entities are, as far as a relationship tells
        self.events: list[Event] = []

    def state(self, stated: Stated, told: Origin, said_by: str | None = None) -> str | None:
        """Take one in; the id of the observation that says it now. None where the turn said it before.

        `said_by` is an observation of the same append that says this and no other. Raises AgentError where both ends
        are one, or would stand so to themselves over others, as parents of their parents; by hand, where it ends later.
        """
        rule = kinds()[stated.kind]
        subject, object = self._entity(stated.subject, told), self._entity(stated.object, told)
        if subject == object:
            raise AgentError(f"{stated.subject} and {stated.object} are the same. Nothing was stored.")
        if not rule.circular and stated.polarity and self._is_below(subject, object, stated.kind, told):
            verb = rule.label
            raise AgentError(
                f"{stated.subject} {verb} {stated.object} would make {stated.subject} stand so to themselves, over "
                f"others. Nothing was stored. `clew relations {stated.object}` shows what is known."
            )
        day = told.day.isoformat()
        since, until = stated.since, stated.until or (day if stated.ended else None)
        if until is not None and until > day[: len(until)]:  # not over yet
            if told.origin == "user":
                raise AgentError(f"{until} has not come. Nothing was stored. Say so when it is over.")
            until = None
        if _after(since, until):  # one of both was read wrong, or said so: neither is kept
            since, until = None, day
        relation = Relation(
            subject=subject,
            kind=stated.kind,
            object=object,
            since=since,
            until=until,
            polarity=stated.polarity,
            word=stated.word,
        )
        self._tell_kinds(relation)
        if told.origin != "user" and self._was_told(relation, told):
            return None
        known = self._known(told, *((subject, object) if rule.symmetric else (subject,)))
        same = next((each for each in known if _same(each.relation, relation)), None)
        if same is not None and same.id in self._retired:
            return None
        if same is not None and same.id not in self._replaced and _adds_nothing(same.relation, relation):
            if told.turn not in (*same.sources, *same.proof) and (same.id, told.turn) not in self._supported:
                self._supported.add((same.id, told.turn))
                self.events.append(
                    ObservationSupported(observation=same.id, source=told.turn, amount=STEP, reflection=told.reflection)
                )
            return same.id
        if rule.single and relation.polarity and relation.until is None:
            for other in known:
                if other is not same:
                    self._close(other, relation, told)
        if same is not None and same.id in self._replaced:
            said_by, same = self._replaced[same.id], None
        elif same is not None or relation.until is not None:
            said_by = None
        if said_by is not None and said_by not in self._saying:
            return self._say(said_by, relation, (stated.subject, stated.object), told)
        return self._make(relation, (stated.subject, stated.object), told, before=same)

    def of_word(self, owner: str, word: str, told: Origin) -> str | None:
        """The name of who is somebody's sister or boss, where exactly one is known to be."""
        found = self.all_of_word(owner, word, told)
        return found.pop() if len(found) == 1 else None

    def all_of_word(self, owner: str, word: str, told: Origin) -> set[str]:
        """The names of all who are somebody's sisters."""
        id = self._find(owner, told)
        return {
            each.names[each.relation.subject == id]
            for each in (self._known(told, id) if id is not None else ())
            if each.relation.word == word and each.relation.until is None and each.relation.polarity
        }

    def _is_below(self, subject: str, object: str, kind: str, told: Origin) -> bool:
        """Whether somebody stands so, over others, to whom they would be set above."""
        seen, ahead = {object}, [object]
        while ahead:
            here = ahead.pop()
            for each in self._known(told, here):
                there = each.relation
                if (there.kind, there.subject, there.polarity) == (kind, here, True) and there.object not in seen:
                    seen.add(there.object)
                    ahead.append(there.object)
        return subject in seen

    def _close(self, other: _Held, new: Relation, told: Origin) -> None:
        """End what held until a new one of the kind came."""
        was = other.relation
        if was.kind != new.kind or was.until is not None or not (was.polarity and other.in_use):
            return
        if was.subject != new.subject and not kinds()[new.kind].symmetric:
            return
        until = new.since or told.day.isoformat()
        if _after(was.since, until):
            return  # the new one is the older one: it was told later
        over = was.model_copy(update={"until": until})
        if other.id in self._replaced:  # by what says the new one: what was is told beside it
            self._ended.add(other.id)
            self._make(over, other.names, told, before=None, also=other.sources)
        elif other.id not in self._retired:
            self._make(over, other.names, told, before=other)

    def _say(self, observation: str, relation: Relation, names: tuple[str, str], told: Origin) -> str:
        """Let an observation of the append be the one that says it."""
        self._saying.add(observation)
        self.events.append(RelationNoted.of(observation, relation))
        self._made[observation] = _Held(observation, observation, relation, names, (told.turn,), ())
        return observation

    def _make(
        self,
        relation: Relation,
        names: tuple[str, str],
        told: Origin,
        *,
        before: _Held | None,
        also: tuple[str, ...] = (),
    ) -> str:
        id = new_id()
        if before is not None:
            self._ended.add(before.id)
            known = before.relation
            began = None if _after(known.since, relation.until) else known.since
            relation = relation.model_copy(
                update={"since": relation.since or began, "word": relation.word or known.word}
            )
        made = ObservationMade(
            observation=id,
            series=before.series if before is not None else id,
            supersedes=before.id if before is not None else None,
            instead_of=told.instead_of,
            world=told.world,
            project=told.project,
            about=tuple(dict.fromkeys((relation.subject, relation.object))),
            category=ObservationKind.RELATIONSHIP,
            status=told.status,
            confidence=told.confidence,
            grounded=True,
            origin=told.origin,
            reflection=told.reflection,
            sources=tuple(dict.fromkeys((told.turn, *also, *(before.sources if before is not None else ())))),
            text=_sentence(relation, names),
        )
        self.events += [made, RelationNoted.of(id, relation)]
        self._made[id] = _Held(id, made.series, relation, names, made.sources, ())
        return id

    def _known(self, told: Origin, *entities: str) -> list[_Held]:
        """What is in use of entities' relationships, and what was made here."""
        found: dict[str, _Held] = {}
        for entity in dict.fromkeys(entities):
            wanted = Wanted(world=told.world, related=True, entity=entity)
            for each in self._readings.memories(wanted, now=datetime.now(UTC), limit=MOST):
                if each.project == told.project:
                    found |= {each.id: _held(each)}
        found |= self._made
        return [
            each
            for each in found.values()
            if each.id not in self._ended and {each.relation.subject, each.relation.object} & set(entities)
        ]

    def _was_told(self, relation: Relation, told: Origin) -> bool:
        """Whether the turn said it before, when it was reflected on, whatever became of that."""
        wanted = Wanted(world=told.world, related=True, entity=relation.subject, everything=True, dead=True)
        found = self._readings.memories(wanted, now=datetime.now(UTC), limit=MOST)
        return any(told.turn in each.sources and _joins(_held(each).relation, relation) for each in found)

    def _entity(self, name: str, told: Origin) -> str:
        """Whom a name means; who is new becomes an entity."""
        found = self._find(name, told)
        if found is None:
            called = " ".join(name.split())
            found = self._noted[called.casefold()] = new_id()
            self.events.append(EntityNoted(entity=found, category="person", by_turn=told.turn, text=called))
        return found

    def _find(self, name: str, told: Origin) -> str | None:
        called = " ".join(name.split())
        folded = called.casefold()
        told_as = told.speaker if folded == YOU else self._noted.get(folded)
        key = told_as or called, told.world
        if key not in self._meant:
            self._meant[key] = self._readings.meant([key[0]], world=told.world).get(key[0])
        return self._meant[key] or told_as

    def is_told_apart(self, name: str, told: Origin) -> bool:
        """Whether several have a name whom a person told apart: nobody knows which of them it means."""
        return len(self._readings.told_apart(name, world=told.world)) > 1

    def _tell_kinds(self, relation: Relation) -> None:
        """What a relationship says of what its ends are; what it said first stays."""
        self.kinds.setdefault(relation.subject, "person")
        if relation.kind not in _OPEN:
            self.kinds.setdefault(relation.object, _OBJECTS.get(relation.kind, "person"))

    def sorted(self, events: Iterable[Event]) -> list[Event]:
        """The same events, with what is known by now of whom they name."""
        return [
            each.model_copy(update={"category": self.kinds[each.entity]})
            if isinstance(each, EntityNoted) and each.entity in self.kinds
            else each
            for each in events
        ]


def _sentence(relation: Relation, names: tuple[str, str]) -> str:
    subject, object = (SPEAKER if name.casefold() == YOU else name for name in names)
    return kinds()[relation.kind].says(
        subject, object, polarity=relation.polarity, since=relation.since, until=relation.until
    )


def _relation(there: Relationship) -> Relation:
    return Relation(
        subject=there.subject.id,
        kind=there.kind,
        object=there.object.id,
        since=there.since,
        until=there.until,
        polarity=there.polarity,
        word=there.word,
    )


def _held(known: Observation) -> _Held:
    there = known.relationship
    assert there is not None  # only those that say one are asked for
    relation = _relation(there)
    names = there.subject.name, there.object.name
    return _Held(
        known.id, known.series, relation, names, known.sources, known.supports, in_use=known.status == "active"
    )


def _after(since: str | None, until: str | None) -> bool:
    """Whether something would begin only after its end, as far as both are known."""
    return since is not None and until is not None and until[: len(since)] < since[: len(until)]


def _same(there: Relation, relation: Relation) -> bool:
    """Whether it is the same relationship of the same two, and not one that was over before."""
    return _joins(there, relation) and (there.until is None or relation.until is not None)


def _joins(there: Relation, relation: Relation) -> bool:
    """Whether it is of the same two and the same kind, whichever way round where that makes no difference."""
    if there.kind != relation.kind:
        return False
    ends, wanted = (there.subject, there.object), (relation.subject, relation.object)
    return ends == wanted or (kinds()[relation.kind].symmetric and ends == wanted[::-1])


def _adds_nothing(there: Relation, relation: Relation) -> bool:
    return (
        there.polarity == relation.polarity
        and relation.since in (None, there.since)
        and relation.until in (None, there.until)
    )
