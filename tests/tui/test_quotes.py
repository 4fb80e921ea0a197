"""What was recalled for a question stands open below the reply of a model that may waste it, as dated quotes."""

import json
from typing import Any

from textual.pilot import Pilot

from agent.home import Home
from agent.reflection.trust import VERSION
from tests.tui.acting import press
from tests.tui.conftest import Running, here, wait_until
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.seeing import sees, words
from tests.tui.test_recall_for_real import say
from tui.app import ClewApp
from tui.widgets.message import RecalledQuotes

TOLD = "I'm Robin, I live in Lisbon."
DOING = "And what I do I do where I do it. " * 6
TOWNS = ("Porto", "Faro", "Braga")
LONG = f"{DOING}[bold]Lisbon[/bold] \x1b[31mis where I live. {DOING}"


def agent_that_was_told(*told: str) -> ScriptedAgent:
    agent = ScriptedAgent(reply="You may enjoy a dinner.")
    agent.add_session("An old chat", *((text, "Okay.") for text in told))
    return agent


async def ask(app: ClewApp, pilot: Pilot[int], text: str = "where do I live?") -> None:
    await pilot.press("ctrl+n")
    await say(app, pilot, text)


def quoted(app: ClewApp) -> list[str]:
    """What stands open below the replies."""
    return [str(each.content) for each in app.view.transcript.query(RecalledQuotes) if each.display]


async def test_the_right_words_are_on_the_screen_whatever_a_model_says_that_may_waste_them(chat: Running) -> None:
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
        await sees(pilot, "Okay.")
        assert quoted(app) == []
        await app.open_session(asked)
        await wait_until(pilot, lambda: shown in words(app))

        await app.open_session("S000")
        agent.go.clear()
        await press(pilot, "ctrl+n", *"where do I live?", "enter", shows=TOLD)
        assert agent.answering is not None, "they are there before the reply is"
        agent.go.set()
        await wait_until(pilot, lambda: app.view.state.reply is None and not app.view.state.waiting)

        await ask(app, pilot, "I live by the sea")
        await sees(pilot, "recalled")
        assert quoted(app) == [], "of what is no question they stay folded"
        Home.resolve().trusted.write_text(json.dumps({f"{VERSION}:{MODEL}": 1.0}))
        await ask(app, pilot)
        await sees(pilot, "recalled")
        assert quoted(app) == [], "and of a model that is trusted"


async def test_at_most_three_are_shown(chat: Running) -> None:
    async with chat(agent_that_was_told(LONG, *(f"I live in {town}." for town in TOWNS))) as (app, pilot):
        await ask(app, pilot)
        await wait_until(pilot, lambda: quoted(app))
        (shown,) = quoted(app)
        assert len(shown.splitlines()) == 3
        assert {line.rpartition("  ")[2] for line in shown.splitlines()} <= {f"“I live in {town}.”" for town in TOWNS}


async def test_they_are_cut_wrapped_and_never_markup(chat: Running) -> None:
    agent = agent_that_was_told(LONG, *(f"I live in {town}." for town in TOWNS[:2]))
    async with chat(agent, size=(60, 40)) as (app, pilot):
        await ask(app, pilot)
        await wait_until(pilot, lambda: quoted(app))
        (shown,) = quoted(app)
        (first,) = (line for line in shown.splitlines() if "…" in line)
        whole = [line.rpartition("  ")[2] for line in shown.splitlines() if line != first]
        assert len(whole) == 2
        assert set(whole) < {f"“I live in {town}.”" for town in TOWNS}
        assert "[bold]Lisbon[/bold] ␛[31mis where I live." in first
        assert len(first) < 200
        widget: Any = app.view.transcript.query_one(RecalledQuotes)
        for width, heights in ((60, range(4, 40)), (200, range(6))):
            await pilot.resize_terminal(width, 60)
            await wait_until(pilot, lambda heights=heights: widget.region.height in heights)  # type: ignore[misc]
            assert widget.region.right <= width
            await wait_until(pilot, lambda: whole[-1] in words(app), whole[-1])


async def test_words_that_are_hidden_meanwhile_leave_the_screen_and_come_back(chat: Running) -> None:
    agent = agent_that_was_told(TOLD, "I still live in Lisbon.")
    async with chat(agent) as (app, pilot):
        await ask(app, pilot)
        await sees(pilot, TOLD)
        told = agent.turns["S000"][0]
        await agent.chats.hide(told)
        await wait_until(pilot, lambda: TOLD not in words(app))
        await sees(pilot, "I still live in Lisbon.")
        await agent.chats.unhide(told)
        await sees(pilot, TOLD)
