"""Private chats on the screen: no word of one comes anywhere else, and "private" stands there exactly while it is."""

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.acting import enter, press
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.private_scripts import NONCE, life, script, told
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui import chat_handlers
from tui.app import ClewApp
from tui.chat_view import PRIVATE
from tui.widgets.banner import Banner

SECRET = f"My boat is {NONCE}"
SCRIPTS = [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(40) if seed != 1)]


def agent_with_a_chat(*, fetching: bool = False) -> ScriptedAgent:
    agent = ScriptedAgent(fetching=fetching)
    agent.add_session("Here", ("What now?", "Whatever you like."))
    return agent


async def begin(app: ClewApp, pilot: Pilot[int]) -> str:
    """A new private chat is on the screen; its id."""
    before = app.view.session
    await enter(pilot, "/private", until=lambda: told(app) == (True, True) and app.view.session != before)
    return here(app)


@pytest.mark.ui
@pytest.mark.process  # a query is one
@pytest.mark.parametrize("seed", SCRIPTS)
async def test_no_word_of_a_private_chat_is_found_after_any_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    async with life(tmp_path, monkeypatch) as one:
        await one.live(script(seed))


@pytest.mark.ui
async def test_what_is_typed_around_a_private_chat_stays_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is there, in front of the key that leaves it, with Up, and in the editor, whose draft is in RAM."""
    edited_in: list[Path] = []

    class Writes:
        def edit(self, draft: str, folder: Path) -> str:
            edited_in.append(folder)
            return f"{draft}, edited"

        def end(self) -> None:
            return None

    @contextmanager
    def suspended(app: ClewApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(ClewApp, "suspend", suspended)
    async with life(tmp_path, monkeypatch) as one:
        app, pilot, chats = one.app, one.pilot, one.agent.chats
        await one.live(["Good morning", "enter", f"/private {NONCE}"])
        await press(pilot, "enter", *SECRET, "enter", *NONCE, until=lambda: one.quiet() and app.parts.composer.private)
        one.look()
        typed_before = await chats.thread(here(app))
        assert [turn.text for turn in typed_before if turn.role == "user"] == [NONCE, SECRET]
        assert app.view.composer.text == NONCE

        private = await begin(app, pilot)
        await press(pilot, *SECRET, "enter", "ctrl+n", until=lambda: one.quiet() and app.view.session is None)
        one.look()
        assert (await chats.thread(private))[0].text == SECRET
        assert await chats.said() == ["Good morning"]

        await app.open_session(private)
        await wait_until(pilot, lambda: told(app) == (True, True))
        cleared, beside = f"{NONCE} cleared", f"{NONCE} beside it"
        await one.live([cleared, "ctrl+c", beside, "up", "ctrl+n", "down", "up"])
        assert app.view.composer.text == "/private"
        await press(pilot, "f2", shows="Private chat")
        assert NONCE not in screen_text(app)
        assert told(app) == (False, False)
        await press(pilot, *"private", "enter", until=lambda: told(app) == (True, True) and SECRET in screen_text(app))
        app.view.composer.put("")
        await pilot.press("up", "up")
        assert app.view.composer.text == SECRET

        monkeypatch.setattr(app.parts, "editor", Writes())
        for is_private in (True, False):
            app.view.composer.put("my draft")
            await chat_handlers.write_in_editor(app.parts, "")
            assert app.view.composer.text == "my draft, edited"
            assert (tmp_path / "ram" in edited_in[-1].parents) == is_private
            await app.open_session(None)
        assert edited_in[-1] == app.view.drafts.folder


async def test_a_crash_of_the_face_leaves_no_core_file(chat: Running) -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        async with chat(agent_with_a_chat()) as (app, pilot):
            await begin(app, pilot)
            assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


async def test_where_there_is_room_for_one_word_it_is_private(chat: Running) -> None:
    async with chat(agent_with_a_chat(fetching=True), size=(20, 24)) as (app, pilot):
        await enter(pilot, "/private")
        for size in ((20, 24), (16, 5)):
            await pilot.resize_terminal(*size)
            await wait_until(pilot, lambda: status_line(app).split()[:1] == ["private"])


async def test_words_for_a_chat_that_cannot_be_begun_go_nowhere_and_its_name_follows_it(chat: Running) -> None:
    agent = agent_with_a_chat()
    mend = agent.fail("private.begin", OSError("There is no room in RAM."))
    asked = agent.hold("private.begin")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/private", "enter", *"one", "enter", *"two")
        app.parts.composer.keep()
        assert list(app.view.drafts.folder.glob("*")) == []
        asked.set()
        await sees(pilot, "There is no room in RAM.")
        assert app.view.composer.text == ""
        assert "one" not in app.view.composer.sent
        assert [turn.text for turn in await agent.chats.thread("S000") if turn.text in ("one", "two")] == []
        await pilot.press(*"on it goes")
        app.parts.composer.keep()
        assert app.view.drafts.load("S000") == "on it goes"

        mend()
        begun = await begin(app, pilot)
        read, reading = agent.hold("chats.thread"), agent.watch_calls("chats.thread")
        for key, private in (("S000", False), (begun, True)):
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
        await press(pilot, "ctrl+n", until=lambda: app.view.session is None)
        assert told(app) == (False, False)


async def test_a_private_chat_recalls_nothing_has_no_name_and_gets_back_what_is_refused(chat: Running) -> None:
    agent = agent_with_a_chat()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        private = await begin(app, pilot)
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: app.view.state.last is not None and app.view.state.reply is None)
        await press(pilot, "f7", until=lambda: "nothing is recalled for it" in " ".join(screen_text(app).split()))
        assert "There is no message" not in screen_text(app)

        await press(pilot, "f2", until=lambda: app.view.sessions.chosen is not None)
        assert app.view.sessions.chosen.id == private
        banner = app.screen_stack[0].query_one(Banner)
        await press(pilot, "ctrl+r", until=lambda: banner.said == PRIVATE)
        await pilot.press("f2")
        for typed in ("/rename it", "/archive"):
            app.unsay()
            await enter(pilot, typed, until=lambda: banner.said == PRIVATE)
        assert len(app.screen_stack) == 1
        assert told(app) == (True, True)
        assert [each.name for each in await agent.private.all()] == ["hello"], "as it began"

        agent.turn_down("send", "The disk is full.")
        app.view.chat.send("my secret")
        await app.open_session(None)  # before it is refused
        await sees(pilot, "The disk is full.")
        assert app.view.composer.text == ""
        assert app.view.drafts.load(private) == "my secret"
        assert list(app.view.drafts.folder.glob("*")) == []


async def test_the_report_of_a_bug_has_nothing_of_what_was_said(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async with chat(agent_with_a_chat(), size=(100, 30)) as (app, pilot):
        monkeypatch.setattr(app, "_close_messages_no_wait", lambda: None)
        said = "".join(("zephy", "rine"))
        for private in (False, True):
            if private:
                await begin(app, pilot)
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
