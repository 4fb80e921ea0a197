"""Relationships on the screens of the real agent: the node view, its drawing, F4, /about and plain words."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.agent import Agent
from agent.relations.stating import read
from tests.fakes import FakeGenerator
from tests.tui.acting import perform, press
from tests.tui.conftest import screen_text, wait_until
from tests.tui.queries.test_screen import opened_with
from tests.tui.seeing import sees
from tests.tui.test_recall_for_real import running, say
from tui.about import AboutPage
from tui.app import ClewApp
from tui.node_links import walk_from
from tui.nodes.panes import ProofScreen
from tui.nodes.screen import NodeScreen

pytestmark = pytest.mark.ui
STATED = (
    "Ada works_with Bob since 2024-05",
    "Ada works_for Siemens since 2020 until 2023-05",
    "Eve manages Ada",
    "Bob not trusts Ada",
)


async def relate(agent: Agent, *stated: str, world: str = "main") -> list[str]:
    """The ids of the memories."""
    return [(await agent.memories.relate(read(each), world=world)).id for each in stated]


async def walk(pilot: Pilot[int], app: ClewApp, name: str) -> NodeScreen:
    walk_from(app.view, "Entity", name)
    await wait_until(pilot, lambda: isinstance(app.screen, NodeScreen) and "itself" in screen_text(app))
    assert isinstance(app.screen, NodeScreen)
    return app.screen


@pytest.mark.process  # a query is one
async def test_they_are_filtered_asked_for_and_told_first_in_the_node_view_while_proven(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        _, _, managed, _ = await relate(agent, *STATED)
        await press(pilot, "f4", shows=("R relation", "Eve manages Ada."))
        await press(pilot, "R", shows=("R trusts", "Memories 1"))
        await press(pilot, "R", shows=("R works with", "Ada —works with→ Bob, since 2024-05"))
        await press(pilot, "backspace", "W", "W", shows=("W Bob", "Memories 2"))
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)

        queries = await opened_with(app, pilot)
        queries.editor.put("? how are Eve and Bob related?")
        await press(pilot, "f5", until=lambda: queries.editor.text.startswith("// how are Eve and Bob related?\n"))
        await sees(pilot, "F5 runs it.")
        await press(pilot, "f5", shows=("What the query asks for", "Eve"))
        await press(pilot, "f5", shows="▲ Eve —manages→ ▲ Ada —works with→ ▲ Bob")
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)

        await relate(agent, "Bob works_with Ada")
        screen = await walk(pilot, app, "Ada")
        await sees(
            pilot,
            "relationships",
            "does not trust ← Bob, 1 proof",
            "works with → Bob, since May 2024, 2 proofs",
            "worked for → Siemens, since 2020, until May",
            "is managed by → Eve, 1 proof",
        )
        lines = screen_text(app).splitlines()
        told = [place for place, line in enumerate(lines) if "proof" in line and "→" in line]
        assert told[-1] < next(place for place, line in enumerate(lines) if "what was learned about it" in line)
        await pilot.press("tab", "down")
        assert screen.chosen.title == "Bob"
        await press(pilot, "p", until=lambda: isinstance(app.screen, ProofScreen))
        await sees(pilot, "“Ada works with Bob since 2024-05.”", "“Bob works with Ada.”")
        await press(pilot, "escape", "enter", until=lambda: screen.walk.ego.node.title == "Bob" and not screen._busy)
        await sees(pilot, "does not trust → Ada", "works with → Ada")
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)

        await walk(pilot, app, "Ada")
        await sees(pilot, "is managed by → Eve")
        await pilot.press("tab", "down")
        await agent.memories.forget(managed)
        await wait_until(pilot, lambda: "is managed by → Eve" not in screen_text(app))
        assert isinstance(app.screen, NodeScreen)
        await sees(pilot, "works with → Bob")
        assert "deleted" not in screen_text(app)


async def test_of_a_what_if_main_shows_nothing_and_the_what_if_all_it_sees(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine.", "Fine."), reflect=False) as (app, pilot, agent):
        await relate(agent, "Ada works_with Bob")
        await say(app, pilot, "Hello")
        main = app.view.session
        await perform(pilot, "fork", "what-if Atlantis", until=lambda: app.view.state.what_if == "Atlantis")
        await relate(agent, "Ada manages Bob", world=app.view.state.world)
        await walk(pilot, app, "Ada")
        await sees(pilot, "manages → Bob", "works with → Bob")
        await pilot.press("escape")
        assert main is not None
        await app.open_session(main)
        await wait_until(pilot, lambda: app.view.state.world == "main" and app.view.session == main)
        screen = await walk(pilot, app, "Ada")
        await sees(pilot, "works with → Bob")
        assert "manages" not in screen_text(app)
        assert screen.walk.sides[0].relation == "works_with"


async def test_about_is_a_dossier_that_follows_and_leads_to_the_graph(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        (made, *_) = await relate(agent, *STATED)
        first = await agent.memories.remember("Ada is allergic to peanuts")
        await agent.memories.correct(first.id, "Ada can eat peanuts again")
        app.perform("about", "ada")
        await sees(
            pilot,
            "About Ada",
            "Ada —works with→ Bob, since May 2024, 1 proof",
            "Over",
            "Ada —worked for→ Siemens, since 2020, until May 2023, 1 proof",
            "Believed now",
            "Ada is allergic to peanuts",
            "→ Ada can eat peanuts again",
            "Timeline",
            "no longer: Ada works for Siemens",
        )
        await agent.memories.reject(made)
        await wait_until(pilot, lambda: "—works with→" not in screen_text(app))
        assert isinstance(app.screen, AboutPage)
        await pilot.press("g")
        await wait_until(
            pilot, lambda: isinstance(app.screen, NodeScreen) and "is managed by → Eve" in screen_text(app)
        )
        await press(pilot, "escape", until=lambda: isinstance(app.screen, AboutPage))
