"""The Agent looks into the past: as things stood then, one past at a time, gone when it is left or the Agent closes."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.past import PastView
from graph.errors import GraphFailure, NotFound, NothingYet
from graph.events import TurnDeleted
from graph.history.past import FOLDER
from graph.values import Wanted
from tests.agent.test_recall import say


def files(agent: Agent) -> list[Path]:
    """What pasts have left on the disk."""
    return [path for path in (agent._home.memory / FOLDER).rglob("*") if path.is_file()]


async def texts(view: Agent | PastView) -> list[str | None]:
    return [each.text for each in await view.memories.find()]


@pytest.mark.process
async def test_the_memory_is_asked_as_it_was_and_everything_goes_when_it_is_left(agent: Agent) -> None:
    first = await agent.memories.remember("I live in Lyon.", project="moves")
    then = await asyncio.to_thread(agent._memory.head)
    await agent.memories.correct(first.id, "I live in Porto.")
    session, _, _ = await say(agent, None, "The harbour of Porto is wide")
    assert await texts(agent) == ["I live in Porto."]
    async with agent.past.at(then) as past:
        assert past.seq == then
        assert await texts(past) == ["I live in Lyon."]
        assert (await past.memories.story(first.id)).observation.current
        assert await past.recall("the harbour of Porto") == []
        assert (await past.recall("Lyon"))[0].id == first.id
        assert [each.name for each in await past.projects.all()] == ["moves"]
        assert await past.project_name(" MOVES") == "moves"
        assert len(await past.memories.find(Wanted(project="moves"))) == 1
        assert await past.memories.find(Wanted(project="trains")) == []
        assert session not in {each.id for each in await past.chats()}
        assert (await past.graph.console("MATCH (o:Observation) RETURN o.text")).rows == (("I live in Lyon.",),)
        with pytest.raises(NotFound, match="no project boats then"):
            await past.project_name("boats")
        assert files(agent)
    assert files(agent) == []
    assert await texts(agent) == ["I live in Porto."]


@pytest.mark.restarts
async def test_the_next_past_takes_the_place_of_the_one_before(agent: Agent) -> None:
    await agent.memories.remember("I live in Lyon.")
    early = await asyncio.to_thread(agent._memory.head)
    await agent.memories.remember("I own a boat.")
    async with agent.past.at(early) as one:
        assert len(await texts(one)) == 1
        async with agent.past.at(datetime.now(UTC)) as two:
            assert len(await texts(two)) == 2
            with pytest.raises(GraphFailure):
                await texts(one)
            with pytest.raises(NothingYet):  # a time with nothing in it leaves the past that is open
                await agent.past.at(datetime(2001, 1, 1, tzinfo=UTC)).__aenter__()
            assert len(await texts(two)) == 2
        assert files(agent) == []


@pytest.mark.restarts
async def test_what_is_erased_meanwhile_ends_the_past_and_another_can_be_opened(agent: Agent) -> None:
    _, _, ended = await say(agent, None, "my secret is a sextant")
    async with agent.past.at(datetime.now(UTC)) as past:
        assert await past.recall("sextant") != []
        await asyncio.to_thread(agent._memory.append, TurnDeleted(turn=ended.turn))
        assert files(agent) == []
        with pytest.raises(GraphFailure, match="Open it again"):
            await past.recall("sextant")
    async with agent.past.at(datetime.now(UTC)) as past:
        assert await past.memories.find() == []


@pytest.mark.restarts
async def test_who_does_not_wait_for_a_past_leaves_nothing_of_it_nor_does_an_agent_that_closes(agent: Agent) -> None:
    await agent.memories.remember("I live in Lyon.")
    opening = agent.past.open(datetime.now(UTC))
    async with aclosing(aiter(opening)) as steps:
        await anext(steps)
    with pytest.raises(asyncio.CancelledError):
        await opening
    past = agent.past.at(datetime.now(UTC))
    assert len(await texts(await past.__aenter__())) == 1  # it waited for the one that was given up
    await agent.close()
    assert files(agent) == []
    await past.__aexit__(None, None, None)
