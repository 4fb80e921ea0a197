"""A chat on a service: what is said in it from another terminal is on the screen as it comes, and once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from agent.events import TurnAccepted
from agent.home import Home
from agent.service.client import AgentClient
from agent.service.protocol import ServiceError
from agent.settings import Settings
from agent.story.cards import Card
from bench.kill_service import end
from bench.leaving import services
from graph.events import SessionStarted
from graph.ids import new_id
from graph.memory import Memory
from tests.agent.conftest import collect
from tests.agent.service.behind import Behind, Served, agent_of
from tests.fakes import FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import make_app, screen_text, wait_until
from tests.tui.seeing import last, sees, texts
from tui.app import ClewApp
from tui.backstage import Options
from tui.entry import make_app as real_app
from tui.joining import graph_settled
from tui.state import Cue
from tui.widgets.message import Aside, AssistantMessage, UserMessage

pytestmark = [pytest.mark.ui, pytest.mark.process]

SAW = (("Ada", "you", True), ("Mara", "host", False), ("Jonas", "guest", True))
GUEST_ALONE = Cue("Jonas", "guest", SAW)
REPLIES = ("One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight.")


@pytest.fixture
async def behind() -> AsyncIterator[Behind]:
    home = Home.resolve()
    service = Behind(home, agent_of(home, FakeGenerator(*REPLIES), Settings(reflect=False, recall=False)))
    await service.start()
    yield service
    await service.end()


async def test_what_is_said_elsewhere_is_shown_as_it_comes_once_in_stories_too(behind: Behind, tmp_path: Path) -> None:
    mine = AgentClient(behind.connect, Settings(reflect=False), name="chat")
    theirs: Served = await behind.client()
    app = make_app(cast(Any, mine), tmp_path)
    async with app.run_test() as pilot:
        await wait_until(pilot, lambda: app.view.chat is not None and app.view.chat.opened_once)
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: texts(app) == ["hello", "One."] and app.view.state.reply is None)
        session = app.view.session
        assert session is not None
        said = await collect(theirs.send(session, "from there"))
        await wait_until(pilot, lambda: texts(app) == ["hello", "One.", "from there", "Two."])
        await collect(theirs.regenerate(session))
        await wait_until(pilot, lambda: texts(app) == ["hello", "One.", "from there", "Three."])
        await wait_until(pilot, lambda: app.view.state.reply is None)
        last(app, AssistantMessage).focus()
        await press(pilot, "r", until=lambda: texts(app) == ["hello", "One.", "from there", "Four."])
        wire = mine._wire
        assert wire is not None
        wire._transport.abort()
        await sees(pilot, "has been started")
        await collect(theirs.send(session, "and again"))
        await wait_until(pilot, lambda: texts(app)[-2:] == ["and again", "Five."])
        assert texts(app) == [turn.text for turn in await theirs.chats.thread(session)]
        assert isinstance(said[0], TurnAccepted)

        story = await behind.agent.stories.begin(
            "The Lighthouse", Card(name="Mara"), guest=Card(name="Jonas"), you="Ada"
        )
        await app.open_session(story)
        await wait_until(pilot, lambda: app.view.scene is not None)
        await collect(theirs.send(story, "Hello. ((be rude))"))
        await wait_until(pilot, lambda: texts(app) == ["((be rude))", "Hello.", "Six."])
        await collect(theirs.send(story, "((make it rain))"))
        await sees(pilot, "((make it rain))")
        assert [type(each) for each in app.view.transcript.messages] == [Aside, UserMessage, AssistantMessage, Aside]
        await wait_until(pilot, lambda: not app.view.state.waiting and app.view.state.reply is None)
        app.view.composer.focus()
        await enter(pilot, "/whisper jonas The gold is here.")
        await wait_until(pilot, lambda: texts(app)[-2:] == ["The gold is here.", "Seven."])
        await wait_until(pilot, lambda: app.view.transcript.messages[-1].cue == GUEST_ALONE)
        await press(pilot, "tab", "i", until=lambda: texts(app)[-1] == "Eight.")
        await app.leave()


async def test_a_connection_lost_in_mid_reply_is_made_anew_the_reply_is_whole(behind: Behind, tmp_path: Path) -> None:
    model = cast(FakeGenerator, behind.agent._loader("fake", lambda step: None))
    clients = [AgentClient(behind.connect, Settings(reflect=False), name="chat") for _ in range(2)]
    one = make_app(cast(Any, clients[0]), tmp_path / "one")
    async with one.run_test() as pilot:
        await wait_until(pilot, lambda: one.view.chat is not None and one.view.chat.opened_once)
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: texts(one) == ["hello", "One."] and one.view.state.reply is None)
        other = make_app(cast(Any, clients[1]), tmp_path / "other", options=Options(session=one.view.session))
        async with other.run_test() as beside:
            await wait_until(beside, lambda: texts(other) == ["hello", "One."])
            model.gate.clear()
            await enter(pilot, "and on")
            await wait_until(pilot, lambda: one.view.state.reply is not None and other.view.state.reply is not None)
            for client in clients:
                assert client._wire is not None
                client._wire._transport.abort()
            for app, with_it in ((one, pilot), (other, beside)):
                await wait_until(with_it, lambda app=app: "has been started" in screen_text(app))  # type: ignore[misc]
                await wait_until(with_it, lambda app=app: app.view.state.reply is None)  # type: ignore[misc]
            model.gate.set()
            for app, with_it in ((one, pilot), (other, beside)):
                whole = ["hello", "One.", "and on", "Two."]
                await wait_until(with_it, lambda app=app, whole=whole: texts(app) == whole)  # type: ignore[misc]
                assert "no reply" not in screen_text(app)
            await other.leave()
        await one.leave()


def coming(app: ClewApp) -> int:
    """How many characters of a reply have come so far."""
    return len(app.view.state.reply.text) if app.view.state.reply is not None else 0


@pytest.mark.model
async def test_a_killed_service_leaves_what_came_of_a_reply_on_every_screen(home: Path, models_folder: Path) -> None:
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("CLEW_SERVICE", "1")
        variables.setenv("CLEW_MODELS", str(models_folder))
        variables.setenv("CLEW_LINGER", "1")
        variables.setenv("CLEW_OFFER_MODEL", "0")
        variables.setenv("CLEW_SAMPLING", '{"seed": 7}')  # one that tells long stories
        session = new_id()
        with closing(Memory.open(Home(home, models_folder).memory, command="test")) as memory:
            memory.append(SessionStarted(session=session, client="chat"))
        one = real_app(home=home, session=session)
        async with one.run_test() as pilot:
            await wait_until(pilot, lambda: one.view.state.model.state == "ready")
            other = real_app(home=home, session=session)
            async with other.run_test() as beside:
                await wait_until(beside, lambda: other.view.state.model.state == "ready")
                await wait_until(beside, lambda: other.view.chat is not None and other.view.chat._mirror is not None)
                await enter(pilot, "Tell me a long story about a lighthouse and its keeper.")
                await wait_until(pilot, lambda: all(coming(app) > 20 for app in (one, other)))
                for process in services(home):
                    process.kill()
                for app, with_it in ((one, pilot), (other, beside)):
                    await wait_until(with_it, lambda app=app: "has been started" in screen_text(app))  # type: ignore[misc]
                    await wait_until(with_it, lambda app=app: "this is the partial reply" in screen_text(app))  # type: ignore[misc]
                    assert app.view.state.reply is None
                await wait_until(beside, lambda: len(texts(one)) == len(texts(other)) == 2, "the window is taken anew")
                assert texts(one) == texts(other)
                assert texts(one)[1], "what had come half a second before is kept"
                await other.leave()
            await one.leave()
        await end(Home(home, models_folder))


async def test_who_waits_for_the_graph_of_a_service_that_is_gone_is_told(
    behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.joining.GRAPH_LOOK_S", 0.01)
    mine, never = AgentClient(behind.connect, Settings(), name="mcp", kind="mcp"), asyncio.Event()
    await mine.start()
    await behind.agent.idle()
    await graph_settled(cast(Any, mine), never)  # it is there, though nobody told
    await behind.end()
    with pytest.raises((ServiceError, OSError)):
        await graph_settled(cast(Any, mine), never)
    await mine.close()
