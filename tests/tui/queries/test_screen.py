"""The query screen on a small agent: each key does what it says, nothing that runs blocks, all text is only text."""

import json
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agent.asking.modelled import VERSION
from agent.asking.shelf import Ran, Saved
from agent.events import GraphProgress
from agent.home import Home
from graph.console.console import Answer
from graph.errors import QueryFailed, QueryTimeout
from tests.fakes import FakeGenerator
from tests.tui.conftest import Running, make_app, screen_text, there, wait_until
from tests.tui.queries.asked_agent import AskedAgent
from tests.tui.queries.test_cells import PERSON, SAID_BY, TURN
from tests.tui.scripted import MODEL, START
from tui.app import ClewApp
from tui.drafts import DRAFT, Drafts
from tui.queries.runner import AskParameters
from tui.queries.screen import QueryScreen
from tui.queries.table import ResultTable
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine, Confirm, Reader

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


def words(app: ClewApp) -> str:
    return " ".join(screen_text(app).split())


def screen_of(app: ClewApp) -> QueryScreen:
    return next(each for each in app.screen_stack if isinstance(each, QueryScreen))


async def shows(pilot: Pilot[int], app: ClewApp, said: str) -> None:
    await wait_until(pilot, lambda: said in words(app), said)


async def opened_with(app: ClewApp, pilot: Pilot[int]) -> QueryScreen:
    """The screen, when it knows what there is."""
    await pilot.press("f3")
    await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen) and app.screen.is_mounted, "the screen")
    await shows(pilot, app, " relationships")
    return screen_of(app)


async def opened_with_nothing(app: ClewApp, pilot: Pilot[int]) -> QueryScreen:
    """The screen, in a terminal that has no room for its title."""
    await pilot.press("f3")
    await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen) and app.screen.is_mounted, "the screen")
    return screen_of(app)


async def opened(app: ClewApp, pilot: Pilot[int], text: str = "", *, about: str = ABOUT) -> QueryScreen:
    screen = await opened_with(app, pilot)
    assert about in words(app)
    if text:
        screen.editor.put(text)
        await pilot.pause()
    return screen


def agent_with_rows() -> AskedAgent:
    agent = AskedAgent()
    agent.answers[ALL] = ROWS
    return agent


