"""Private chats on the screen: no word of one comes anywhere else, and "private" stands there exactly while it is."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.private_scripts import NONCE, Life, life, live_through, told
from tests.tui.scripted import ScriptedAgent
from tui import chat_handlers
from tui.app import ClewApp
from tui.chat_view import PRIVATE
from tui.widgets.banner import Banner

SECRET = f"My boat is {NONCE}"
SOME = (1, 9, 14)  # of the scripts; `python -m tests.tui.private_scripts` lives through all of them


def agent_with_a_chat(*, fetching: bool = False) -> ScriptedAgent:
    agent = ScriptedAgent(fetching=fetching)
    agent.add_session("Here", ("What now?", "Whatever you like."))
    return agent


@pytest.mark.ui
@pytest.mark.process  # a query is one
@pytest.mark.parametrize("seed", SOME)
async def test_no_word_of_a_private_chat_is_found_after_any_key(seed: int, tmp_path: Path) -> None:
    await live_through(seed, tmp_path)


async def begun(one: Life) -> None:
    """A private chat is on the screen."""
    one.app.view.composer.put("")
    await one.pilot.press(*"/private", "enter")
    await wait_until(one.pilot, lambda: told(one.app) == (True, True))


@pytest.mark.ui
async def test_what_is_typed_and_sent_before_the_private_chat_is_there_belongs_to_it(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        await one.live(["Good morning", "enter", f"/private {NONCE}"])
        await one.pilot.press("enter", *SECRET, "enter", *NONCE)
        await wait_until(one.pilot, lambda: one.quiet() and one.app.parts.composer.private)
        one.look()
        thread = await one.agent.chats.thread(one.app.view.session or "")
        assert [turn.text for turn in thread if turn.role == "user"] == [NONCE, SECRET]
        assert one.app.view.composer.text == NONCE
        assert await one.agent.chats.said() == ["Good morning"]


@pytest.mark.ui
async def test_a_key_that_leaves_the_chat_comes_behind_the_message_before_it(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        await begun(one)
        private = one.app.view.session
        await one.pilot.press(*SECRET, "enter", "ctrl+n")
        await wait_until(one.pilot, lambda: one.quiet() and one.app.view.session is None)
        one.look()
        assert await one.agent.chats.said() == []
        assert (await one.agent.chats.thread(private or ""))[0].text == SECRET


@pytest.mark.ui
async def test_up_brings_private_words_back_in_their_own_chat_alone(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        app = one.app
        await one.live(["Good morning", "enter"])
        await begun(one)
        cleared, beside = f"{NONCE} cleared", f"{NONCE} beside it"
        await one.live([SECRET, "enter", cleared, "ctrl+c", beside, "up", "ctrl+n", "down", "up"])
        assert app.view.composer.text == "/private"
        await one.pilot.press("f2")
        await wait_until(one.pilot, lambda: "Private chat" in screen_text(app))
        assert NONCE not in screen_text(app)
        assert told(app) == (False, False)
        await one.pilot.press(*"private", "enter")
        await wait_until(one.pilot, lambda: told(app) == (True, True) and SECRET in screen_text(app))
        app.view.composer.put("")
        await one.pilot.press("up", "up")
        assert app.view.composer.text == SECRET


async def test_the_word_goes_at_once_and_comes_at_once_however_long_a_chat_is_read(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat" in screen_text(app))
        (begun,) = await agent.private.all()
        read, reading = agent.hold("chats.thread"), agent.watch_calls("chats.thread")
        for key, private in (("S000", False), (begun.id, True)):
            opening = asyncio.create_task(app.open_session(key))
            await wait_until(pilot, lambda: reading)
            assert told(app) == (private, private)
            assert "private" not in app.screen_stack[0].query_one(Banner).said
            read.set()
            await opening
            assert told(app) == (private, private)
            read.clear()
            reading.clear()
        read.set()
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: app.view.session is None)
        assert told(app) == (False, False)


@pytest.mark.parametrize("size", [(20, 24), (16, 5)])
async def test_where_there_is_room_for_one_word_it_is_private(chat: Running, size: tuple[int, int]) -> None:
    agent = agent_with_a_chat(fetching=True)
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: status_line(app).split()[:1] == ["private"])


async def test_a_message_that_is_refused_goes_back_to_its_own_chat(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: told(app) == (True, True))
        private = app.view.session
        assert app.view.chat is not None
        agent.turn_down("send", "The disk is full.")
        app.view.chat.send("my secret")
        await app.open_session(None)  # before it is refused
        await wait_until(pilot, lambda: "The disk is full." in screen_text(app))
        assert app.view.composer.text == ""
        assert app.view.drafts.load(private) == "my secret"
        assert list(app.view.drafts.folder.glob("*")) == []


async def test_where_no_private_chat_can_be_begun_what_was_typed_for_it_goes_nowhere(chat: Running) -> None:
    agent = agent_with_a_chat()
    agent.fail("private.begin", OSError("There is no room in RAM."))
    asked = agent.hold("private.begin")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/private", "enter", *"one", "enter", *"two")
        app.parts.composer.keep()
        assert list(app.view.drafts.folder.glob("*")) == []
        asked.set()
        await wait_until(pilot, lambda: "There is no room in RAM." in screen_text(app))
        assert app.view.composer.text == ""
        assert "one" not in app.view.composer.sent
        assert [turn.text for turn in await agent.chats.thread("S000") if turn.text in ("one", "two")] == []
        await pilot.press(*"on it goes")
        app.parts.composer.keep()
        assert app.view.drafts.load("S000") == "on it goes"


async def test_the_panel_says_that_nothing_is_recalled_for_a_private_chat(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: told(app) == (True, True))
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: app.view.state.last is not None and app.view.state.reply is None)
        await pilot.press("f7")
        await wait_until(pilot, lambda: "nothing is recalled for it" in " ".join(screen_text(app).split()))
        assert "There is no message" not in screen_text(app)


async def test_a_private_chat_is_neither_named_nor_archived(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: told(app) == (True, True))
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        assert app.view.sessions.chosen.id == app.view.session
        banner = app.screen_stack[0].query_one(Banner)
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: banner.said == PRIVATE)
        await pilot.press("f2")
        for typed in ("/rename it", "/archive"):
            app.unsay()
            app.view.composer.put(typed)
            await pilot.press("enter")
            await wait_until(pilot, lambda: banner.said == PRIVATE)
        assert len(app.screen_stack) == 1
        assert told(app) == (True, True)
        assert [each.name for each in await agent.private.all()] == [None]


@pytest.mark.ui
async def test_the_editor_gets_a_private_draft_in_ram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []

    class Writes:
        def edit(self, draft: str, folder: Path) -> str:
            seen.append(folder)
            return f"{draft}, edited"

        def end(self) -> None:
            return None

    @contextmanager
    def suspended(app: ClewApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(ClewApp, "suspend", suspended)
    async with life(tmp_path) as one:
        monkeypatch.setattr(one.app.parts, "editor", Writes())
        await begun(one)
        for private in (True, False):
            one.app.view.composer.put("my draft")
            await chat_handlers.write_in_editor(one.app.parts, "")
            assert one.app.view.composer.text == "my draft, edited"
            assert (tmp_path / "ram" in seen[-1].parents) == private
            await one.app.open_session(None)
        assert seen[-1] == one.app.view.drafts.folder


@pytest.mark.parametrize("private", [True, False])
async def test_the_report_of_a_bug_has_nothing_of_what_was_said(
    chat: Running, monkeypatch: pytest.MonkeyPatch, *, private: bool
) -> None:
    async with chat(agent_with_a_chat(), size=(100, 30)) as (app, pilot):
        if private:
            await pilot.press(*"/private", "enter")
            await wait_until(pilot, lambda: told(app) == (True, True))
        monkeypatch.setattr(app, "_close_messages_no_wait", lambda: None)
        said = "".join(("zephy", "rine"))
        try:
            raise ValueError("the boat is called " + said[::-1])
        except ValueError:
            app._fatal_error()
        [report] = app._exit_renderables
        app._exit_renderables.clear()
        words = "".join(segment.text for segment in report.segments)
        assert "ValueError" in words
        assert "test_private.py" in words
        assert "zephyrine" not in words
        assert (said[::-1] in words) is not private
