"""A few whole screens, compared with pictures that were looked at (update them with `pytest --snapshot-update`)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from graph.hits import Boost, Reason, Step
from tests.tui.conftest import make_app, screen_text, settled, wait_until
from tests.tui.fake_agent import FakeAgent
from tui.app import ClewApp

Compare = Callable[..., bool]

REPLY = """Three things are worth your time:

1. The **palace of Knossos**, early in the morning.
2. The *Samaria gorge*, if it is open.

```python
def pack(days: int) -> list[str]:
    return ["water"] * days
```

| Place | Hours |
|---|---|
| Knossos | 2 |

<div>[bold]Words[/] that look like tags stay words.</div>
"""


def full_agent() -> FakeAgent:
    agent = FakeAgent()
    agent.add_session("Trip to Crete", ("What should I see in Crete?", REPLY))
    agent.add_session("Bread with a long title that does not fit", ("q", "a"))
    agent.add_session(None, ("q", "a"))
    return agent


def before(
    app: ClewApp, *keys: str, shows: str, wait: Callable[[ClewApp], object] = lambda app: True
) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Wait for the chat, press keys, wait for words on the screen."""

    async def run(pilot: Pilot[int]) -> None:
        app.composer.cursor_blink = False
        await wait_until(pilot, lambda: app.chat is not None and app.chat.opened_once)
        await pilot.press(*keys)
        await wait_until(pilot, lambda: shows in screen_text(app) and wait(app), shows)
        await settled(pilot, app)

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_chat(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=before(app, shows="stay words"))


def test_the_first_start(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(FakeAgent(model_ready=False), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, shows="43%"))


def test_the_list_of_chats_in_light(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path, theme="light")
    run = before(app, "f2", shows="Bread with", wait=lambda app: app.sessions.chosen is not None)
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_the_commands_while_typing(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "slash", shows="/status"))


def recalling_agent() -> FakeAgent:
    agent = full_agent()
    said = agent.add_session(
        "Falassarna",
        ("The tide pools at Falassarna were the best thing of the whole trip.", "Tide pools are best at low water."),
    )
    first, second = agent.turns[said]
    ranks = (Reason("lexical", 1, 3.0), Reason("semantic", 3, 0.5))
    agent.hits = [
        agent.hit(first, reasons=ranks, boosts=(Boost("speaker", 0.5),)),
        agent.hit(second, reasons=(Reason("graph", 1, 0.1),), path=(Step("REPLIES_TO", second.id),)),
    ]
    agent.tools = [("search_memory", {"query": "tide pools"}, '- #ABC123 2025-06-03, user: "The tide pools"')]
    return agent


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 15)])
def test_the_memory_panel(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(recalling_agent(), tmp_path)
    keys = ("ctrl+n", *"tide pools?", "enter", "f7")
    run = before(app, *keys, shows="answers a match" if size[1] > 15 else "you are named", wait=panel_is_whole)
    assert snap_compare(app, terminal_size=size, run_before=run)


def panel_is_whole(app: ClewApp) -> bool:
    panel = app.remembering.panel
    return app.state.reply is None and panel is not None and len(panel.pack.recalled) == 2


@pytest.mark.parametrize("size", [(80, 24), (40, 15)])
def test_the_search(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(recalling_agent(), tmp_path)
    run = before(app, "ctrl+f", *"tide pools", shows="2 found", wait=still_cursor)
    assert snap_compare(app, terminal_size=size, run_before=run)


def still_cursor(app: ClewApp) -> bool:
    app.screen.query_one(Input).cursor_blink = False
    return True


def test_a_tiny_terminal(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(20, 5), run_before=before(app, shows="ready"))