async def test_a_query_is_typed_with_completion_and_run(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press(*"mat", "tab", *" (t:Tu", "tab", *") RETURN t.te", "tab", *", t.pinned")
        assert screen.editor.text == "MATCH (t:Turn) RETURN t.text, t.pinned"
        await pilot.press("f5")
        await shows(pilot, app, "500 of 12 340 rows, 14 ms")
        assert agent.asked == [(ALL, {}, 500)]
        await wait_until(pilot, lambda: "row 0" in words(app), "row 0")
        await wait_until(pilot, lambda: "∅" in words(app), "∅")


async def test_the_list_of_what_can_be_written_takes_arrows_enter_and_escape(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press(*"MATCH (t:")
        await wait_until(pilot, lambda: screen.editor.popup.display, "the list")
        await pilot.press("down", "enter")
        assert screen.editor.text == "MATCH (t:Session"
        await pilot.press("backspace", "backspace", "ctrl+@")
        await wait_until(pilot, lambda: screen.editor.popup.display, "the list again")
        await pilot.press("escape")
        await wait_until(pilot, lambda: not screen.editor.popup.display, "the end of the list")
        assert app.screen is screen, "Esc closed the list alone"
        await pilot.press("enter")
        assert screen.editor.text.endswith("\n"), "Enter is a new line where nothing was chosen"


async def test_rows_are_sorted_opened_whole_and_copied(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = Answer(("x", "n"), (("b" * 100_000, 2), ("a", 1)), 2, 1.0)
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "RETURN 1")
        await pilot.press("f5")
        await shows(pilot, app, "2 rows, 1 ms")
        await pilot.press("f6", "s")
        assert [row[0][0] for row in screen.query_one(ResultTable).in_order] == ["a", "b"]
        await pilot.press("y")
        await shows(pilot, app, "The cell was")
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        assert app.screen.query_one(TextArea).text == "b" * 100_000
        await pilot.press("escape", "Y")
        await shows(pilot, app, "The table of 2 rows was")


async def test_the_answer_is_drawn_and_is_json(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = NODES
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, "RETURN 1")
        await pilot.press("f5")
        await shows(pilot, app, "1 row, 2 ms")
        await pilot.press("f6", "2")
        await wait_until(pilot, lambda: screen.results.drawing is not None, "the drawing")
        assert {spot.node.title for spot in screen.results.drawing.spots} == {"Hello there", "Noor"}  # type: ignore[union-attr]
        await pilot.press("3")
        await shows(pilot, app, '"_label": "Turn",')
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        assert json.loads(app.screen.query_one(TextArea).text)["e"] == PERSON
        await pilot.press("escape", "1")
        assert screen.results.body.id == "query-table"


async def test_rows_without_nodes_say_how_to_get_a_drawing(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "12 340 rows")
        await pilot.press("f6", "2")
        await shows(pilot, app, "Nothing to draw")
        await pilot.press("1")
        await shows(pilot, app, "row 0")


OLD, NEW, EMPTY = "RETURN 'old' AS old", "RETURN 'new' AS new", "RETURN 'none' AS none"


@pytest.mark.parametrize("late", [False, True], ids=["the count comes at once", "the count comes late"])
@pytest.mark.parametrize("page", ["2", "3"])
async def test_every_page_is_of_the_answer_that_the_line_tells(chat: Running, page: str, late: bool) -> None:
    agent = agent_with_rows()
    agent.answers[OLD] = Answer(("old",), tuple(({**PERSON, "name": f"Old {each}"},) for each in range(5)), 5, 1.0)
    agent.answers[NEW] = Answer(("new",), ((TURN,),), 1, 2.0)
    agent.answers[EMPTY] = Answer(("none",), ((7,),), 1, 3.0)
    agent.firsts = {each: Answer(told.columns, told.rows, None, 1.0) for each, told in agent.answers.items()}  # type: ignore[union-attr]
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, OLD)
        await pilot.press("f5")
        await shows(pilot, app, "5 rows, 1 ms")
        await pilot.press("f6", page)
        await shows(pilot, app, "Old 0")
        await pilot.press("end")
        for query, told in ((NEW, "Hello"), (EMPTY, "Nothing to draw" if page == "2" else '"none": 7')):
            screen.editor.put(query)
            if late:
                agent.running.clear()
            await pilot.press("f5")
            if late:
                await shows(pilot, app, "counting the rows … ")
                await shows(pilot, app, told)
                agent.running.set()
            await shows(pilot, app, "1 row, ")
            await shows(pilot, app, told)
            assert "Old" not in words(app)
            assert screen.results.has_focus_within, "the keys stay where they were"
            await pilot.press("y", *(("enter", "escape") if page == "3" else ()))
        await pilot.press("1")
        await shows(pilot, app, "none")


async def test_what_was_said_of_one_query_does_not_stand_under_the_next(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("f5")
        await shows(pilot, app, "There is no query yet.")
        screen.editor.put(ALL)
        await pilot.press("f5")
        await shows(pilot, app, "500 of 12 340 rows, 14 ms")
        assert "There is no query yet." not in words(app)


def at_once(app: ClewApp, *keys: str) -> None:
    """Keys that come in one piece, as from a fast keyboard: none waits for what the one before does."""
    for key in keys:
        app.post_message(Key(key, {"space": " ", "full_stop": "."}.get(key, key if len(key) == 1 else None)))


async def test_keys_that_come_all_at_once_are_not_lost(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot)
        at_once(app, *"RETURN", "space", "1", "f5")
        await wait_until(pilot, lambda: [asked[0] for asked in agent.asked] == ["RETURN 1"], "the whole query")
        assert not screen.editor.popup.display
        await pilot.press("f6")
        assert screen.results.has_focus_within
        at_once(app, "e", "space", "a", "s", "space", "m", "x", "y", "f5")
        await wait_until(pilot, lambda: len(agent.asked) == 2, "the second query")
        assert agent.asked[-1][0] == "RETURN 1 as mxy"
        screen.editor.put("MATCH (m:Turn) RETURN m")
        await pilot.pause()
        at_once(app, "full_stop", "t", "e", "x", "tab")
        await wait_until(pilot, lambda: screen.editor.text.endswith("m.text"), "the whole word")
        assert screen.editor.has_focus


async def test_keys_that_need_rows_are_offered_where_there_are_some(chat: Running) -> None:
    agent = agent_with_rows()
    agent.answers[ALL] = QueryFailed("It cannot be read.")
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "It cannot be read.")
        await pilot.press("f6")
        await wait_until(pilot, lambda: screen.results.has_focus_within)
        await wait_until(pilot, lambda: "e edit" in words(app), "e edit")
        assert "m more" not in words(app)
        agent.answers[ALL] = ROWS
        await pilot.press("f5")
        await shows(pilot, app, "m more")


async def test_the_narrowest_line_tells_which_page_is_shown(chat: Running) -> None:
    async with chat(agent_with_rows(), size=(20, 24)) as (app, pilot):
        screen = await opened_with_nothing(app, pilot)
        screen.editor.put(ALL)
        await pilot.press("f5")
        await shows(pilot, app, "1 Table 500")
        await pilot.press("f6", "3")
        await shows(pilot, app, "3 JSON 500")


async def test_no_rows_are_said_in_words(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        await opened(app, pilot, "MATCH (t:Turn) WHERE false RETURN t")
        await pilot.press("f5")
        await shows(pilot, app, "No rows: nothing in the memory matches this query.")
        await wait_until(pilot, lambda: "0 rows, 1 ms" in words(app), "0 rows, 1 ms")
        await pilot.press("f6", "x", "y", "g", "m", "enter")


async def test_escape_stops_a_running_query_at_once_and_then_leaves(chat: Running) -> None:
    agent = agent_with_rows()
    agent.running.clear()
    kept = agent.watch_calls("queries.keep")
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "running … ")
        await pilot.press("f5")
        await shows(pilot, app, "A query is running; Esc stops it.")
        await pilot.press("escape")
        await shows(pilot, app, "Stopped after")
        assert agent.ended == [ALL]
        assert app.screen is screen
        assert kept == []
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_closing_the_screen_ends_the_query_that_runs(chat: Running) -> None:
    agent = agent_with_rows()
    agent.running.clear()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "running … ")
        screen.dismiss(None)
        await wait_until(pilot, lambda: agent.ended == [ALL], "the end of the query")


