"""A theme that there is not is said, and the chat is dark meanwhile."""

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.themes import unknown_theme


async def test_an_unknown_theme_in_the_settings_is_said_at_the_start(chat: Running) -> None:
    async with chat(ScriptedAgent(), theme="purple [bold]") as (app, pilot):
        await wait_until(pilot, lambda: "Unknown theme in config.toml: purple [bold]" in screen_text(app))
        assert app.theme == "clew-dark"


async def test_of_a_theme_that_there_is_nothing_is_said(chat: Running) -> None:
    async with chat(ScriptedAgent(), theme="light") as (app, pilot):
        await pilot.pause()
        assert app.theme == "clew-light"
        assert "Unknown theme" not in screen_text(app)
        assert unknown_theme("nord", app.available_themes) == unknown_theme("", app.available_themes) == ""
