"""The query screen on a small agent: each key does what it says, nothing that runs blocks, all text is only text."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static, TextArea

from agent.asking.modelled import VERSION
from agent.asking.shelf import Ran, Saved
from agent.events import GraphProgress
from agent.home import Home
from graph.console.console import Answer
from graph.errors import QueryFailed, QueryTimeout
from tests.examples import soaking
from tests.fakes import FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, make_app, screen_text, there, wait_until
from tests.tui.queries.asked_agent import AskedAgent
from tests.tui.queries.test_cells import PERSON, SAID_BY, TURN
from tests.tui.scripted import MODEL, START, ScriptedAgent
from tests.tui.seeing import sees, words
from tui.app import ClewApp
from tui.drafts import DRAFT, Drafts
from tui.handlers import NOTHING
from tui.queries.runner import AskParameters
from tui.queries.screen import QueryScreen
from tui.queries.table import ResultTable
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine, Confirm, Reader

SIZES = ((20, 24), (20, 5), (9, 3), (60, 10))
ABOUT = "0 relationships"  # of a memory in which nothing was said
TEA = [(f"Tea for the {each}th time", "Enjoy it.") for each in range(4, 10)]
ABOUT_TEA = "18 nodes, 37 relationships"
ALL = "MATCH (t:Turn) RETURN t.text, t.pinned"
ROWS = Answer(
    ("t.text", "t.pinned"),
    tuple((f"row {each}", None if each % 2 else True) for each in range(500)),
    12_340,
    14.2,
    "rows",
)
NODES = Answer(("t", "r", "e"), ((TURN, SAID_BY, PERSON),), 1, 2.0)


def screen_of(app: ClewApp) -> QueryScreen:
    return next(each for each in app.screen_stack if isinstance(each, QueryScreen))


async def opened_with(app: ClewApp, pilot: Pilot[int]) -> QueryScreen:
    """The screen, when it knows what there is."""
    await press(pilot, "f3", until=lambda: isinstance(app.screen, QueryScreen) and app.screen.is_mounted)
    await sees(pilot, " relationships")
    return screen_of(app)


async def opened(app: ClewApp, pilot: Pilot[int], text: str = "", *, about: str = ABOUT) -> QueryScreen:
    screen = await opened_with(app, pilot)
    assert about in words(app)
    if text:
        screen.editor.put(text)
        await pilot.pause()
    return screen


@asynccontextmanager
async def querying(
    chat: Running, agent: AskedAgent, text: str = "", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ClewApp, Pilot[int], QueryScreen]]:
    async with chat(agent, size=size) as (app, pilot):
        yield app, pilot, await opened(app, pilot, text)


async def run(pilot: Pilot[int], screen: QueryScreen, text: str, **then: Any) -> None:
    screen.editor.put(text)
    await press(pilot, "f5", **then)


async def asks(pilot: Pilot[int], dialog: type[Screen[Any]], *keys: str) -> Screen[Any]:
    """A dialog, once it is on the screen after these keys."""
    await press(pilot, *keys, until=lambda: isinstance(pilot.app.screen, dialog))
    return pilot.app.screen


async def name_it(pilot: Pilot[int], name: str, **then: Any) -> None:
    """Answer the question for a name."""
    (await asks(pilot, AskLine)).query_one(Input).value = name
    await press(pilot, "enter", **then)


def agent_with_rows() -> AskedAgent:
    agent = AskedAgent()
    agent.answers[ALL] = ROWS
    return agent


def at_once(app: ClewApp, *keys: str) -> None:
    """Keys that come in one piece, as from a fast keyboard: none waits for what the one before does."""
    for key in keys:
        app.post_message(Key(key, {"space": " ", "full_stop": "."}.get(key, key if len(key) == 1 else None)))


async def test_a_query_is_typed_with_completion_and_run_and_no_key_of_a_burst_is_lost(chat: Running) -> None:
    agent = agent_with_rows()
    async with querying(chat, agent) as (app, pilot, screen):
        await press(pilot, "f5", shows="There is no query yet.")

        screen.editor.put("MATCH (t")
        await press(pilot, ":", until=lambda: screen.editor.popup.display)
        await pilot.press("down", "enter")
        assert screen.editor.text == "MATCH (t:Session"
        await press(pilot, "backspace", "backspace", "ctrl+@", until=lambda: screen.editor.popup.display)
        await press(pilot, "escape", until=lambda: not screen.editor.popup.display)
        assert app.screen is screen, "Esc closed the list alone"
        await pilot.press("enter")
        assert screen.editor.text.endswith("\n"), "Enter is a new line where nothing was chosen"

        screen.editor.put("")
        await pilot.press(*"mat", "tab", *" (t:Tu", "tab", *") RETURN t.te", "tab", *", t.pinned", "f5")
        await sees(pilot, "500 of 12 340 rows, 14 ms")
        assert screen.editor.text == "MATCH (t:Turn) RETURN t.text, t.pinned"
        assert agent.asked == [(ALL, {}, 500)]
        assert "There is no query yet." not in words(app), "that was said of another query"
        await wait_until(pilot, lambda: "row 0" in words(app) and "∅" in words(app), "the rows")

        screen.editor.put("")
        await pilot.pause()
        at_once(app, *"RETURN", "space", "1", "f5")
        await wait_until(pilot, lambda: [asked[0] for asked in agent.asked[1:]] == ["RETURN 1"], "the whole query")
        assert not screen.editor.popup.display
        await pilot.press("f6")
        assert screen.results.has_focus_within
        at_once(app, "e", "space", "a", "s", "space", "m", "x", "y", "f5")
        await wait_until(pilot, lambda: len(agent.asked) == 3, "the second query")
        assert agent.asked[-1][0] == "RETURN 1 as mxy"
        screen.editor.put("MATCH (m:Turn) RETURN m")
        await pilot.pause()
        at_once(app, "full_stop", "t", "e", "x", "tab")
        await wait_until(pilot, lambda: screen.editor.text.endswith("m.text"), "the whole word")
        assert screen.editor.has_focus


async def test_the_keys_are_told_where_they_work_and_the_narrowest_line_tells_the_page(chat: Running) -> None:
    agent = agent_with_rows()
    agent.answers[ALL] = QueryFailed("It cannot be read.")
    async with querying(chat, agent, ALL) as (app, pilot, screen):
        await sees(pilot, "F5 run")
        await press(pilot, "f1", shows="Keys of the query screen")
        await press(pilot, "escape", "f5", shows="It cannot be read.")
        await press(pilot, "f6", until=lambda: screen.results.has_focus_within, shows="e edit")
        assert "m more" not in words(app)
        await run(pilot, screen, "MATCH (t:Turn) WHERE false RETURN t")
        await sees(pilot, "No rows: nothing in the memory matches this query.", "0 rows, 1 ms")
        await pilot.press("y", "g", "m", "enter", "x", "escape")  # there is nothing to do that with
        agent.answers[ALL] = ROWS
        await run(pilot, screen, ALL, shows="m more")
        await press(pilot, "2", shows="Nothing to draw")
        await press(pilot, "1", shows="row 0")
        await pilot.resize_terminal(20, 24)
        await sees(pilot, "1 Table 500")
        await press(pilot, "3", shows="3 JSON 500")
        await press(pilot, "f3", until=lambda: len(app.screen_stack) == 1)


async def test_rows_are_sorted_opened_whole_copied_drawn_and_told_as_json(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = Answer(("x", "n"), (("b" * 100_000, 2), ("a", 1)), 2, 1.0)
    async with querying(chat, agent, "RETURN 1", (120, 40)) as (_, pilot, screen):
        await press(pilot, "f5", shows="2 rows, 1 ms")
        await pilot.press("f6", "s")
        assert [row[0][0] for row in screen.query_one(ResultTable).in_order] == ["a", "b"]
        await press(pilot, "y", shows="The cell was")
        assert (await asks(pilot, Reader, "down", "enter")).query_one(TextArea).text == "b" * 100_000
        await press(pilot, "escape", "Y", shows="The table of 2 rows was")
        agent.otherwise = NODES
        await run(pilot, screen, "RETURN 2", shows="1 row, 2 ms")
        await press(pilot, "2", until=lambda: screen.results.drawing is not None)
        assert {spot.node.title for spot in screen.results.drawing.spots} == {"Hello there", "Noor"}  # type: ignore[union-attr]
        await press(pilot, "3", shows=('"_label": "Turn",'))
        assert json.loads((await asks(pilot, Reader, "enter")).query_one(TextArea).text)["e"] == PERSON
        await pilot.press("escape", "1")
        assert screen.results.body.id == "query-table"


OLD, NEW, EMPTY = "RETURN 'old' AS old", "RETURN 'new' AS new", "RETURN 'none' AS none"


@pytest.mark.parametrize("page", ["2", "3"])
async def test_every_page_is_of_the_answer_that_the_line_tells(chat: Running, page: str) -> None:
    agent = agent_with_rows()
    agent.answers[OLD] = Answer(("old",), tuple(({**PERSON, "name": f"Old {each}"},) for each in range(5)), 5, 1.0)
    agent.answers[NEW] = Answer(("new",), ((TURN,),), 1, 2.0)
    agent.answers[EMPTY] = Answer(("none",), ((7,),), 1, 3.0)
    agent.firsts = {each: Answer(told.columns, told.rows, None, 1.0) for each, told in agent.answers.items()}  # type: ignore[union-attr]
    async with querying(chat, agent, size=(120, 40)) as (app, pilot, screen):
        for late in (False, True):  # the count of the rows
            await run(pilot, screen, OLD, shows="5 rows, 1 ms")
            await press(pilot, *([] if late else ["f6"]), page, shows="Old 0")
            await pilot.press("end")
            for query, told in ((NEW, "Hello"), (EMPTY, "Nothing to draw" if page == "2" else '"none": 7')):
                if late:
                    agent.running.clear()
                await run(pilot, screen, query)
                if late:
                    await sees(pilot, "counting the rows … ", told)
                    agent.running.set()
                await sees(pilot, "1 row, ", told)
                assert "Old" not in words(app)
                assert screen.results.has_focus_within, "the keys stay where they were"
                await pilot.press("y", *(("enter", "escape") if page == "3" else ()))
        await press(pilot, "1", shows="none")


async def test_a_running_query_shows_its_first_rows_is_stopped_at_once_and_asked_for_more(chat: Running) -> None:
    agent = agent_with_rows()
    agent.firsts[ALL] = Answer(ROWS.columns, ROWS.rows, None, 5.0)
    kept = agent.watch_calls("queries.keep")
    async with querying(chat, agent, ALL) as (app, pilot, screen):
        agent.running.clear()
        await press(pilot, "f5", shows=("counting the rows … ", "row 0"))
        agent.running.set()
        await sees(pilot, "500 of 12 340 rows, 14 ms")

        agent.running.clear()
        await press(pilot, "f5", shows="counting the rows … ")
        await press(pilot, "escape", shows=("the first 500 rows, 5 ms", "the rows that came are here"))

        agent.firsts.clear()
        kept.clear()
        await press(pilot, "f5", shows="running … ")
        await press(pilot, "f5", shows="A query is running; Esc stops it.")
        await press(pilot, "escape", shows="Stopped after")
        assert agent.ended == [ALL, ALL]
        assert app.screen is screen
        assert kept == []

        agent.answers[ALL] = Answer(("n",), tuple((each,) for each in range(700)), 700, 3.0)
        agent.running.set()
        await press(pilot, "f5", shows="500 of 700 rows")
        await press(pilot, "f6", "m", shows="700 rows, 3 ms")
        assert len(screen.query_one(ResultTable).rows) == 700
        await press(pilot, "m", shows="All available rows are here.")

        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        screen = await opened(app, pilot)
        agent.running.clear()
        await press(pilot, "f5", shows="running … ")
        screen.dismiss(None)
        await wait_until(pilot, lambda: agent.ended == [ALL] * 3, "the end of the query with the screen")


async def errors(agent: AskedAgent) -> list[str]:
    """Why the queries of the history failed."""
    return [ran.error for ran in await agent.queries.history()]


async def test_what_is_wrong_is_said_and_marked_and_hostile_words_are_only_words(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = QueryFailed("There is no table Tun.", line=2, column=4)
    async with querying(chat, agent) as (app, pilot, screen):
        await run(pilot, screen, "MATCH\n(t:Tun)\nRETURN t", shows="There is no table Tun.")
        assert screen.editor.wrong == (1, 3, 6)
        await wait_until(pilot, lambda: errors(agent), "the history")
        assert await errors(agent) == ["There is no table Tun."]
        await press(pilot, "x", until=lambda: screen.editor.wrong is None)

        await run(pilot, screen, "MATCH (t:Turn {id: $id})\nDELETE t", shows="DELETE does more than read the graph")
        assert screen.editor.wrong == (1, 0, 6)
        assert len(agent.asked) == 1, "that never reaches the agent"

        agent.otherwise = QueryTimeout("The query took longer than 10 s and was stopped.")
        await run(pilot, screen, "MATCH (t:Turn) RETURN t", shows="longer than 10 s")

        agent.tell(GraphProgress("rebuilding", 40, 100))
        await sees(pilot, "The graph is being rebuilt (40%).")
        await run(pilot, screen, ALL, until=lambda: "being rebuilt" in screen.desk.failure)
        assert len(agent.asked) == 2
        assert screen.editor.text == ALL
        agent.tell(GraphProgress("ready"))
        await sees(pilot, ABOUT)

        agent.otherwise = Answer(
            ("[bold]x[/]", "\x1b[31m"), (("[/nonsense]", "\x1b]0;title\x07"), ("\u202egnp", None)), 2, 1.0
        )
        await run(pilot, screen, "RETURN 1 // [/bold] \x1b[31m", shows="[/nonsense]")
        for key in ("f6", "enter", "escape", "2", "3", "enter", "escape"):
            await pilot.press(key)
            await pilot.pause()
            assert "\x1b" not in screen_text(app)


COUNTED = "MATCH (t:Turn) WHERE t.live AND t.world = $world RETURN t.speaker, count(*) AS n"


def trusted(share: float) -> None:
    """How often the model was right as a translator."""
    Home.resolve().translators.write_text(json.dumps({f"{VERSION}:{MODEL}": share}))


async def test_values_are_asked_and_a_question_becomes_a_query_that_is_shown_and_not_run(chat: Running) -> None:
    agent = agent_with_rows()
    trusted(1.0)
    asked = "MATCH (t:Turn) WHERE t.text CONTAINS $word RETURN t LIMIT $n"
    async with querying(chat, agent, asked) as (_, pilot, screen):
        await asks(pilot, AskParameters, "f5")
        await pilot.press(*"tea", "enter", *"5", "enter")
        await wait_until(pilot, lambda: agent.asked == [(asked, {"word": "tea", "n": 5}, 500)])
        assert [each.value for each in (await asks(pilot, AskParameters, "f5")).query(Input)] == ["tea", "5"]
        await press(pilot, "f5", until=lambda: len(agent.asked) == 2)
        await asks(pilot, AskParameters, "f5")
        await asks(pilot, QueryScreen, "escape")
        assert isinstance(agent.model, FakeGenerator)
        agent.model.answers.append({"cypher": COUNTED, "meaning": "Counts."})
        await run(pilot, screen, "? who is the funniest?")
        await wait_until(pilot, lambda: screen.editor.text == f"// who is the funniest?\n{COUNTED}", "the query")
        await sees(pilot, f"Written by {MODEL}: look at it first. F5 runs it.")
        await pilot.press("ctrl+t")
        await name_it(pilot, "what?", shows="No query was")
        assert screen.editor.text.endswith(COUNTED), "what stood there stays"
        assert len(agent.asked) == 2


async def test_a_query_that_may_not_be_meant_is_offered_with_that_warning(chat: Running) -> None:
    trusted(0.0)
    agent = agent_with_rows()
    async with querying(chat, agent, "? which message has the most letters?") as (_, pilot, screen):
        await press(pilot, "f5", shows="Not sure; the nearest: The chats with the most messages.")
        assert screen.editor.text.startswith("// which message has the most letters?\nMATCH (t:Turn)")
        assert agent.asked == []


async def test_history_saved_and_ready_queries_are_taken_or_run(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.queries.keep(Ran("MATCH (a) RETURN a", START, {}, 3, 2.0))
        await agent.queries.keep(Ran("MATCH (b) RETURN b", START, {}, error="no"))
        screen = await opened(app, pilot, ALL)
        await asks(pilot, Chooser, "ctrl+r")
        await sees(pilot, "3 rows, 2 ms", "failed")
        await press(pilot, "end", "enter", until=lambda: screen.editor.text == "MATCH (a) RETURN a")
        assert agent.asked == []
        await pilot.press("ctrl+underscore")
        assert screen.editor.text == ALL, "what was there is one undo away"
        await pilot.press("ctrl+s")
        await name_it(pilot, "mine")
        await wait_until(pilot, agent.queries.saved, "the saved query")
        assert await agent.queries.saved() == [Saved("mine", ALL, {})]
        screen.editor.put("MATCH (c) RETURN c")
        await pilot.press("ctrl+s")
        await name_it(pilot, "MINE")
        await asks(pilot, Confirm)
        await asks(pilot, QueryScreen, "escape")
        assert await agent.queries.saved() == [Saved("mine", ALL, {})]
        await asks(pilot, Chooser, "ctrl+o")
        await press(pilot, "f5", until=lambda: screen.results.has_focus_within)
        assert agent.asked == [(ALL, {}, 500)]
        await asks(pilot, Chooser, "ctrl+o")
        await asks(pilot, Confirm, "d")
        await press(pilot, "tab", "enter", shows="No saved queries yet.")
        await press(pilot, "escape", "ctrl+l", shows="Most proven memories")
        await press(pilot, "enter", until=lambda: "MATCH (o:Observation)" in screen.editor.text)


async def test_a_query_after_the_slash_is_there_and_the_tables_are_written_into_it_and_sampled(chat: Running) -> None:
    agent = AskedAgent()
    agent.add_session("Tea", *TEA)
    kept = agent.watch_calls("queries.keep")
    async with chat(agent) as (app, pilot):
        await enter(pilot, f"/graph {ALL}")
        await asks(pilot, QueryScreen)
        screen = screen_of(app)
        assert screen.editor.text == ALL
        await sees(pilot, ABOUT_TEA)
        screen.editor.put("")
        assert not screen.tables.display
        await pilot.press("f2")
        assert screen.tables.has_focus
        await sees(pilot, "Turn 12")
        await pilot.press("down", "down", "enter")
        assert screen.editor.text == "MATCH (t:Turn)\nRETURN t\nLIMIT 25"
        await pilot.press("f2", "right", "down", "down", "enter")
        assert screen.editor.text.endswith("LIMIT 25 t.seq")
        await pilot.press("f2", "end", "enter")
        assert screen.editor.text.endswith("(r:Reference)-[:WRITTEN_BY]->(e:Entity)")
        await press(pilot, "f2", "r", until=lambda: len(agent.asked) == 1)
        assert agent.asked[0][0] == "MATCH (a)-[r:WRITTEN_BY]->(b)\nRETURN a, r, b\nLIMIT 25"
        assert kept == [], "a sample is nothing that somebody wrote"
        await pilot.press("f2")
        assert not screen.tables.display


async def test_the_desk_stays_and_the_text_outlives_a_crash_if_not_private(chat: Running, tmp_path: Path) -> None:
    agent, drafts = agent_with_rows(), Drafts(tmp_path / "drafts")
    kept = agent.watch_calls("queries.keep")
    async with chat(agent) as (app, pilot):
        await enter(pilot, "/private")
        await wait_until(pilot, lambda: app.view.chat is not None and app.view.is_private(app.view.chat.session))
        await run(pilot, await opened(app, pilot), ALL, shows="12 340 rows", until=lambda: len(kept) == 1)
        assert await agent.queries.history() == []
        assert drafts.load(DRAFT) == ""
        await pilot.press("escape")
        await app.open_session(None)
        await run(pilot, await opened(app, pilot), ALL, shows="500 of 12 340 rows")
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        screen = await opened(app, pilot)
        assert screen.editor.text == ALL
        await sees(pilot, "500 of 12 340 rows, 14 ms")
        assert drafts.load(DRAFT) == ALL
    app = make_app(AskedAgent(), tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await there(pilot, app)
        assert (await opened(app, pilot)).editor.text == ALL
        await app.leave()


async def test_rows_and_drawings_are_exported_whole_asking_before_overwriting(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent, target = agent_with_rows(), tmp_path / "a.json"
    agent.answers[ALL] = Answer(("n",), tuple((each,) for each in range(700)), 700, 3.0)
    agent.otherwise = NODES
    async with querying(chat, agent, ALL) as (app, pilot, screen):
        await press(pilot, "f5", shows="500 of 700 rows")
        await pilot.press("f6", "x")
        await name_it(pilot, "nowhere/a.json", shows="There is no folder")
        await name_it(pilot, "a.json", shows="700 rows in")
        assert len(json.loads(target.read_text(encoding="utf-8"))) == 700
        target.write_text("mine", encoding="utf-8")
        assert (await asks(pilot, AskLine, "x")).query_one(Input).value == "a.json"
        await asks(pilot, Confirm, "enter")
        await asks(pilot, QueryScreen, "escape")
        assert target.read_text(encoding="utf-8") == "mine"
        screen.desk.exported = ""
        await run(pilot, screen, "RETURN 1", shows="1 row, 2 ms")
        await pilot.press("x")
        await name_it(pilot, "a.svg", shows="A picture is written of the drawing: press 2 first.")
        assert isinstance(pilot.app.screen, AskLine), "said where the name is written"
        await press(pilot, "escape", until=lambda: app.screen is screen)
        assert screen.desk.exported == "", "what was not written is not offered again"
        await press(pilot, "2", until=lambda: screen.results.drawing is not None)
        await press(pilot, "x", "enter", shows="Drawing saved to")
        assert (tmp_path / "drawing.svg").read_text(encoding="utf-8").startswith("<svg")


async def test_any_size_shows_something_and_crashes_nothing(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = NODES
    async with querying(chat, agent, "MATCH (t:Turn)-[r]->(e) RETURN t, r, e", (100, 30)) as (_app, pilot, _):
        for count, size in enumerate(SIZES if soaking() else SIZES[::2], start=1):
            await pilot.resize_terminal(*size)
            await pilot.press("f5")
            await wait_until(pilot, lambda count=count: len(agent.asked) == count)  # type: ignore[misc]
            for keys in ("f6", "2", "3", "1", "f2", "f2", "space", "m", "a", "tab", "ctrl+l", "escape"):
                await pilot.press(keys)
            await pilot.resize_terminal(200, 60)
            await sees(pilot, ABOUT)


@pytest.mark.process
async def test_a_small_terminal_draws_forty_nodes_with_the_query_folded_and_tells_their_keys(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = AskedAgent()
    many = tuple(({**TURN, "_id": f"2:{each}", "id": str(each), "text": f"Tea at {each}"},) for each in range(40))
    agent.otherwise = Answer(("t",), many, 40, 2.0)
    async with querying(chat, agent, "MATCH (t:Turn)\nWHERE t.live\nRETURN t\nLIMIT 40") as (app, pilot, screen):
        results = screen.results
        await press(pilot, "f5", shows="40 rows, 2 ms")
        await press(pilot, "f6", "2", until=lambda: results.drawing is not None and len(results.drawing.spots) == 40)
        await sees(pilot, "Tab next node Enter walk e leave it + - 0 zoom")
        assert screen.editor.size.height == 1
        await press(pilot, "s", shows="Drawing saved to")
        assert not app._notifications
        await pilot.press("f1")
        keys = (await asks(pilot, Reader)).query_one(".page-body Static", Static)
        await wait_until(pilot, lambda: "zoom in, zoom out" in str(keys.content))  # below the edge
        await press(pilot, "escape", "e", until=lambda: screen.editor.has_focus and screen.editor.size.height >= 4)
        await sees(pilot, "LIMIT 40")


@pytest.mark.process  # a query is one
async def test_the_palette_over_the_screen_has_its_own_actions_and_those_that_close_it_first(chat: Running) -> None:
    agent = ScriptedAgent()
    asked = agent.watch_calls("graph.console")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, "RETURN 1")
        await press(pilot, "ctrl+p", shows="Run the query")
        shown = screen_text(app)
        assert "Ready queries" in shown
        assert "$EDITOR" not in shown
        assert "Stop the reply" not in shown
        await press(pilot, *"run the query", until=lambda: app.screen.query_one(OptionList).option_count >= 1)
        await press(pilot, "enter", until=lambda: len(asked) == 1)
        await wait_until(pilot, lambda: app.screen is screen, "the screen again")
        await asks(pilot, CommandPalette, "ctrl+p")
        await press(pilot, *"status and disk", shows="Show status and disk use")
        await pilot.press("enter")
        await sees(pilot, "times opened")  # the page, to be seen
        assert not any(isinstance(each, QueryScreen) for each in app.screen_stack)
        await asks(pilot, CommandPalette, "escape", "ctrl+p")
        await press(pilot, *"qqzzqq", shows=NOTHING)
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
