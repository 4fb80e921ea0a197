"""A small memory for the tests of its screen: a move, a sister, two things to review."""

from datetime import UTC, datetime, timedelta
from typing import Any

from graph.events import CoreWritten, ObservationKind, Role, TurnRated
from graph.ids import as_ms
from graph.values import Observation
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen

MUNICH, BERLIN, SISTER, CELLO, STARTER = (f"OBS{number:07}" for number in range(1, 6))


def learned_agent(**settings: Any) -> ScriptedAgent:
    """An agent that learned five things, has two blocks, two documents and four ratings.

    Only the pin is a change by hand. What proves the sister alone was said this week, all else is of June 2025.
    """
    agent = ScriptedAgent(**settings)
    agent.add_session("Here", ("What now?", "Whatever you like."))
    moving = agent.add_session("Moving", ("I moved to Berlin", "How nice!"))
    moved, nice = agent.turns[moving]
    carried = agent.add_turn(moving, "Ada carried everything", said_at=as_ms(datetime.now(UTC) - timedelta(days=2)))
    kind = agent.add_turn(moving, "Kind of her.", role=Role.ASSISTANT)
    state, plan = ObservationKind.STATE, ObservationKind.PLAN
    agent.learn("Lives in Munich", moved, kind=state)
    agent.learn("Moved to Berlin", moved, kind=state, supersedes=MUNICH, supports=(carried,), about=("Berlin",))
    agent.learn("Has a sister called Ada", carried, about=("Ada",), pinned=True)
    agent.learn("Wants to learn the cello", moved, kind=plan, status="candidate", about=("Ada",))
    agent.learn("The starter is named Ulysses", moved, status="candidate", grounded=False)
    agent.add_document("bridges.pdf", "/papers/bridges.pdf", "A bridge.", kind="pdf", size=1_840_000)
    passages = (f"The walk number {number}." for number in range(24))
    agent.add_document("Field notes", "/notes/field.md", *passages, size=18_400, tags=("walks",))
    agent.add_events(
        CoreWritten(block="human", by="agent", text="I am Noor."),
        CoreWritten(block="persona", by="agent", text="Dry."),
        *(TurnRated(turn=turn, significance=0, by="model") for turn in (moved, nice, kind)),
        TurnRated(turn=carried, significance=2, by="model"),
    )
    return agent


async def standing(agent: ScriptedAgent, observation: str) -> Observation:
    """A memory as it stands now."""
    return (await agent.memories.story(observation)).observation


def screen_of(app: ClewApp) -> MemoriesScreen:
    """The memory screen, below its dialogs too."""
    return next(screen for screen in app.screen_stack if isinstance(screen, MemoriesScreen))