async def test_the_first_rows_are_there_while_the_rest_is_counted(chat: Running) -> None:
    agent = agent_with_rows()
    agent.firsts[ALL] = Answer(ROWS.columns, ROWS.rows, None, 5.0)
    agent.running.clear()
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "counting the rows … ")
        await wait_until(pilot, lambda: "row 0" in words(app), "row 0")
        agent.running.set()
        await shows(pilot, app, "500 of 12 340 rows, 14 ms")


async def test_first_rows_stay_when_the_counting_is_stopped(chat: Running) -> None:
    agent = agent_with_rows()
    agent.firsts[ALL] = Answer(ROWS.columns, ROWS.rows, None, 5.0)
    agent.running.clear()
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "counting the rows … ")
        await pilot.press("escape")
        await shows(pilot, app, "the first 500 rows, 5 ms")
        await wait_until(pilot, lambda: "the rows that came are here" in words(app), "the rows that came are here")


async def test_more_rows_are_asked_for_and_what_cannot_be_had_is_said(chat: Running) -> None:
    agent = agent_with_rows()
    agent.answers[ALL] = Answer(("n",), tuple((each,) for each in range(700)), 700, 3.0)
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "500 of 700 rows")
        await pilot.press("f6", "m")
        await shows(pilot, app, "700 rows, 3 ms")
        assert len(screen.query_one(ResultTable).rows) == 700
        await pilot.press("m")
        await shows(pilot, app, "All available rows are here.")


