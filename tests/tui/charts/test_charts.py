"""The charts: numbers as curves and bars of any width, failures in words, and keys that do what they say."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import GraphFailure
from graph.events import Role
from graph.readings.statistics import Speed, Statistics
from tests.tui.acting import closes, press, some
from tests.tui.beliefs import learned_agent
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.charts import Bars, Chart, ChartsScreen, Curve, charts_of, in_columns, lines_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FULL = Statistics(
    first_day=date(2025, 3, 1),
    messages=tuple(day % 7 for day in range(366)),
    memories=tuple(int(day % 5 == 0) for day in range(366)),
    ratings={0: 40, 1: 20, 2: 6, 3: 1},
    unrated=12,
    trends={"new": 3, "strengthening": 2, "stable": 60, "weakening": 4, "stale": 5},
    speeds=tuple(Speed(NOW, 10.0 + place, 0.5) for place in range(20)),
)
EMPTY = Statistics(date(2026, 3, 1), (0,), (0,), dict.fromkeys(range(4), 0), 0, {}, ())


def counted() -> ScriptedAgent:
    """A memory in which there is something for every chart: ten messages, four memories, ratings, two quick replies."""
    agent = learned_agent()
    for number in range(2):
        agent.add_turn("S000", f"question {number}")
        speed = {"completion_tokens": 11, "first_token_ms": 500.0, "total_ms": 1_000.0 + 100 * number}
        agent.add_turn("S000", f"answer {number}", role=Role.ASSISTANT, **speed)
    return agent


def test_each_chart_tells_its_numbers_and_of_an_empty_memory_draws_nothing() -> None:
    told = {each.title: each.told for each in charts_of(FULL)}
    assert told["Messages"].startswith("1,093 in all, ")
    assert told["Memories"].startswith("74 in use or under review, 6 of them in")
    assert told["How much it matters"] == "67 messages are rated, 12 are not yet"
    assert told["Speed of replies"].startswith("19.5 tokens per second (median of the last 20 replies")
    assert told["Time to first word"].startswith("0.50 s")
    for each in charts_of(EMPTY):
        assert lines_of(each, 100)[2:] == []


@pytest.mark.parametrize(
    ("days", "step"),
    [(1, "day"), (70, "day"), (71, "week"), (500, "week"), (501, "stretch of 30 days")],
)
def test_days_are_summed_up_until_they_fit(days: int, step: str) -> None:
    found = Statistics(date(2020, 1, 1), (1,) * days, (0,) * days, {}, 0, {}, ())
    messages = charts_of(Statistics(found.first_day, found.messages, found.memories, FULL.ratings, 0, {}, ()))[0]
    assert isinstance(messages, Curve)
    assert sum(messages.values) == days
    assert f"{step}: " in messages.top


@given(st.integers(1, 200), st.lists(st.floats(0, 1e9), max_size=400))
def test_no_line_is_longer_than_there_is_room(width: int, values: list[float]) -> None:
    curve = Curve("Messages", "some words about it", values, "2025-01-01", "2026-01-01", "most in a day: 3")
    bars = Bars("Going", "so", [("new", 3), ("strengthening", 10**6)])
    assert all(line.cell_length <= width for what in (curve, bars) for line in lines_of(what, width))


@given(st.lists(st.integers(0, 99), max_size=300), st.integers(1, 50))
def test_columns_keep_every_peak(values: list[int], most: int) -> None:
    columns = in_columns(values, most)
    assert len(columns) <= most
    assert max(columns, default=0) == max(values, default=0)


async def test_the_screen_shows_them_at_any_size_counts_again_and_says_why_it_cannot(chat: Running) -> None:
    agent = counted()
    mend = agent.fail("graph.statistics", GraphFailure("The graph is being made anew. Try again in a moment."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await press(pilot, "f9", shows="being made anew")
        mend()
        await press(pilot, "r", shows="10 in all")
        assert isinstance(app.screen, ChartsScreen)
        assert "being made anew" not in screen_text(app)
        await sees(pilot, "F1 help")
        await press(pilot, "f1", shows=("Chart keys", "refresh"))
        await press(pilot, "escape", opens=ChartsScreen)

        await pilot.resize_terminal(120, 40)
        first, second, *_ = charts = list(app.screen.query(Chart))
        assert len(charts) == 6
        await wait_until(pilot, lambda: first.region.y == second.region.y)
        await pilot.resize_terminal(70, 24)
        await wait_until(pilot, lambda: first.region.y < second.region.y)
        for width in some(20, 200, 21, 90, 1, 60):
            await pilot.resize_terminal(width, 24)
        await sees(pilot, "10 in all")
        for size in some((80, 24), (120, 40), (200, 60), (40, 12), (20, 6)):
            await pilot.resize_terminal(*size)
            await press(pilot, "end", "home", "j", "k", "pagedown", "pageup", shows="Messages")
        await closes(pilot, "r", "escape")
