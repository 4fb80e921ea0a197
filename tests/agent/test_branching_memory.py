"""What was learned follows the head: gone when a chat goes back, there again with its id, and never learned twice."""

from collections import Counter

import pytest

from agent.agent import Agent
from agent.settings import Settings
from graph.events import MAIN_WORLD, HeadMoved, ObservationMade, ReflectionDone, TurnDeleted
from graph.values import Wanted
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_branching import path, talk
from tests.fakes import FakeGenerator

OSLO, BERGEN = "I live in Oslo.", "I live in Bergen."
LATER = Settings(reflect=False)


@pytest.fixture
async def agent(make_agent: MakeAgent) -> Agent:
    return await make_agent(FakeGenerator("I see."))


async def known(agent: Agent, world: str = MAIN_WORLD) -> dict[str, str | None]:
    """Ids and texts of what is believed in a world."""
    await agent.idle()
    return {each.id: each.text for each in await agent.memories.find(Wanted(world=world))}


async def learned(agent: Agent) -> Counter[str]:
    """How often what was reflected on and made, of all the log."""
    await agent.reflection.run()
    events = [stored.event for stored in agent._memory._reader.events(limit=10_000)]
    made = [event.text or "" for event in events if isinstance(event, ObservationMade)]
    done = [" ".join(event.turns) for event in events if isinstance(event, ReflectionDone)]
    return Counter([*made, *done])


async def test_back_before_the_proof_it_is_gone_and_forward_again_it_is_the_same(agent: Agent) -> None:
    session = await talk(agent, "Hello!", OSLO)
    turns = await path(agent, session)
    believed = await known(agent)
    assert list(believed.values()) == [OSLO]
    before = await learned(agent)
    for _ in range(2):
        plan = await agent.branches.plan_rewind(session, turns[1].id)
        assert [each.text for each in plan.impact.lost] == [OSLO]
        await agent.branches.rewind(session, turns[1].id, plan=plan)
        assert await known(agent) == {}
        await agent.branches.switch(session, turns[2].id)
        assert await known(agent) == believed
    assert await learned(agent) == before


async def test_of_replies_to_one_message_the_one_on_the_path_is_reflected_on(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("First.", "Second."), LATER)
    session = await talk(agent, OSLO)
    await collect(agent.regenerate(session))
    asked, second = (turn.id for turn in await path(agent, session))
    assert set(await learned(agent)) == {OSLO, f"{asked} {second}"}


async def test_another_reply_teaches_nothing_twice_however_often_they_are_changed(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("First.", "Second."))
    session = await talk(agent, OSLO)
    first = (await path(agent, session))[1].id
    believed = await known(agent)
    assert list(believed.values()) == [OSLO]
    await collect(agent.regenerate(session))
    second = (await path(agent, session))[1].id
    assert await known(agent) == believed
    before = await learned(agent)
    assert before[OSLO] == 1
    for turn in (first, second, first):
        await agent.branches.switch(session, turn)
        assert await known(agent) == believed
    assert await learned(agent) == before


async def test_an_edited_message_is_what_is_known_until_the_chat_goes_back(agent: Agent) -> None:
    session = await talk(agent, OSLO)
    oslo = (await path(agent, session))[0].id
    await known(agent)
    await collect(agent.edit(session, oslo, BERGEN))
    bergen = (await path(agent, session))[0].id
    await learned(agent)
    assert list((await known(agent)).values()) == [BERGEN]
    before = await learned(agent)
    await agent.branches.switch(session, oslo)
    assert list((await known(agent)).values()) == [OSLO]
    await agent.branches.switch(session, bergen)
    assert list((await known(agent)).values()) == [BERGEN]
    assert await learned(agent) == before
    assert (before[OSLO], before[BERGEN]) == (1, 1)


async def test_what_is_learned_in_a_what_if_is_known_there_alone(agent: Agent) -> None:
    session = await talk(agent, OSLO)
    what_if = await agent.branches.fork(session, what_if=True)
    await talk(agent, "My cat is called Tom.", session=what_if)
    await learned(agent)
    await talk(agent, "My dog is called Rex.", session=session)
    await learned(agent)
    assert sorted((await known(agent)).values()) == [OSLO, "My dog is called Rex."]  # type: ignore[type-var]
    assert sorted((await known(agent, what_if)).values()) == [OSLO, "My cat is called Tom."]  # type: ignore[type-var]


async def test_deleting_a_chat_leaves_what_a_what_if_left_from(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator(*(f"Reply {number}." for number in range(1, 30))), Settings(reflect=False))
    session = await talk(agent, "one", "two", "three")
    turns = await agent.chats.thread(session)
    what_if = await agent.branches.fork(session, at=turns[3].id, what_if=True)
    agent._memory.append(HeadMoved(session=what_if, turn=turns[1].id))
    plan = await agent.plans.delete_session(session)
    assert {event.turn for event in plan.events if isinstance(event, TurnDeleted)} == {turns[4].id, turns[5].id}
    assert plan.impact.kept == {turn.id for turn in turns[:4]}
    assert plan.notes == (), "nothing else stays than what the impact says is kept"
    await agent.chats.delete(what_if)
    plan = await agent.plans.delete_session(session)
    assert {event.turn for event in plan.events if isinstance(event, TurnDeleted)} == {turn.id for turn in turns}


async def test_going_back_past_the_fork_tells_what_leaves_the_chat_and_what_stays(agent: Agent) -> None:
    session = await talk(agent, "Hello!", OSLO)
    what_if = await agent.branches.fork(session, what_if=True)
    await talk(agent, BERGEN, session=what_if)
    turns = await path(agent, what_if)
    plan = await agent.branches.plan_rewind(what_if, turns[1].id)
    assert [turn.id for turn in plan.impact.gone] == [turn.id for turn in turns[2:]]
    assert plan.notes == ("2 of 4 messages stay in memory, because another chat also contains them.",)
    alone = await agent.branches.plan_rewind(what_if, turns[3].id)
    assert [turn.id for turn in alone.impact.gone] == [turn.id for turn in turns[4:]]
    assert alone.notes == ()
    await agent.branches.rewind(what_if, turns[1].id, plan=plan)
    assert [turn.id for turn in await path(agent, what_if)] == [turn.id for turn in turns[:2]]
    assert OSLO in (await known(agent, what_if)).values()

    fork = await agent.branches.fork(session)
    turns = await path(agent, fork)
    shared = await agent.branches.plan_rewind(fork, turns[1].id)
    assert [turn.id for turn in shared.impact.gone] == [turn.id for turn in turns[2:]]
    assert shared.notes == ("Both messages stay in memory, because another chat also contains them.",)
    assert shared.impact.lost == ()


async def test_what_going_to_another_reply_takes_along_is_told_before(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("First.", "Second.", "Third."))
    session = await talk(agent, "Hello!")
    first = (await path(agent, session))[1].id
    await collect(agent.regenerate(session))
    await talk(agent, OSLO, session=session)
    turns = await path(agent, session)
    await known(agent)
    plan = await agent.branches.plan_switch(session, first)
    assert [turn.id for turn in plan.impact.gone] == [turn.id for turn in turns[1:]]
    assert [each.text for each in plan.impact.lost] == [OSLO]
    assert (await agent.branches.plan_switch(session, turns[1].id)).impact.gone == ()
