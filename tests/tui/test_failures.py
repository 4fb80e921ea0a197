"""What fails is told where it happened, with its reason and the way on; and a long reply rings the bell."""

from pathlib import Path

import pytest

from models.errors import ModelMissing, NotGguf, RunError
from tests.fakes import Reply
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tui.app import ClewApp
from tui.widgets.dialogs import Confirm
from tui.widgets.message import UserMessage

BROKEN = NotGguf(Path("notes.gguf"), "text")


def texts(app: ClewApp) -> list[str]:
    return [message.text for message in app.view.transcript.messages]


async def test_a_message_without_a_model_says_so_below_it_until_another_model_and_retry_answer_it(
    chat: Running,
) -> None:
    agent = ScriptedAgent(failure=BROKEN)
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "● no model" in status_line(app))
        await wait_until(pilot, lambda: "Use /model to choose another" in screen_text(app))
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: "no reply: notes.gguf is not a GGUF" in screen_text(app))
        assert texts(app) == ["hi"]
        agent.failure = None
        app.perform("model", "smollm2-135m")
        await wait_until(pilot, lambda: "/retry answers your last message" in screen_text(app))
        assert "● ready" in status_line(app)
        await pilot.press(*"/retry", "enter")
        await wait_until(pilot, lambda: texts(app) == ["hi", "Hello there."])
        await wait_until(pilot, lambda: "no reply" not in screen_text(app))


async def test_the_next_message_takes_the_place_of_one_that_was_not_answered(chat: Running) -> None:
    agent = ScriptedAgent(failure=BROKEN)
    async with chat(agent) as (app, pilot):
        await pilot.press(*"one", "enter")
        await wait_until(pilot, lambda: "no reply: notes.gguf is not a GGUF" in screen_text(app))
        agent.failure = None
        await pilot.press(*"two", "enter")
        await wait_until(pilot, lambda: texts(app) == ["one", "two", "Hello there."])
        assert not any(message.failed for message in app.view.transcript.query(UserMessage))


async def test_retry_with_nothing_to_answer_says_so(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        app.perform("retry")
        await wait_until(pilot, lambda: "no message to answer yet" in screen_text(app))
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: texts(app) == ["hi", "Hello there."] and app.view.state.last is not None)
        app.perform("retry")
        await wait_until(pilot, lambda: "No message here is waiting" in screen_text(app))
        assert texts(app) == ["hi", "Hello there."]


async def test_a_reply_that_broke_off_keeps_its_words_and_tells_why_also_when_it_is_read_again(chat: Running) -> None:
    agent = ScriptedAgent(reply=Reply("half a", error=RunError("the model [stopped] working"), fail_after=9))
    async with chat(agent) as (app, pilot):
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: "failed: the model [stopped] working" in screen_text(app))
        assert texts(app) == ["hi", "half a"]
        await app.open_session(here(app))
        await wait_until(pilot, lambda: "failed: the model [stopped] working" in screen_text(app))
        assert texts(app) == ["hi", "half a"]


async def test_a_failure_in_a_chat_that_is_not_on_the_screen_is_told_above_the_composer(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"one", "enter", *"two", "enter")
        await wait_until(pilot, lambda: "1 queued" in status_line(app))
        await agent.chats.configure(here(app), model="gone")
        agent.failure = ModelMissing(Path("gone.gguf"))
        await app.open_session(None)
        agent.go.set()
        await wait_until(pilot, lambda: "use /retry to get a reply" in screen_text(app))
        assert "Cannot read the model gone.gguf: the file does not exist." in " ".join(screen_text(app).split())
        assert texts(app) == []


async def test_a_model_that_cannot_be_fetched_is_told_and_the_one_before_it_goes_on(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        backstage = app.view.backstage
        assert isinstance(backstage, FakeBackstage)
        backstage.fetch_failure = "The connection broke off at 12 MB. The next try goes on there."
        app.perform("model", "qwen3-4b")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "broke off at 12 MB" in screen_text(app))
        assert "● ready" in status_line(app)
        assert (agent.settings.model, used) == (MODEL, [])


@pytest.mark.parametrize(("total_ms", "limit", "rings"), [(11_000, 10, 1), (9_000, 10, 0), (11_000, 0, 0)])
async def test_the_bell_rings_after_a_long_reply_only(
    chat: Running, monkeypatch: pytest.MonkeyPatch, total_ms: float, limit: float, rings: int
) -> None:
    heard: list[None] = []
    monkeypatch.setattr(ClewApp, "bell", lambda app: heard.append(None))
    agent = ScriptedAgent(reply=Reply("Hello there.", took_ms=(80.0, total_ms)), bell_after_s=limit)
    async with chat(agent) as (app, pilot):
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: app.view.state.last is not None)
        assert len(heard) == rings
