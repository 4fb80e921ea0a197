"""The query screen as pictures that were looked at; `pytest --snapshot-update` takes them anew."""

from pathlib import Path

import pytest

from graph.console.console import Answer
from tests.tui.conftest import make_app, screen_text
from tests.tui.queries.asked_agent import AskedAgent
from tests.tui.queries.test_cells import TURN
from tests.tui.queries.test_screen import ABOUT_TEA, TEA, screen_of
from tests.tui.test_pictures import Compare, before
from tui.app import ClewApp
from tui.drafts import DRAFT, Drafts

QUERY = """MATCH (t:Turn)-[:SAID_BY]->(e:Entity) // who said it
WHERE t.text CONTAINS 'tea' AND t.significance >= 2
RETURN t, e.name, t.significance, count(*) AS n"""
SAID = (({**TURN, "text": f"Tea, for the {each}th time"}, "Noor", each % 4 or None, 40 - each) for each in range(4, 30))
ROWS = Answer(
    ("t", "e.name", "t.significance", "n"),
    tuple(SAID),
    12_340,
    14.0,
    "rows",
)


def still(app: ClewApp) -> bool:
    """The tables are counted."""
    screen_of(app).editor.cursor_blink = False
    return ABOUT_TEA in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_rows_of_a_query(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    agent = AskedAgent()
    agent.add_session("Tea", *TEA)
    agent.otherwise = ROWS
    Drafts(tmp_path / "drafts").save(DRAFT, QUERY)
    app = make_app(agent, tmp_path)
    run = before(app, "f3", "f5", "f6", shows="of 12 340 rows, 14 ms", wait=still)
    assert snap_compare(app, terminal_size=size, run_before=run)
