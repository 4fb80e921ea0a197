"""The memory screen in another world, and as it was on another day."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graph.events import SessionForked, SessionTitled
from graph.values import Wanted
from tests.tui.beliefs import BERLIN, SISTER, learned_agent
from tests.tui.conftest import Running, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.test_memories_screen import chosen, listed, opened, ready, words
from tui.widgets.dialogs import AskLine

Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]
END_OF_1_OCTOBER = datetime(2026, 10, 1, 23, 59, 59, 999000)


def with_what_if() -> ScriptedAgent:
    agent = learned_agent()
    agent.add_events(
        SessionForked(session="S009", origin="S000", at=agent.turns["S000"][-1], world="S009", client="chat"),
        SessionTitled(session="S009", sources=(), text="Atlantis"),
    )
    return agent


def last_world(asked: Calls) -> str:
    """The world whose memories were asked for last."""
    ((wanted,), _) = asked[-1]
    return str(wanted.world)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_w_shows_the_next_world_says_which_and_asks_for_that_one(chat: Running, size: tuple[int, int]) -> None:
    agent = with_what_if()
    asked = agent.watch_calls("memories.find")
    async with chat(agent, size=size) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        assert "what-if" not in words(app)
        await pilot.press("w")
        await wait_until(pilot, lambda: "The what-if “Atlantis”" in words(app))
        await ready(app, pilot)
        assert last_world(asked) == "S009"
        await pilot.press("w")
        await wait_until(pilot, lambda: "what-if" not in words(app))
        await ready(app, pilot)
        assert last_world(asked) == "main"


async def test_with_one_world_w_says_how_to_begin_another(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "w", shows="There is only the main world. Use /fork what-if to start another.")


async def test_the_screen_opens_in_the_world_of_the_chat(chat: Running) -> None:
    agent = learned_agent()
    asked = agent.watch_calls("memories.find")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: app.view.state.what_if == "Atlantis")
        await opened(app, pilot, shows="The what-if “Atlantis” · w to switch")
        assert last_world(asked) == app.view.session


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_what_is_corrected_by_hand_in_a_what_if_is_corrected_there(chat: Running, size: tuple[int, int]) -> None:
    agent = with_what_if()
    async with chat(agent, size=size) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        await pilot.press("w")
        await ready(app, pilot)
        await chosen(app, pilot, SISTER)
        await pilot.press("c")
        await wait_until(pilot, lambda: "Applies only in this what-if." in words(app))
        await wait_until(pilot, lambda: "Enter save" in words(app), "Enter save")
        await wait_until(pilot, lambda: "Ctrl+U clear" in words(app), "Ctrl+U clear")
        await pilot.press("ctrl+u", *"Has two sisters", "enter")
        await wait_until(pilot, lambda: "Corrected" in words(app))
        here, main = Wanted(world="S009", text="sister"), Wanted(text="sister")
        assert [(each.text, each.world) for each in await agent.memories.find(here)] == [("Has two sisters", "S009")]
        assert [each.text for each in await agent.memories.find(main)] == ["Has a sister called Ada"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_a_day_shows_the_memory_as_it_was_then_and_escape_now(chat: Running, size: tuple[int, int]) -> None:
    agent = learned_agent()
    asked = agent.watch_calls("past.open")
    async with chat(agent, size=size) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        await agent.memories.remember("The cello is green")
        await wait_until(pilot, lambda: len(listed(app)) == 5)
        await pilot.press("at")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"2026-10-01", "enter")
        await wait_until(pilot, lambda: "As clew knew it on 1 Oct 2026, 23:59 · Esc for now" in words(app))
        await ready(app, pilot)
        assert len(listed(app)) == 4
        assert [when.astimezone().replace(tzinfo=None) for ((when,), _) in asked] == [END_OF_1_OCTOBER]
        await pilot.press("p")
        await wait_until(pilot, lambda: "The past cannot be changed" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "As clew knew it" not in words(app))
        await ready(app, pilot)
        assert len(listed(app)) == 5
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("soon", "is not a valid time. Write it as"),
        ("2024-01-01", "There was nothing at 2024-01-01 23:59 yet"),
        ("2999-01-01", "That date is in the future."),
    ],
)
async def test_a_day_that_cannot_be_shown_is_explained_and_now_stays(chat: Running, typed: str, told: str) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        await pilot.press(*typed, "enter")
        await wait_until(pilot, lambda: told in words(app), told)
        await pilot.press("escape")
        await ready(app, pilot)
        assert len(listed(app)) == 4
        assert BERLIN in listed(app)


async def test_this_very_day_is_not_to_come_and_shows_now(chat: Running) -> None:
    agent = learned_agent()
    asked = agent.watch_calls("past.open")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        before = datetime.now(UTC)
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        await pilot.press(*f"{datetime.now().astimezone():%Y-%m-%d}", "enter")
        await wait_until(pilot, lambda: "As clew knew it on" in words(app))
        await ready(app, pilot)
        ((when,), _) = asked[0]
        assert before <= when <= datetime.now(UTC)


async def test_a_day_that_cannot_be_shown_stays_in_its_field_to_be_put_right(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        await wait_until(pilot, lambda: "Enter show" in words(app), "Enter show")
        await pilot.press(*"2027-13-45", "enter")
        await wait_until(pilot, lambda: "is not a valid time. Write it as" in words(app))
        assert isinstance(app.screen, AskLine)
        await wait_until(pilot, lambda: "2027-13-45" in words(app), "2027-13-45")
        await pilot.press("ctrl+u", *"2026-10-01", "enter")
        await wait_until(pilot, lambda: "As clew knew it on 1 Oct 2026" in words(app))
