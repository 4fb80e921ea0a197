"""The memory screen in another world, and as it was on another day."""

from datetime import UTC, datetime, timedelta

import pytest

from graph.branches import World
from tests.tui.beliefs import BERLIN, SISTER, learned_agent
from tests.tui.conftest import Running, wait_until
from tests.tui.fake_agent import FakeAgent
from tests.tui.test_memories_screen import chosen, listed, opened, ready, words
from tui.widgets.dialogs import AskLine

END_OF_1_OCTOBER = datetime(2026, 10, 1, 23, 59, 59, 999000)


def with_what_if() -> FakeAgent:
    agent = learned_agent()
    agent.all_worlds.append(World("S009", "Atlantis", "main", None, "S009", 1))
    return agent


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_w_shows_the_next_world_says_which_and_asks_for_that_one(chat: Running, size: tuple[int, int]) -> None:
    agent = with_what_if()
    async with chat(agent, size=size) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        assert "what-if" not in words(app)
        await pilot.press("w")
        await wait_until(pilot, lambda: "The what-if “Atlantis”" in words(app))
        await ready(app, pilot)
        assert agent.memory_of.asked[-1].world == "S009"
        await pilot.press("w")
        await wait_until(pilot, lambda: "what-if" not in words(app))
        await ready(app, pilot)
        assert agent.memory_of.asked[-1].world == "main"


async def test_with_one_world_w_says_how_to_begin_another(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "w", shows="There is only the main world. Use /fork what-if to start another.")


async def test_the_screen_opens_in_the_world_of_the_chat(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: app.state.what_if == "Atlantis")
        await opened(app, pilot, shows="The what-if “Atlantis” · w to switch")
        assert agent.memory_of.asked[-1].world == app.current_session


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
        assert "Enter save" in words(app)
        assert "Ctrl+U clear" in words(app)
        await pilot.press("ctrl+u", *"Has two sisters", "enter")
        await wait_until(pilot, lambda: "Corrected" in words(app))
        assert agent.memory_of.observations[-1].world == "S009"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_a_day_shows_the_memory_as_it_was_then_and_escape_now(chat: Running, size: tuple[int, int]) -> None:
    agent = learned_agent()
    async with chat(agent, size=size) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        await pilot.press("at")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"2026-10-01", "enter")
        await wait_until(pilot, lambda: "As clew knew it on 1 Oct 2026, 23:59 · Esc for now" in words(app))
        await ready(app, pilot)
        assert len(listed(app)) == 1
        assert [when.astimezone().replace(tzinfo=None) for when in agent.pasts] == [END_OF_1_OCTOBER]
        await pilot.press("p")
        await wait_until(pilot, lambda: "The past cannot be changed" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "As clew knew it" not in words(app))
        await ready(app, pilot)
        assert len(listed(app)) == 4
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("soon", "is not a valid time. Write it as"),
        ("2024-01-01", "Nothing was kept before 3 June 2025."),
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
    async with chat(agent, size=(120, 40)) as (app, pilot):
        before = datetime.now(UTC)
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        await pilot.press(*f"{datetime.now().astimezone():%Y-%m-%d}", "enter")
        await wait_until(pilot, lambda: "As clew knew it on" in words(app))
        await ready(app, pilot)
        assert before <= agent.pasts[0] <= datetime.now(UTC) + timedelta(0)


async def test_a_day_that_cannot_be_shown_stays_in_its_field_to_be_put_right(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        assert "Enter show" in words(app)
        await pilot.press(*"2027-13-45", "enter")
        await wait_until(pilot, lambda: "is not a valid time. Write it as" in words(app))
        assert isinstance(app.screen, AskLine)
        assert "2027-13-45" in words(app)
        await pilot.press("ctrl+u", *"2026-10-01", "enter")
        await wait_until(pilot, lambda: "As clew knew it on 1 Oct 2026" in words(app))
