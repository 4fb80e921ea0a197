"""The list of chats: search, open, rename, archive, delete after asking."""

import pytest

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
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


async def test_the_list_opens_searches_and_switches(chat: Running) -> None:
    async with chat(agent_with_chats()) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: "Bread [bold]" in screen_text(app))
        await pilot.press(*"brea")
        await wait_until(pilot, lambda: "1 of 3" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == "S001")
        await wait_until(pilot, lambda: "answer about bread" in screen_text(app))
        await pilot.press("f2")
        await wait_until(pilot, lambda: not app.view.sessions.display)
        assert app.focused is app.view.composer


async def test_a_chat_is_renamed_from_the_list_and_the_title_follows(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press("end", *"!", "enter")
        await wait_until(pilot, lambda: screen_text(app).count("Trip to Crete!") == 2)
        assert (await agent.chats.get("S000")).name == "Trip to Crete!"


async def test_delete_asks_says_what_happens_and_only_its_button_deletes(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        for answer in (["enter"], ["escape"], ["y"], ["tab", "enter"]):
            assert not (await agent.chats.get("S000")).deleted
            app.perform("delete")
            await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan)
            await wait_until(pilot, lambda: "cannot be undone" in screen_text(app))
            await pilot.press(*answer)
            await wait_until(pilot, lambda: len(app.screen_stack) == 1)
            await pilot.pause()
        await wait_until(pilot, lambda: app.view.session is None)
        assert (await agent.chats.get("S000")).deleted


@pytest.mark.parametrize("size", [(20, 5), (40, 5), (20, 8)])
async def test_in_a_tiny_terminal_the_question_keeps_its_keys_in_view(chat: Running, size: tuple[int, int]) -> None:
    async with chat(agent_with_chats(), size=size) as (app, pilot):
        app.perform("delete")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan)
        await wait_until(pilot, lambda: "Delete" in screen_text(app))
        words = " ".join(screen_text(app).split())
        assert "[ Cancel ]" in words
        assert "[ Delete perm" in words
        await pilot.press("escape")


async def test_the_chosen_chat_has_a_mark_that_needs_no_colour(chat: Running) -> None:
    async with chat(agent_with_chats()) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: "› Trip to Crete" in screen_text(app))
        await pilot.press("down")
        await wait_until(pilot, lambda: "› Bread [bold]" in screen_text(app))
        assert screen_text(app).count("›") == 1
        await pilot.press(*"nothing")
        await wait_until(pilot, lambda: "0 of 3" in screen_text(app) and "›" not in screen_text(app))


async def test_an_archived_chat_leaves_the_list_and_comes_back(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("down", "ctrl+s")
        await wait_until(pilot, lambda: is_archived(agent))
        await pilot.press("ctrl+t")
        await wait_until(pilot, lambda: "Archived chats" in screen_text(app) and "Bread" in screen_text(app))
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: is_archived(agent, False))


async def test_a_terminal_that_becomes_very_narrow_with_the_list_open_goes_on(chat: Running) -> None:
    async with chat(agent_with_chats(), size=(120, 40)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.display)
        for width in (36, 40, 38, 120, 1, 80):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
        await wait_until(pilot, lambda: "Trip to Crete" in screen_text(app))


async def test_in_a_narrow_terminal_the_list_takes_the_place_of_the_chat(chat: Running) -> None:
    async with chat(agent_with_chats(), size=(40, 12)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: "Trip to Crete" in screen_text(app))
        assert not app.view.composer.region
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: app.view.session == "S001" and not app.view.sessions.display)


async def test_the_list_opens_on_the_chats_in_use_whatever_it_showed_last(chat: Running) -> None:
    async with chat(agent_with_chats(), size=(120, 30)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("ctrl+t")
        await wait_until(pilot, lambda: "Archived chats  0" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not app.view.sessions.display)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        assert "Archived" not in screen_text(app)