async def errors(agent: AskedAgent) -> list[str]:
    """Why the queries of the history failed."""
    return [ran.error for ran in await agent.queries.history()]


async def test_an_error_is_said_and_its_place_is_marked_until_the_text_changes(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = QueryFailed("There is no table Tun.", line=2, column=4)
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "MATCH\n(t:Tun)\nRETURN t")
        await pilot.press("f5")
        await shows(pilot, app, "There is no table Tun.")
        assert screen.editor.wrong == (1, 3, 6)
        await wait_until(pilot, lambda: errors(agent), "the history")
        assert await errors(agent) == ["There is no table Tun."]
        await pilot.press("x")
        await wait_until(pilot, lambda: screen.editor.wrong is None, "the mark to go")


async def test_what_is_refused_never_reaches_the_agent(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "MATCH (t:Turn {id: $id})\nDELETE t")
        await pilot.press("f5")
        await shows(pilot, app, "DELETE does more than read the graph")
        assert screen.editor.wrong == (1, 0, 6)
        assert agent.asked == []


async def test_a_time_out_is_said(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = QueryTimeout("The query took longer than 10 s and was stopped.")
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, "MATCH (t:Turn) RETURN t")
        await pilot.press("f5")
        await shows(pilot, app, "longer than 10 s")


async def test_values_are_asked_and_given_again_the_next_time(chat: Running) -> None:
    agent = agent_with_rows()
    asked = "MATCH (t:Turn) WHERE t.text CONTAINS $word RETURN t LIMIT $n"
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, asked)
        await pilot.press("f5")
        await wait_until(pilot, lambda: isinstance(app.screen, AskParameters))
        await pilot.press(*"tea", "enter", *"5", "enter")
        await wait_until(pilot, lambda: agent.asked == [(asked, {"word": "tea", "n": 5}, 500)])
        await pilot.press("f5")
        await wait_until(pilot, lambda: isinstance(app.screen, AskParameters))
        assert [each.value for each in app.screen.query(Input)] == ["tea", "5"]
        await pilot.press("f5")
        await wait_until(pilot, lambda: len(agent.asked) == 2)
        await pilot.press("f5")
        await wait_until(pilot, lambda: isinstance(app.screen, AskParameters))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen))
        assert len(agent.asked) == 2


COUNTED = "MATCH (t:Turn) WHERE t.live AND t.world = $world RETURN t.speaker, count(*) AS n"


async def test_a_question_becomes_a_query_that_is_shown_and_not_run(chat: Running) -> None:
    Home.resolve().translators.write_text(json.dumps({f"{VERSION}:{MODEL}": 1.0}))
    agent = agent_with_rows()
    assert isinstance(agent.model, FakeGenerator)
    agent.model.answers.append({"cypher": COUNTED, "meaning": "Counts."})
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "? who is the funniest?")
        await pilot.press("f5")
        await wait_until(pilot, lambda: screen.editor.text == f"// who is the funniest?\n{COUNTED}", "the query")
        assert agent.asked == []
        await shows(pilot, app, f"Written by {MODEL}: look at it first. F5 runs it.")
        await pilot.press("ctrl+t")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"what?", "enter")
        await shows(pilot, app, "No query was")
        assert screen.editor.text.endswith(COUNTED), "what stood there stays"


async def test_a_query_that_may_not_be_meant_is_offered_with_that_warning(chat: Running) -> None:
    Home.resolve().translators.write_text(json.dumps({f"{VERSION}:{MODEL}": 0.0}))
    agent = agent_with_rows()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "? which message has the most letters?")
        await pilot.press("f5")
        await shows(pilot, app, "Not sure; the nearest: The chats with the most messages.")
        assert screen.editor.text.startswith("// which message has the most letters?\nMATCH (t:Turn)")
        assert agent.asked == []


