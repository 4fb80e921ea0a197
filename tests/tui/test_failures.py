"""What fails is told where it happened, with its reason and the way on; and a long reply rings the bell."""

from pathlib import Path

import pytest

from agent.events import ModelFailed
from models.errors import ModelMissing, NotGguf, RunError
from tests.fakes import Reply
from tests.tui.acting import converse, enter, perform, press
from tests.tui.conftest import Running, here, status_line, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.seeing import says, sees, sees_no_more, texts
from tui.app import ClewApp
from tui.widgets.dialogs import Confirm
from tui.widgets.message import UserMessage

BROKEN = NotGguf(Path("notes.gguf"), "text")


async def test_a_message_without_a_model_says_so_below_until_another_model_and_retry_answer(chat: Running) -> None:
    agent = ScriptedAgent(failure=BROKEN)
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "● no model" in status_line(app))
        await sees(pilot, "Use /model to choose another")
        agent.tell(ModelFailed("x", "still [not] a model"))
        await sees(pilot, "still [not] a model")
        await perform(pilot, "retry", shows="no message to answer yet")
        await enter(pilot, "hi", "no reply: notes.gguf is not a GGUF")
        assert texts(app) == ["hi"]
        agent.failure = None
        await perform(pilot, "model", "smollm2-135m", shows="/retry answers your last message")
        assert "● ready" in status_line(app)
        await enter(pilot, "/retry")
        await says(app, pilot, "hi", "Hello there.")
        await sees_no_more(pilot, "no reply")
        await wait_until(pilot, lambda: app.view.state.last is not None)
        await perform(pilot, "retry", shows="No message here is waiting")
        assert texts(app) == ["hi", "Hello there."]


async def test_the_next_message_takes_the_place_of_one_that_was_not_answered(chat: Running) -> None:
    agent = ScriptedAgent(failure=BROKEN)
    async with chat(agent) as (app, pilot):
        await enter(pilot, "one", "no reply: notes.gguf is not a GGUF")
        agent.failure = None
        await enter(pilot, "two")
        await says(app, pilot, "one", "two", "Hello there.")
        assert not any(message.failed for message in app.view.transcript.query(UserMessage))


async def test_a_model_that_cannot_be_fetched_and_a_broken_reply_are_told_from_another_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        backstage = app.view.backstage
        assert isinstance(backstage, FakeBackstage)
        backstage.fetch_failure = "The connection broke off at 12 MB. The next try goes on there."
        await perform(pilot, "model", "qwen3-4b", opens=Confirm)
        await press(pilot, "tab", "enter", shows="broke off at 12 MB")
        assert "● ready" in status_line(app)
        assert (agent.settings.model, used) == (MODEL, [])

        agent.reply = Reply("half a", error=RunError("the model [stopped] working"), fail_after=9)
        await enter(pilot, "hi", "failed: the model [stopped] working")
        assert texts(app) == ["hi", "half a"]
        await app.open_session(here(app))
        await sees(pilot, "failed: the model [stopped] working")
        assert texts(app) == ["hi", "half a"]

        await app.open_session(None)
        agent.reply = "Hello there."
        agent.go.clear()
        await enter(pilot, "one")
        await enter(pilot, "two", until=lambda: "1 queued" in status_line(app))
        await agent.chats.configure(here(app), model="gone")
        agent.failure = ModelMissing(Path("gone.gguf"))
        await app.open_session(None)
        agent.go.set()
        await sees(pilot, "use /retry to get a reply", "Cannot read the model gone.gguf: the file does not exist.")
        assert texts(app) == []


async def test_the_bell_rings_after_a_long_reply_only(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[None] = []
    monkeypatch.setattr(ClewApp, "bell", lambda app: heard.append(None))
    agent = ScriptedAgent()
    async with chat(agent) as (_, pilot):
        for total_ms, limit, rings in ((11_000, 10, 1), (9_000, 10, 0), (11_000, 0, 0)):
            heard.clear()
            agent.reply = Reply("Hello there.", took_ms=(80.0, total_ms))
            agent.settings = agent.settings.model_copy(update={"bell_after_s": limit})
            await converse(pilot, "hi")
            assert len(heard) == rings
