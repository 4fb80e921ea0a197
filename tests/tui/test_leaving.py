"""Esc and Ctrl+C are about the chat on the screen, and quitting takes a second press while the hint is shown."""

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent


async def test_escape_in_another_chat_stops_nothing_and_says_where_a_reply_is_written(chat: Running) -> None:
    agent = ScriptedAgent()
    here = agent.add_session("Here", ("q", "a"))
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"count", "enter")
        await wait_until(pilot, lambda: agent.answering == here)
        await app.open_session(None)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "written in another chat" in screen_text(app))
        assert agent.answering == here
        await app.open_session(here)
        await pilot.press("escape")
        await wait_until(
            pilot, lambda: app.view.state.last is not None and app.view.state.last.stop_reason == "stopped"
        )


async def test_ctrl_c_in_another_chat_clears_and_quits_without_stopping_the_reply(chat: Running) -> None:
    agent = ScriptedAgent()
    here = agent.add_session("Here", ("q", "a"))
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"count", "enter")
        await wait_until(pilot, lambda: agent.answering == here)
        await app.open_session(None)
        await pilot.press(*"draft", "ctrl+c")
        await wait_until(pilot, lambda: app.view.composer.text == "")
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "again to quit" in screen_text(app))
        assert agent.answering == here
        assert not agent.closed


async def test_ctrl_c_quits_only_while_its_hint_is_shown(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "again to quit" in screen_text(app))
        app.unsay()  # as its timer does
        await wait_until(pilot, lambda: "again to quit" not in screen_text(app))
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "again to quit" in screen_text(app))
        app.say("Something else.")
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: "again to quit" in screen_text(app))
        assert not agent.closed
        await pilot.press("x", "backspace")
        await wait_until(pilot, lambda: "again to quit" not in screen_text(app))
        await pilot.press("ctrl+c", "ctrl+c")
        await wait_until(pilot, lambda: agent.closed)


async def test_another_chat_takes_the_hint_of_escape_away_and_stop_says_that_there_is_nothing(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Here", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press("escape")
        await wait_until(pilot, lambda: "Press Esc again" in screen_text(app))
        await app.open_session(None)
        await wait_until(pilot, lambda: "Press Esc again" not in screen_text(app))
        await pilot.press(*"/stop", "enter")
        await wait_until(pilot, lambda: "Nothing to stop." in screen_text(app))
