"""The first paint waits for little more than Textual itself, its theme for nothing, and the last chat for no update."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.filter import ANSIToTruecolor

from agent.home import Home
from bench.startup import HEAVY, TOLD_BARE, TOLD_CLEW, modules_at_paint
from graph.memory import Memory
from tests.tui.conftest import Running, make_app, screen_text, there, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.themes import full_name

# What clew imports before its first paint beyond what Textual does for an app with the same kinds of widgets. Each line
# more is paid for at every start: `python -m bench.startup` says how much.
BEFORE_THE_PAINT = frozenset(
    (
        "agent", "agent.errors", "agent.home", "models", "models.quiet", "gc", "shlex",
        "textual.widgets.markdown", "tomllib", "tomllib._parser", "tomllib._re", "tomllib._types", "tui",
        "tui.actions", "tui.app", "tui.attachments", "tui.backstage", "tui.chat_view",
        "tui.composer_controller", "tui.text", "tui.drafts", "tui.editor", "tui.entry", "tui.exit_codes",
        "tui.keymaps", "tui.keymaps", "tui.latest", "tui.lazy", "tui.parts", "tui.referring", "tui.servers",
        "tui.shutdown", "tui.state",
        "tui.terminal", "tui.termination", "tui.text", "tui.themes", "tui.toolwords", "tui.chat_view", "tui.widgets",
        "tui.widgets.banner", "tui.widgets.banner", "tui.widgets.composer", "tui.widgets.foot",
        "tui.widgets.transcript", "tui.widgets.long_list", "tui.widgets.memory", "tui.widgets.message",
        "tui.widgets.sessions", "tui.widgets.status", "tui.widgets.transcript", "tui.window", "tui.worlds",
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def painted(tmp_path_factory: pytest.TempPathFactory) -> tuple[frozenset[str], frozenset[str]]:
    """The modules at the first paint: clew's, and those of a bare app."""
    home = tmp_path_factory.mktemp("home")
    (home / "config.toml").write_text('theme = "light"\n')
    return modules_at_paint(TOLD_CLEW, home), modules_at_paint(TOLD_BARE, home)


@pytest.mark.process
def test_before_the_first_paint_nothing_is_imported_but_what_is_named_here(
    painted: tuple[frozenset[str], frozenset[str]],
) -> None:
    clew, bare = painted
    more = {name for name in clew - bare if not name.startswith("rich._unicode_data")}  # how wide the placeholder is
    assert more == BEFORE_THE_PAINT


@pytest.mark.process
def test_before_the_first_paint_nothing_heavy_is_imported(painted: tuple[frozenset[str], frozenset[str]]) -> None:
    clew, _ = painted
    assert clew & HEAVY == set()
    assert "textual" in clew


async def looks(app: ClewApp, *chosen: str) -> tuple[object, ...]:
    """What a theme makes of an app, after these were chosen in it one after another."""
    async with app.run_test() as pilot:
        for name in chosen:
            app.theme = full_name(name)
            await pilot.pause()
        await wait_until(pilot, lambda: app.view.chat is not None and app.view.chat.opened_once)
        filters = [each._terminal_theme for each in app._filters if isinstance(each, ANSIToTruecolor)]
        found = app.theme, app.classes, app.theme_variables, app.screen.styles.background, filters
        await app.leave()
    return found


@pytest.mark.ui
@pytest.mark.parametrize(("name", "other"), [("dark", "light"), ("light", "dark"), ("nord", "light")])
async def test_the_theme_it_begins_in_looks_as_one_chosen_later(tmp_path: Path, name: str, other: str) -> None:
    begun = await looks(make_app(ScriptedAgent(), tmp_path, theme=name))
    assert begun == await looks(make_app(ScriptedAgent(), tmp_path, theme=name), other, name)
    assert begun != await looks(make_app(ScriptedAgent(), tmp_path, theme=other))


@pytest.mark.ui
async def test_the_sheets_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[Stylesheet] = []
    reparse = Stylesheet.reparse

    def counted(sheet: Stylesheet) -> None:
        again.append(sheet)
        reparse(sheet)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    await looks(make_app(ScriptedAgent(), tmp_path, theme="light"))
    assert again == []
    await looks(make_app(ScriptedAgent(), tmp_path, theme="light"), "dark")
    assert again, "a theme that is chosen later has them read again"


async def test_the_last_chat_can_be_read_while_the_memory_is_made_ready_for_this_version(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = ScriptedAgent()
    agent.add_session("Tides", ("When is high tide?", "At noon."))
    async with chat(agent):
        pass
    with closing(sqlite3.connect(Home.resolve().memory / "log.sqlite", isolation_level=None)) as db:
        db.execute("DELETE FROM projected")
    going_on, opens = threading.Event(), Memory.open

    def held(*where: Any, progress: Callable[[int, int], object], **more: Any) -> Memory:
        def told(done: int, total: int) -> None:
            progress(done, total)
            going_on.wait(60)

        return opens(*where, progress=told, **more)

    monkeypatch.setattr(Memory, "open", held)
    async with chat(ScriptedAgent(), opened=False) as (app, pilot):
        await wait_until(pilot, lambda: "At noon." in screen_text(app), "the last chat")
        await wait_until(pilot, lambda: "Preparing the memory for this version" in screen_text(app), "what is done")
        assert app.view.chat is None
        going_on.set()
        await there(pilot, app)
        await wait_until(pilot, lambda: "At noon." in screen_text(app), "the chat itself")
        assert "Preparing" not in screen_text(app)
