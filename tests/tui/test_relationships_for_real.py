"""Relationships on the screens of the real agent: the node view, its drawing, F4, /about and plain words."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.agent import Agent
from agent.relations.stating import read
from tests.fakes import FakeGenerator
from tests.tui.conftest import screen_text, wait_until
from tests.tui.queries.test_screen import opened_with
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


async def shown(pilot: Pilot[int], app: ClewApp, *words: str) -> None:
    for each in words:
        await wait_until(pilot, lambda each=each: each in screen_text(app), each)  # type: ignore[misc]


async def walk(pilot: Pilot[int], app: ClewApp, name: str) -> NodeScreen:
    walk_from(app.view, "Entity", name)
    await wait_until(pilot, lambda: isinstance(app.screen, NodeScreen) and "itself" in screen_text(app))
    assert isinstance(app.screen, NodeScreen)
    return app.screen


async def test_the_node_view_tells_them_first_and_p_leads_to_their_words(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await relate(agent, *STATED, "Bob works_with Ada")
        screen = await walk(pilot, app, "Ada")
        await shown(
            pilot,
            app,
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
        await pilot.press("p")
        await wait_until(pilot, lambda: isinstance(app.screen, ProofScreen))
        await shown(pilot, app, "“Ada works with Bob since 2024-05.”", "“Bob works with Ada.”")
        await pilot.press("escape", "enter")
        await wait_until(pilot, lambda: screen.walk.ego.node.title == "Bob" and not screen._busy)
        await shown(pilot, app, "does not trust → Ada", "works with → Ada")


async def test_what_loses_its_only_proof_while_it_is_shown_goes_without_an_error(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        (made, *_) = await relate(agent, *STATED)
        await walk(pilot, app, "Ada")
        await shown(pilot, app, "works with → Bob")
        await pilot.press("tab", "down")
        await agent.memories.forget(made)
        await wait_until(pilot, lambda: "works with → Bob" not in screen_text(app))
        assert isinstance(app.screen, NodeScreen)
        await shown(pilot, app, "is managed by → Eve")
        assert "deleted" not in screen_text(app)


async def test_of_a_what_if_main_shows_nothing_and_the_what_if_all_it_sees(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine.", "Fine."), reflect=False) as (app, pilot, agent):
        await relate(agent, "Ada works_with Bob")
        await say(app, pilot, "Hello")
        main = app.view.session
        app.perform("fork", "what-if Atlantis")
        await wait_until(pilot, lambda: app.view.state.what_if == "Atlantis")
        await relate(agent, "Ada manages Bob", world=app.view.state.world)
        await walk(pilot, app, "Ada")
        await shown(pilot, app, "manages → Bob", "works with → Bob")
        await pilot.press("escape")
        assert main is not None
        await app.open_session(main)
        await wait_until(pilot, lambda: app.view.state.world == "main" and app.view.session == main)
        screen = await walk(pilot, app, "Ada")
        await shown(pilot, app, "works with → Bob")
        assert "manages" not in screen_text(app)
        assert screen.walk.sides[0].relation == "works_with"


async def test_f4_filters_by_kind_of_relationship_and_by_person(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await relate(agent, *STATED)
        await pilot.press("f4")
        await shown(pilot, app, "R relation", "Eve manages Ada.")
        await pilot.press("R")
        await shown(pilot, app, "R trusts", "Memories 1")
        await pilot.press("R")
        await shown(pilot, app, "R works with", "Ada —works with→ Bob, since 2024-05")
        await pilot.press("backspace", "W", "W")
        await shown(pilot, app, "W Bob", "Memories 2")


async def test_about_is_a_dossier_that_follows_and_leads_to_the_graph(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        (made, *_) = await relate(agent, *STATED)
        first = await agent.memories.remember("Ada is allergic to peanuts")
        await agent.memories.correct(first.id, "Ada can eat peanuts again")
        app.perform("about", "ada")
        await shown(
            pilot,
            app,
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
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, AboutPage))


@pytest.mark.process
async def test_a_question_in_plain_words_is_answered_in_words(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await relate(agent, *STATED)
        screen = await opened_with(app, pilot)
        screen.editor.put("? how are Eve and Bob related?")
        await pilot.press("f5")
        await wait_until(pilot, lambda: screen.editor.text.startswith("// how are Eve and Bob related?\n"))
        await wait_until(pilot, lambda: "F5 runs it." in screen_text(app), "F5 runs it.")
        await pilot.press("f5")
        await shown(pilot, app, "What the query asks for", "Eve")
        await pilot.press("f5")
        await shown(pilot, app, "▲ Eve —manages→ ▲ Ada —works with→ ▲ Bob")
