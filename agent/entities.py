"""What a person says of the people, places and things that the memory knows: who they are, and who is the same as whom.

Invariants: every change is one event, made while no other change by hand is under way, and is undone as any other. What
would make the memory contradict itself is refused before anything is stored. All holds in one world.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import get_args

from agent.errors import AgentError
from agent.recorder import Recorder
from agent.relations.relating import ME, MOST
from agent.relations.whom import whom
from agent.text import clean_message
from graph.errors import Ambiguous, InvalidEvent, NotFound
from graph.events import (
    MAIN_WORLD,
    EntityAliased,
    EntityChange,
    EntityKind,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntitySplit,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.relations import kinds
from graph.values import Entity, Observation, Wanted

SELVES = ("you", "assistant")
LONGEST = 200  # characters of a name
SHORTEST_PREFIX = 6
KINDS = {
    "person": "a person",
    "place": "a place",
    "organisation": "an organisation",
    "animal": "an animal",
    "thing": "a thing",
    "group": "a group",
    "you": "you",
    "assistant": "the assistant",
}
UNCHANGED = "Nothing was changed."


class Entities:
    """People, places and things: found by a name, an alias, a word of relationship ("my sister") or an id.

    Whoever is asked for raises NotFound where nobody is called so, and Ambiguous where several are; then, and with
    every AgentError, nothing was changed. What changes one answers with it as it is then.
    """

    def __init__(self, memory: Memory, recorder: Recorder) -> None:
        self._memory = memory
        self._recorder = recorder

    async def everyone(self, *, world: str = MAIN_WORLD) -> list[Entity]:
        """All that a world knows, by name."""
        return await asyncio.to_thread(lambda: self._memory.readings.everyone(world=world))

    async def find(self, name: str, *, world: str = MAIN_WORLD) -> Entity:
        """Who is called so."""
        return await asyncio.to_thread(self._one, name, world)

    async def rename(self, name: str, new: str, *, another: bool = False, world: str = MAIN_WORLD) -> Entity:
        """Call one otherwise; as somebody else is called only where that is said to be `another` of that name."""
        called = _line(new, "name")
        async with self._recorder.changing:
            found = await self.find(name, world=world)
            if found.id in SELVES:
                raise AgentError(
                    f"What {_of_self(found)} is called cannot be changed. {UNCHANGED} Add an alias instead."
                )
            if found.name == called:
                raise AgentError(f"{called} is called that already. {UNCHANGED}")
            if not another:
                await self._refuse_taken(called, found, world, "Say `--another` if they are two of one name.")
            return await self._changed(EntityNamed(entity=found.id, world=world, text=called), found, world)

    async def set_kind(self, name: str, kind: str, *, world: str = MAIN_WORLD) -> Entity:
        """Say what one is: person, place, organisation, animal, thing or group."""
        known: tuple[EntityKind, ...] = get_args(EntityKind)
        category = next((each for each in known if each == kind.strip().casefold()), None)
        if category is None:
            raise AgentError(f"There is no kind “{kind[:40]}”. {UNCHANGED} Choose from: {', '.join(known)}.")
        async with self._recorder.changing:
            found = await self.find(name, world=world)
            if found.id in SELVES:
                raise AgentError(f"What {_of_self(found)} is cannot be changed. {UNCHANGED}")
            if found.kind == category:
                raise AgentError(f"{found.name} is {KINDS[category]} already. {UNCHANGED}")
            return await self._changed(EntityKinded(entity=found.id, world=world, category=category), found, world)

    async def alias(self, name: str, alias: str, *, world: str = MAIN_WORLD) -> Entity:
        """Give one another name beside its own, which nobody else has."""
        called = _line(alias, "alias")
        async with self._recorder.changing:
            found = await self.find(name, world=world)
            if called.casefold() in (each.casefold() for each in (found.name, *found.others)):
                raise AgentError(f"{found.name} is called “{called}” already. {UNCHANGED}")
            await self._refuse_taken(called, found, world)
            return await self._changed(
                EntityAliased(alias=new_id(), entity=found.id, world=world, text=called), found, world
            )

    async def unalias(self, name: str, alias: str, *, world: str = MAIN_WORLD) -> Entity:
        """Take an alias away that was given by hand."""
        async with self._recorder.changing:
            found = await self.find(name, world=world)
            sought = " ".join(alias.split()).casefold()
            id = next((id for id, text in found.aliases if text.casefold() == sought), None)
            if id is None:
                given = ", ".join(f"“{text}”" for _, text in found.aliases) or "none"
                raise AgentError(f"{found.name} was not given the alias “{alias[:60]}”. {UNCHANGED} Given: {given}.")
            return await self._changed(EntityAliased(alias=id, entity=None, world=world), found, world)

    async def merge(self, name: str, other: str, *, world: str = MAIN_WORLD) -> Entity:
        """Say that two are one: the first, by its name and kind; the other's name is one more of it."""
        async with self._recorder.changing:
            kept, gone = await self.find(name, world=world), await self.find(other, world=world)
            if gone.id in SELVES:
                kept, gone = gone, kept
            await asyncio.to_thread(self._refuse_merge, kept, gone, world)
            return await self._changed(EntityMerged(entity=gone.id, into=kept.id, world=world), kept, world)

    async def split(
        self, name: str, items: Iterable[str], *, called: str | None = None, world: str = MAIN_WORLD
    ) -> Entity:
        """Say that some messages and memories mean another one; who that is, of the same name or `called` otherwise.

        `items` are ids, or the first characters of them. What was learned from these messages alone goes along.
        """
        wanted = [each for each in items if each.strip()]
        if not wanted:
            raise AgentError(f"Say which messages or memories mean another one, by their ids. {UNCHANGED}")
        async with self._recorder.changing:
            found = await self.find(name, world=world)
            other = _line(called, "name") if called is not None else found.name
            if other.casefold() != found.name.casefold():
                await self._refuse_taken(other, found, world)
            chosen = await asyncio.to_thread(self._chosen, found, wanted, world)
            born = EntitySplit(entity=found.id, other=new_id(), items=chosen, world=world, text=other)
            await self._record(born)
            return await asyncio.to_thread(lambda: self._memory.readings.called(born.other, world=world)[0])

    # -- what is refused ------------------------------------------------------------------------------------------

    async def _refuse_taken(self, name: str, found: Entity, world: str, more: str = "") -> None:
        """A name that somebody else has would not tell any more who is meant."""
        if name.casefold() in ME and found.id != "you":
            raise AgentError(f"“{name}” is you. {UNCHANGED}")
        there = await asyncio.to_thread(lambda: self._memory.readings.called(name, world=world))
        taken = [each for each in there if each.id != found.id]
        if taken:
            who = _told(taken[0])
            raise AgentError(
                f"“{name}” is somebody else already: {who}. {UNCHANGED} If they are one, merge them. {more}".strip()
            )

    def _refuse_merge(self, kept: Entity, gone: Entity, world: str) -> None:
        if kept.id == gone.id:
            raise AgentError(f"Both are {kept.name} already. {UNCHANGED}")
        if "assistant" in (kept.id, gone.id) or gone.id == "you":
            raise AgentError(f"The assistant is nobody else. {UNCHANGED}")
        sorts = ["person" if each.id == "you" else each.kind for each in (kept, gone)]
        if sorts[0] != sorts[1]:
            raise AgentError(
                f"{kept.name} is {KINDS[sorts[0]]} and {gone.name} {KINDS[sorts[1]]}. {UNCHANGED} "
                "If one of them is not, correct its kind first."
            )
        refuse_joined(self._memory, kept, gone, world)

    def _chosen(self, found: Entity, items: Iterable[str], world: str) -> tuple[str, ...]:
        """What means another one: the items that are asked for, and what was made of them. All of it names the one."""
        readings = self._memory.readings
        naming = readings.naming(found.id, world=world)
        chosen: list[str] = []
        for item in items:
            id = next((each for each in naming if each == item), None) or _only(item, naming)
            if id is None:
                raise AgentError(f"{item} is no message or memory that names {found.name}. {UNCHANGED}")
            chosen.append(id)
        more = sorted((readings.made_of(chosen) & naming) - {*chosen})
        every = tuple(dict.fromkeys([*chosen, *more]))
        if naming <= {*every}:
            raise AgentError(f"That is all that names {found.name}. {UNCHANGED} To call them otherwise, rename them.")
        return every

    # -- finding and storing --------------------------------------------------------------------------------------

    def _one(self, name: str, world: str) -> Entity:
        readings, called = self._memory.readings, " ".join(name.split())
        if called.casefold() in ME:
            called = "you"
        found = readings.called(called, world=world)
        if not found and len(called) >= SHORTEST_PREFIX:
            found = [each for each in readings.everyone(world=world) if each.id.startswith(called.upper())]
        if not found:
            found = readings.called(whom(readings, called, world=world), world=world)
        if not found:
            where = "" if world == MAIN_WORLD else " in this what-if"
            raise NotFound(f"Nobody and nothing is called “{called[:60]}”{where}. {UNCHANGED} `clew entity` lists all.")
        if len(found) > 1:
            each = "; ".join(map(_told, found[:5]))
            raise Ambiguous(f"{len(found)} are called “{called[:60]}”: {each}. {UNCHANGED} Give the id of one.")
        return found[0]

    async def _changed(self, event: EntityChange, found: Entity, world: str) -> Entity:
        await self._record(event)
        return await asyncio.to_thread(lambda: self._memory.readings.called(found.id, world=world)[0])

    async def _record(self, event: EntityChange) -> None:
        try:
            await self._recorder.record(event)
        except InvalidEvent as error:
            raise AgentError(f"{error} {UNCHANGED}") from error


