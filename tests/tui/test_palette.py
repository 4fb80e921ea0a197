"""The palette over another screen: what it offers works there, or closes the screen first."""

import pytest
from textual.command import CommandPalette
from textual.widgets import OptionList

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.handlers import NOTHING
from tui.queries.screen import QueryScreen


@pytest.mark.process  # a query is one
async def test_over_the_query_screen_are_its_own_actions_and_those_that_close_it_first(chat: Running) -> None:
    agent = ScriptedAgent()
    asked = agent.watch_calls("graph.console")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("f3")
        await wait_until(pilot, lambda: isinstance(app.screen, QueryScreen) and app.screen.is_mounted, "the screen")
        screen = app.screen
        assert isinstance(screen, QueryScreen)
        screen.editor.put("RETURN 1")
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: "Run the query" in screen_text(app), "the screen's own")
        shown = screen_text(app)
        assert "Ready queries" in shown
        assert "$EDITOR" not in shown
        assert "Stop the reply" not in shown
        await pilot.press(*"run the query")
        await wait_until(pilot, lambda: app.screen.query_one(OptionList).option_count >= 1, "the hits")
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(asked) == 1, "the run")
        await wait_until(pilot, lambda: app.screen is screen, "the screen again")
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, CommandPalette), "the palette")
        await pilot.press(*"status and disk")
        await wait_until(pilot, lambda: "Show status and disk use" in screen_text(app), "the hit")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "times opened" in screen_text(app), "the page, to be seen")
        assert not any(isinstance(each, QueryScreen) for each in app.screen_stack)


async def test_words_that_nothing_has_are_answered_with_a_sentence(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, CommandPalette), "the palette")
        await pilot.press(*"qqzzqq")
        await wait_until(pilot, lambda: NOTHING in screen_text(app), "the sentence")
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
