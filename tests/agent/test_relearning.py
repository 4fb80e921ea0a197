"""What is left when proof is taken away is learned anew, in every world that has it, once, and in its order."""

import pytest

from agent.agent import Agent
from tests.agent.test_plans import chat

OSLO, ROME, TOKYO = "I live in Oslo.", "I moved to Rome.", "I moved to Tokyo."


def in_use(agent: Agent, world: str = "main") -> list[str]:
    """What is believed in a world, as texts."""
    with_now = agent._memory.readings.worlds()
    assert world in [each.id for each in with_now]
    found = agent._memory.recall.in_world(world).observations if world != "main" else None
    if found is None:
        rows = agent._memory.query("MATCH (o:Observation) WHERE o.current AND o.world = 'main' RETURN o.id AS id")
        ids = [row["id"] for row in rows]
    else:
        ids = [id for id, stands in found.items() if stands.current]
    told = agent._memory.readings.observations(ids, world=world).values()
    return sorted(each.text or "" for each in told if not each.plain)


async def learn(agent: Agent) -> None:
    await agent.reflection.run(by_model=False)
    await agent.idle()


@pytest.mark.restarts
async def test_proof_that_is_left_only_in_a_what_if_is_reflected_on_there(agent: Agent) -> None:
    session, (one, _) = await chat(agent, OSLO, ROME)
    await learn(agent)
    fork = await agent.branches.fork(session, what_if=True)
    await agent.branches.rewind(session, one.reply_turn)
    await agent.plans.carry_out(await agent.plans.delete(one.turn))
    await learn(agent)
    assert in_use(agent) == []
    assert in_use(agent, fork) == [ROME]
    await learn(agent)
    assert agent._memory.readings.unreflected(9) == []


@pytest.mark.restarts
async def test_a_journey_that_loses_its_beginning_keeps_its_order_and_is_said_once(agent: Agent) -> None:
    _, (one, _, _) = await chat(agent, OSLO, ROME, TOKYO)
    await learn(agent)
    assert in_use(agent) == [TOKYO]
    await agent.plans.carry_out(await agent.plans.hide(one.turn))
    await learn(agent)
    assert in_use(agent) == [TOKYO]
    await agent.plans.carry_out(await agent.plans.unhide(one.turn))
    await learn(agent)
    assert in_use(agent) == [TOKYO]
    await agent.plans.carry_out(await agent.plans.delete(one.turn))
    await learn(agent)
    assert in_use(agent) == [TOKYO]


async def test_so_does_a_journey_told_over_what_ifs_of_what_ifs(agent: Agent) -> None:
    session, (one,) = await chat(agent, OSLO)
    await learn(agent)
    first = await agent.branches.fork(session, what_if=True)
    async for _ in agent.send(first, ROME):
        pass
    await learn(agent)
    second = await agent.branches.fork(first, what_if=True)
    async for _ in agent.send(second, TOKYO):
        pass
    await learn(agent)
    assert [in_use(agent, each) for each in ("main", first, second)] == [[OSLO], [ROME], [TOKYO]]
    await agent.plans.carry_out(await agent.plans.hide(one.turn))
    await learn(agent)
    assert [in_use(agent, each) for each in ("main", first, second)] == [[], [ROME], [TOKYO]]
    await agent.plans.carry_out(await agent.plans.unhide(one.turn))
    await learn(agent)
    assert [in_use(agent, each) for each in ("main", first, second)] == [[OSLO], [ROME], [TOKYO]]
