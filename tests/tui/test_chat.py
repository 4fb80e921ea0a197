"""A chat as a person has it: send, read, queue, stop, switch; on the real agent, with the real widgets."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.events import AgentEvent, ModelFailed
from agent.home import Home
from graph.log.lock import MemoryLock
from models.errors import NotGguf
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.widgets.message import AssistantMessage, UserMessage


def texts(app: ClewApp) -> list[str]:
    return [message.text for message in app.view.transcript.messages]


def copied(app: ClewApp, text: str) -> bool:
    return app.clipboard == text


async def test_enter_sends_and_the_reply_streams_in(chat: Running) -> None:
    async with chat(ScriptedAgent(reply="Hello **there**.")) as (app, pilot):
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: texts(app) == ["hi", "Hello **there**."])
        await wait_until(pilot, lambda: "Hello there." in screen_text(app))
        assert app.view.composer.text == ""
        await wait_until(pilot, lambda: "clew" in screen_text(app), "clew")


async def test_ctrl_j_makes_a_line_and_a_blank_message_is_refused(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press("space", "enter")
        await wait_until(pilot, lambda: "message is empty" in screen_text(app))
        assert await agent.chats.all() == []
        await pilot.press(*"a", "ctrl+j", *"b")
        assert app.view.composer.text == "a\nb"


async def test_messages_typed_while_it_answers_are_queued_and_shown_so(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"one", "enter", *"two", "enter")
        await wait_until(pilot, lambda: "Queued" in screen_text(app))
        await wait_until(pilot, lambda: "1 queued" in screen_text(app))
        agent.go.set()
        await wait_until(pilot, lambda: texts(app) == ["one", "Hello there.", "two", "Hello there."])
        await wait_until(pilot, lambda: "queued" not in screen_text(app))


async def test_stopping_a_reply_leaves_the_queued_messages_on_hold_until_enter_sends_them(chat: Running) -> None:
    agent = ScriptedAgent(reply="one two")
    agent.go.clear()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        await pilot.press(*"A", "enter", *"B", "enter", *"C", "enter")
        await wait_until(pilot, lambda: "2 queued" in screen_text(app) and app.view.state.reply is not None)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "2 queued messages are on hold. Press Enter to send them" in screen_text(app))
        await wait_until(pilot, lambda: screen_text(app).count("On hold") == 2)
        await wait_until(pilot, lambda: agent.answering is None)
        agent.go.set()
        await pilot.press(*"D", "enter")
        await wait_until(pilot, lambda: texts(app) == ["A", "", "D", "one two", "B", "C"])
        await wait_until(pilot, lambda: "2 on hold" in screen_text(app), "2 on hold")
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == ["A", "", "D", "one two", "B", "one two", "C", "one two"])
        await wait_until(pilot, lambda: "hold" not in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "message is empty" in screen_text(app))


async def test_a_queued_message_is_taken_back_into_the_composer_and_is_not_answered(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"A", "enter", *"B", "enter", *"C", "enter")
        await wait_until(pilot, lambda: "2 queued" in screen_text(app) and app.view.state.reply is not None)
        await pilot.press("up")
        await wait_until(pilot, lambda: app.view.composer.text == "C")
        assert app.view.drafts.load(app.view.session) == "C"
        await wait_until(pilot, lambda: "1 queued" in screen_text(app))
        await pilot.press("up")  # with words in the composer it is the history's key
        assert app.view.composer.text == "C"
        await pilot.press("escape")
        await wait_until(pilot, lambda: "1 on hold" in screen_text(app))
        await wait_until(pilot, lambda: agent.answering is None)
        await pilot.press("ctrl+c")
        assert app.view.composer.text == ""
        said = next(message for message in app.view.transcript.messages if message.text == "B")
        said.focus()
        await pilot.press("e")
        await wait_until(pilot, lambda: app.view.composer.text == "B")
        await wait_until(pilot, lambda: "hold" not in screen_text(app).replace("on hold. Press Enter", ""))
        agent.go.set()
        await pilot.press("!", "enter")
        await wait_until(pilot, lambda: texts(app)[-2:] == ["B!", "Hello there."])
        assert [turn.text for turn in await agent.chats.thread(here(app)) if turn.role == "user"] == ["A", "B!"]


async def test_messages_on_hold_are_there_when_one_comes_back_to_their_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    other = agent.add_session("Other", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await app.open_session(None)
        await pilot.press(*"A", "enter", *"B", "enter")
        await wait_until(pilot, lambda: "1 queued" in screen_text(app) and app.view.state.reply is not None)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "1 on hold" in screen_text(app))
        stopped = here(app)
        await app.open_session(other)
        await wait_until(pilot, lambda: "hold" not in screen_text(app).replace("on hold.", ""))
        await app.open_session(stopped)
        await wait_until(pilot, lambda: "On hold" in screen_text(app))


async def test_messages_sent_before_a_new_chats_first_one_is_accepted_go_into_the_same_chat(chat: Running) -> None:
    accepting = asyncio.Event()

    class Unhurried(ScriptedAgent):
        """Takes a while to begin a chat."""

        async def send(self, session: str | None, text: str, **more: Any) -> AsyncGenerator[AgentEvent, None]:
            if session is None:
                await accepting.wait()
            async for event in super().send(session, text, **more):
                yield event

    agent = Unhurried()
    async with chat(agent) as (app, pilot):
        assert app.view.chat is not None
        for text in ("one", "two", "three"):
            app.view.chat.send(text)
        await pilot.pause()
        accepting.set()
        await wait_until(pilot, lambda: [text for text in texts(app) if text != agent.reply] == ["one", "two", "three"])
        assert len(await agent.chats.all()) == 1


async def test_keys_pressed_before_anything_is_ready_are_the_composers(chat: Running, tmp_path: Path) -> None:
    agent = ScriptedAgent()
    opening = agent.hold("start")
    async with chat(agent, opened=False) as (app, pilot):
        app.view.drafts.save(None, "an older draft")
        assert app.focused is app.view.composer
        await pilot.press(*"typed early")
        app.parts.composer.keep()
        assert app.view.drafts.load(None) == "an older draft"
        opening.set()
        await wait_until(pilot, lambda: app.view.composer.text == "an older draft\ntyped early")


async def test_escape_stops_and_the_partial_reply_says_so(chat: Running) -> None:
    agent = ScriptedAgent(reply="one two three")
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"count", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.view.state.last is not None)
        await wait_until(pilot, lambda: "stopped" in screen_text(app))


async def test_a_message_taken_back_while_another_chat_opens_is_the_draft_of_its_own(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    gone, leaving = agent.hold("withdraw"), agent.watch_calls("withdraw")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"A", "enter", *"mine", "enter")
        await wait_until(pilot, lambda: "1 queued" in screen_text(app))
        first = here(app)
        await pilot.press("up")
        await wait_until(pilot, lambda: leaving)
        await pilot.press("ctrl+n", *"new")
        await wait_until(pilot, lambda: app.view.session is None and app.view.composer.text == "new")
        gone.set()
        await wait_until(pilot, lambda: app.view.drafts.load(first) == "mine")
        await app.open_session(first)
        assert app.view.composer.text == "mine"


async def test_ctrl_c_stops_then_clears_then_quits_on_the_second_press(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"x", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: agent.answering is None)
        await pilot.press(*"draft", "ctrl+c")
        assert app.view.composer.text == ""
        await pilot.press("up")
        assert app.view.composer.text == "draft"
        await pilot.press("ctrl+c", "ctrl+c")
        await wait_until(pilot, lambda: "again to quit" in screen_text(app))
        assert not agent.closed
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: agent.closed)


async def test_ctrl_c_stops_the_reply_before_it_clears_what_is_written(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"x", "enter")
        await wait_until(pilot, lambda: agent.answering is not None)
        await pilot.press(*"draft", "ctrl+c")
        await wait_until(pilot, lambda: agent.answering is None)
        assert app.view.composer.text == "draft"


async def test_ctrl_d_quits_only_when_nothing_is_written(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"ab", "home", "ctrl+d")
        assert app.view.composer.text == "b"
        await pilot.press("delete", "ctrl+d")
        await wait_until(pilot, lambda: agent.closed)


async def test_ctrl_d_behind_the_last_word_does_nothing(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"ab", "ctrl+d", "c")
        assert app.view.composer.text == "abc"
        assert not agent.closed


async def test_up_and_down_walk_the_messages_sent_before(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("first", "a"), ("second", "b"))
    async with chat(agent) as (app, pilot):
        await pilot.press(*"now", "up")
        assert app.view.composer.text == "second"
        await pilot.press("up")
        assert app.view.composer.text == "first"
        await pilot.press("down", "down")
        assert app.view.composer.text == "now"


async def test_a_message_typed_before_the_memory_is_open_waits_and_is_then_sent(chat: Running) -> None:
    agent = ScriptedAgent()
    opening = agent.hold("start")
    async with chat(agent, opened=False) as (app, pilot):
        await pilot.press(*"early", "enter")
        await wait_until(pilot, lambda: "still opening" in screen_text(app))
        assert app.view.composer.text == "early"
        opening.set()
        await wait_until(pilot, lambda: texts(app) == ["early", "Hello there."])


async def test_a_message_that_could_not_be_stored_is_back_in_the_composer(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.turn_down("send", "The disk is full: nothing was stored.")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"keep me", "enter")
        await wait_until(pilot, lambda: app.view.composer.text == "keep me")
        await wait_until(pilot, lambda: "disk is full" in screen_text(app))


async def test_the_draft_of_each_chat_is_kept_on_disk(chat: Running, tmp_path: Path) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press(*"half a thought")
        await wait_until(pilot, lambda: app.view.drafts.load(session) == "half a thought")
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: app.view.session is None)
        assert app.view.composer.text == ""
    async with chat(ScriptedAgent()) as (app, pilot):
        assert app.view.composer.text == "half a thought"


async def test_what_was_typed_right_before_quitting_is_kept(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press("a", "ctrl+q")
        await wait_until(pilot, lambda: agent.closed)
        assert app.view.drafts.load(session) == "a"


async def test_a_new_chat_leaves_no_draft_behind_once_it_is_a_session(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"hello")
        await wait_until(pilot, lambda: app.view.drafts.load(None) == "hello")
        await pilot.press("enter", *"next")
        await wait_until(pilot, lambda: app.view.session and app.view.drafts.load(here(app)) == "next")
        assert app.view.drafts.load(None) == ""


async def test_what_is_typed_while_the_chat_opens_follows_its_draft(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a"))
    opening = agent.hold("start")
    async with chat(agent, opened=False) as (app, pilot):
        app.view.drafts.save(session, "kept")
        await pilot.press(*"typed")
        opening.set()
        await wait_until(pilot, lambda: app.view.composer.text == "kept\ntyped")


async def test_no_text_is_markup_and_no_escape_reaches_the_screen(chat: Running) -> None:
    nasty = "[bold]x[/] [/] [@click=app.quit]y[/] \x1b[31mred \u202eright"
    agent = ScriptedAgent(reply=nasty + " <div>tag</div>")
    async with chat(agent, size=(120, 30)) as (app, pilot):
        app.view.composer.put(nasty)
        await pilot.press("enter")
        await wait_until(pilot, lambda: screen_text(app).count("[@click=app.quit]y[/]") == 3)  # in the title, too
        words = screen_text(app)
        assert "\x1b" not in words
        assert "\u202e" not in words
        assert "<div>tag</div>" in words


async def test_a_huge_paste_is_one_insert_and_is_shown_folded(chat: Running) -> None:
    agent = ScriptedAgent()
    paste = "line of text\r\n" * 16_000
    async with chat(agent) as (app, pilot):
        app.view.composer.post_message(events.Paste(paste))
        await wait_until(pilot, lambda: len(app.view.composer.text) == 16_000 * 13)
        await pilot.press("ctrl+underscore")
        assert app.view.composer.text == ""
        app.view.composer.post_message(events.Paste(paste))
        await wait_until(pilot, lambda: app.view.composer.text != "")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "208 KB, 16,000 lines" in screen_text(app))
        said = next(message for message in app.view.transcript.messages if isinstance(message, UserMessage))
        said.focus()
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 2)


async def test_lone_surrogates_in_a_paste_become_replacement_characters(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        app.view.composer.post_message(events.Paste("a\ud800b\x00"))
        await wait_until(pilot, lambda: app.view.composer.text == "a\ufffdb\ufffd")


async def test_a_missing_model_is_told_with_the_way_out(chat: Running) -> None:
    agent = ScriptedAgent(failure=NotGguf(Path("broken.gguf"), "text"))
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "Use /model to choose another" in screen_text(app))
        agent.tell(ModelFailed("x", "still [not] a model"))
        await wait_until(pilot, lambda: "still [not] a model" in screen_text(app))


async def test_the_first_run_shows_the_download_while_one_can_type(chat: Running) -> None:
    async with chat(ScriptedAgent(fetching=True)) as (app, pilot):
        await wait_until(pilot, lambda: "43%" in screen_text(app))
        await pilot.press(*"already")
        assert app.view.composer.text == "already"


async def test_a_memory_that_cannot_be_opened_ends_the_chat_with_its_words(chat: Running) -> None:
    held = MemoryLock.take(Home.resolve().memory, command="clew ask")
    async with chat(ScriptedAgent(), opened=False) as (app, pilot):
        await wait_until(pilot, lambda: app.parting is not None)
        assert (app.parting or "").startswith("This memory is in use by `clew ask`")
        assert app.return_code == 75
    held.release()


async def test_a_reply_is_copied_through_the_terminal_and_that_is_said(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.clipboard.native_tool", lambda: None)
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "Text\n\n```sh\nls -l\n```\n"))
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+y")
        await wait_until(pilot, lambda: "OSC 52" in screen_text(app))
        assert app.clipboard.startswith("Text")
        app.perform("copy", "code")
        await wait_until(pilot, lambda: app.clipboard == "ls -l")


async def test_code_blocks_are_copied_one_after_the_other(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.clipboard.native_tool", lambda: None)
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "```\none\n```\n\n~~~\ntwo\n~~~"))
    async with chat(agent) as (app, pilot):
        await pilot.press("tab")
        assert isinstance(app.focused, AssistantMessage)
        for wanted in ("one", "two", "one"):
            await pilot.press("b")
            await wait_until(pilot, partial(copied, app, wanted))
        await pilot.press("z")
        await wait_until(pilot, lambda: app.view.composer.text == "z")