def refuse_joined(memory: Memory, kept: Entity, gone: Entity, world: str) -> None:
    """Raise AgentError where two who stand to each other, or over others, would be one."""
    related = memory.readings.memories(Wanted(related=True, world=world), now=datetime.now(UTC), limit=MOST)
    for each in related:
        if _ends(each) == {kept.id, gone.id}:
            raise AgentError(
                f"They cannot be one: “{each.text}” ({each.id}) is of the two of them. {UNCHANGED} "
                "If they are one, forget or reject that memory first."
            )
    if leads_back(related, {gone.id: kept.id}):
        raise AgentError(
            f"{kept.name} would be their own parent or grandparent, over others. {UNCHANGED} "
            f"`clew relations {kept.name}` shows how."
        )


def leads_back(related: Iterable[Observation], same: dict[str, str]) -> bool:
    """Whether somebody would be their own parent over others, were some the `same` as others."""
    below: dict[tuple[str, str], set[str]] = {}
    for each in related:
        there = each.relationship
        if there is not None and there.polarity and not kinds()[there.kind].circular:
            subject, object = (same.get(end.id, end.id) for end in (there.subject, there.object))
            below.setdefault((there.kind, subject), set()).add(object)
    return any(_reaches(below, kind, start, start) for kind, start in below)


