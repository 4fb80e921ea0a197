"""Themes: named by the model where the turns bear it out, by their own words else; each cites its turns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from agent.events import RecallDone, ReplyEnded, ToolAsked, ToolDone, ToolProgress
from agent.themes import CAPABLE_BYTES, Theme, ThemeMaker, borne_out, plain, told
from graph.memory import Memory
from graph.values import Community, Turn
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready, spelled
from tests.fakes import FakeGenerator


def turn(number: int, text: str) -> Turn:
    return Turn(
        f"0000000000TURN{number}", "s", None, number, "user", "you", text, datetime(2026, 5, 3, tzinfo=UTC), "test"
    )


POOLS = Community(
    (turn(1, "The tide pools are full of crabs."), turn(2, "Anemones live in tide pools.")), ("tide", "pools"), 2
)
BREAD = Community((turn(3, "Sourdough bread needs a starter."),), ("sourdough", "bread"), 1)
GOOD = {"title": "Crabs in tide pools", "summary": "Crabs and anemones live in tide pools."}
BREAD_TOO = {"title": "Sourdough bread", "summary": "A sourdough bread needs its starter."}
INVENTED = {"title": "Quantum mechanics", "summary": "Particles tunnel through barriers regularly."}


class Communities:
    """A memory that knows nothing but these communities."""

    def __init__(self, *found: Community) -> None:
        self.found = found

    @property
    def recall(self) -> "Communities":
        return self

    def communities(self, model: str | None, **_: Any) -> Sequence[Community]:
        return self.found


def maker(*found: Community) -> ThemeMaker:
    return ThemeMaker(cast(Memory, Communities(*found)), lambda: None)


def large(*answers: dict[str, str]) -> FakeGenerator:
    model = FakeGenerator(answers=answers)
    model._info = replace(model._info, size=CAPABLE_BYTES)
    return model


async def test_the_model_names_each_community_and_sums_up_the_whole() -> None:
    model = large(GOOD, BREAD_TOO, {"overview": "These conversations were about tide pools and sourdough bread."})
    steps: list[tuple[int, int]] = []
    overview = await maker(POOLS, BREAD).overview(model, limit=6, progress=lambda done, all: steps.append((done, all)))
    found = [(theme.title, theme.turns) for theme in overview.themes]
    assert found == [("Crabs in tide pools", POOLS.turns), ("Sourdough bread", BREAD.turns)]
    assert overview.text == "These conversations were about tide pools and sourdough bread."
    assert steps == [(0, 2), (1, 2), (2, 2)]


async def test_where_the_model_fails_or_invents_the_turns_speak_for_themselves() -> None:
    for answers in ([], [INVENTED]):
        (theme,) = await maker(POOLS).find(FakeGenerator(answers=answers), limit=6)
        assert (theme.title, theme.summary) == ("tide, pools", "The tide pools are full of crabs.")
    (theme,) = await maker(POOLS).find(None, limit=6)
    assert theme.title == "tide, pools"


async def test_a_sum_that_the_turns_do_not_bear_out_or_of_a_small_model_is_left_out() -> None:
    invented = {"overview": "Tide pools and crabs suffer, in the context of the long drought of the country."}
    overview = await maker(POOLS).overview(large(GOOD, invented), limit=6)
    assert (overview.text, [theme.title for theme in overview.themes]) == ("", ["Crabs in tide pools"])
    small = FakeGenerator(answers=[GOOD, {"overview": "Crabs and anemones in tide pools."}])
    assert (await maker(POOLS).overview(small, limit=6)).text == ""


async def test_the_same_turns_are_named_once_for_each_model() -> None:
    model = FakeGenerator(answers=[GOOD])
    themes = maker(POOLS)
    first = await themes.find(model, limit=6)
    assert await themes.find(model, limit=6) == first
    other = FakeGenerator(name="other", answers=[])
    assert (await themes.find(other, limit=6))[0].title == "tide, pools"


async def test_without_turns_there_are_no_themes() -> None:
    overview = await maker().overview(FakeGenerator(), limit=6)
    assert (overview.text, overview.themes) == ("", ())


def test_themes_are_told_with_marks_of_every_turn_they_rest_on() -> None:
    text, cited = told([Theme("Tide\npools", "They are\x1b[0m full.", (*POOLS.turns, turn(4, "More.")))])
    assert cited == tuple(f"0000000000TURN{number}" for number in (1, 2, 4))
    days = [f"{each.at.astimezone():%Y-%m-%d}" for each in POOLS.turns]
    assert text.split("\n") == [
        "1. Tide pools: They are [0m full.",
        f'  - #0TURN1 {days[0]}, user: "The tide pools are full of crabs."',
        f'  - #0TURN2 {days[1]}, user: "Anemones live in tide pools."',
        "  also #0TURN4",
    ]


def test_what_a_model_says_must_be_in_its_source() -> None:
    assert borne_out("Crabs in pools", ["the pools have crabs"])
    assert not borne_out("Whales and dolphins", ["the pools have crabs"])
    assert not borne_out("", ["anything"])
    assert plain(Community((), (), 0)).title == "one topic"


@pytest.mark.restarts
async def test_a_question_for_themes_is_answered_by_a_tools_turn_even_after_a_restart(make_agent: MakeAgent) -> None:
    said = ["The tide pools are full of crabs.", "Crabs hide in tide pools.", "Tide pools warm up, crabs say."]
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    for text in said:
        await collect(agent.send(None, text))
        await agent.idle()
    events = await collect(agent.send(None, "What are the themes across everything?"))
    assert only(events, RecallDone).route == "themes"
    asked, done = only(events, ToolAsked), only(events, ToolDone)
    assert (asked.tool, done.error) == ("themes", None)
    steps = [event for event in events if isinstance(event, ToolProgress)]
    assert [(step.call, step.done, step.total) for step in steps] == [
        (asked.call, done, len(steps) - 1) for done in range(len(steps))
    ]
    assert events.index(asked) < events.index(steps[0]) < events.index(steps[-1]) < events.index(done)
    assert "crabs" in done.result.split("\n")[0]
    ended = only(events, ReplyEnded)
    roles = [turn.role for turn in await agent.chats.thread(ended.session)]
    assert roles == ["user", "tool", "assistant"]
    assert {hit.text for hit in await agent.search.context(ended.reply_turn)} <= {*said, "noted"}
    first = done.result.split("\n")[0]
    assert first in ended.text
    await agent.close()
    again = FakeGenerator("and")
    agent = await ready(make_agent, again)
    await collect(agent.send(ended.session, "ok thanks"))
    assert first in spelled(again, again.prompts[0])


async def test_without_anything_said_there_are_no_themes(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    assert await agent.search.themes() == []
    assert (await agent.search.overview()).text == ""
