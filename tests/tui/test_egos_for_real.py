"""Walking the graph from a chat, with a real log and graph; only the models are fakes."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.examples import few
from tests.tui.acting import closes, enter, paste, press, some
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees, sees_screen
from tui.about import AboutPage
from tui.app import ClewApp
from tui.drawing.view import GraphView
from tui.memories.screen import MemoriesScreen
from tui.node_links import walk_from
from tui.nodes.panes import ProofScreen
from tui.nodes.screen import NodeScreen
from tui.widgets.chooser import Chooser
from tui.widgets.search import SearchScreen

BERLIN, ADA = "I live in Berlin", "The boat is called Ada"


def ego(app: ClewApp) -> NodeScreen:
    assert isinstance(app.screen, NodeScreen)
    return app.screen


def middle(app: ClewApp) -> str:
    """The title of the node in the middle, while nothing is done."""
    screen = app.screen
    return screen.walk.ego.node.title if isinstance(screen, NodeScreen) and not screen._busy else ""


async def in_the_middle(app: ClewApp, pilot: Pilot[int], title: str, *keys: str) -> None:
    """Press keys, and wait until that node is in the middle."""
    await pilot.press(*keys)
    await wait_until(pilot, lambda: middle(app) == title, title)


def marked(app: ClewApp) -> str:
    """The title of the neighbour with the mark."""
    item = ego(app).rows.chosen
    return item.node.title if item is not None and item.kind == "node" and item.node is not None else ""


def drawn(app: ClewApp) -> set[str]:
    """The titles of the nodes that are drawn."""
    views = ego(app).query(GraphView)
    picture = views.first().picture if views else None
    return {spot.node.title for spot in picture.layout.spots} if picture is not None else set()


async def walk(app: ClewApp, pilot: Pilot[int], table: str, id: str) -> None:
    walk_from(app.view, table, id)
    await sees_screen(pilot, NodeScreen, "itself")


async def choose(app: ClewApp, pilot: Pilot[int], words: str) -> None:
    """Put the mark at the neighbour with these words, by keys alone."""
    for _ in range(60):
        if words in marked(app):
            return
        await pilot.press("down")
    raise AssertionError(f"no neighbour says {words}")


def quiz(count: int) -> list[tuple[str, str]]:
    return [(f"Question {number}", f"Answer {number}") for number in range(count)]


async def test_a_message_leads_to_its_chat_its_speaker_and_back_and_more_comes_on_demand(chat: Running) -> None:
    agent = ScriptedAgent()
    sailing = agent.add_session("Sailing", (ADA, "A fine name."), ("When do we sail?", "At dawn."))
    long = agent.add_session("Quiz", *quiz(30))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await walk(app, pilot, "Turn", agent.turns[sailing][0])
        await sees(pilot, ADA, "said in", "said by", "followed by", "-[:IN_SESSION]->", "A fine name.")
        await pilot.press("tab")
        assert marked(app) == "A fine name."
        await in_the_middle(app, pilot, "A fine name.", "tab", "shift+tab", "enter")
        await choose(app, pilot, "When do we sail?")
        await in_the_middle(app, pilot, "When do we sail?", "enter")
        await sees(pilot, "Graph ‹ A fine name. ‹ The boat is called Ada")
        await in_the_middle(app, pilot, "A fine name.", "backspace")
        assert marked(app) == "When do we sail?"
        await in_the_middle(app, pilot, ADA, "backspace")
        await press(pilot, "backspace", shows="where you started")
        await closes(pilot, "escape")

        await walk(app, pilot, "Session", long)
        await sees(pilot, "20 of 60 messages")
        while (item := ego(app).rows.chosen) is None or item.kind != "more":
            await pilot.press("down")
        await press(pilot, "enter", until=lambda: any(len(side.nodes) == 60 for side in ego(app).walk.sides))
        assert [item.kind for item in ego(app).rows.items].count("more") == 0
        await pilot.press("slash")
        await paste(pilot, "ANSWER 13")
        await wait_until(pilot, lambda: ego(app).walk.text == "ANSWER 13")
        await sees(pilot, "1 message ")
        await pilot.press("enter")
        assert marked(app) == "Answer 13"
        await press(pilot, "escape", opens=NodeScreen, shows="20 of 60 messages")


@pytest.mark.process
async def test_words_leave_only_what_has_them_in_the_drawing_too_and_f6_goes_between_it_and_the_list(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = ScriptedAgent()
    short = agent.add_session("Quiz", *quiz(3))
    huge = agent.add_session("Huge", ("word " * few(20_000), "x" * few(100_000)))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await walk(app, pilot, "Session", short)
        await press(pilot, "d", until=lambda: ego(app).drawing.chosen is not None)
        assert drawn(app) > {"Question 0", "Answer 1"}
        await sees(pilot, "Tab next node", "F6 list")
        await pilot.press("slash")
        await paste(pilot, "answer 1", "enter")
        await wait_until(pilot, lambda: "Answer 1" in drawn(app) and len(drawn(app)) == 2)
        await pilot.press("tab", "tab")
        assert ego(app).drawing.has_focus_within
        await press(pilot, "escape", until=lambda: len(drawn(app)) > 2)
        assert ego(app).drawing.has_focus_within
        await press(pilot, "f6", until=lambda: ego(app).rows.has_focus)
        await closes(pilot, "escape")

        await pilot.resize_terminal(140, 40)
        await walk(app, pilot, "Session", short)
        await wait_until(pilot, lambda: bool(drawn(app)))
        await press(pilot, "f6", until=lambda: ego(app).drawing.has_focus_within)
        await press(pilot, "s", shows="Drawing saved to")
        assert not app._notifications
        await press(pilot, "f6", until=lambda: ego(app).rows.has_focus)
        assert ego(app).drawing.region.area
        await closes(pilot, "escape")

        await walk(app, pilot, "Turn", agent.turns[huge][0])
        for size in some((8, 3), (20, 10), (20, 4), (40, 12), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.press("down", "d", "d", "d", "p", "up")
        await sees(pilot, "Message")


async def test_from_a_memory_the_way_leads_down_to_its_words_and_o_goes_where_a_node_is_at_home(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Else", ("Something else", "Fine."))
    first = agent.add_session("Home", (BERLIN, "Noted."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        made = await agent.memories.remember(BERLIN)
        again = await agent.memories.correct(made.id, "I live in Lisbon")
        await walk(app, pilot, "Observation", again.id)
        await sees(pilot, "replaces", BERLIN)
        await press(pilot, "p", opens=ProofScreen, shows=("this memory", "replaces", "learned from", f"“{BERLIN}"))
        steps = app.screen._steps
        place = next(place for place, step in enumerate(steps) if step.node.ref.table == "Turn")
        await closes(pilot, *["down"] * place, "enter")
        turn = await agent.graph.node(steps[place].node.ref)
        await wait_until(pilot, lambda: app.view.session == turn.details["session"])

        await walk(app, pilot, "Session", first)
        await choose(app, pilot, BERLIN)
        await press(pilot, "o", until=lambda: len(app.screen_stack) == 1 and app.view.session == first)
        await walk(app, pilot, "Observation", again.id)
        await press(pilot, "o", opens=MemoriesScreen, shows="I live in Lisbon")
        await walk(app, pilot, "Session", first)
        await closes(pilot, "o")


async def test_a_hidden_message_has_no_words_and_one_deleted_while_it_is_shown_is_said_to_be(chat: Running) -> None:
    agent = ScriptedAgent()
    gone = agent.add_session("Gone", ("my secret is xyzzy", "Noted."))
    hidden = agent.add_session("Hidden", ("my secret is xyzzy", "Fine."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await agent.memories.remember("The secret is xyzzy")
        secret, reply = agent.turns[hidden]
        await agent.chats.hide(secret)
        for table, id in some(("Turn", secret), ("Turn", reply), ("Session", hidden)):
            await walk(app, pilot, table, id)
            await sees(pilot, "hidden")
            assert "my secret" not in screen_text(app)
            await pilot.press("slash")
            await paste(pilot, "xyzzy")
            await wait_until(pilot, lambda: ego(app).walk.text == "xyzzy" and not ego(app).walk.sides)
            await closes(pilot, "escape", "escape")

        secret, reply = agent.turns[gone]
        await walk(app, pilot, "Turn", reply)
        await choose(app, pilot, "xyzzy")
        await in_the_middle(app, pilot, "my secret is xyzzy", "enter")
        await agent.plans.carry_out(await agent.plans.delete(secret))
        await press(pilot, "space", shows="It has been deleted.")
        await in_the_middle(app, pilot, "Noted.")
        await wait_until(pilot, lambda: "xyzzy" not in screen_text(app))  # the drawing is made beside
        await agent.chats.delete(gone)
        await closes(pilot, "space")
        await sees(pilot, "It has been deleted.")
        walk_from(app.view, "Turn", secret)
        await sees(pilot, "may have been deleted")
        assert len(app.screen_stack) == 1


async def test_g_walks_from_what_is_in_focus_wherever_that_is(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Boats", (ADA, "Noted."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await agent.memories.remember(ADA)

        async def walked(title: str) -> None:
            await in_the_middle(app, pilot, title)
            before = len(app.screen_stack)
            await press(pilot, "escape", until=lambda: len(app.screen_stack) < before or not middle(app))

        await pilot.press("tab", "g")
        await walked("Noted.")
        await press(pilot, "escape", "f6", opens=Chooser, shows="Noted.")
        await pilot.press("home", "g")
        await walked(ADA)
        await sees_screen(pilot, Chooser)
        await closes(pilot, "escape")
        await press(pilot, "f4", opens=MemoriesScreen, shows="Ada")
        await pilot.press("g")
        await walked(ADA)
        assert isinstance(app.screen, MemoriesScreen)
        await pilot.press("escape", "ctrl+f")
        await paste(pilot, "called")
        await sees_screen(pilot, SearchScreen, "found")
        await pilot.press("ctrl+g")
        await walked(ADA)
        await closes(pilot, "escape")
        await press(pilot, "f2", "ctrl+g", opens=NodeScreen, shows="Chat")
        await closes(pilot, "escape")
        await pilot.press("escape")
        await enter(pilot, "/about you", "About you", opens=AboutPage)
        await pilot.press("g")
        await walked("you")
        await sees_screen(pilot, AboutPage)
        await pilot.press("escape")
        await enter(pilot, "/ego nobody at all", "may have been deleted")
