"""How people, places and things stand to each other: the neighbours of one by the kinds of their relationships.

They are in a kind's group as they are told: what holds before what is over, then what is said not to be so. What two
memories tell of the same two is told once. Nothing here knows words of entities but for their order.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from graph.relations import kinds
from graph.values import Edge, Observation, Ref, Related, Relationship, Standing

Key = tuple[str, bool, str]  # as of a Side


class Readings(Protocol):
    """What is asked of the tables."""

    def meant(self, names: Iterable[str]) -> dict[str, str]: ...

    def related(self, entities: Collection[str], *, world: str, among_them: bool = False) -> list[Related]: ...

    def observations(self, ids: Iterable[str], *, world: str | None = None) -> dict[str, Observation]: ...


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Who stands to somebody, and how."""

    id: str
    name: str
    stands: Standing


class Standings:
    """Asks for the relationships that are in force in a world."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def of(self, entity: str, world: str) -> dict[Key, list[Neighbour]]:
        """The neighbours of an entity by their sides, in the order of the table of kinds; their proof not counted."""
        found: dict[Key, dict[tuple[object, ...], Neighbour]] = {}
        for each in self._readings.related([entity], world=world):
            told = each.relationship
            outgoing = told.subject.id == entity
            other = told.object if outgoing else told.subject
            key = (told.kind, outgoing or kinds()[told.kind].symmetric, "Entity")
            stands = Standing(told.kind, (each.memory,), told.since, told.until, told.polarity)
            side = found.setdefault(key, {})
            same = (other.id, told.until, told.polarity)
            known = side.get(same)
            if known is not None:
                since = known.stands.since or told.since
                stands = replace(known.stands, since=since, memories=(*known.stands.memories, each.memory))
            side[same] = Neighbour(other.id, other.name, stands)
        order = {name: place for place, name in enumerate(kinds())}
        keys = sorted(found, key=lambda key: (order[key[0]], not key[1]))
        return {key: sorted(found[key].values(), key=_place) for key in keys}

    def proven(self, neighbours: Iterable[Neighbour], world: str) -> list[Neighbour]:
        """The same with their proof counted, without those whose memories went meanwhile."""
        given = list(neighbours)
        there = self._readings.observations([id for each in given for id in each.stands.memories], world=world)
        found: list[Neighbour] = []
        for each in given:
            memories = tuple(id for id in each.stands.memories if id in there)
            proofs = len({id for memory in memories for id in _proof(there[memory])})
            if memories:
                found.append(replace(each, stands=replace(each.stands, memories=memories, proofs=proofs)))
        return found

    def edges(self, entities: Collection[str], world: str) -> list[Edge]:
        """The relationships among some entities, called by their kinds in words."""
        found = self._readings.related(entities, world=world, among_them=True) if entities else []
        return [_edge(each.relationship) for each in found]


def _place(neighbour: Neighbour) -> tuple[object, ...]:
    stands = neighbour.stands
    return stands.until is not None, not stands.polarity, neighbour.name.casefold(), neighbour.id


def _proof(memory: Observation) -> Iterable[str]:
    return (id for id in (*memory.sources, *memory.supports) if id not in memory.corrected)


def _edge(told: Relationship) -> Edge:
    name = kinds()[told.kind].verb(polarity=told.polarity, until=told.until)
    return Edge(Ref("Entity", told.subject.id), Ref("Entity", told.object.id), name)
