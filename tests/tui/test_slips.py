"""No slip destroys anything: typing with the focus anywhere, keys that come in one burst, letters over a question."""

import asyncio
import json
import os
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from textual.events import Paste
from textual.widgets import Input

from agent.home import Home
from graph.events import Sampling
from tests.examples import few, soaking
from tests.fakes import FakeGenerator
from tests.tui.acting import press
from tests.tui.conftest import Running, wait_until
from tests.tui.keystrokes import Clock, burst, type_away
from tests.tui.keystrokes import press as strike
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import last, sees, texts, words
from tests.tui.test_branching import crete
from tests.tui.test_recall_for_real import running, say
from tests.tui.test_sessions import agent_with_chats
from tui.app import ClewApp
from tui.keyboard import ALONE_S, TYPED
from tui.widgets.dialogs import Confirm, Reader
from tui.widgets.impact import ImpactScreen
from tui.widgets.long_list import Rows
from tui.widgets.message import AssistantMessage, UserMessage
from tui.widgets.search import SearchScreen

SLIPS = ("turn.hidden", "turn.deleted", "turn.withheld", "pin.set", "session.deleted", "session.archived")
# The bar is 20 seeds of 3,000 keys: CLEW_TEST_TYPED=20x3000 python -m pytest tests/tui/test_slips.py -k typed
SEEDS, KEYS = (int(part) for part in os.environ.get("CLEW_TEST_TYPED", f"1x{few(400)}").split("x"))
SHORT = 0.1  # seconds between two keys
LONG = 5.0


def long_chat() -> ScriptedAgent:
    agent = ScriptedAgent()
    agent.add_session("Long", *((f"question {number}", f"answer {number}") for number in range(8)))
    return agent


def ready(app: ClewApp) -> bool:
    return isinstance(app.screen, ImpactScreen) and app.screen.plan is not None


async def test_what_is_typed_on_a_message_or_over_a_question_goes_to_the_composer_with_a_word(chat: Running) -> None:
    agent, clock = crete(), Clock()

    async def type_letters(words: str) -> None:
        for key in words:
            await strike(app, key)
            clock.pass_(SHORT)

    async with chat(agent, later=clock.later) as (app, pilot):
        await strike(app, "tab")
        await type_letters("exactly right")
        await wait_until(pilot, lambda: app.view.composer.text == "exactly right" and app.view.composer.has_focus)
        await wait_until(pilot, lambda: TYPED.split(":")[0] in words(app), "the first words")
        clock.pass_(LONG)
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert len(texts(app)) == 4

        app.view.composer.put("")
        await strike(app, "tab", "x")
        clock.pass_(ALONE_S - 0.01)
        await pilot.pause()
        assert len(app.screen_stack) == 1, "another key may follow it"
        clock.pass_(0.02)
        await wait_until(pilot, lambda: ready(app))
        assert app.view.composer.text == ""
        await type_letters("ylophone")  # which is no answer to the question
        await wait_until(pilot, lambda: app.view.composer.text == "xylophone")
        await sees(pilot, "Nothing was changed.")
        assert len(app.screen_stack) == 1
        assert len(await agent.chats.thread("S000")) == 4

        app.view.composer.put("")
        last(app, UserMessage).focus()
        await pilot.pause()
        app.post_message(Paste("two words"))
        await wait_until(pilot, lambda: app.view.composer.text == "two words" and app.view.composer.has_focus)


@pytest.mark.ui
async def test_plus_on_a_reply_that_was_cut_off_goes_on_with_it(tmp_path: Path) -> None:
    clock, generator = Clock(), FakeGenerator("one two three four five six seven eight nine")
    async with running(
        tmp_path, generator, later=clock.later, sampling=Sampling(max_tokens=4), reflect=False, tools="off"
    ) as (app, pilot, _):
        await say(app, pilot, "Count.")
        await sees(pilot, "Tab, then + to go on")
        had = last(app, AssistantMessage).text
        await strike(app, "tab", "+")
        clock.pass_(ALONE_S)
        await wait_until(pilot, lambda: texts(app)[-1].startswith(had) and texts(app)[-1] != had, "more of it")
        assert app.view.composer.text == ""


async def test_a_burst_of_moves_moves_as_often_before_the_key_that_follows_it_and_is_never_sent(chat: Running) -> None:
    agent, clock = long_chat(), Clock()
    async with chat(agent, later=clock.later) as (app, pilot):
        messages = app.view.transcript.messages
        burst(app, "tab", *"kkkkkkk", "x")
        await wait_until(pilot, lambda: app.keyboard.idle and app.focused is messages[-8])
        clock.pass_(ALONE_S)
        await wait_until(pilot, lambda: ready(app) and f"Delete “{messages[-8].text}”" in words(app))
        burst(app, "escape", "up", "up", "down")
        await wait_until(pilot, lambda: app.keyboard.idle and app.focused is messages[-9])
        burst(app, *"kkkhello k")
        await wait_until(pilot, lambda: app.view.composer.text == "kkkhello k")
        assert app.view.composer.has_focus
        app.view.composer.put("")
        messages[4].focus()
        await pilot.pause()
        burst(app, "k", "up")
        await wait_until(pilot, lambda: app.keyboard.idle and app.focused is messages[2])
        burst(app, "j", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader) and messages[3].text in words(app))
        clock.pass_(LONG)
        await pilot.pause()
        assert app.view.composer.text == ""
        assert len(await agent.chats.thread("S000")) == 16


