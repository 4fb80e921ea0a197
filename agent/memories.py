"""What a person does with what was learned: read it, review it, state, correct and forget things by hand.

Invariants: every change is one append, made while no other one of these is under way, so that of two reviews of the
same candidate the second finds it reviewed. What is stated by hand is a note (agent/notes.py).
"""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from agent.past import MemoryReader
from agent.prompt import block_name, block_text
from agent.reflection.keeping import with_names
from agent.relations.relating import YOU, Origin, Relating, Stated
from agent.relations.whom import meant
from graph.errors import Ambiguous, NotFound
from graph.events import (
    MAIN_WORLD,
    CoreWritten,
    Event,
    ObservationKind,
    ObservationPromoted,
    ObservationRejected,
    ObservationReturned,
    PinCleared,
    PinSet,
    TurnRated,
)
from graph.memory import Memory
from graph.relations import SPEAKER, kinds
from graph.values import Observation, Story, Wanted

from . import notes
from .errors import AgentError
from .planning import Planner
from .prompts import Prompts
from .recorder import Recorder
from .text import clean_message

ANY = Wanted()
LONGEST = 500  # characters of an observation: a sentence or two
TAG = re.compile(r"[\w -]{1,32}")
STANDS = {
    "candidate": "is waiting for review",
    "active": "is already in use",
    "superseded": "was replaced by a later version",
    "invalid": "was rejected or contradicted",
}
STOOD = {
    "candidate": "The memory it had replaced is back in use.",
    "active": "The memory it had replaced is back in use.",
    "superseded": "That memory was replaced by a later version.",
    "invalid": "That memory was rejected or contradicted, and has since been corrected.",
}


