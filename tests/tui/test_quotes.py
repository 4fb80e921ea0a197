"""What was recalled for a question stands open below the reply of a model that may waste it, as dated quotes."""

import json
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.home import Home
from agent.reflection.trust import VERSION
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import MODEL, ScriptedAgent
from tui.app import ClewApp
from tui.widgets.message import RecalledQuotes

TOLD = "I'm Robin, I live in Lisbon."
DOING = "And what I do I do where I do it. " * 6
TOWNS = ("Porto", "Faro", "Braga")
LONG = f"{DOING}[bold]Lisbon[/bold] \x1b[31mis where I live. {DOING}"


def agent_that_was_told(*told: str, doubted: bool = True) -> ScriptedAgent:
    if not doubted:
        Home.resolve().trusted.write_text(json.dumps({f"{VERSION}:{MODEL}": 1.0}))
    agent = ScriptedAgent(reply="You may enjoy a dinner.")
    agent.add_session("An old chat", *((text, "Okay.") for text in told))
    return agent


async def ask(app: ClewApp, pilot: Pilot[int], text: str = "where do I live?") -> None:
    await pilot.press("ctrl+n", *text, "enter")
    await wait_until(
        pilot, lambda: app.view.state.last is not None and app.view.state.reply is None and not app.view.state.waiting
    )


def quoted(app: ClewApp) -> list[str]:
    """What stands open below the replies."""
    return [str(each.content) for each in app.view.transcript.query(RecalledQuotes) if each.display]


def words(app: ClewApp) -> str:
    return " ".join(screen_text(app).replace("▌", " ").split())


async def test_the_right_words_are_on_the_screen_whatever_the_model_says(chat: Running) -> None:
    agent = agent_that_was_told(TOLD)
    async with chat(agent) as (app, pilot):
        await ask(app, pilot)
        shown = f"You may enjoy a dinner. recalled 1 3 Jun 2025 · you “{TOLD}”"
        await wait_until(pilot, lambda: shown in words(app))
        app.view.chat.hidden(app.view.transcript.messages[-1].turn, hidden=True)
        await wait_until(pilot, lambda: TOLD not in words(app))
        app.view.chat.hidden(app.view.transcript.messages[-1].turn, hidden=False)
        await wait_until(pilot, lambda: shown in words(app))
        asked = here(app)
        await app.open_session("S000")
        await wait_until(pilot, lambda: "Okay." in words(app))
        assert quoted(app) == []
        await app.open_session(asked)
        await wait_until(pilot, lambda: shown in words(app))


async def test_they_are_there_before_the_reply_is(chat: Running) -> None:
    agent = agent_that_was_told(TOLD)
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+n", *"where do I live?", "enter")
        await wait_until(pilot, lambda: TOLD in words(app))
        assert agent.answering is not None


@pytest.mark.parametrize(("said", "doubted"), [("I live by the sea", True), ("where do I live?", False)])
async def test_with_a_trusted_model_and_for_what_is_no_question_they_stay_folded(
    chat: Running, said: str, doubted: bool
) -> None:
    async with chat(agent_that_was_told(TOLD, doubted=doubted)) as (app, pilot):
        await ask(app, pilot, said)
        await wait_until(pilot, lambda: "recalled 1" in words(app))
        assert quoted(app) == []


async def test_at_most_three_are_shown(chat: Running) -> None:
    async with chat(agent_that_was_told(LONG, *(f"I live in {town}." for town in TOWNS))) as (app, pilot):
        await ask(app, pilot)
        await wait_until(pilot, lambda: quoted(app))
        (shown,) = quoted(app)
        assert len(shown.splitlines()) == 3
        assert {line.rpartition("  ")[2] for line in shown.splitlines()} <= {f"“I live in {town}.”" for town in TOWNS}


@pytest.mark.parametrize("size", [(60, 40), (200, 60)])
async def test_they_are_cut_wrapped_and_never_markup(chat: Running, size: tuple[int, int]) -> None:
    async with chat(agent_that_was_told(LONG, *(f"I live in {town}." for town in TOWNS[:2])), size=size) as (
        app,
        pilot,
    ):
        await ask(app, pilot)
        await wait_until(pilot, lambda: quoted(app))
        (shown,) = quoted(app)
        lines = shown.splitlines()
        first = next(line for line in lines if "…" in line)
        others = [line for line in lines if line != first]
        whole = [each.rpartition("  ")[2] for each in others]
        assert len(whole) == 2
        assert set(whole) < {f"“I live in {town}.”" for town in TOWNS}
        assert "[bold]Lisbon[/bold] ␛[31mis where I live." in first
        assert len(first) < 200
        widget: Any = app.view.transcript.query_one(RecalledQuotes)
        assert widget.region.right <= size[0]
        assert widget.region.height > 3 if size[0] == 60 else widget.region.height <= 5
        await wait_until(pilot, lambda: whole[-1] in words(app), whole[-1])


async def test_words_that_are_hidden_meanwhile_leave_the_screen_and_come_back(chat: Running) -> None:
    agent = agent_that_was_told(TOLD, "I still live in Lisbon.")
    async with chat(agent) as (app, pilot):
        await ask(app, pilot)
        await wait_until(pilot, lambda: TOLD in words(app))
        told = agent.turns["S000"][0]
        await agent.chats.hide(told)
        await wait_until(pilot, lambda: TOLD not in words(app))
        await wait_until(pilot, lambda: "I still live in Lisbon." in words(app), "I still live in Lisbon.")
        await agent.chats.unhide(told)
        await wait_until(pilot, lambda: TOLD in words(app))
