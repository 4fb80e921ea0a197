"""The list of chats: search, open, rename, archive, delete after asking."""

import pytest
from textual.widgets import Input

from tests.tui.acting import perform, press
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.widgets.dialogs import AskLine
from tui.widgets.impact import ImpactScreen


def agent_with_chats() -> ScriptedAgent:
    agent = ScriptedAgent()
    agent.add_session("Trip to Crete", ("q", "answer about Crete"))
    agent.add_session("Bread [bold]", ("q", "answer about bread"))
    agent.add_session(None, ("q", "answer without a title"))
    return agent


async def is_archived(agent: ScriptedAgent, archived: bool = True) -> bool:
    """Whether the chat about bread is archived, or is not."""
    return (await agent.chats.get("S001")).archived is archived


@pytest.mark.sample
async def test_the_list_searches_switches_renames_archives_and_takes_the_place_of_the_chat(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        await press(pilot, "f2", shows="› Trip to Crete")
        await press(pilot, "ctrl+r", until=lambda: isinstance(app.screen, AskLine))
        await press(pilot, "end", *"!", "enter", until=lambda: screen_text(app).count("Trip to Crete!") == 2)
        assert (await agent.chats.get("S000")).name == "Trip to Crete!"
        app.view.sessions.query_one(Input).focus()
        await press(pilot, *"nothing", until=lambda: "0 of 3" in screen_text(app) and "›" not in screen_text(app))
        await pilot.press("ctrl+u", *"brea")
        await wait_until(pilot, lambda: "1 of 3" in screen_text(app) and "› Bread [bold]" in screen_text(app))
        assert screen_text(app).count("›") == 1, "a mark that needs no colour"
        await press(pilot, "enter", until=lambda: app.view.session == "S001", shows="answer about bread")
        await press(pilot, "f2", until=lambda: not app.view.sessions.display)
        assert app.focused is app.view.composer
        await press(pilot, "f2", "ctrl+u", shows="› Bread [bold]")
        await press(pilot, "ctrl+s", until=lambda: is_archived(agent))
        await press(pilot, "ctrl+t", until=lambda: "Archived chats" in screen_text(app) and "Bread" in screen_text(app))
        await press(pilot, "ctrl+s", until=lambda: is_archived(agent, False), shows="Archived chats  0")
        await press(pilot, "escape", until=lambda: not app.view.sessions.display)
        await press(pilot, "f2", until=lambda: app.view.sessions.chosen is not None)
        assert "Archived" not in screen_text(app), "it opens on the chats in use"

        for width in (36, 40, 38, 120, 1, 80):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
        await sees(pilot, "Trip to Crete")
        await pilot.resize_terminal(40, 12)
        await wait_until(pilot, lambda: "Trip to Crete" in screen_text(app) and not app.view.composer.region)
        await press(pilot, "up", "enter", until=lambda: app.view.session == "S000" and not app.view.sessions.display)


async def test_delete_asks_says_what_happens_and_only_its_button_deletes(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        tiny = ((20, 5), (40, 5), (20, 8))
        answers = (["escape"], ["enter"], ["y"], ["escape"], ["tab", "enter"])
        for size, answer in zip((*tiny, (80, 24), (80, 24)), answers, strict=True):
            assert not (await agent.chats.get("S000")).deleted
            await pilot.resize_terminal(*size)
            await perform(pilot, "delete", until=lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan)
            told = "Delete" if size in tiny else "cannot be undone"
            await wait_until(pilot, lambda told=told: told in screen_text(app), told)  # type: ignore[misc]
            words = " ".join(screen_text(app).split())
            assert "[ Cancel ]" in words
            assert "[ Delete perm" in words
            await press(pilot, *answer, until=lambda: len(app.screen_stack) == 1)
            await pilot.pause()
        await wait_until(pilot, lambda: app.view.session is None)
        assert (await agent.chats.get("S000")).deleted
