"""A node and its neighbours as whole screens, compared with pictures that were looked at."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from graph.events import HeadMoved, Relation, RelationNoted, SessionForked, SessionTitled, TurnHidden
from graph.ids import as_ms
from graph.values import Ref, Side
from tests.tui.conftest import make_app, screen_text, settled, there, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.nodes.screen import NodeScreen
from tui.nodes.walk import NodeWalk, heading

Compare = Callable[..., bool]
NOON = datetime(2024, 3, 2, 12, tzinfo=UTC)
MEMORY = Ref("Observation", "OBS0000002")


def sailing_agent() -> ScriptedAgent:
    """It learned the name of a boat in a what-if; two messages that prove it are hidden, and left by going back."""
    agent = ScriptedAgent()
    boat = agent.add_session("The boat")
    days = [said(agent, boat, f"Day {day} on the boat", days=day - 3) for day in (1, 2)]
    built = said(agent, boat, "She built it from larch, you know, and named it after herself", days=1)
    hidden = said(agent, boat, "Nobody is to read this", days=0)
    left = said(agent, boat, "We call it Ada 🛶 [bold]not a tag[/]", speaker="Tom", days=40)
    agent.add_project("boats")
    agent.add_events(
        SessionForked(session="w", origin=boat, at=left, world="w", client="chat"),
        SessionTitled(session="w", sources=(), text="Atlantis"),
    )
    agent.learn("The boat has no name yet", days[0], world="w")
    agent.learn(
        "The boat is called Ada, after the grandmother who built it from larch.",
        *days,
        built,
        supersedes="OBS0000001",
        supports=(hidden, left),
        about=("Ada",),
        confidence=0.82,
        world="w",
        project="boats",
    )
    agent.add_events(TurnHidden(turn=hidden), HeadMoved(session=boat, turn=hidden), HeadMoved(session="w", turn=hidden))
    return agent


def said(agent: ScriptedAgent, session: str, text: str, *, speaker: str = "you", days: int) -> str:
    """A message that many days after NOON."""
    return agent.add_turn(session, text, speaker=speaker, said_at=as_ms(NOON + timedelta(days=days)))


def friendly_agent() -> ScriptedAgent:
    """It learned how Ada stands to four others, one of which is over and one denied."""
    agent = ScriptedAgent()
    chat = agent.add_session("People")
    days = [said(agent, chat, f"Ada, day {day}", days=day - 3) for day in (1, 2)]
    for other, kind, fields in (
        ("Bob", "works_with", {"since": "2023-05"}),
        ("Siemens", "works_for", {"since": "2020", "until": "2023-05"}),
        ("Eve", "trusts", {"polarity": False}),
        ("Lisbon", "lives_in", {}),
    ):
        made = agent.learn(f"Ada and {other}", *days, about=("Ada", other))
        ends = {"subject": agent._script.name("Ada", days[0]), "object": agent._script.name(other, days[0])}
        agent.add_events(RelationNoted.of(made, Relation.model_validate({"kind": kind, **ends, **fields})))
    return agent


def opened(app: ClewApp, *keys: str, shows: str, of: Ref = MEMORY) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def run(pilot: Pilot[int]) -> None:
        await there(pilot, app)
        assert app.view.backstage is not None
        agent = app.view.backstage.service
        walk = NodeWalk(agent, await agent.graph.ego(of, per=2))
        await app.push_screen(NodeScreen(agent, (), walk, {"w": "what-if Atlantis"}))
        await wait_until(pilot, lambda: "itself" in screen_text(app) or "Esc" in screen_text(app))
        await pilot.press(*keys)
        await wait_until(pilot, lambda: shows in screen_text(app), shows)
        await settled(pilot, app)
        await agent.close()  # nobody leaves the app

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 14)])
def test_a_node_and_its_neighbours(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(sailing_agent(), tmp_path)
    shows = "nodes ·" if size[0] > 100 else "learned from"
    assert snap_compare(app, terminal_size=size, run_before=opened(app, "down", shows=shows))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_somebody_with_relationships(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(friendly_agent(), tmp_path)
    shows = "nodes ·" if size[0] > 100 else "lives in → Lisbon"
    run = opened(app, "down", shows=shows, of=Ref("Entity", "E000"))
    assert snap_compare(app, terminal_size=size, run_before=run)


def test_a_node_drawn_in_place_of_the_list(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(sailing_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "d", shows="nodes ·"))


def test_the_words_that_prove_a_memory(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(sailing_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "p", shows="this memory"))


def test_a_node_without_colour(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(sailing_agent(), tmp_path, theme="light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "down", shows="learned from"))


def test_thousands_of_neighbours_are_counted_in_groups_of_three() -> None:
    many = Side("DERIVED_FROM", True, "Turn", 1_234, ())
    assert heading(many, 3).plain == "learned from  3 of 1 234 messages  -[:DERIVED_FROM]->"
