"""What one reflection is about: turns that were not reflected on, of which only people's own words are evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from graph.events import Event, Role
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Observation, Turn, Unreflected

YOU = "you"
EVIDENCE = (Role.USER, Role.NOTE)
Trust = Literal["model", "verbatim"]


@dataclass(frozen=True, slots=True)
class Material:
    """The turns of a reflection that are there, oldest first: `said` by people, `replies` by the assistant."""

    reflection: str
    turns: tuple[str, ...]
    said: tuple[Turn, ...]
    replies: tuple[Turn, ...]
    session: str
    world: str
    project: str | None
    instead_of: str | None = None

    @property
    def speakers(self) -> dict[str, None]:
        """Who speaks in it, in order."""
        return dict.fromkeys(turn.speaker for turn in self.said)

    def words(self, sources: Iterable[str]) -> list[str]:
        """What people said in some of the turns."""
        wanted = set(sources)
        return [turn.text or "" for turn in self.said if turn.id in wanted]


@dataclass(frozen=True, slots=True)
class Taught:
    """What came of some turns before: by observation those of them that made, supported, revised or retired it.

    `live` are those of the observations whose proof stands, whatever their status.
    """

    turns: Mapping[str, set[str]] = field(default_factory=dict)
    live: Mapping[str, Observation] = field(default_factory=dict)

    def by(self, observation: str) -> set[str]:
        """The turns that did something to an observation."""
        return self.turns.get(observation, set())


@dataclass(slots=True)
class Outcome:
    """What came of a step: events to append, the texts it learned, and counts."""

    events: list[Event] = field(default_factory=list)
    created: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0
    errors: int = 0
    trust: Trust = "verbatim"
    model: str | None = None
    probe: float | None = None
    failure: str | None = None  # why the model's answer could not be used at all


def gather(memory: Memory, wanted: Unreflected) -> Material:
    """Read the turns; those whose words may not be quoted any more are left out."""
    there = memory.readings.quotable(wanted.turns)
    turns = [there[id] for id in wanted.turns if id in there]
    return Material(
        reflection=new_id(),
        turns=wanted.turns,
        said=tuple(turn for turn in turns if turn.role in EVIDENCE),
        replies=tuple(turn for turn in turns if turn.role == Role.ASSISTANT and not _tells_what_was_read(turn)),
        session=wanted.session,
        world=wanted.world,
        project=wanted.project,
        instead_of=wanted.instead_of,
    )


def _tells_what_was_read(reply: Turn) -> bool:
    """Whether a reply was given what others wrote elsewhere: it may say that again, and nothing is learned from it."""
    return any(item.kind == "reference" for item in reply.recalled)


LOOKED_BACK = 30  # turns of a chat before an exchange


def before(memory: Memory, material: Material) -> list[Turn]:
    """What the person said in the chat before an exchange, the oldest first, of the last turns."""
    if not material.said:
        return []
    first = material.said[0]
    path = memory.readings.thread(first.session, before=first.id, limit=LOOKED_BACK)
    return [turn for turn in path if turn.role == Role.USER]


def taught_by(memory: Memory, material: Material) -> Taught:
    """What the turns taught when they were reflected on before."""
    turns = memory.readings.taught(material.turns)
    return Taught(turns, memory.readings.observations(turns, world=material.world) if turns else {})


def still_there(memory: Memory, material: Material) -> bool:
    """Whether all words that were read may still be quoted: what is learned now must not outlive them."""
    read = {turn.id for turn in (*material.said, *material.replies)}
    return memory.readings.quotable(read).keys() == read
