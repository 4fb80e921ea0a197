"""A small memory for the tests of its screen: a move, a sister, two things to review."""

from datetime import UTC, datetime, timedelta
from typing import Any

from graph.beliefs import CoreBlock, Document, Observation
from graph.events import CoreWritten, ObservationKind, Role, TurnRated
from graph.ids import as_ms
from tests.tui.fake_agent import FakeAgent
from tests.tui.fake_memory import START, belief, proof
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


def fake_learned_agent() -> FakeAgent:
    """An agent that learned five things, has two blocks, two documents and six ratings."""
    agent = FakeAgent()
    agent.add_session("Here", ("What now?", "Whatever you like."))
    moving = agent.add_session("Moving", ("I moved to Berlin", "How nice!"), ("Ada carried everything", "Kind of her."))
    turns = agent.turns[moving]
    state, plan = ObservationKind.STATE, ObservationKind.PLAN
    agent.learn(
        belief(1, "Lives in Munich", kind=state, status="superseded", current=False),
        belief(2, "Moved to Berlin", kind=state, series=MUNICH, supersedes=MUNICH, about=("Berlin",)),
        belief(3, "Has a sister called Ada", about=("Ada",), project="family", trend="new", pinned=True),
        belief(4, "Wants to learn the cello", kind=plan, status="candidate", about=("Ada",)),
        belief(5, "The starter is named Ulysses", status="candidate", grounded=False),
    )
    memory = agent.memory_of
    memory.proofs = {
        MUNICH: (proof(turns[1]),),
        BERLIN: (proof(turns[0]), proof(turns[2], relation="SUPPORTED_BY")),
        SISTER: (proof(turns[2]),),
    }
    memory.blocks = [
        CoreBlock("human", "main", "I am Noor.", "user", 1),
        CoreBlock("persona", "main", "Dry.", "agent", 2),
    ]
    memory.documents = [
        Document("D1", "Field notes", "/notes/field.md", "markdown", None, ("walks",), 18_400, START, 24),
        Document("D2", "bridges.pdf", "/papers/bridges.pdf", "pdf", "family", (), 1_840_000, START, 312),
    ]
    memory.ratings = {turn.id: rating for turn, rating in zip(turns, (0, 0, 2, 0), strict=True)}
    return agent


def screen_of(app: ClewApp) -> MemoriesScreen:
    """The memory screen, below its dialogs too."""
    screen = app.keeping.screen
    assert screen is not None
    return screen
