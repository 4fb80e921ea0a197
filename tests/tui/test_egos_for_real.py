"""Walking the graph on the real agent, with a real log and graph; only the models are fakes."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.agent import Agent
from graph.values import Ref, Wanted
from tests.fakes import FakeGenerator
from tests.tui.conftest import screen_text, wait_until
from tests.tui.test_recall_for_real import running, say
from tui.about import AboutPage
from tui.app import ClewApp
from tui.drawing.view import GraphView
from tui.memories.screen import MemoriesScreen
from tui.node_links import walk_from
from tui.nodes.panes import ProofScreen
from tui.nodes.screen import NodeScreen
from tui.widgets.chooser import Chooser
from tui.widgets.search import SearchScreen

pytestmark = pytest.mark.ui


def ego(app: ClewApp) -> NodeScreen:
    assert isinstance(app.screen, NodeScreen)
    return app.screen


def middle(app: ClewApp) -> str:
    """The title of the node in the middle, while nothing is done."""
    screen = app.screen
    return screen.walk.ego.node.title if isinstance(screen, NodeScreen) and not screen._busy else ""


def drawn(app: ClewApp) -> set[str]:
    """The titles of the nodes that are drawn."""
    views = ego(app).query(GraphView)
    picture = views.first().picture if views else None
    return {spot.node.title for spot in picture.layout.spots} if picture is not None else set()


async def walk(app: ClewApp, pilot: Pilot[int], ref: Ref) -> None:
    walk_from(app.view, ref.table, ref.id)
    await wait_until(pilot, lambda: isinstance(app.screen, NodeScreen) and "itself" in screen_text(app))


async def choose(app: ClewApp, pilot: Pilot[int], words: str) -> None:
    """Put the mark at the neighbour with these words, by keys alone."""
    for _ in range(60):
        item = ego(app).rows.chosen
        if item is not None and item.kind == "node" and item.node is not None and words in item.node.title:
            return
        await pilot.press("down")
    raise AssertionError(f"no neighbour says {words}")


async def learned(agent: Agent) -> str:
    return (await agent.memories.find(Wanted()))[0].id


async def test_a_message_leads_to_its_chat_its_speaker_and_back_by_keys_alone(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("A fine name.", "At dawn."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "The boat is called Ada")
        await say(app, pilot, "When do we sail?")
        session = app.view.session
        assert session is not None
        turn = (await agent.chats.thread(session))[0]
        await walk(app, pilot, Ref("Turn", turn.id))
        shown = screen_text(app)
        told = ("The boat is called Ada", "said in", "said by", "followed by", "-[:IN_SESSION]->", "A fine name.")
        assert [words for words in told if words not in shown] == []
        await pilot.press("tab")
        item = ego(app).rows.chosen
        assert item is not None
        assert item.node is not None
        assert item.node.title == "A fine name."
        await pilot.press("tab", "shift+tab", "enter")
        await wait_until(pilot, lambda: middle(app) == "A fine name.")
        await choose(app, pilot, "When do we sail?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: middle(app) == "When do we sail?")
        await wait_until(pilot, lambda: "Graph ‹ A fine name. ‹ The boat is called Ada" in screen_text(app))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: middle(app) == "A fine name.")
        item = ego(app).rows.chosen
        assert item is not None
        assert item.node is not None
        assert item.node.title == "When do we sail?"
        await pilot.press("backspace")
        await wait_until(pilot, lambda: middle(app) == "The boat is called Ada")
        await pilot.press("backspace")
        await wait_until(pilot, lambda: "where you started" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_from_a_memory_the_way_leads_down_to_its_words_and_into_the_chat(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Noted.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        made = await agent.memories.remember("I live in Berlin")
        again = await agent.memories.correct(made.id, "I live in Lisbon")
        await pilot.press("ctrl+n")
        await say(app, pilot, "Something else")
        await walk(app, pilot, Ref("Observation", again.id))
        await wait_until(pilot, lambda: "replaces" in screen_text(app), "replaces")
        await wait_until(pilot, lambda: "I live in Berlin" in screen_text(app), "I live in Berlin")
        await pilot.press("p")
        await wait_until(pilot, lambda: isinstance(app.screen, ProofScreen) and "this memory" in screen_text(app))
        for words in ("this memory", "replaces", "learned from", "“I live in Berlin"):
            assert words in screen_text(app)
        steps = app.screen._steps  # type: ignore[attr-defined]
        place = next(place for place, step in enumerate(steps) if step.node.ref.table == "Turn")
        await pilot.press(*["down"] * place, "enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        turn = await agent.graph.node(steps[place].node.ref)
        await wait_until(pilot, lambda: app.view.session == turn.details["session"])


async def test_a_node_that_is_deleted_while_it_is_shown_is_said_to_be_and_the_one_before_is_shown(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeGenerator("Noted.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "my secret is xyzzy")
        session = app.view.session
        assert session is not None
        turns = await agent.chats.thread(session)
        await walk(app, pilot, Ref("Turn", turns[1].id))
        await choose(app, pilot, "xyzzy")
        await pilot.press("enter")
        await wait_until(pilot, lambda: middle(app) == "my secret is xyzzy")
        await agent.plans.carry_out(await agent.plans.delete(turns[0].id))
        await pilot.press("space")
        await wait_until(pilot, lambda: "It has been deleted." in screen_text(app))
        await wait_until(pilot, lambda: middle(app) == "Noted.")
        await wait_until(pilot, lambda: "xyzzy" not in screen_text(app))  # the drawing is made beside
        await agent.chats.delete(session)
        await pilot.press("space")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await wait_until(pilot, lambda: "It has been deleted." in screen_text(app))
        await walk_gone(app, pilot, Ref("Turn", turns[0].id))


async def walk_gone(app: ClewApp, pilot: Pilot[int], ref: Ref) -> None:
    walk_from(app.view, ref.table, ref.id)
    await wait_until(pilot, lambda: "may have been deleted" in screen_text(app))
    assert len(app.screen_stack) == 1


async def test_a_hidden_message_is_there_without_its_words(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Noted.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "my secret is xyzzy")
        session = app.view.session
        assert session is not None
        made = await agent.memories.remember("The secret is xyzzy")
        turns = await agent.chats.thread(session)
        await agent.chats.hide(turns[0].id)
        for ref in (Ref("Turn", turns[0].id), Ref("Turn", turns[1].id), Ref("Session", session)):
            await walk(app, pilot, ref)
            await wait_until(pilot, lambda: "hidden" in screen_text(app))
            assert "my secret" not in screen_text(app)
            await pilot.press("slash", *"xyzzy")
            await wait_until(pilot, lambda: ego(app).walk.text == "xyzzy" and not ego(app).walk.sides)
            await pilot.press("escape", "escape")
            await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert made.id


async def test_more_of_many_neighbours_comes_on_demand_and_words_find_some(tmp_path: Path) -> None:
    replies = [f"Answer {number}" for number in range(30)]
    async with running(tmp_path, FakeGenerator(*replies), reflect=False) as (app, pilot, _agent):
        for number in range(30):
            await say(app, pilot, f"Question {number}")
        session = app.view.session
        assert session is not None
        await walk(app, pilot, Ref("Session", session))
        await wait_until(pilot, lambda: "20 of 60 messages" in screen_text(app), "20 of 60 messages")
        while (item := ego(app).rows.chosen) is None or item.kind != "more":
            await pilot.press("down")
        await pilot.press("enter")
        await wait_until(pilot, lambda: any(len(side.nodes) == 60 for side in ego(app).walk.sides))
        assert [item.kind for item in ego(app).rows.items].count("more") == 0
        await pilot.press("slash", *"ANSWER 13")
        await wait_until(pilot, lambda: ego(app).walk.text == "ANSWER 13")
        await wait_until(pilot, lambda: "1 message " in screen_text(app))
        await pilot.press("enter")
        item = ego(app).rows.chosen
        assert item is not None
        assert item.node is not None
        assert item.node.title == "Answer 13"
        await pilot.press("escape")
        await wait_until(pilot, lambda: "20 of 60 messages" in screen_text(app) and isinstance(app.screen, NodeScreen))


async def test_words_leave_only_what_has_them_in_the_drawing_too_and_the_keys_go_back_into_it(tmp_path: Path) -> None:
    replies = [f"Answer {number}" for number in range(3)]
    async with running(tmp_path, FakeGenerator(*replies), reflect=False) as (app, pilot, _agent):
        for number in range(3):
            await say(app, pilot, f"Question {number}")
        session = app.view.session
        assert session is not None
        await pilot.resize_terminal(80, 24)
        await walk(app, pilot, Ref("Session", session))
        await pilot.press("d")
        await wait_until(pilot, lambda: ego(app).drawing.chosen is not None)
        assert drawn(app) > {"Question 0", "Answer 1"}
        await wait_until(pilot, lambda: "Tab next node" in screen_text(app), "Tab next node")
        await wait_until(pilot, lambda: "F6 list" in screen_text(app), "F6 list")
        await pilot.press("slash", *"answer 1", "enter")
        await wait_until(pilot, lambda: "Answer 1" in drawn(app) and len(drawn(app)) == 2)
        await pilot.press("tab", "tab")
        assert ego(app).drawing.has_focus_within
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(drawn(app)) > 2)
        assert ego(app).drawing.has_focus_within
        await pilot.press("f6")
        await wait_until(pilot, lambda: ego(app).rows.has_focus)


@pytest.mark.process
async def test_f6_goes_between_the_list_and_the_drawing_beside_it_and_a_saved_picture_is_told_of_in_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(tmp_path / "home", FakeGenerator("A fine name."), reflect=False) as (app, pilot, _agent):
        await say(app, pilot, "The boat is called Ada")
        session = app.view.session
        assert session is not None
        await pilot.resize_terminal(140, 40)
        await walk(app, pilot, Ref("Session", session))
        await wait_until(pilot, lambda: bool(drawn(app)))
        await pilot.press("f6")
        await wait_until(pilot, lambda: ego(app).drawing.has_focus_within)
        await pilot.press("s")
        await wait_until(pilot, lambda: "Drawing saved to" in screen_text(app))
        assert not app._notifications
        await pilot.press("f6")
        await wait_until(pilot, lambda: ego(app).rows.has_focus)
        assert ego(app).drawing.region.area


async def test_o_goes_where_a_node_is_at_home_from_whatever_lies_over_the_chat(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Noted.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        first = app.view.session
        made = await agent.memories.remember("I live in Berlin")
        await pilot.press("ctrl+n")
        await say(app, pilot, "Something else")
        assert first is not None
        await walk(app, pilot, Ref("Session", first))
        await choose(app, pilot, "I live in Berlin")
        await pilot.press("o")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1 and app.view.session == first)
        await walk(app, pilot, Ref("Observation", made.id))
        await pilot.press("o")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        await wait_until(pilot, lambda: "I live in Berlin" in screen_text(app))
        await walk(app, pilot, Ref("Session", first))
        await pilot.press("o")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_a_screen_of_any_size_shows_what_it_can(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("x" * 100_000, "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "word " * 20_000)
        session = app.view.session
        assert session is not None
        turns = await agent.chats.thread(session)
        await walk(app, pilot, Ref("Turn", turns[0].id))
        for width, height in ((20, 10), (20, 4), (8, 3), (40, 12), (200, 60), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            await pilot.press("down", "d", "d", "d", "p", "up")
        await wait_until(pilot, lambda: "Message" in screen_text(app))


async def test_g_walks_from_what_is_in_focus_wherever_that_is(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Noted.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "The boat is called Ada")
        await agent.memories.remember("The boat is called Ada")

        async def walked(title: str) -> None:
            await wait_until(pilot, lambda: middle(app) == title, title)
            before = len(app.screen_stack)
            await pilot.press("escape")
            await wait_until(pilot, lambda: len(app.screen_stack) < before or not middle(app))

        await pilot.press("tab", "g")
        await walked("Noted.")
        await pilot.press("escape", "f6")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "Noted." in screen_text(app))
        await pilot.press("home", "g")
        await walked("The boat is called Ada")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "Ada" in screen_text(app))
        await pilot.press("g")
        await walked("The boat is called Ada")
        assert isinstance(app.screen, MemoriesScreen)
        await pilot.press("escape", "ctrl+f", *"called")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen) and "found" in screen_text(app))
        await pilot.press("ctrl+g")
        await walked("The boat is called Ada")
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("f2", "ctrl+g")
        await wait_until(pilot, lambda: isinstance(app.screen, NodeScreen) and "Chat" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("escape", *"/about you", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, AboutPage) and "About you" in screen_text(app))
        await pilot.press("g")
        await walked("you")
        await wait_until(pilot, lambda: isinstance(app.screen, AboutPage))
        await pilot.press("escape", *"/ego nobody at all", "enter")
        await wait_until(pilot, lambda: "may have been deleted" in screen_text(app))
