"""Slash commands, the palette and the small screens behind them."""

import os
from pathlib import Path

import pytest
from textual.widgets import TextArea

from agent.agent import Status
from agent.settings import read_sampling
from graph.events import Sampling, SessionConfigured
from models.errors import NotGguf
from tests.tui.acting import closes, enter, paste, perform, press
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.seeing import sees, sees_chat, sees_no_more
from tui.help import status_content
from tui.widgets.dialogs import AskText, Reader
from tui.widgets.model_picker import ModelPicker

BROKEN = NotGguf(Path("broken.gguf"), "text")


async def model_of(agent: ScriptedAgent, session: str) -> str | None:
    return (await agent.chats.get(session)).model


async def sampling_of(agent: ScriptedAgent, session: str) -> Sampling | None:
    """What a chat has of its own."""
    own = (await agent.chats.get(session)).sampling
    return Sampling.model_validate(own) if own is not None else None


@pytest.mark.sample
async def test_a_slash_opens_the_list_enter_runs_what_is_chosen_and_escape_keeps_the_text(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await press(pilot, "slash", *"hel", shows=("/help", "Show the keys"))
        await press(pilot, "enter", opens=Reader)
        await closes(pilot, "escape")
        assert app.view.composer.text == ""
        await press(pilot, "slash", *"he", shows="Show the keys")
        await pilot.press("escape")
        await sees_no_more(pilot, "Show the keys")
        assert app.view.composer.text == "/he"
        await press(pilot, "l", shows="Show the keys")
        await pilot.press("escape")
        await enter(pilot, "/nonsense", "Unknown command /nonsense")
        assert app.view.composer.text == "/nonsense"
        assert await agent.chats.all() == []

        await press(pilot, "f1", opens=Reader)
        await pilot.press("ctrl+n", "f2", "ctrl+y")
        assert len(app.screen_stack) == 2, "a key over a dialog does nothing to the chat below"
        assert not app.view.sessions.display
        await closes(pilot, "escape")
        for size, typed, found in (((80, 24), "status", "Show status and disk use"), ((20, 5), "sampl", "Sampling")):
            await pilot.resize_terminal(*size)
            await press(pilot, "ctrl+p", until=lambda: len(app.screen_stack) == 2)
            await press(pilot, *typed, shows=found)
            await closes(pilot, "escape")


async def test_status_theme_and_screenshots_do_what_they_say(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with chat(ScriptedAgent(), size=(200, 30)) as (app, pilot):
        app.perform("status")
        await sees(pilot, "times opened", "messages")
        await closes(pilot, "escape")
        for name, told in (
            ("no/x.svg", "was not written: No such file or directory. Name another place."),
            ("~nobody-here/x.svg", "There is no folder ~nobody-here/x.svg. Name another one."),
        ):
            await perform(pilot, "screenshot", name, shows=told)
            assert "Errno" not in screen_text(app)
            assert not any(name.endswith(".svg") for name in os.listdir(tmp_path))
        for name, file in (("shot.svg", "shot.svg"), ("shot.png", "shot.png.svg"), ("shoot", "shoot.svg")):
            app.perform("screenshot", str(tmp_path / name))
            await wait_until(pilot, (tmp_path / file).exists)
            picture = (tmp_path / file).read_text()
            assert picture.startswith("<svg")
            assert "url(" not in picture.replace("url(#", ""), "it asks no server"
        await perform(pilot, "theme", shows="The theme is now light. /theme NAME takes others")
        assert app.theme == "clew-light"
        app.perform("theme", "nord")
        await wait_until(pilot, lambda: app.theme == "nord")
        await perform(pilot, "theme", "no[pe]", shows="Unknown theme no[pe]")


def test_the_status_carries_seconds_over_and_tells_counts_in_words() -> None:
    facts = Status(
        home="/home/you",
        starts=1,
        uptime_s=119.7,
        counts={"turns": 2},
        log_head=9,
        graph_ready=True,
        model=None,
        model_path=None,
        context=None,
        rewrites={"removal": 1, "compaction": 2},
        to_learn_from=1,
    )
    told = " ".join(status_content(facts, "ready", {}, 80).plain.split())
    assert "uptime 0 h 2 min 0 s" in told
    assert "prompts rebuilt 1× as something was hidden or deleted, 2× to make room" in told
    assert "still to learn from 1 message" in told


async def test_name_system_prompt_and_sampling_are_those_of_this_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press("slash", *"rena", "tab")
        assert app.view.composer.text == "/rename "
        await press(pilot, *"Mine", "enter", until=lambda: "Mine" in screen_text(app) and app.view.composer.text == "")
        assert (await agent.chats.get("S000")).name == "Mine"
        await perform(pilot, "system", opens=AskText, shows="You are clew.")
        await pilot.press("ctrl+end")
        await paste(pilot, " Be brief.", "enter")
        await sees_chat(pilot)
        await sees(pilot, "The system prompt is set for this chat.")
        assert "Be brief." in ((await agent.chats.get("S000")).system_prompt or "")
        for asked, told, own in (
            ("temperature=0.2 top_k=10", "temperature=0.2, top_k=10", Sampling(temperature=0.2, top_k=10)),
            ("top_k=5", "reply on in this chat: top_k=5.", Sampling(temperature=0.2, top_k=5)),
            ("default", "default sampling settings are back", None),
        ):
            await enter(pilot, f"/sampling {asked}", told)
            assert await sampling_of(agent, "S000") == own


async def test_what_is_wrong_or_does_not_load_changes_nothing_and_what_is_chosen_begins_a_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await perform(pilot, "sampling", "heat=3", shows="“heat=3” is not a sampling setting")
        await perform(pilot, "sampling", "top_p=7", shows="top_p cannot be")
        await wait_until(pilot, lambda: "● ready" in status_line(app))
        agent.failure = BROKEN
        await perform(pilot, "model", opens=ModelPicker)
        await paste(pilot, "/x/broken.gguf", "enter", shows="not a GGUF model")
        assert (agent.settings.model, (await agent.status()).model) == (MODEL, MODEL)
        app.unsay()
        await perform(pilot, "model", "/m/broken.gguf here", shows="not a GGUF model")
        assert app.view.session is None
        assert await agent.chats.all() == []
        assert "● ready" in status_line(app)
        agent.failure = None
        await perform(pilot, "model", "here", opens=ModelPicker, shows="Model of this chat")
        await press(pilot, "enter", until=lambda: app.view.session is not None)
        assert [session.model for session in await agent.chats.all()] == ["smollm2-135m"]

        await app.open_session(None)
        await perform(pilot, "sampling", opens=AskText)
        lines = app.screen.query_one(TextArea)
        assert read_sampling(lines.text, Sampling(top_k=1)) == Sampling()
        lines.text = "temperature=0.1\ntop_k=many"
        await press(pilot, "enter", shows="top_k cannot be 'many'")
        app.screen.query_one(TextArea).text = "temperature=0.1\ntop_k=40"
        await press(pilot, "enter", until=lambda: app.view.session)
        assert await sampling_of(agent, here(app)) == Sampling(temperature=0.1)
        await enter(pilot, "hi", until=lambda: app.view.state.last is not None)
        assert [turn.text for turn in await agent.chats.thread(here(app))] == ["hi", "Hello there."]


async def test_a_model_is_chosen_fetched_after_asking_and_kept_and_comes_after_the_reply(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        await perform(pilot, "model", opens=ModelPicker, shows="2.5 GB to download")
        await paste(pilot, "qwenx", shows="No models match.")
        await press(pilot, "backspace", "enter", shows="Download qwen3-4b? It is 2.5 GB.")
        await press(pilot, "tab", "enter", until=lambda: used == [(("qwen3-4b",), {"session": None})])
        backstage = app.view.backstage
        assert isinstance(backstage, FakeBackstage)
        await wait_until(pilot, lambda: backstage.kept == {"model": "qwen3-4b"})
        assert backstage.fetched == ["qwen3-4b"]
        agent.go.clear()
        await enter(pilot, "hello", until=lambda: app.view.state.reply is not None)
        await enter(pilot, "/model /m/other.gguf", "other answers after this reply")
        agent.go.set()
        await sees(pilot, "other answers from now on")


async def test_a_model_for_this_chat_only_is_shown_there_and_one_for_all_answers_there_too(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    agent.add_session("Other", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await enter(pilot, "/model /m/tiny one.gguf here", "tiny one answers from now on in this chat")
        assert await model_of(agent, "S000") == "/m/tiny one.gguf"
        assert isinstance(app.view.backstage, FakeBackstage)
        assert app.view.backstage.kept == {}
        assert "tiny one" in status_line(app)
        for session, name in (("S001", "smollm2-135m"), ("S000", "tiny one")):
            await app.open_session(session)
            await wait_until(pilot, lambda name=name: name in status_line(app))  # type: ignore[misc]
        app.perform("model", "/m/every.gguf")
        await wait_until(pilot, lambda: "every" in status_line(app))
        assert await model_of(agent, "S000") is None
        assert agent.settings.model == "/m/every.gguf"


async def test_a_model_that_is_there_later_leaves_the_chat_on_the_screen_by_then_as_it_is(chat: Running) -> None:
    agent = ScriptedAgent()
    for name in ("Old", "Other"):
        agent.add_session(name, ("q", "a"))
    agent.add_events(SessionConfigured(session="S001", model="/m/own.gguf", sampling=None, text=None))
    there, asked_for = agent.hold("models.use"), agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        for asked in ("/m/other.gguf", "/m/another.gguf here"):
            there.clear()
            asked_for.clear()
            await app.open_session("S000")
            app.perform("model", asked)
            await wait_until(pilot, lambda: asked_for)
            await app.open_session("S001")
            app.unsay()
            there.set()
            await sees(pilot, "answers from now on")
            assert app.view.session == "S001"
            assert await model_of(agent, "S001") == "/m/own.gguf"
            assert "own" in status_line(app)
