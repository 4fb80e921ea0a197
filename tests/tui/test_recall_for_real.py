"""The panel on the real agent, with a real log, graph and backstage; only the models are fakes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from agent.agent import Agent
from agent.face import Face
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from tests.fakes import FakeEmbedder, FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import agree, at_once, there, wait_until
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.backstage import Backstage, Options, RealBackstage
from tui.keyboard import Later

pytestmark = pytest.mark.ui


@asynccontextmanager
async def running(
    tmp_path: Path,
    generator: FakeGenerator,
    *,
    size: tuple[int, int] = (120, 40),
    later: Later = at_once,
    **settings: Any,
) -> AsyncIterator[tuple[ClewApp, Pilot[int], Agent]]:
    agent = Agent(
        Home.resolve(),
        Settings(**{"offer_model": False, **settings}),  # what fits is a matter of the machine
        client="chat",
        loader=lambda name, progress: generator,
        embedder_loader=lambda name: LoadedEmbedder(FakeEmbedder(), "fake@0"),
    )
    backstage = RealBackstage(Home.resolve(), Options())
    backstage.service = cast("Face", agent)

    async def connect() -> Backstage:
        return backstage

    app = ClewApp(connect, Home.resolve().cache, later=later)
    async with app.run_test(size=size) as pilot:
        await there(pilot, app)
        assert app.view.state.graph is not None
        assert app.view.state.graph.state == "ready"
        yield app, pilot, agent
        await app.leave()


async def say(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    before = app.view.state.last
    await enter(pilot, text)
    await wait_until(
        pilot, lambda: app.view.state.last is not before and app.view.state.reply is None and not app.view.state.waiting
    )


async def test_what_was_said_long_ago_is_recalled_shown_opened_pinned_and_hidden(tmp_path: Path) -> None:
    replies = FakeGenerator("Lovely.", "Overnight.", "At dawn.")
    async with running(tmp_path, replies, reflect=False) as (app, pilot, agent):
        await say(app, pilot, "The tide pools at Falassarna were the best thing of Crete")
        first = app.view.session
        await pilot.press("ctrl+n")
        await say(app, pilot, "How long do I proof a sourdough in winter?")
        await pilot.press("ctrl+n")
        await say(app, pilot, "What did I say about the tide pools at Falassarna?")
        await sees(pilot, "recalled")
        await pilot.press("f7")
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
        await press(pilot, "h", until=lambda: not panel.pack.recalled[0].hidden)
        assert not (await agent.chats.exchange(item.turn)).turn.hidden
        await press(pilot, "enter", until=lambda: app.view.session == first)
        await wait_until(pilot, lambda: any(message.has_class("-flash") for message in app.view.transcript.messages))
