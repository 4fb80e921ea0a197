"""Private chats on the screen: no word of one comes anywhere else, and "private" stands there exactly while it is."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.private_scripts import NONCE, Life, life, live_through, told
from tests.tui.scripted import ScriptedAgent
from tui import deeds
from tui.altering import PRIVATE
from tui.app import ClewApp
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
    one.app.composer.put("")
    await one.pilot.press(*"/private", "enter")
    await wait_until(one.pilot, lambda: told(one.app) == (True, True))


@pytest.mark.ui
async def test_what_is_typed_and_sent_before_the_private_chat_is_there_belongs_to_it(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        await one.live(["Good morning", "enter", f"/private {NONCE}"])
        await one.pilot.press("enter", *SECRET, "enter", *NONCE)
        await wait_until(one.pilot, lambda: one.quiet() and one.app.writing.private)
        one.look()
        thread = await one.agent.thread(one.app.current_session or "")
        assert [turn.text for turn in thread if turn.role == "user"] == [NONCE, SECRET]
        assert one.app.composer.text == NONCE
        assert await one.agent.said() == ["Good morning"]


@pytest.mark.ui
async def test_a_key_that_leaves_the_chat_comes_behind_the_message_before_it(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        await begun(one)
        private = one.app.current_session
        await one.pilot.press(*SECRET, "enter", "ctrl+n")
        await wait_until(one.pilot, lambda: one.quiet() and one.app.current_session is None)
        one.look()
        assert await one.agent.said() == []
        assert (await one.agent.thread(private or ""))[0].text == SECRET


@pytest.mark.ui
async def test_up_brings_private_words_back_in_their_own_chat_alone(tmp_path: Path) -> None:
    async with life(tmp_path) as one:
        app = one.app
        await one.live(["Good morning", "enter"])
        await begun(one)
        cleared, beside = f"{NONCE} cleared", f"{NONCE} beside it"
        await one.live([SECRET, "enter", cleared, "ctrl+c", beside, "up", "ctrl+n", "down", "up"])
        assert app.composer.text == "/private"
        await one.pilot.press("f2")
        await wait_until(one.pilot, lambda: "Private chat" in screen_text(app))
        assert NONCE not in screen_text(app)
        assert told(app) == (False, False)
        await one.pilot.press(*"private", "enter")
        await wait_until(one.pilot, lambda: told(app) == (True, True) and SECRET in screen_text(app))
        app.composer.put("")
        await one.pilot.press("up", "up")
        assert app.composer.text == SECRET


async def test_the_word_goes_at_once_and_comes_at_once_however_long_a_chat_is_read(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat" in screen_text(app))
        (begun,) = await agent.private_sessions()
        read, reading = agent.hold("thread"), agent.watch_calls("thread")
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
        await wait_until(pilot, lambda: app.current_session is None)
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
        private = app.current_session
        assert app.chat is not None
        agent.turn_down("send", "The disk is full.")
        app.chat.send("my secret")
        await app.open_session(None)  # before it is refused
        await wait_until(pilot, lambda: "The disk is full." in screen_text(app))
        assert app.composer.text == ""
        assert app.drafts.load(private) == "my secret"
        assert list(app.drafts.folder.glob("*")) == []


async def test_where_no_private_chat_can_be_begun_what_was_typed_for_it_goes_nowhere(chat: Running) -> None:
    agent = agent_with_a_chat()
    agent.fail("private", OSError("There is no room in RAM."))
    asked = agent.hold("private")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/private", "enter", *"one", "enter", *"two")
        app.writing.keep()
        assert list(app.drafts.folder.glob("*")) == []
        asked.set()
        await wait_until(pilot, lambda: "There is no room in RAM." in screen_text(app))
        assert app.composer.text == ""
        assert "one" not in app.composer.sent
        assert [turn.text for turn in await agent.thread("S000") if turn.text in ("one", "two")] == []
        await pilot.press(*"on it goes")
        app.writing.keep()
        assert app.drafts.load("S000") == "on it goes"


async def test_a_private_chat_is_neither_named_nor_archived(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: told(app) == (True, True))
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.sessions.chosen is not None)
        assert app.sessions.chosen.id == app.current_session
        banner = app.screen_stack[0].query_one(Banner)
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: banner.said == PRIVATE)
        await pilot.press("f2")
        for typed in ("/rename it", "/archive"):
            app.unsay()
            app.composer.put(typed)
            await pilot.press("enter")
            await wait_until(pilot, lambda: banner.said == PRIVATE)
        assert len(app.screen_stack) == 1
        assert told(app) == (True, True)
        assert [each.name for each in await agent.private_sessions()] == [None]


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

    monkeypatch.setattr(ClewApp, "can_suspend", True)
    monkeypatch.setattr(ClewApp, "suspend", suspended)
    async with life(tmp_path) as one:
        monkeypatch.setattr(one.app, "editor", Writes())
        await begun(one)
        for private in (True, False):
            one.app.composer.put("my draft")
            await deeds.write_in_editor(one.app, "")
            assert one.app.composer.text == "my draft, edited"
            assert (tmp_path / "ram" in seen[-1].parents) == private
            await one.app.open_session(None)
        assert seen[-1] == one.app.drafts.folder


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
