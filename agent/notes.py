"""What the user states by hand, as events: a turn of role note in the notes session of a project, and what it says.

So what is remembered, corrected or edited by hand has a turn for its proof like everything else, waits for no reply
of any chat, and survives the rewinds of all.
"""

import re
from collections.abc import Sequence

from agent.errors import AgentError
from graph.events import (
    MAIN_WORLD,
    Event,
    ObservationKind,
    ObservationMade,
    ObservationSupported,
    Role,
    SessionStarted,
    SessionTitled,
    TurnSaid,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Observation

USER = "you"
CLIENT = "notes"
TITLE = "Notes"
IN_A_STORY = (
    "What is known in a story is what was played in it, so nothing was kept. Say it in the story, or use /remember in "
    "another chat."
)
STEP = 0.1  # what saying it again adds to the confidence

_KINDS: tuple[tuple[ObservationKind, str], ...] = (
    (
        ObservationKind.PREFERENCE,
        r"\bi(?: really| do| don't| do not)? (?:like|love|hate|prefer|enjoy|dislike)|favou?rite",
    ),
    (ObservationKind.PLAN, r"\bi(?:'m| am) (?:going|planning) to\b|\bi(?:'ll| will| plan| want| hope| intend)\b"),
    (
        ObservationKind.RELATIONSHIP,
        r"\bmy (?:wife|husband|partner|girlfriend|boyfriend|friend|brother|sister|mother|father|mum|mom|dad|son"
        r"|daughter|boss|colleague|neighbou?r|uncle|aunt|cousin|grand\w+)\b",
    ),
    (
        ObservationKind.IDENTITY,
        r"\bmy name is\b|\bi(?:'m| am)(?: an?)? (?!going|at |in |on |tired|ill|sick|busy)|\bcall me\b",
    ),
    (ObservationKind.STATE, r"\b(?:i(?:'m| am)|currently|right now|at the moment|these days)\b"),
)


def guess_kind(text: str) -> ObservationKind:
    """What a statement of the user's is about, by its words; a fact where they do not tell."""
    said = text.casefold().replace("’", "'")
    return next((kind for kind, pattern in _KINDS if re.search(pattern, said)), ObservationKind.FACT)


def same(text: str, other: str | None) -> bool:
    """Whether two texts say the same, but for case, spaces and the full stop."""
    return _plain(text) == _plain(other or "")


def remembering(
    memory: Memory,
    text: str,
    *,
    kind: ObservationKind,
    project: str | None,
    tags: tuple[str, ...] = (),
    world: str = MAIN_WORLD,
) -> list[Event]:
    """A note, and the observation that it states, in a world."""
    events, turn = noted(memory, text, project=project, world=world)
    id = new_id()
    made = ObservationMade(
        observation=id,
        series=id,
        world=world,
        project=project,
        tags=tags,
        category=kind,
        status="active",
        confidence=1.0,
        grounded=True,
        origin="user",
        sources=(turn,),
        text=text,
    )
    return [*events, made]


def supporting(memory: Memory, text: str, old: Observation, *, world: str | None = None) -> list[Event]:
    """A note that says again what is known: it is proof of that, in a world or (None) in that of what is known."""
    events, turn = noted(memory, text, project=old.project, world=world or old.world)
    return [*events, ObservationSupported(observation=old.id, source=turn, amount=STEP)]


def revising(memory: Memory, text: str, old: Observation, *, world: str | None = None) -> list[Event]:
    """A note, and the revision of an observation that it makes; it names whatever the old one was made from too.

    In a world, where it holds and nowhere else, or (None) in that of the old one.
    """
    events, turn = noted(memory, text, project=old.project, world=world or old.world)
    return [*events, revision(text, old, (turn, *old.sources), world=world)]


def revision(text: str, old: Observation, sources: Sequence[str], *, world: str | None = None) -> ObservationMade:
    """A revision of an observation in the user's sense, in use at once; in a world or (None) in that of the old one."""
    return ObservationMade(
        observation=new_id(),
        series=old.series,
        supersedes=old.id,
        world=world or old.world,
        project=old.project,
        tags=old.tags,
        category=old.kind,
        status="active",
        confidence=1.0,
        grounded=True,
        origin="user",
        sources=tuple(dict.fromkeys(sources)),
        text=text,
    )


def noted(memory: Memory, text: str, *, project: str | None, world: str) -> tuple[list[Event], str]:
    """The events of a note, those of its session among them where that is not there yet; and the note's turn.

    Raises AgentError in a story: what is known there is what was played.
    """
    if memory.readings.is_story(world):
        raise AgentError(IN_A_STORY)
    session, parent = memory.readings.notes_session(project, world=world), None
    events: list[Event] = []
    if session is None:
        session = new_id()
        events.append(SessionStarted(session=session, world=world, project=project, client=CLIENT))
        events.append(SessionTitled(session=session, sources=(), text=TITLE))
    else:
        parent = memory.readings.session(session).head
    said = TurnSaid(
        turn=new_id(), session=session, parent=parent, role=Role.NOTE, speaker=USER, client=CLIENT, text=text
    )
    return [*events, said], said.turn


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split()).rstrip(".!")
