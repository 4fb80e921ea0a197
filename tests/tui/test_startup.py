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
from tests.tui.conftest import Running, screen_text, there
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.themes import full_name, unknown_theme

# What clew imports before its first paint beyond what Textual does for an app with the same kinds of widgets. Each line
# more is paid for at every start: `python -m bench.startup` says how much.
BEFORE_THE_PAINT = set(Path(__file__).with_name("before_the_paint.txt").read_text("utf-8").split())


@pytest.mark.process
def test_before_the_first_paint_nothing_is_imported_but_what_is_named_here(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('theme = "light"\n')
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "any.gguf").touch()  # without one it is asked which to download
    clew, bare = modules_at_paint(TOLD_CLEW, tmp_path), modules_at_paint(TOLD_BARE, tmp_path)
    assert "textual" in clew
    assert clew & HEAVY == set()
    more = {name for name in clew - bare if not name.startswith("rich._unicode_data")}  # how wide the placeholder is
    assert more == BEFORE_THE_PAINT


def look(app: ClewApp) -> tuple[object, ...]:
    """What a theme makes of an app."""
    filters = [each._terminal_theme for each in app._filters if isinstance(each, ANSIToTruecolor)]
    return app.theme, app.classes, app.theme_variables, app.screen.styles.background, filters


async def test_the_theme_it_begins_in_looks_as_one_chosen_later_and_has_the_sheets_read_once(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[Stylesheet] = []
    reparse = Stylesheet.reparse

    def counted(sheet: Stylesheet) -> None:
        again.append(sheet)
        reparse(sheet)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    begun, chosen = {}, {}
    for name in ("light", "nord", "dark"):
        async with chat(ScriptedAgent(), theme=name) as (app, pilot):
            begun[name] = look(app)
            assert "Unknown theme" not in screen_text(app)
            assert again == []
            if name == "dark":
                for other in ("light", "nord", "dark"):
                    app.theme = full_name(other)
                    await pilot.pause()
                    chosen[other] = look(app)
    assert begun == chosen
    assert begun["dark"] != begun["light"] != begun["nord"] != begun["dark"]
    assert again, "a theme that is chosen later has them read again"
    async with chat(ScriptedAgent(), theme="purple [bold]") as (app, pilot):
        await sees(pilot, "Unknown theme in config.toml: purple [bold]")
        assert app.theme == "clew-dark"
        assert unknown_theme("nord", app.available_themes) == unknown_theme("", app.available_themes) == ""


async def test_the_last_chat_is_read_while_memory_is_made_ready(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
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
        await sees(pilot, "At noon.", "Preparing the memory for this version")
        assert app.view.chat is None
        going_on.set()
        await there(pilot, app)
        await sees(pilot, "At noon.")
        assert "Preparing" not in screen_text(app)
