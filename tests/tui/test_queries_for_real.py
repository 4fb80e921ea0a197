"""The query screen on the real agent, with a real log, graph and engine of its own; only the models are fakes."""

import csv
from pathlib import Path

import pytest
from textual.widgets import Input

from graph.values import Ref
from tests.fakes import FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import wait_until
from tests.tui.queries.test_screen import opened_with, screen_of
from tests.tui.seeing import sees
from tests.tui.test_memories_for_real import contents
from tests.tui.test_recall_for_real import running, say
from tui.nodes.screen import NodeScreen
from tui.queries.runner import AskParameters
from tui.queries.screen import QueryScreen
from tui.queries.table import ResultTable
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine

pytestmark = [pytest.mark.process, pytest.mark.ui]


async def test_from_tables_to_rows_a_drawing_a_file_and_a_saved_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(tmp_path, FakeGenerator("Lovely.", "Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "The tide pools at Falassarna were the best thing of Crete")
        screen = await opened_with(app, pilot)
        await press(pilot, "f2", until=lambda: screen.tables.has_focus)
        screen.tables.choose(next(at for at, each in enumerate(screen.tables.items) if each.identity == "Turn."))
        await pilot.press("enter")
        assert screen.editor.text == "MATCH (t:Turn)\nRETURN t\nLIMIT 25"
        await press(pilot, "f5", shows=("2 rows, ", "Falassarna"))
        await press(pilot, "f6", "2", until=lambda: screen.results.drawing is not None and screen.results.drawing.lines)
        await sees(pilot, "joined in the graph")
        screen.editor.put("MATCH (t:Turn) WHERE t.role = $role RETURN t.id, t.text, t.significance")
        await press(pilot, "f5", until=lambda: isinstance(app.screen, AskParameters))
        await press(pilot, *"user", "enter", shows="1 row, ")
        table = screen.query_one(ResultTable)
        assert table.rows[0][1:] == ("The tide pools at Falassarna were the best thing of Crete", None)
        await press(pilot, "1", "x", until=lambda: isinstance(app.screen, AskLine))
        app.screen.query_one(Input).value = "turns.csv"
        await press(pilot, "enter", shows="1 row in")
        rows = list(csv.reader((tmp_path / "turns.csv").read_text(encoding="utf-8").splitlines()))
        assert rows[1][1].startswith("The tide pools")
        await press(pilot, "ctrl+s", until=lambda: isinstance(app.screen, AskLine))
        await press(pilot, *"mine", "enter", shows="Saved as “mine”")
        saved = await agent.queries.saved()
        assert [(each.name, dict(each.parameters)) for each in saved] == [("mine", {"role": "user"})]
        ran = await agent.queries.history()
        assert [(each.rows, each.error) for each in ran] == [(1, ""), (2, "")]
        turn = str(table.rows[0][0])
        assert screen.answering._ref() == Ref("Turn", turn)
        table.focus()
        await press(pilot, "g", until=lambda: isinstance(app.screen, NodeScreen) and app.screen.is_mounted)
        await press(pilot, "o", until=lambda: len(app.screen_stack) == 1)
        await wait_until(
            pilot, lambda: any(m.turn == turn and m.has_class("-flash") for m in app.view.transcript.messages)
        )


async def test_ready_queries_and_questions_run_what_is_wrong_is_marked_and_a_runaway_is_stopped(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Good."), reflect=False) as (app, pilot, agent):
        await agent.memories.remember("I live in Lisbon")
        screen = await opened_with(app, pilot)
        await press(pilot, "ctrl+l", until=lambda: isinstance(app.screen, Chooser))
        await press(pilot, "f5", shows="I live in Lisbon")
        assert screen.results.has_focus_within
        await pilot.press("e")
        screen.editor.put("? how many messages are there")
        await press(pilot, "f5", until=lambda: screen.editor.text.startswith("// how many messages are there\n"))
        await sees(pilot, "F5 runs it.")
        await pilot.press("f5")
        await wait_until(pilot, lambda: screen.desk.asked is not None and screen.desk.asked.cypher.startswith("// how"))
        await wait_until(pilot, lambda: not screen.asking.running)
        assert screen.desk.failure == ""

        screen.editor.put("MATCH (t:Turn)\nRETURN t.nothing")
        await press(pilot, "f5", until=lambda: "nothing" in screen.desk.failure)
        screen.editor.put("MATCH (t:Turm)\nRETURN t")
        await press(pilot, "f5", until=lambda: screen.editor.wrong == (0, 9, 13))
        screen.editor.put("MATCH (t:Turn)\nSET t.text = ''")
        await press(pilot, "f5", shows="SET does more than read the graph")
        assert screen.editor.wrong == (1, 0, 3)

        many = "UNWIND range(1, 99999) AS "
        screen.editor.put(f"{many}a {many}b {many}c RETURN count(*)")
        await press(pilot, "f5", shows="running … ")
        await press(pilot, "escape", shows="Stopped after")
        assert app.screen is screen
        screen.editor.put("MATCH (t:Turn) RETURN count(*) AS n")
        await press(pilot, "f5", shows="1 row, ", until=lambda: not screen.asking.running)
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        await say(app, pilot, "Two")
        await sees(pilot, "Good.")


async def test_a_private_chat_leaves_no_query_behind(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await enter(pilot, "/private", shows="Private chat")
        screen = await opened_with(app, pilot)
        screen.editor.put("MATCH (t:Turn) WHERE t.text CONTAINS 'xyzzy' RETURN t")
        await press(pilot, "f5", shows="No rows")
        assert await agent.queries.history() == []
        assert isinstance(screen_of(app), QueryScreen)
    assert not any(b"xyzzy" in content for content in contents(tmp_path))