def _reaches(below: dict[tuple[str, str], set[str]], kind: str, start: str, end: str) -> bool:
    seen, ahead = set[str](), [start]
    while ahead:
        there = below.get((kind, ahead.pop()), set()) - seen
        if end in there:
            return True
        seen |= there
        ahead += there
    return False


def _ends(memory: Observation) -> set[str]:
    there = memory.relationship
    return {there.subject.id, there.object.id} if there is not None else set()


def _only(item: str, ids: Iterable[str]) -> str | None:
    first = item.strip().upper()
    found = [each for each in ids if len(first) >= SHORTEST_PREFIX and each.upper().startswith(first)]
    return found[0] if len(found) == 1 else None


def _line(text: str, what: str) -> str:
    line = " ".join(clean_message(text).split()).strip('“”"') if text.strip() else ""
    if not line:
        raise AgentError(f"An empty {what} is none. {UNCHANGED}")
    if len(line) > LONGEST or not line.isprintable():
        raise AgentError(f"A {what} is one line of at most {LONGEST} characters. {UNCHANGED}")
    return line


def _told(entity: Entity) -> str:
    also = f", also {', '.join(entity.others[:3])}" if entity.others else ""
    return f"{entity.name} ({KINDS.get(entity.kind, entity.kind)}{also}; {entity.id})"


def _of_self(entity: Entity) -> str:
    return "you" if entity.id == "you" else "the assistant"
