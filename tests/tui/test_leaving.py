"""Esc and Ctrl+C are about the chat on the screen, and quitting takes a second press while the hint is shown."""

from tests.tui.acting import enter, press
from tests.tui.conftest import Running, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees_no_more


async def test_escape_and_ctrl_c_in_another_chat_stop_nothing_and_say_where_a_reply_is_written(chat: Running) -> None:
    agent = ScriptedAgent()
    here = agent.add_session("Here", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await press(pilot, "escape", shows="Press Esc again")
        await app.open_session(None)
        await sees_no_more(pilot, "Press Esc again")
        await enter(pilot, "/stop", "Nothing to stop.")
        await app.open_session(here)
        agent.go.clear()
        await enter(pilot, "count", until=lambda: agent.answering == here)
        await app.open_session(None)
        await press(pilot, "escape", shows="written in another chat")
        assert agent.answering == here
        await press(pilot, *"draft", "ctrl+c", until=lambda: app.view.composer.text == "")
        await press(pilot, "ctrl+c", shows="again to quit")
        assert agent.answering == here
        assert not agent.closed
        await app.open_session(here)
        await pilot.press("escape")
        await wait_until(pilot, lambda: (ended := app.view.state.last) is not None and ended.stop_reason == "stopped")


async def test_ctrl_c_stops_then_clears_then_quits_on_a_second_press_while_its_hint_is_shown(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await press(pilot, *"x", "enter", until=lambda: app.view.state.reply is not None)
        await press(pilot, *"draft", "ctrl+c", until=lambda: agent.answering is None)
        assert app.view.composer.text == "draft"
        await pilot.press("ctrl+d", "s")  # behind the last word Ctrl+D does nothing
        assert app.view.composer.text == "drafts"
        await pilot.press("ctrl+c")
        assert app.view.composer.text == ""
        await pilot.press("up")
        assert app.view.composer.text == "drafts"
        await press(pilot, "ctrl+c", "ctrl+c", shows="again to quit")
        app.unsay()  # as its timer does
        await sees_no_more(pilot, "again to quit")
        await press(pilot, "ctrl+c", shows="again to quit")
        app.say("Something else.")
        await press(pilot, "ctrl+c", shows="again to quit")
        assert not agent.closed
        await pilot.press("x", "backspace")
        await sees_no_more(pilot, "again to quit")
        await press(pilot, "ctrl+c", "ctrl+c", until=lambda: agent.closed)


async def test_ctrl_d_quits_only_when_nothing_is_written(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"ab", "home", "ctrl+d")
        assert app.view.composer.text == "b"
        await press(pilot, "delete", "ctrl+d", until=lambda: agent.closed)


async def test_what_was_typed_right_before_quitting_is_kept(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await press(pilot, "a", "ctrl+q", until=lambda: agent.closed)
        assert app.view.drafts.load(session) == "a"
