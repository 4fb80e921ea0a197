"""Relationships learned from what people said: sure ones only, each with the turn that says it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from agent.errors import AgentError
from agent.language.clauses import clauses
from agent.relations.choosing import Ask, choose, merged
from agent.relations.clauses import FoundRelation
from agent.relations.find import find_relations
from agent.relations.naming import End
from agent.relations.relating import YOU, Origin, Relating, Stated
from graph.events import Event, ObservationMade
from graph.memory import Memory
from graph.relations import kinds
from graph.values import Turn
from models.protocols import Generator

SURE = 0.8  # the confidence of what was read out of a sentence


def learn(
    memory: Memory,
    turns: Iterable[Turn],
    noted: Sequence[Event],
    ids: Mapping[str, str],
    beside: Sequence[Event],
    *,
    world: str,
    project: str | None,
    reflection: str,
    instead_of: str | None = None,
    review: Literal["auto", "ask"],
    chosen: Mapping[str, Sequence[FoundRelation]] = MappingProxyType({}),
) -> tuple[list[Event], list[Event]]:
    """The names that turns note, and what they say of how these stand to each other; one reflection's. Blocks.

    `ids` are those of the names, `beside` is what the reflection learned besides: an observation that says a
    relationship and no other carries it. A relationship tells what those are whom it joins. `chosen` is what a trusted
    model found in turns.
    """
    relating = Relating(memory.readings, ids, beside)
    for turn in turns:
        told = Origin(
            turn=turn.id,
            day=turn.at.astimezone().date(),
            speaker=turn.speaker,
            world=world,
            project=project,
            origin="verbatim",
            status="candidate" if review == "ask" else "active",
            confidence=SURE,
            reflection=reflection,
            instead_of=instead_of,
        )
        said = find_relations(turn.text or "", speaker=YOU, said_at=told.day)
        every = merged(said, chosen.get(turn.id, ()))
        ends = {end.casefold() for each in every for end in (each.subject, each.object) if isinstance(end, str)} - {YOU}
        found = _telling(every)
        alone = {sentence for sentence, count in Counter(each.sentence for each in found).items() if count == 1}
        for each in found:
            by_model = each in chosen.get(turn.id, ())
            origin = replace(told, origin="model") if by_model else told
            _state(relating, each, origin, beside if each.sentence in alone else (), ends)
    return relating.sorted(noted), relating.sorted(relating.events)


def _telling(found: Sequence[FoundRelation]) -> list[FoundRelation]:
    """Without what ends because another one begins in the same sentence, of a kind of which there is one at a time."""
    begun = {(each.sentence, each.kind, each.subject) for each in found if not each.ended and each.polarity}
    return [
        each
        for each in found
        if not (each.ended and kinds()[each.kind].single and (each.sentence, each.kind, each.subject) in begun)
    ]


async def choose_all(turns: Iterable[Turn], generator: Generator, ask: Ask) -> dict[str, Sequence[FoundRelation]]:
    """What a trusted model finds in turns, by their ids. Raises RunError, TimeoutError."""
    return {
        turn.id: await choose(generator, turn.text or "", said_at=turn.at.astimezone().date(), ask=ask)
        for turn in turns
    }


def _said_by(
    found: FoundRelation, names: tuple[str, str], told: Origin, beside: Sequence[Event], ends: Collection[str]
) -> str | None:
    """The observation that was made of a turn's sentence, or of what it says in other words; of one that has a clause
    without the `ends` of any relationship, which would end with this one, none."""
    wanted = [name.casefold() for name in names if name.casefold() != YOU]
    for each in beside:
        if isinstance(each, ObservationMade) and told.turn in each.sources:
            text = (each.text or "").casefold()
            if any(not any(end in text[each.start : each.end] for end in ends) for each in clauses(text)):
                continue
            if text == found.sentence.casefold() or (text and all(name in text for name in wanted)):
                return each.observation
    return None


def _state(
    relating: Relating, found: FoundRelation, told: Origin, beside: Sequence[Event], ends: Collection[str]
) -> None:
    """Take one in, if both its ends are known."""
    subject, object = (_named(relating, end, told) for end in (found.subject, found.object))
    if subject is None or object is None or subject.casefold() == object.casefold():
        return
    stated = Stated(subject, found.kind, object, found.since, found.until, found.polarity, found.ended, found.word)
    with suppress(
        AgentError
    ):  # two names of one, or a circle of parents: nobody is asked, and nothing is learned of it
        relating.state(stated, told, _said_by(found, (subject, object), told, beside, ends))


def _named(relating: Relating, end: End, told: Origin) -> str | None:
    name = end if isinstance(end, str) else relating.of_word(end.owner, end.word, told)
    return None if name is None or relating.is_told_apart(name, told) else name
