"""The names that memories rest on: whoever one is about has a name as long as it is live.

A memory is live while all its sources are, and a name while a turn that notes it is. So one of the sources notes each
name: the one that says it, or else a turn that does becomes a source too, and takes the memory along when it is
deleted ("My sister works for Siemens" rests on the message that called her Ada).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from agent.reflection.steps import SEQUENCE
from graph.events import EntityNoted, Event, ObservationMade, RelationNoted, TurnSaid
from graph.memory import Memory
from graph.values import Named, Relationship, Wanted
from graph.whole_words import fold, says_whole

MOST = 10_000  # relationships of a world that are looked through


def with_names(memory: Memory, events: Sequence[Event]) -> list[Event]:
    """The events of an append with a note of each name that an observation is about. Blocks."""
    noted = [each for each in events if isinstance(each, EntityNoted)]
    said = {each.turn: each.text for each in events if isinstance(each, TurnSaid)}
    related = ((each.observation, each.relation) for each in events if isinstance(each, RelationNoted))
    ends = {of: (told.subject, told.object) for of, told in related if told is not None}
    found: list[Event] = []
    for event in events:
        if isinstance(event, ObservationMade):
            for entity in dict.fromkeys((*event.about, *ends.get(event.observation, ()))):
                event, fresh = _keeping(memory, event, entity, noted, said)
                noted += fresh
                found += fresh
        found.append(event)
    return found


def _keeping(
    memory: Memory, made: ObservationMade, entity: str, noted: Iterable[EntityNoted], said: dict[str, str | None]
) -> tuple[ObservationMade, list[EntityNoted]]:
    """The observation with what it rests on, and the note of a name that one of its sources says."""
    here = [each for each in noted if each.entity == entity]
    of_sources, newest, name = memory.readings.noted(entity, made.sources)
    if of_sources or any(each.by_turn in made.sources for each in here) or not (here or newest):
        return made, []
    name = here[-1].text if here else name
    there = memory.readings.quotable([*made.sources, *filter(None, [newest])], world=made.world)
    texts = {id: turn.text for id, turn in there.items()} | said
    saying = next((id for id in made.sources if says_whole(texts.get(id) or "", fold(name or ""))), None)
    by = here[-1].by_turn if here else newest
    if saying is None and by in texts:
        return made.model_copy(update={"sources": (*made.sources, by)}), []
    by = saying or made.sources[0]
    return made, [EntityNoted(entity=entity, category="person", by_turn=by, text=name)]


def lost_names(memory: Memory) -> list[EntityNoted]:
    """The names that relationships in use still say, of those who have lost theirs, as a source of each notes them."""
    found: dict[str, EntityNoted] = {}
    for world in memory.readings.worlds():
        wanted = Wanted(world=world.id, related=True)
        for each in memory.readings.memories(wanted, now=datetime.now(UTC), limit=MOST):
            assert each.relationship is not None
            for entity, name in _said_by(each.text or "", each.relationship):
                note = EntityNoted(entity=entity, category="person", by_turn=each.sources[0], text=name)
                found.setdefault(entity, note)
    return list(found.values())


def _said_by(text: str, told: Relationship) -> Iterator[tuple[str, str]]:
    """The ends without a name, each with what a text calls it: that of the relationship alone, or one that names it."""
    ends = (told.subject, told.object)
    nameless = [end.id for end in ends if not end.name]
    marked = replace(told, subject=_marked(ends[0]), object=_marked(ends[1]))
    alone = re.fullmatch(re.escape(marked.sentence).replace(re.escape("\0"), "(.+)"), text)
    others = {fold(end.name) for end in ends}
    names = alone.groups() if alone else [name for name in SEQUENCE.findall(text) if fold(name) not in others]
    yield from zip(nameless, names, strict=True) if len(names) == len(nameless) else ()


def _marked(end: Named) -> Named:
    return replace(end, name=end.name or "\0")