async def test_enter_or_any_other_key_after_a_letter_leaves_everything_as_it_is(chat: Running) -> None:
    agent, clock = crete(), Clock()
    pairs = list(product(("p", "o", "h", "x", "delete"), ("enter", "y", "escape")))
    async with chat(agent, later=clock.later) as (app, pilot):
        for key, answer in pairs if soaking() else pairs[::2]:  # which still has every key and every answer
            last(app, AssistantMessage).focus()
            await pilot.pause()
            await strike(app, key)
            clock.pass_(LONG)
            await strike(app)
            await wait_until(pilot, lambda: isinstance(app.screen, (Confirm, ImpactScreen)))
            await press(pilot, answer, until=lambda: len(app.screen_stack) == 1)
        await pilot.pause()
        thread = await agent.chats.thread("S000")
        assert len(thread) == 4
        assert not any(turn.pinned or turn.hidden or turn.withheld for turn in thread)

        for key in ("up", "backspace", "f2", "enter"):
            app.view.composer.put("")
            await strike(app, "tab", "h", key)
            clock.pass_(LONG)
            await pilot.pause()
            assert not any(turn.hidden for turn in await agent.chats.thread("S000"))
            assert len(app.screen_stack) == 1
            if key == "f2":
                await wait_until(pilot, lambda: app.view.sessions.display and app.view.composer.text == "h")
                await strike(app, key)
        assert app.view.composer.text == "h"
        assert len(await agent.chats.thread("S000")) == 4
        await strike(app, "enter")
        await wait_until(pilot, lambda: texts(app)[4:5] == ["h"])


async def test_esc_stops_the_reply_wherever_the_focus_is(chat: Running) -> None:
    agent = long_chat()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        for where in ("message", "composer", "f7", "f2"):
            agent.go.clear()
            app.view.composer.focus()
            await press(pilot, *"hi", "enter", until=lambda: app.view.state.reply is not None)
            if where == "message":
                last(app, UserMessage).focus()
            elif where != "composer":
                await pilot.press(where)
            await pilot.pause()
            await press(pilot, "escape", until=lambda: app.view.state.reply is None)
            assert app.view.sessions.display is (where == "f2")


async def test_letters_belong_to_the_search_of_the_list_which_points_to_messages(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await press(pilot, "f2", until=lambda: app.view.sessions.chosen is not None)
        box = app.view.sessions.query_one(Input)
        await press(pilot, *"urk", "ctrl+a", "x", until=lambda: box.value == "xurk")
        await pilot.press("right", "right", "right", "ctrl+u", "tab", *"bur", "backspace")
        await wait_until(pilot, lambda: box.value == "bu")
        assert app.view.sessions.query_one(Rows).has_focus
        await press(pilot, "ctrl+u", "ctrl+a", "u", until=lambda: box.value == "u")
        assert await agent.history.changes() == []
        assert not await agent.chats.all(archived=True)

        await press(pilot, "ctrl+u", *"tide pools", shows="Press Ctrl+F to search")
        await pilot.press("enter", "ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen.text == "tide pools")
        app.screen.query_one(Rows).focus()
        await pilot.press("s", "backspace")
        box = app.screen.query_one(Input)
        await wait_until(pilot, lambda: box.value == "tide pools")

        box.value = "br"
        await sees(pilot, "found")
        screen = app.screen
        assert isinstance(screen, SearchScreen)
        screen.dismiss(None)
        while screen.query(Rows):  # noqa: ASYNC110 - it takes a few turns of the loop
            await asyncio.sleep(0)
        screen._show(("br", 50), [])
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


@pytest.mark.ui
@pytest.mark.process  # with many keys: part of what clew does beside a long chat runs in processes of its own
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_ordinary_typing_with_the_focus_anywhere_changes_nothing(tmp_path: Path, seed: int) -> None:
    clock = Clock()
    async with running(tmp_path, FakeGenerator("Certainly."), reflect=False, later=clock.later) as (app, pilot, _agent):
        for number in range(3):
            await say(app, pilot, f"message {number}")
        told = await type_away(app, pilot, clock, keys=KEYS, seed=seed)
    with closing(sqlite3.connect(Home.resolve().memory / "log.sqlite")) as log:
        kinds = Counter(kind for (kind,) in log.execute("SELECT kind FROM events"))
    assert {kind: kinds[kind] for kind in SLIPS if kinds[kind]} == {}, json.dumps(told, indent=1)
    assert kinds["turn.said"] >= 6