async def test_history_saved_and_ready_queries_are_taken_or_run(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.queries.keep(Ran("MATCH (a) RETURN a", START, {}, 3, 2.0))
        await agent.queries.keep(Ran("MATCH (b) RETURN b", START, {}, error="no"))
        screen = await opened(app, pilot, ALL)
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "3 rows, 2 ms" in words(app))
        await wait_until(pilot, lambda: "failed" in words(app), "failed")
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: screen.editor.text == "MATCH (a) RETURN a")
        assert agent.asked == []
        await pilot.press("ctrl+underscore")
        assert screen.editor.text == ALL, "what was there is one undo away"
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"mine", "enter")
        await wait_until(pilot, agent.queries.saved, "the saved query")
        assert await agent.queries.saved() == [Saved("mine", ALL, {})]
        screen.editor.put("MATCH (c) RETURN c")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"MINE", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen))
        assert await agent.queries.saved() == [Saved("mine", ALL, {})]
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("f5")
        await wait_until(pilot, lambda: screen.results.has_focus_within, "the rows with the keys")
        assert agent.asked == [(ALL, {}, 500)]
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("d")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await shows(pilot, app, "No saved queries yet.")
        await pilot.press("escape", "ctrl+l")
        await shows(pilot, app, "Most proven memories")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "MATCH (o:Observation)" in screen.editor.text)


async def test_the_tables_are_written_into_the_query_and_sampled(chat: Running) -> None:
    agent = AskedAgent()
    agent.add_session("Tea", *TEA)
    kept = agent.watch_calls("queries.keep")
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, about=ABOUT_TEA)
        assert not screen.tables.display
        await pilot.press("f2")
        assert screen.tables.has_focus
        await wait_until(pilot, lambda: "Turn 12" in words(app), "Turn 12")
        await pilot.press("down", "down", "enter")
        assert screen.editor.text == "MATCH (t:Turn)\nRETURN t\nLIMIT 25"
        await pilot.press("f2", "right", "down", "down", "enter")
        assert screen.editor.text.endswith("LIMIT 25 t.seq")
        await pilot.press("f2", "end", "enter")
        assert screen.editor.text.endswith("(r:Reference)-[:WRITTEN_BY]->(e:Entity)")
        await pilot.press("f2", "r")
        await wait_until(pilot, lambda: len(agent.asked) == 1)
        assert agent.asked[0][0] == "MATCH (a)-[r:WRITTEN_BY]->(b)\nRETURN a, r, b\nLIMIT 25"
        assert kept == [], "a sample is nothing that somebody wrote"
        await pilot.press("f2")
        assert not screen.tables.display


async def test_the_desk_stays_when_the_screen_closes_and_the_text_outlives_a_crash(
    chat: Running, tmp_path: Path
) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "500 of 12 340 rows")
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        screen = await opened(app, pilot)
        assert screen.editor.text == ALL
        await wait_until(pilot, lambda: "500 of 12 340 rows, 14 ms" in words(app), "500 of 12 340 rows, 14 ms")
        assert Drafts(tmp_path / "drafts").load(DRAFT) == ALL
    app = make_app(AskedAgent(), tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await there(pilot, app)
        assert (await opened(app, pilot)).editor.text == ALL
        await app.leave()


async def test_nothing_of_a_private_chat_is_kept(chat: Running, tmp_path: Path) -> None:
    agent = agent_with_rows()
    kept = agent.watch_calls("queries.keep")
    async with chat(agent) as (app, pilot):
        app.view.composer.put("/private")
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.chat is not None and app.view.is_private(app.view.chat.session))
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "12 340 rows")
        await wait_until(pilot, lambda: len(kept) == 1, "the end of the query")
        assert await agent.queries.history() == []
        assert Drafts(tmp_path / "drafts").load(DRAFT) == ""


