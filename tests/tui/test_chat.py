"""A chat as a person has it: send, read, queue, stop, switch; on the real agent, with the real widgets."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import pytest
from textual import events

from agent.events import AgentEvent
from agent.home import Home
from graph.log.lock import MemoryLock
from tests.examples import few
from tests.tui.acting import enter, paste, press
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import says, sees, texts
from tui.app import ClewApp
from tui.widgets.message import AssistantMessage, UserMessage

NASTY = "[bold]x[/] [/] [@click=app.quit]y[/] \x1b[31mred \u202eright"


def copied(app: ClewApp, text: str) -> bool:
    return app.clipboard == text


@pytest.mark.sample
async def test_enter_sends_the_reply_streams_in_and_what_is_not_sent_stays_in_the_composer(chat: Running) -> None:
    agent = ScriptedAgent(reply="Hello **there**.")
    agent.add_session("Old", ("first", "a"), ("second", "b"))
    async with chat(agent, size=(120, 30)) as (app, pilot):
        await pilot.press(*"now", "up")
        assert app.view.composer.text == "second"
        await pilot.press("up")
        assert app.view.composer.text == "first"
        await pilot.press("down", "down")
        assert app.view.composer.text == "now"
        await app.open_session(None)
        await press(pilot, "space", "enter", shows="message is empty")
        assert [each.name for each in await agent.chats.all()] == ["Old"]
        await pilot.press("backspace", *"a", "ctrl+j", *"b")
        assert app.view.composer.text == "a\nb"
        app.view.composer.put("")
        await pilot.press(*"hi", "enter")
        await says(app, pilot, "hi", "Hello **there**.")
        await sees(pilot, "clew", "Hello there.")
        assert app.view.chat is not None
        assert app.view.chat._mirror is None, "of an agent of its own nothing is mirrored"
        assert app.view.composer.text == ""
        agent.turn_down("send", "The disk is full: nothing was stored.")
        await paste(pilot, "keep me", "enter")
        await wait_until(pilot, lambda: app.view.composer.text == "keep me")
        await sees(pilot, "disk is full")


async def test_no_text_is_markup_no_escape_reaches_the_screen_and_a_huge_paste_is_shown_folded(chat: Running) -> None:
    agent = ScriptedAgent(reply=f"{NASTY} <div>tag</div>")
    lines = few(16_000)
    paste = "line of text\r\n" * lines
    async with chat(agent, size=(120, 30)) as (app, pilot):
        app.view.composer.post_message(events.Paste("a\ud800b\x00"))
        await wait_until(pilot, lambda: app.view.composer.text == "a\ufffdb\ufffd")
        await enter(pilot, NASTY)
        await wait_until(pilot, lambda: screen_text(app).count("[@click=app.quit]y[/]") == 3)  # in the title, too
        words = screen_text(app)
        assert "\x1b" not in words
        assert "\u202e" not in words
        assert "<div>tag</div>" in words
        app.view.composer.post_message(events.Paste(paste))
        await wait_until(pilot, lambda: len(app.view.composer.text) == lines * 13)
        await pilot.press("ctrl+underscore")
        assert app.view.composer.text == ""
        app.view.composer.post_message(events.Paste(paste))
        await wait_until(pilot, lambda: app.view.composer.text != "")
        await press(pilot, "enter", shows=f"{lines * 13 / 1000:.0f} KB, {lines:,} lines")
        said = [message for message in app.view.transcript.messages if isinstance(message, UserMessage)][-1]
        said.focus()
        await press(pilot, "enter", until=lambda: len(app.screen_stack) == 2)


async def test_messages_typed_while_it_answers_are_queued_and_once_stopped_held_until_enter(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        await press(pilot, *"one", "enter", *"two", "enter", shows=("Queued", "1 queued"))
        agent.go.set()
        await says(app, pilot, "one", "Hello there.", "two", "Hello there.")
        await wait_until(pilot, lambda: "queued" not in screen_text(app))

        await app.open_session(None)
        agent.reply = "one two"
        agent.go.clear()
        await pilot.press(*"A", "enter", *"B", "enter", *"C", "enter")
        await wait_until(pilot, lambda: "2 queued" in screen_text(app) and app.view.state.reply is not None)
        await press(pilot, "escape", shows=("2 queued messages are on hold. Press Enter to send them", "stopped"))
        await wait_until(pilot, lambda: screen_text(app).count("On hold") == 2)
        await wait_until(pilot, lambda: app.view.state.last is not None and agent.answering is None)
        agent.go.set()
        await pilot.press(*"D", "enter")
        await says(app, pilot, "A", "", "D", "one two", "B", "C")
        await sees(pilot, "2 on hold")
        await pilot.press("enter")
        await says(app, pilot, "A", "", "D", "one two", "B", "one two", "C", "one two")
        await wait_until(pilot, lambda: "hold" not in screen_text(app))
        await press(pilot, "enter", shows="message is empty")


async def test_a_queued_message_is_taken_back_into_the_composer_of_its_chat_not_answered(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    other = agent.add_session("Other", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await app.open_session(None)
        await pilot.press(*"A", "enter", *"B", "enter", *"C", "enter")
        await wait_until(pilot, lambda: "2 queued" in screen_text(app) and app.view.state.reply is not None)
        stopped = here(app)
        await press(pilot, "up", until=lambda: app.view.composer.text == "C")
        assert app.view.drafts.load(stopped) == "C"
        await sees(pilot, "1 queued")
        await pilot.press("up")  # with words in the composer it is the history's key
        assert app.view.composer.text == "C"
        await press(pilot, "escape", shows="1 on hold")
        await wait_until(pilot, lambda: agent.answering is None)
        await app.open_session(other)
        await wait_until(pilot, lambda: "hold" not in screen_text(app).replace("on hold.", ""))
        await app.open_session(stopped)
        await sees(pilot, "On hold")
        await pilot.press("ctrl+c")
        assert app.view.composer.text == ""
        said = next(message for message in app.view.transcript.messages if message.text == "B")
        said.focus()
        await press(pilot, "e", until=lambda: app.view.composer.text == "B")
        await wait_until(pilot, lambda: "hold" not in screen_text(app).replace("on hold. Press Enter", ""))
        agent.go.set()
        await press(pilot, "!", "enter", until=lambda: texts(app)[-2:] == ["B!", "Hello there."])
        assert [turn.text for turn in await agent.chats.thread(stopped) if turn.role == "user"] == ["A", "B!"]

        await wait_until(pilot, lambda: agent.answering is None)
        agent.go.clear()
        gone, leaving = agent.hold("withdraw"), agent.watch_calls("withdraw")
        await press(pilot, *"E", "enter", *"mine", "enter", shows="1 queued")
        await press(pilot, "up", until=lambda: leaving)
        await press(pilot, "ctrl+n", *"new", until=lambda: app.view.session is None and app.view.composer.text == "new")
        gone.set()
        await wait_until(pilot, lambda: app.view.drafts.load(stopped) == "mine")
        await app.open_session(stopped)
        assert app.view.composer.text == "mine"


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


@pytest.mark.parametrize("there_is_a_chat", [False, True])
async def test_what_is_typed_while_the_chat_opens_follows_its_draft(chat: Running, there_is_a_chat: bool) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a")) if there_is_a_chat else None
    opening = agent.hold("start")
    async with chat(agent, opened=False) as (app, pilot):
        app.view.drafts.save(session, "an older draft")
        assert app.focused is app.view.composer
        await pilot.press(*"early")
        app.parts.composer.keep()
        assert app.view.drafts.load(session) == "an older draft"
        opening.set()
        await wait_until(pilot, lambda: app.view.composer.text == "an older draft\nearly")


async def test_a_message_typed_before_the_memory_is_open_waits_and_is_then_sent(chat: Running) -> None:
    agent = ScriptedAgent()
    opening = agent.hold("start")
    async with chat(agent, opened=False) as (app, pilot):
        await paste(pilot, "early", "enter")
        await wait_until(pilot, lambda: "still opening" in screen_text(app))
        assert app.view.composer.text == "early"
        opening.set()
        await wait_until(pilot, lambda: texts(app) == ["early", "Hello there."])


async def test_the_draft_of_each_chat_is_kept_on_disk(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await paste(pilot, "half a thought")
        await wait_until(pilot, lambda: app.view.drafts.load(session) == "half a thought")
        await press(pilot, "ctrl+n", until=lambda: app.view.session is None)
        assert app.view.composer.text == ""
        await paste(pilot, "hello")
        await wait_until(pilot, lambda: app.view.drafts.load(None) == "hello")
        await pilot.press("enter", *"next")
        await wait_until(pilot, lambda: app.view.session and app.view.drafts.load(here(app)) == "next")
        assert app.view.drafts.load(None) == ""
    async with chat(ScriptedAgent()) as (app, pilot):
        assert app.view.composer.text == "next"
        await app.open_session(session)
        assert app.view.composer.text == "half a thought"


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


async def test_a_reply_is_copied_and_its_code_blocks_one_by_one(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.clipboard.native_tool", lambda: None)
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "Text\n\n```sh\nls -l\n```\n"))
    two = agent.add_session("Two", ("q", "```\none\n```\n\n~~~\ntwo\n~~~"))
    async with chat(agent) as (app, pilot):
        await press(pilot, "ctrl+y", shows="OSC 52")
        assert app.clipboard.startswith("Text")
        app.perform("copy", "code")
        await wait_until(pilot, partial(copied, app, "ls -l"))
        await app.open_session(two)
        await pilot.press("tab")
        assert isinstance(app.focused, AssistantMessage)
        for wanted in ("one", "two", "one"):
            await press(pilot, "b", until=partial(copied, app, wanted))
        await press(pilot, "z", until=lambda: app.view.composer.text == "z")
