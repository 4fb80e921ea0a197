"""What the tools that change the memory do, once the user gave leave: remember, forget, correct, write a core block.

What a model words itself has no note for its proof. It names instead every turn whose words it may carry: the message
that is being answered, and of what else its prompt holds, whatever has words that are nowhere nearer.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent.prompt import block_name, block_text
from graph.beliefs import CoreBlock, Observation
from graph.events import CoreWritten, Event, ObservationDeleted, ObservationMade
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Recorded

from . import notes
from .errors import AgentError
from .events import MemoriesChanged, Notice
from .prompts import Prompts
from .quoting import STOP, mark_of, neutral
from .tools import Change, Correct, Forget, Remember, WriteBlock

CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Planned:
    """A change that waits for leave: how it is put to the user, what is told, and what is done where they give it."""

    what: str
    done: str
    events: tuple[Event, ...]
    made: tuple[str, ...] = ()  # observations whose words the answer carries
    forgotten: frozenset[str] = frozenset()


class ProposedChanges:
    """Plans what a tool asks for, and does it. `held` are the ids of all that the model's prompt holds."""

    def __init__(
        self, memory: Memory, prompts: Prompts, record: Callable[..., list[Recorded]], notify: Callable[[Notice], None]
    ) -> None:
        self._memory = memory
        self._prompts = prompts
        self._record = record
        self._notify = notify

    def plan(self, call: Change, *, turn: str, held: Iterable[str], project: str | None) -> Planned:
        """What a call comes to. Raises AgentError where it comes to nothing. Blocks."""
        there = set(held)
        world = self._memory.world_of(self._memory.turn(turn).session)
        match call:
            case Remember():
                return self._remembering(call, turn, there, project, world)
            case Forget():
                return self._forgetting(self._meant(call.mark, there, world))
            case Correct():
                return self._correcting(call, self._meant(call.mark, there, world), turn, there, project, world)
            case WriteBlock():
                return self._writing(call, turn, there, project, world)

    async def do(self, planned: Planned) -> None:
        """Do what was planned. Raises LogUnwritable."""
        await asyncio.to_thread(self._record, *planned.events)
        if planned.forgotten:
            await self._prompts.forget_turns(planned.forgotten)
        self._notify(MemoriesChanged())

    def _remembering(self, call: Remember, turn: str, held: set[str], project: str | None, world: str) -> Planned:
        text = neutral(call.text)
        id = new_id()
        made = ObservationMade(
            observation=id,
            series=id,
            world=world,
            project=project,
            category=notes.guess_kind(text),
            status="active",
            confidence=CONFIDENCE,
            grounded=True,
            origin="model",
            sources=self._sources(text, turn, held, world),
            text=text,
        )
        return Planned(f"Remember: {text}", f'Remembered: "{text}"', (made,), (id,))

    def _forgetting(self, old: Observation) -> Planned:
        series = self._memory.forgetting(old.id)
        gone = frozenset(each.id for each in series)
        more = f" and {len(series) - 1} other forms of it" if len(series) > 1 else ""
        return Planned(
            f"Forget permanently: {old.text}{more}",
            f"Forgotten permanently: {mark_of(old.id)}.",
            tuple(ObservationDeleted(series=each) for each in dict.fromkeys(each.series for each in series)),
            forgotten=gone,
        )

    def _correcting(
        self, call: Correct, old: Observation, turn: str, held: set[str], project: str | None, world: str
    ) -> Planned:
        if old.project != project:  # the new words would be told everywhere
            raise AgentError(
                f"The memory {mark_of(old.id)} is not of this project alone: only the user can correct it."
            )
        if old.status not in ("candidate", "active"):
            raise AgentError(f"The memory {mark_of(old.id)} is not in use any more.")
        text = neutral(call.text)
        made = notes.revision(text, old, (*self._sources(text, turn, held, world), *old.sources), world=world)
        made = made.model_copy(update={"origin": "model", "confidence": CONFIDENCE})
        return Planned(f"Correct: {old.text} → {text}", f'Corrected: "{text}"', (made,), (made.observation,))

    def _writing(self, call: WriteBlock, turn: str, held: set[str], project: str | None, world: str) -> Planned:
        name, text = block_name(call.name), block_text(call.text)
        blocks = self._memory.blocks(world, project=project)
        before: CoreBlock | None = next((each for each in blocks if each.name == name), None)
        if not text and (before is None or before.project != project):
            raise AgentError(f"There is no core block {name} here.")
        sources = self._sources(text, turn, held, world)
        written = CoreWritten(block=name, world=world, project=project, by="agent", sources=sources, text=text)
        return Planned(
            f"Write the core block {name}: {text}" if text else f"Empty the core block {name}",
            f"The core block {name} was written." if text else f"The core block {name} was emptied.",
            (written,),
        )

    def _meant(self, mark: str, held: set[str], world: str) -> Observation:
        asked = mark.strip().lstrip("#").upper()
        ids = [id for id in held if id.upper() == asked or mark_of(id).lstrip("#") == asked]
        found = self._memory.observations(ids, world=world)
        if len(found) != 1:
            raise AgentError(f"There is no memory {neutral(mark)}. Use a mark such as #ABC123 from a list.")
        return next(iter(found.values()))

    def _sources(self, text: str, turn: str, held: set[str], world: str) -> tuple[str, ...]:
        """The turns (and chunks) whose words a text may carry, the message that is being answered first."""
        turns = self._memory.quotable({turn, *held})
        quoted = {item.id for each in turns.values() if each.role == "tool" for item in each.recalled}
        turns |= self._memory.quotable(quoted)
        said: dict[str, tuple[tuple[str, ...], str]] = {
            each.id: ((each.id,), each.text or "") for each in turns.values() if each.role != "tool"
        }
        said |= {
            each.id: ((*each.sources, *each.supports), each.text or "")
            for each in self._memory.observations(held | quoted, world=world).values()
        }
        said |= {each.id: ((each.id,), each.text) for each in self._memory.chunks(held | quoted).values()}
        lacking, sources = words(text), [turn]
        if turn in said:
            lacking -= words(said.pop(turn)[1])
        for id in sorted(said, reverse=True):  # ids tell the time
            if told := lacking & words(said[id][1]):
                lacking -= told
                sources += said[id][0]
        return tuple(dict.fromkeys(sources))


def words(text: str) -> set[str]:
    """The words of a text that tell something, whole and in one case."""
    return {word for word in re.findall(r"\w+", text.casefold()) if word not in STOP}