async def test_rows_are_exported_whole_after_asking_before_overwriting(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = agent_with_rows()
    agent.answers[ALL] = Answer(("n",), tuple((each,) for each in range(700)), 700, 3.0)
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, ALL)
        await pilot.press("f5")
        await shows(pilot, app, "500 of 700 rows")
        await pilot.press("f6", "x")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        app.screen.query_one(Input).value = "nowhere/a.json"
        await pilot.press("enter")
        await shows(pilot, app, "There is no folder")
        app.screen.query_one(Input).value = "a.json"
        await pilot.press("enter")
        await shows(pilot, app, "700 rows in")
        assert len(json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))) == 700
        (tmp_path / "a.json").write_text("mine", encoding="utf-8")
        await pilot.press("x")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        assert app.screen.query_one(Input).value == "a.json"
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen))
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == "mine"


async def test_the_drawing_is_exported(chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = agent_with_rows()
    agent.otherwise = NODES
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "RETURN 1")
        await pilot.press("f5")
        await shows(pilot, app, "1 row, 2 ms")
        await pilot.press("f6", "x")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        app.screen.query_one(Input).value = "a.svg"
        await pilot.press("enter")
        await shows(pilot, app, "A picture is written of the drawing: press 2 first.")
        assert isinstance(app.screen, AskLine), "said where the name is written"
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.screen is screen)
        assert screen.desk.exported == "", "what was not written is not offered again"
        await pilot.press("2")
        await wait_until(pilot, lambda: screen.results.drawing is not None, "the drawing")
        await pilot.press("x", "enter")
        await shows(pilot, app, "Drawing saved to")
        assert (tmp_path / "drawing.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("size", [(20, 24), (20, 5), (9, 3), (60, 10)])
async def test_any_size_shows_something_and_crashes_nothing(chat: Running, size: tuple[int, int]) -> None:
    agent = agent_with_rows()
    agent.otherwise = NODES
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await opened(app, pilot, "MATCH (t:Turn)-[r]->(e) RETURN t, r, e")
        await pilot.resize_terminal(*size)
        await pilot.press("f5")
        await wait_until(pilot, lambda: len(agent.asked) == 1)
        for keys in (("f6",), ("2",), ("3",), ("1",), ("f2",), ("f2",), (*" ma",), ("tab",), ("ctrl+l",), ("escape",)):
            await pilot.press(*keys)
            await pilot.pause()
        await pilot.resize_terminal(200, 60)
        await wait_until(pilot, lambda: ABOUT in words(app), "all of it, where there is room")


async def test_hostile_words_in_rows_and_columns_are_only_words(chat: Running) -> None:
    agent = agent_with_rows()
    agent.otherwise = Answer(
        ("[bold]x[/]", "\x1b[31m"), (("[/nonsense]", "\x1b]0;title\x07"), ("\u202egnp", None)), 2, 1.0
    )
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, "RETURN 1 // [/bold] \x1b[31m")
        await pilot.press("f5")
        await shows(pilot, app, "[/nonsense]")
        for key in ("f6", "enter", "escape", "2", "3", "enter", "escape"):
            await pilot.press(key)
            await pilot.pause()
            assert "\x1b" not in screen_text(app)


async def test_the_keys_are_told(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        await opened(app, pilot)
        await wait_until(pilot, lambda: "F5 run" in words(app), "F5 run")
        await pilot.press("f1")
        await shows(pilot, app, "Keys of the query screen")
        await pilot.press("escape", "f3")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_a_query_after_the_slash_stands_in_the_editor(chat: Running) -> None:
    async with chat(agent_with_rows()) as (app, pilot):
        app.view.composer.put(f"/graph {ALL}")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen))
        assert screen_of(app).editor.text == ALL


async def test_a_graph_that_is_not_there_yet_is_said_and_the_text_stays(chat: Running) -> None:
    agent = agent_with_rows()
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, ALL)
        agent.tell(GraphProgress("rebuilding", 40, 100))
        await shows(pilot, app, "The graph is being rebuilt (40%).")
        await pilot.press("f5")
        await wait_until(pilot, lambda: "being rebuilt" in screen.desk.failure, "the words instead of rows")
        assert agent.asked == []
        assert screen.editor.text == ALL
        agent.tell(GraphProgress("ready"))
        await shows(pilot, app, ABOUT)