class Memories(MemoryReader):
    """What was learned, and what a person does with it: the core blocks and the ratings of turns too."""

    def __init__(self, memory: Memory, recorder: Recorder, planner: Planner, prompts: Prompts) -> None:
        super().__init__(memory)
        self._memory = memory
        self._recorder = recorder
        self._planner = planner
        self._prompts = prompts

    # -- reading --------------------------------------------------------------------------------------------------

    async def forgetting(self, id: str) -> list[Observation]:
        """What `forget` would erase: all revisions of a memory. Raises NotFound or Ambiguous."""
        found = (await self.story(id)).observation
        return await asyncio.to_thread(self._memory.readings.forgetting, found.id)

    async def whom(self, name: str, *, world: str = MAIN_WORLD, project: str | None = None) -> str:
        """Whom a name or a word of relationship ("my sister") means, by name; the words themselves where nobody is.

        Raises Ambiguous where several are.
        """
        return await asyncio.to_thread(meant, self._memory.readings, name, world=world, project=project)

    # -- stating --------------------------------------------------------------------------------------------------

    async def remember(
        self,
        text: str,
        *,
        kind: ObservationKind | None = None,
        project: str | None = None,
        tags: Iterable[str] = (),
        world: str = MAIN_WORLD,
    ) -> Observation:
        """Learn something by hand in a world; said again, what is in use in the same scope gains proof instead.

        Raises EmptyMessage, AgentError for a text that is too long or a tag that is none, and GraphFailure; then
        nothing was stored.
        """
        said, scope = statement(text), tags_of(tags)
        async with self._recorder.changing:
            return await self._changed(await asyncio.to_thread(self._remembering, said, kind, project, scope, world))

    async def relate(self, stated: Stated, *, project: str | None = None, world: str = MAIN_WORLD) -> Observation:
        """State by hand how two stand to each other, in a world; the memory that says it.

        What is known gains proof; an end, a beginning or the contrary is a revision of it, and where there is one at a
        time the one before ends. Raises GraphFailure, and then nothing was stored.
        """
        async with self._recorder.changing:
            return await self._changed(await asyncio.to_thread(self._relating, stated, project, world))

    async def correct(self, id: str, text: str, *, world: str | None = None) -> Observation:
        """State how a memory really is: a revision, whose sources are the note and all that the old one came from.

        It holds in `world`, or (None) in that of the memory.

        Raises NotFound, Ambiguous, and AgentError where it is not in use (any more); then nothing was stored.
        """
        said = statement(text)
        async with self._recorder.changing:
            story = await self.story(id, world=world)
            old = story.observation
            if old.live and not old.current and (holds := _holding(story)):
                raise AgentError(f"{STOOD[old.status]} Nothing was changed. {_now(holds[-1])}")
            await self._standing(id, "candidate", "active", "invalid", world=world)
            if old.status == "active" and notes.same(said, old.text):
                raise AgentError("It already says that. Nothing was changed.")
            stated = await asyncio.to_thread(notes.revising, self._memory, said, old, world=world)
            return await self._changed([*_settled(story, world or old.world), *stated])

    async def forget(self, id: str) -> int:
        """Erase a memory for good, with all its revisions and the notes that state it; how many there were.

        The messages it was made from stay. Raises NotFound or Ambiguous.
        """
        planned = await self._planner.forget(id)
        await self._planner.carry_out(planned)
        return len(planned.impact.lost)

    # -- reviewing ------------------------------------------------------------------------------------------------

    async def promote(self, id: str) -> None:
        """Take a candidate into use; `restore` undoes it. Raises NotFound, Ambiguous, or AgentError."""
        async with self._recorder.changing:
            found = await self._candidate(id)
            if (same := await asyncio.to_thread(self._in_use, found)) is not None:
                raise AgentError(
                    f"The same memory is already in use ({same.id}). Nothing was changed. Reject this one."
                )
            await self._recorder.record(ObservationPromoted(observation=found.id))

    async def reject(self, id: str) -> None:
        """Say that a memory is wrong, a candidate or one in use; `restore` undoes it, and this undoes an edit.

        Raises NotFound, Ambiguous, or AgentError.
        """
        async with self._recorder.changing:
            found = await self._standing(id, "candidate", "active")
            await self._recorder.record(ObservationRejected(observation=found.id))

    async def reword(self, id: str, text: str) -> Observation:
        """Take a candidate into use in the user's own words, as a revision of it; undone by rejecting that.

        Raises NotFound, Ambiguous, EmptyMessage, or AgentError.
        """
        said = statement(text)
        async with self._recorder.changing:
            old = await self._candidate(id)
            return await self._changed(await asyncio.to_thread(notes.revising, self._memory, said, old))

    async def restore(self, id: str, status: Literal["candidate", "active"]) -> None:
        """Undo what was promoted, rejected or retired by hand: it stands as `status` again.

        Raises NotFound, Ambiguous, or AgentError where a later form took its place.
        """
        async with self._recorder.changing:
            story = await self.story(id)
            found = story.observation
            if found.live and found.status == "superseded":
                later = next((each for each in _holding(story) if found.id in _before(story, each)), None)
                back = f". `clew review --reject {later.id}` undoes that" if later is not None else ""
                raise AgentError(f"That memory {STANDS[found.status]}. Nothing was changed{back}.")
            if found.status != status:
                await self._recorder.record(ObservationReturned(observation=found.id, status=status))

    # -- pinning --------------------------------------------------------------------------------------------------

    async def pin(self, id: str, *, world: str | None = None) -> None:
        """Keep a memory in every prompt of a world (None: its own) from the next message on.

        Raises NotFound, Ambiguous, or AgentError.
        """
        async with self._recorder.changing:
            found = await self._standing(id, "candidate", "active", world=world)
            await self._recorder.record(PinSet(observation=found.id, world=world))

    async def unpin(self, id: str, *, world: str | None = None) -> None:
        """Take a pin off; the memory leaves a prompt when that is shortened next. Raises NotFound or Ambiguous."""
        async with self._recorder.changing:
            await self._recorder.record(PinCleared(observation=(await self.story(id)).observation.id, world=world))

    async def rate(self, turns: str | Iterable[str], significance: int) -> int:
        """Say how much turns matter, one or many in one append; how many there were. Raises NotFound or AgentError."""
        if significance not in range(4):
            raise AgentError(
                f"{significance} is not a valid significance. Use 0 (routine), 1 (notable), 2 (significant) or 3 "
                "(pivotal)."
            )
        ids = [turns] if isinstance(turns, str) else list(dict.fromkeys(turns))
        there = await asyncio.to_thread(self._memory.readings.quotable, ids)
        if missing := [id for id in ids if id not in there]:
            raise NotFound(f"There is no message {missing[0]}, or it is hidden. Nothing was rated.")
        if ids:
            await self._recorder.record(*(TurnRated(turn=id, significance=significance, by="user") for id in ids))
        return len(ids)

    # -- core blocks ----------------------------------------------------------------------------------------------

    async def write_block(self, name: str, text: str, *, world: str = MAIN_WORLD, project: str | None = None) -> None:
        """Say what a core block says from the next message on, in the chats of a project or (None) in all.

        Empty, it is gone; then a project has again what all have. Raises AgentError.
        """
        block, says = block_name(name), block_text(text)
        if not says:
            there = await self.blocks(world=world, project=project)
            known = next((each for each in there if each.name == block), None)
            if known is None:
                raise AgentError(f"There is no core block {block} to remove. Nothing was changed.")
            if known.project != project:
                raise AgentError(
                    f"The core block {block} is used in all projects. Nothing was changed. Remove it in a chat "
                    "outside projects."
                )
        await self._recorder.record(CoreWritten(block=block, world=world, project=project, by="user", text=says))
        if not says:
            await self._prompts.forget_turns(())  # no state keeps what is gone

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _standing(self, id: str, *statuses: str, world: str | None = None) -> Observation:
        """The memory of that id, if it is live and stands like that. Raises NotFound, Ambiguous or AgentError."""
        found = (await self.story(id, world=world)).observation
        if not found.live:
            raise AgentError("The proof of that memory was hidden, deleted or rewound. Nothing was changed.")
        if found.status not in statuses:
            raise AgentError(f"That memory {STANDS[found.status]}. Nothing was changed. `clew show {id}` tells more.")
        return found

    async def _candidate(self, id: str) -> Observation:
        """The candidate of that id, if no other form took its place. Raises NotFound, Ambiguous or AgentError."""
        found, story = await self._standing(id, "candidate"), await self.story(id)
        if others := [each for each in _holding(story) if each.id not in _before(story, found)]:
            raise AgentError(
                f"Another version of it is now in use. Nothing was changed. Reject this one. {_now(others[-1])}"
            )
        return found

    def _remembering(
        self, said: str, kind: ObservationKind | None, project: str | None, tags: tuple[str, ...], world: str
    ) -> list[Event]:
        known = self._same(said, project, tags, world)
        if known:
            return notes.supporting(self._memory, said, known[0], world=world)
        guessed = kind or notes.guess_kind(said)
        return notes.remembering(self._memory, said, kind=guessed, project=project, tags=tags, world=world)

    def _relating(self, stated: Stated, project: str | None, world: str) -> list[Event]:
        stated, noted = self._with_names(stated, world)
        text = kinds()[stated.kind].says(
            *(SPEAKER if end == YOU else end for end in (stated.subject, stated.object)),
            polarity=stated.polarity,
            since=stated.since,
            until=stated.until,
        )
        events, turn = notes.noted(self._memory, text, project=project, world=world)
        relating = Relating(self._memory.readings, noted)
        relating.state(stated, Origin(turn, datetime.now().date(), world=world, project=project))
        return with_names(self._memory, [*events, *relating.sorted(relating.events)])

    def _with_names(self, stated: Stated, world: str) -> tuple[Stated, dict[str, str]]:
        """The same with both ends by name, also those that were told by an id; and the ids of these names.

        Raises Ambiguous for a name that several have whom a person told apart.
        """
        ends, noted = [], dict[str, str]()
        for end in (stated.subject, stated.object):
            several = self._memory.readings.told_apart(end, world=world)
            if several:
                each = "; ".join(f"{one.name} ({one.kind}, {one.id})" for one in several[:5])
                raise Ambiguous(
                    f"Several are called {end}: {each}. Nothing was stored. Give the id or an alias of one."
                )
            found = self._memory.readings.called(end, world=world)
            is_id = len(found) == 1 and found[0].id.casefold() == end.casefold() and bool(found[0].name)
            ends.append(found[0].name if is_id else end)
            noted |= {found[0].name: found[0].id} if is_id and found[0].id != YOU else {}
        return replace(stated, subject=ends[0], object=ends[1]), noted

    def _same(self, said: str, project: str | None, tags: tuple[str, ...], world: str) -> list[Observation]:
        """What is in use and says the same in the same scope; what is under review may say it too."""
        near = self._memory.readings.memories(Wanted(text=said, status="active", world=world), now=datetime.now(UTC))
        return [e for e in near if (e.project, e.tags) == (project, tags) and notes.same(said, e.text)]

    def _in_use(self, found: Observation) -> Observation | None:
        """What is in use and says what a candidate says, in another series."""
        same = self._same(found.text or "", found.project, found.tags, found.world)
        return next((each for each in same if each.series != found.series), None)

    async def _changed(self, events: list[Event]) -> Observation:
        """Store what was stated; the observation that it made or supported."""
        stated = next(id for event in reversed(events) if (id := getattr(event, "observation", None)) is not None)
        await self._recorder.record(*events)
        return (await self.story(stated)).observation


