"""The memory screen in another world, and as it was on another day."""

from datetime import UTC, datetime
from typing import Any

from graph.events import SessionForked, SessionTitled
from graph.values import Wanted
from tests.tui.beliefs import SISTER, learned_agent
from tests.tui.conftest import Running, wait_until
from tests.tui.seeing import sees, sees_chat, sees_no_more, sees_screen, words
from tests.tui.test_memories_screen import chosen, listed, opened, ready, then_does
from tui.widgets.dialogs import AskLine

Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]
SIZES = ((120, 40), (40, 12), (80, 24))
END_OF_1_OCTOBER = datetime(2026, 10, 1, 23, 59, 59, 999000)


def last_world(asked: Calls) -> str:
    """The world whose memories were asked for last."""
    ((wanted,), _) = asked[-1]
    return str(wanted.world)


async def test_w_shows_the_next_world_says_which_and_what_is_corrected_there_stays_there(chat: Running) -> None:
    agent = learned_agent()
    agent.add_events(
        SessionForked(session="S009", origin="S000", at=agent.turns["S000"][-1], world="S009", client="chat"),
        SessionTitled(session="S009", sources=(), text="Atlantis"),
    )
    asked = agent.watch_calls("memories.find")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            assert "what-if" not in words(app)
            await then_does(app, pilot, "w", shows="The what-if “Atlantis”")
            assert last_world(asked) == "S009"
            await pilot.press("w")
            await sees_no_more(pilot, "what-if")
            await ready(app, pilot)
            assert last_world(asked) == "main"
        await then_does(app, pilot, "w", shows="The what-if “Atlantis”")
        await chosen(app, pilot, SISTER)
        await pilot.press("c")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await sees(pilot, "Applies only in this what-if.", "Enter save", "Ctrl+U clear")
        await pilot.press("ctrl+u", *"Has two", "enter")
        await sees(pilot, "Corrected")
        here, main = Wanted(world="S009", text="two"), Wanted(text="sister")
        assert [(each.text, each.world) for each in await agent.memories.find(here)] == [("Has two", "S009")]
        assert [each.text for each in await agent.memories.find(main)] == ["Has a sister called Ada"]
        assert await agent.memories.find(Wanted(world="S009", text="sister")) == []


async def test_a_day_shows_the_memory_as_it_was_then_and_escape_now(chat: Running) -> None:
    agent = learned_agent()
    asked = agent.watch_calls("past.open")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "w", shows="There is only the main world. Use /fork what-if to start another.")
        await agent.memories.remember("The cello is green")
        await wait_until(pilot, lambda: len(listed(app)) == 5)
        await pilot.press("at")
        await sees_screen(pilot, AskLine)
        await pilot.press(*"2026-10-01", "enter")
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await sees(pilot, "As clew knew it on 1 Oct 2026, 23:59 · Esc for now")
        await ready(app, pilot)
        assert len(listed(app)) == 4
        assert [when.astimezone().replace(tzinfo=None) for ((when,), _) in asked] == [END_OF_1_OCTOBER]
        await pilot.press("p")
        await sees(pilot, "The past cannot be changed")
        await pilot.press("escape")
        await sees_no_more(pilot, "As clew knew it")
        await ready(app, pilot)
        assert len(listed(app)) == 5
        before = datetime.now(UTC)
        await pilot.press("at")
        await sees_screen(pilot, AskLine)
        await pilot.press(*f"{datetime.now().astimezone():%Y-%m-%d}", "enter")
        await sees(pilot, "As clew knew it on")
        await ready(app, pilot)
        ((today,), _) = asked[1]
        assert before <= today <= datetime.now(UTC), "this very day is not to come, and shows now"
        await pilot.press("escape")
        await sees_no_more(pilot, "As clew knew it")
        await pilot.press("escape")
        await sees_chat(pilot)


async def test_a_day_that_cannot_be_shown_is_explained_and_stays_in_its_field_to_be_put_right(chat: Running) -> None:
    async with chat(learned_agent(), size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "at", shows="Show what clew knew on which date?")
        await sees(pilot, "Enter show")
        for typed, told in (
            ("soon", "is not a valid time. Write it as"),
            ("2024-01-01", "There was nothing at 2024-01-01 23:59 yet"),
            ("2027-13-45", "is not a valid time. Write it as"),
            ("2999-01-01", "That date is in the future."),
        ):
            await pilot.press(*typed, "enter")
            await sees_screen(pilot, AskLine, told, typed)
            await pilot.press("ctrl+u")
        await pilot.press("escape")
        await ready(app, pilot)
        now = listed(app)
        assert len(now) == 4
        await pilot.press("at", *"2026-10-01", "enter")
        await sees(pilot, "As clew knew it on 1 Oct 2026")
        assert listed(app) == now
