"""The drawing of an answer on the query screen: its keys are told where they work, and it has room."""

from pathlib import Path

import pytest
from textual.widgets import Static

from graph.console.console import Answer
from tests.tui.conftest import Running, wait_until
from tests.tui.queries.asked_agent import AskedAgent
from tests.tui.queries.test_cells import TURN
from tests.tui.queries.test_screen import opened, shows, words
from tui.widgets.dialogs import Reader

QUERY = "MATCH (t:Turn)\nWHERE t.live\nRETURN t\nLIMIT 40"
MANY = Answer(
    ("t",),
    tuple(({**TURN, "_id": f"2:{each}", "id": str(each), "text": f"Tea at {each}"},) for each in range(40)),
    40,
    2.0,
)


def told(page: Reader) -> str:
    """All the words of a page, those too that are below the edge."""
    return str(page.query_one(".page-body Static", Static).content)


@pytest.mark.process
async def test_a_small_terminal_draws_forty_nodes_with_the_query_folded_and_tells_their_keys(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = AskedAgent()
    agent.otherwise = MANY
    async with chat(agent, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot, QUERY)
        await pilot.press("f5")
        await shows(pilot, app, "40 rows, 2 ms")
        await pilot.press("f6", "2")
        await wait_until(
            pilot, lambda: screen.results.drawing is not None and len(screen.results.drawing.spots) == 40, "forty nodes"
        )
        await shows(pilot, app, "Tab next node Enter walk e leave it + - 0 zoom")
        assert screen.editor.size.height == 1
        await pilot.press("s")
        await shows(pilot, app, "Drawing saved to")
        assert not app._notifications
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader) and "zoom in, zoom out" in told(app.screen))
        await pilot.press("escape", "e")
        await wait_until(pilot, lambda: screen.editor.has_focus and screen.editor.size.height >= 4)
        await wait_until(pilot, lambda: "LIMIT 40" in words(app), "LIMIT 40")
