"""A few whole screens, compared with pictures that were looked at (update them with `pytest --snapshot-update`)."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent.home import Home
from agent.reflection.trust import VERSION
from tests.fakes import Reply
from tests.tui.conftest import make_app, screen_text, settled, there, wait_until
from tests.tui.scripted import MODEL, ScriptedAgent
from tui.app import ClewApp
from tui.widgets.search import SearchScreen

Compare = Callable[..., bool]
REPLY = Path(__file__).with_name("a_reply.md").read_text("utf-8")


def full_agent() -> ScriptedAgent:
    agent = ScriptedAgent()
    agent.add_session("Trip to Crete", ("What should I see in Crete?", REPLY))
    agent.add_session("Bread with a long title that does not fit", ("q", "a"))
    agent.add_session(None, ("q", "a"))
    return agent


def before(
    app: ClewApp, *keys: str, shows: str, wait: Callable[[ClewApp], object] = lambda app: True, idle: bool = True
) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Wait for the chat, press keys, wait for words on the screen; if `idle`, for what runs in the background too."""

    async def run(pilot: Pilot[int]) -> None:
        app.view.composer.cursor_blink = False
        await there(pilot, app)
        assert app.view.backstage is not None
        agent = app.view.backstage.service
        if idle:
            await agent.idle()
        await pilot.press(*keys)
        await wait_until(pilot, lambda: shows in screen_text(app) and wait(app), shows)
        if idle:
            await agent.idle()
        await settled(pilot, app)
        await agent.close()  # nobody leaves the app

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_chat(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=before(app, shows="stay words"))


def test_the_first_start(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(ScriptedAgent(fetching=True), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, shows="43%", idle=False))


def test_the_list_of_chats_in_light(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path, theme="light")
    run = before(app, "f2", shows="Bread with", wait=lambda app: app.view.sessions.chosen is not None)
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_the_commands_while_typing(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "slash", shows="/status"))


def recalling_agent() -> ScriptedAgent:
    """Its model is trusted with what is recalled, and looks for tide pools, of which two messages speak."""
    Home.resolve().trusted.write_text(json.dumps({f"{VERSION}:{MODEL}": 1.0}))
    agent = ScriptedAgent(reply=Reply("Hello there.", took_ms=(20.0, 80.0)), tools="on")
    agent.add_session(
        "Falassarna",
        ("The tide pools at Falassarna were the best thing of the whole trip.", "Tide pools, at low water."),
    )
    agent.take_steps({"tool": "search_memory", "query": "tide pools", "limit": 5})
    return agent


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 15)])
def test_the_memory_panel(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(recalling_agent(), tmp_path)
    keys = ("ctrl+n", *"tide pools?", "enter", "f7")
    run = before(app, *keys, shows="answers a match", wait=panel_is_whole)
    assert snap_compare(app, terminal_size=size, run_before=run)


def panel_is_whole(app: ClewApp) -> bool:
    panel = app.parts.panel.panel
    return app.view.state.reply is None and panel is not None and len(panel.pack.recalled) == 2


@pytest.mark.parametrize("size", [(80, 24), (40, 15)])
def test_the_search(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(recalling_agent(), tmp_path)
    run = before(app, "ctrl+f", *"tide pools", shows="2 found", wait=is_found)
    assert snap_compare(app, terminal_size=size, run_before=run)


def is_found(app: ClewApp) -> bool:
    """What is on the list is what was looked for last."""
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    return still_cursor(app) and screen.text == "tide pools" and not screen._latest.seeking


def still_cursor(app: ClewApp) -> bool:
    app.screen.query_one(Input).cursor_blink = False
    return True


def test_a_tiny_terminal(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(20, 5), run_before=before(app, shows="ready"))
