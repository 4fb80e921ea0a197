"""The Agent asks people's queries: their first rows come on the event loop, and cancelling the task ends the query."""

import asyncio
from contextlib import aclosing

import pytest

from agent.agent import Agent
from graph.errors import QueryFailed, QueryTimeout, Refused

pytestmark = pytest.mark.process

ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 9) AS c RETURN count(a + b + c)"


@pytest.fixture
async def agent(agent: Agent) -> Agent:
    await agent.memories.remember("I live in Lyon.")
    return agent


async def test_the_first_rows_are_told_on_the_loop_before_the_answer(agent: Agent) -> None:
    cypher = "UNWIND range(1, 9) AS x RETURN x + $more"
    asking = agent.graph.console(cypher, parameters={"more": 1}, limit=2)
    told = [(len(answer.rows), answer.total) async for answer in asking]
    answer = await asking
    assert told == [(2, None)]
    assert (answer.rows, answer.total, answer.cut) == (((2,), (3,)), 9, "rows")


async def test_cancelling_the_task_ends_the_query_and_the_next_is_answered(agent: Agent) -> None:
    counting = ENDLESS.replace("RETURN count(a + b + c)", "RETURN DISTINCT a % 1000 AS x, b % 10 AS y")
    query = agent.graph.console(counting, timeout_s=60, limit=2)
    async with aclosing(aiter(query)) as steps:
        assert len((await anext(steps)).rows) == 2
        other = asyncio.ensure_future(agent.graph.console("RETURN 1", timeout_s=60))
    with pytest.raises(asyncio.CancelledError):
        await query
    assert (await other).rows == ((1,),)
    assert (await agent.graph.console("RETURN 2")).rows == ((2,),)


async def test_a_query_is_looked_at_and_refused_with_its_place(agent: Agent) -> None:
    await agent.graph.validate("MATCH (o:Observation) WHERE o.text = $text RETURN o")
    with pytest.raises(Refused):
        await agent.graph.validate("MATCH (o:Observation) DELETE o")
    with pytest.raises(QueryFailed) as caught:
        await agent.graph.validate("MATCH (o:Observation)\nRETURN o.nope")
    assert (caught.value.line, caught.value.column) == (2, 10)
    with pytest.raises(QueryTimeout):
        await agent.graph.console(ENDLESS, timeout_s=0.05)


async def test_a_past_is_asked_in_the_same_way(agent: Agent) -> None:
    async with agent.past.at(await asyncio.to_thread(agent._memory.head)) as past:
        await past.graph.prepare()
        await past.graph.validate("MATCH (o:Observation) RETURN o.text")
        cypher = "MATCH (o:Observation {text: $text}) RETURN o.text"
        assert (await past.graph.console(cypher, parameters={"text": "I live in Lyon."})).rows == (
            ("I live in Lyon.",),
        )
        assert (await past.graph.console("MATCH (o:Observation) RETURN count(*)", live_only=True)).rows == ((1,),)