def _holding(story: Story) -> list[Observation]:
    """The forms of a memory that are in use, the newest last."""
    return [each for each in story.revisions if each.current and each.status == "active"]


def _before(story: Story, revision: Observation) -> set[str]:
    """The forms that a revision took the place of, one after the other."""
    by_id, found = {each.id: each for each in story.revisions}, set[str]()
    before = revision.supersedes
    while before is not None and before not in found:
        found.add(before)
        before = by_id[before].supersedes if before in by_id else None
    return found


def _settled(story: Story, world: str) -> list[Event]:
    """A correction answers the other forms of its world that wait for review too; a review would hold in every one."""
    return [
        ObservationRejected(observation=each.id)
        for each in story.revisions
        if each.current and each.status == "candidate" and each.id != story.observation.id and each.world == world
    ]


def _now(holds: Observation) -> str:
    return f'Now in use: "{holds.text}". `clew correct {holds.id} TEXT` corrects it.'


def tags_of(given: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are kept: sorted, each once, without a # before them. Raises AgentError."""
    tags = {" ".join(tag.split()).removeprefix("#") for tag in given}
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise AgentError(
                f"“{tag[:40]}” is not a valid tag: use up to 32 letters, digits, spaces, - and _. Nothing was stored."
            )
    return tuple(sorted(tags))


def statement(text: str) -> str:
    """What is to be kept, on one line. Raises EmptyMessage or AgentError."""
    said = " ".join(clean_message(text).split())
    if len(said) > LONGEST:
        raise AgentError(
            f"That is {len(said):,} characters. A memory can have at most {LONGEST}. Nothing was stored. Say it "
            "in a sentence or two."
        )
    return said
