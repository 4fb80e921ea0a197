"""The panel, the search and the tool blocks on the real agent, with a real log and graph; only the models are fakes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from agent.agent import Agent
from agent.events import ModelProgress
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from tests.fakes import FakeEmbedder, FakeGenerator
from tests.tui.conftest import agree, at_once, screen_text, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tui.app import ClewApp
from tui.backstage import Backstage, RealBackstage
from tui.keyboard import Later
from tui.widgets.message import ToolBlock
from tui.widgets.search import SearchScreen

pytestmark = pytest.mark.ui


class OnRealAgent(FakeBackstage):
    """The real agent, and the failures that the real backstage tells of."""

    def __init__(self, service: Any, failures: tuple[type[Exception], ...]) -> None:
        self.service = service
        self.failures = failures


@asynccontextmanager
async def running(
    tmp_path: Path,
    generator: FakeGenerator,
    *,
    size: tuple[int, int] = (120, 40),
    later: Later = at_once,
    **settings: Any,
) -> AsyncIterator[tuple[ClewApp, Pilot[int], Agent]]:
    def loader(name: str, progress: Callable[[ModelProgress], None]) -> FakeGenerator:
        return generator

    agent = Agent(
        Home.resolve(),
        Settings(**settings),
        client="chat",
        loader=loader,
        embedder_loader=lambda name: LoadedEmbedder(FakeEmbedder(), "fake@0"),
    )
    backstage = OnRealAgent(agent, failures_of())

    async def connect() -> Backstage:
        return backstage

    app = ClewApp(connect, tmp_path / "cache", later=later)
    async with app.run_test(size=size) as pilot:
        await wait_until(
            pilot, lambda: app.view.chat is not None and app.view.chat.opened_once and app.view.state.graph is not None
        )
        await wait_until(pilot, lambda: app.view.state.graph is not None and app.view.state.graph.state == "ready")
        yield app, pilot, agent
        await app.leave()


def failures_of() -> tuple[type[Exception], ...]:
    from tui.backstage import Options

    return RealBackstage(Home.resolve(), Options()).failures


def says(app: ClewApp, words: str) -> bool:
    """The search says that below its line."""
    return any(line.strip(" │") == words for line in screen_text(app).splitlines())


async def say(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    before = app.view.state.last
    app.view.composer.put(text)
    await pilot.press("enter")
    await wait_until(
        pilot, lambda: app.view.state.last is not before and app.view.state.reply is None and not app.view.state.waiting
    )


async def test_what_was_said_long_ago_is_recalled_shown_opened_pinned_and_hidden(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Lovely.", "Overnight.", "At dawn."), reflect=False) as (
        app,
        pilot,
        agent,
    ):
        await say(app, pilot, "The tide pools at Falassarna were the best thing of Crete")
        first = app.view.session
        await pilot.press("ctrl+n")
        await say(app, pilot, "How long do I proof a sourdough in winter?")
        await pilot.press("ctrl+n")
        await say(app, pilot, "What did I say about the tide pools at Falassarna?")
        await wait_until(pilot, lambda: "recalled" in screen_text(app))
        await pilot.press("f7")
        panel = app.parts.panel.panel
        await wait_until(pilot, lambda: app.parts.panel.panel is not None and app.parts.panel.panel.pack.recalled)
        panel = app.parts.panel.panel
        assert panel is not None
        item = panel.pack.recalled[0]
        assert item.words == "The tide pools at Falassarna were the best thing of Crete"
        assert "by its words (" in item.why
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: len(panel.pack.pinned) == 1)
        assert [turn.id for turn in await agent.chats.pinned()] == [item.turn]
        await pilot.press("u", "h")
        await agree(pilot)
        await wait_until(pilot, lambda: panel.pack.recalled[0].hidden)
        assert await agent.chats.pinned() == []
        assert (await agent.chats.exchange(item.turn)).turn.hidden
        await pilot.press("h")
        await wait_until(pilot, lambda: not panel.pack.recalled[0].hidden)
        assert not (await agent.chats.exchange(item.turn)).turn.hidden
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == first)
        await wait_until(pilot, lambda: any(message.has_class("-flash") for message in app.view.transcript.messages))


async def test_the_search_finds_any_word_said_and_goes_there(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Lovely.")) as (app, pilot, _):
        for number in range(45):
            await say(app, pilot, f'note number{number} about "*AND( tides')
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: app.view.session is None)
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await pilot.press(*"number3")
        await wait_until(pilot, lambda: "11 found" in screen_text(app))
        nothing = "No messages match."
        for text, words in (
            ('"*AND(', "45 found"),
            ("🦑", nothing),
            ("number3 note", "1 found"),
            ("x" * 20_000, nothing),
        ):
            app.screen.query_one(Input).value = text
            await wait_until(pilot, partial(says, app, words), words)
        app.screen.query_one(Input).value = "number3 note"
        await wait_until(pilot, partial(says, app, "1 found"))
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1 and app.view.session is not None)
        wanted = 'note number3 about "*AND( tides'
        await wait_until(
            pilot, lambda: any(m.has_class("-flash") and m.text == wanted for m in app.view.transcript.messages)
        )


async def test_a_tool_that_was_called_is_told_the_same_way_live_and_from_the_log(tmp_path: Path) -> None:
    answer, look = {"tool": "answer"}, {"tool": "search_memory", "query": "tide pools", "limit": 3}
    generator = FakeGenerator("Lovely.", "At dawn.", structured_replies=[answer, look, answer])
    async with running(tmp_path, generator, tools="on") as (app, pilot, _):
        await say(app, pilot, "The tide pools at Falassarna were the best thing of Crete")
        await pilot.press("ctrl+n")
        await say(app, pilot, "Where should I go?")
        blocks = app.view.transcript.query(ToolBlock)
        await wait_until(pilot, lambda: len(blocks) == 1 and blocks.first().call.done)
        live = screen_text(app)
        assert "searched memory for “tide pools” · " in live
        assert "found" in live
        session = app.view.session
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: app.view.session is None)
        await app.open_session(session)
        await wait_until(pilot, lambda: "searched memory for “tide pools” · " in screen_text(app))
        told = [line for line in live.splitlines() if "searched memory" in line]
        assert [line for line in screen_text(app).splitlines() if "searched memory" in line] == told
