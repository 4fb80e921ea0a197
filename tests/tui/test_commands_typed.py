"""Slash commands, the palette and the small screens behind them."""

import os
from pathlib import Path

import pytest
from textual.widgets import TextArea

from agent.agent import Status
from agent.settings import read_sampling
from graph.events import Sampling, SessionConfigured
from models.errors import NotGguf
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
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


async def test_a_slash_opens_the_list_and_enter_runs_what_is_chosen(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press("slash", *"hel")
        await wait_until(pilot, lambda: "/help" in screen_text(app) and "Show the keys" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.view.composer.text == ""


async def test_tab_completes_and_the_argument_is_used(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press("slash", *"rena", "tab")
        assert app.view.composer.text == "/rename "
        await pilot.press(*"Mine", "enter")
        await wait_until(pilot, lambda: "Mine" in screen_text(app) and app.view.composer.text == "")
        assert (await agent.chats.get("S000")).name == "Mine"


async def test_an_unknown_command_stays_in_the_composer(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press("slash", *"nonsense", "enter")
        await wait_until(pilot, lambda: "Unknown command /nonsense" in screen_text(app))
        assert app.view.composer.text == "/nonsense"
        assert await agent.chats.all() == []


async def test_the_system_prompt_is_edited_for_this_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        app.perform("system")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        await wait_until(pilot, lambda: "You are clew." in screen_text(app))
        await pilot.press("ctrl+end", *" Be brief.", "enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await wait_until(pilot, lambda: "The system prompt is set for this chat." in screen_text(app))
        assert "Be brief." in ((await agent.chats.get("S000")).system_prompt or "")


async def test_a_model_is_chosen_fetched_after_asking_and_kept(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        app.perform("model")
        await wait_until(pilot, lambda: isinstance(app.screen, ModelPicker))
        await wait_until(pilot, lambda: "2.5 GB to download" in screen_text(app))
        await pilot.press(*"qwenx")
        await wait_until(pilot, lambda: "No models match." in screen_text(app))
        await pilot.press("backspace", "enter")
        await wait_until(pilot, lambda: "Download qwen3-4b? It is 2.5 GB." in screen_text(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: used == [(("qwen3-4b",), {"session": None})])
        backstage = app.view.backstage
        assert isinstance(backstage, FakeBackstage)
        await wait_until(pilot, lambda: backstage.kept == {"model": "qwen3-4b"})
        assert backstage.fetched == ["qwen3-4b"]


async def test_a_path_is_taken_as_a_model_and_a_bad_one_is_told(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "● ready" in status_line(app))
        agent.failure = BROKEN
        app.perform("model")
        await wait_until(pilot, lambda: isinstance(app.screen, ModelPicker))
        await pilot.press(*"/x/broken.gguf", "enter")
        await wait_until(pilot, lambda: "not a GGUF model" in screen_text(app))
        assert (agent.settings.model, (await agent.status()).model) == (MODEL, MODEL)


async def test_the_theme_changes_and_is_kept(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        app.perform("theme")
        await wait_until(pilot, lambda: "The theme is now light. /theme NAME takes others" in screen_text(app))
        assert app.theme == "clew-light"
        app.perform("theme", "nord")
        await wait_until(pilot, lambda: app.theme == "nord")
        app.perform("theme", "no[pe]")
        await wait_until(pilot, lambda: "Unknown theme no[pe]" in screen_text(app))


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


async def test_the_status_shows_what_the_agent_says(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        app.perform("status")
        await wait_until(pilot, lambda: all(word in screen_text(app) for word in ("times opened", "messages")))


async def test_the_palette_finds_an_action(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press(*"status")
        await wait_until(pilot, lambda: "Show status and disk use" in screen_text(app))


@pytest.mark.parametrize(
    ("name", "file"), [("shot.svg", "shot.svg"), ("shot.png", "shot.png.svg"), ("shot", "shot.svg")]
)
async def test_a_screenshot_is_an_svg_that_asks_no_server(chat: Running, tmp_path: Path, name: str, file: str) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        app.perform("screenshot", str(tmp_path / name))
        await wait_until(pilot, lambda: (tmp_path / file).exists())
        picture = (tmp_path / file).read_text()
        assert picture.startswith("<svg")
        assert "url(" not in picture.replace("url(#", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("no/x.svg", "was not written: No such file or directory. Name another place."),
        ("~nobody-here/x.svg", "There is no folder ~nobody-here/x.svg. Name another one."),
    ],
)
async def test_a_screenshot_that_cannot_be_written_is_told_in_a_sentence(
    chat: Running, name: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with chat(ScriptedAgent(), size=(200, 30)) as (app, pilot):
        app.perform("screenshot", name)
        await wait_until(pilot, lambda: told in " ".join(screen_text(app).split()))
        assert "Errno" not in screen_text(app)
        assert not any(name.endswith(".svg") for name in os.listdir(tmp_path))


async def test_a_key_over_a_dialog_does_nothing_to_the_chat_below(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press("f1")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        await pilot.press("ctrl+n", "f2", "ctrl+y")
        assert len(app.screen_stack) == 2
        assert not app.view.sessions.display


async def test_sampling_given_after_the_slash_changes_only_what_is_named_in_this_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/sampling temperature=0.2 top_k=10", "enter")
        await wait_until(pilot, lambda: "temperature=0.2, top_k=10" in screen_text(app))
        assert await sampling_of(agent, "S000") == Sampling(temperature=0.2, top_k=10)
        app.perform("sampling", "top_k=5")
        await wait_until(pilot, lambda: "reply on in this chat: top_k=5." in screen_text(app))
        assert await sampling_of(agent, "S000") == Sampling(temperature=0.2, top_k=5)
        app.perform("sampling", "default")
        await wait_until(pilot, lambda: "default sampling settings are back" in screen_text(app))
        assert await sampling_of(agent, "S000") is None


async def test_the_sampling_in_force_is_edited_in_a_dialog_before_the_first_message(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        app.perform("sampling")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        lines = app.screen.query_one(TextArea)
        assert read_sampling(lines.text, Sampling(top_k=1)) == Sampling()
        lines.text = "temperature=0.1\ntop_k=many"
        await pilot.press("enter")
        await wait_until(pilot, lambda: "top_k cannot be 'many'" in screen_text(app))
        app.screen.query_one(TextArea).text = "temperature=0.1\ntop_k=40"
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session)
        assert await sampling_of(agent, here(app)) == Sampling(temperature=0.1)
        await pilot.press(*"hi", "enter")
        await wait_until(pilot, lambda: app.view.state.last is not None)
        assert [turn.text for turn in await agent.chats.thread(here(app))] == ["hi", "Hello there."]


async def test_escape_closes_the_list_of_commands_and_keeps_the_text(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press("slash", *"he")
        await wait_until(pilot, lambda: "Show the keys" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "Show the keys" not in screen_text(app))
        assert app.view.composer.text == "/he"
        await pilot.press("l")
        await wait_until(pilot, lambda: "Show the keys" in screen_text(app))


async def test_wrong_sampling_is_told_and_changes_nothing(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        app.perform("sampling", "heat=3")
        await wait_until(pilot, lambda: "“heat=3” is not a sampling setting" in screen_text(app))
        app.perform("sampling", "top_p=7")
        await wait_until(pilot, lambda: "top_p cannot be" in screen_text(app))
        assert await agent.chats.all() == []


async def test_a_model_for_this_chat_only_is_shown_in_the_status_bar_of_this_chat(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    agent.add_session("Other", ("q", "a"))
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/model /m/tiny one.gguf here", "enter")
        await wait_until(pilot, lambda: "tiny one answers from now on in this chat" in screen_text(app))
        assert await model_of(agent, "S000") == "/m/tiny one.gguf"
        assert isinstance(app.view.backstage, FakeBackstage)
        assert app.view.backstage.kept == {}
        assert "tiny one" in status_line(app)
        await app.open_session("S001")
        await wait_until(pilot, lambda: "smollm2-135m" in status_line(app))
        await app.open_session("S000")
        await wait_until(pilot, lambda: "tiny one" in status_line(app))


async def test_a_model_for_all_chats_answers_also_in_a_chat_that_had_its_own(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Old", ("q", "a"))
    async with chat(agent) as (app, pilot):
        app.perform("model", "/m/own.gguf here")
        await wait_until(pilot, lambda: "own" in status_line(app))
        app.perform("model", "/m/every.gguf")
        await wait_until(pilot, lambda: "every" in status_line(app))
        assert await model_of(agent, "S000") is None
        assert agent.settings.model == "/m/every.gguf"


@pytest.mark.parametrize("asked", ["/m/other.gguf", "/m/other.gguf here"])
async def test_a_model_that_is_there_later_leaves_the_chat_that_is_on_the_screen_by_then_as_it_is(
    chat: Running, asked: str
) -> None:
    agent = ScriptedAgent()
    for name in ("Old", "Other"):
        agent.add_session(name, ("q", "a"))
    agent.add_events(SessionConfigured(session="S001", model="/m/own.gguf", sampling=None, text=None))
    there, asked_for = agent.hold("models.use"), agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        app.perform("model", asked)
        await wait_until(pilot, lambda: asked_for)
        await app.open_session("S001")
        there.set()
        await wait_until(pilot, lambda: "answers from now on" in screen_text(app))
        assert app.view.session == "S001"
        assert await model_of(agent, "S001") == "/m/own.gguf"
        assert "own" in status_line(app)


async def test_a_model_asked_for_while_a_reply_is_written_is_said_to_come_after_it(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"hello", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press(*"/model /m/other.gguf", "enter")
        await wait_until(pilot, lambda: "other answers after this reply" in screen_text(app))
        agent.go.set()
        await wait_until(pilot, lambda: "other answers from now on" in screen_text(app))


async def test_a_model_chosen_before_the_first_message_begins_the_chat_unless_it_cannot_be_loaded(
    chat: Running,
) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "● ready" in status_line(app))
        agent.failure = BROKEN
        app.perform("model", "/m/broken.gguf here")
        await wait_until(pilot, lambda: "not a GGUF model" in screen_text(app))
        assert app.view.session is None
        assert await agent.chats.all() == []
        assert "● ready" in status_line(app)
        agent.failure = None
        app.perform("model", "here")
        await wait_until(pilot, lambda: isinstance(app.screen, ModelPicker))
        await wait_until(pilot, lambda: "Model of this chat" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session is not None)
        assert [session.model for session in await agent.chats.all()] == ["smollm2-135m"]


async def test_the_palette_shows_what_it_finds_also_in_a_tiny_terminal(chat: Running) -> None:
    async with chat(ScriptedAgent(), size=(20, 5)) as (app, pilot):
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: len(app.screen_stack) == 2)
        await pilot.press(*"sampl")
        await wait_until(pilot, lambda: "Sampling" in screen_text(app))
