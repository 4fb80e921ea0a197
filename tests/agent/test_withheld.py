"""A message that says not to be remembered, and one that is kept out by hand: in its chat, and nowhere else."""

import pytest

from agent.agent import Agent
from agent.events import RecallDone
from graph.ids import new_id
from tests.agent.conftest import PLAIN, MakeAgent, collect
from tests.agent.test_recall import only, ready, say, spelled
from tests.fakes import FakeGenerator


async def test_a_message_that_asks_so_is_withheld_with_its_reply_at_once(agent: Agent, model: FakeGenerator) -> None:
    session, _, _ = await say(agent, None, "My dog Biscuit is ill. Don't remember this!")
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [True, True]
    kinds = [row["withheld"] for row in agent._memory.query("MATCH (t:Turn) RETURN t.withheld AS withheld")]
    assert kinds == [True, True]
    assert (await agent.chats.get(session)).name is None
    _, recalled, _ = await say(agent, None, "What about my dog Biscuit?")
    assert recalled.hits == ()
    await say(agent, session, "And now?")
    assert "Biscuit is ill" in spelled(model, model.prompts[-1])  # the chat goes on with it
    assert (await agent.chats.get(session)).name == "And now?"


@pytest.mark.restarts
async def test_the_reply_that_a_crash_cut_off_is_withheld_like_its_message(agent: Agent, make_agent: MakeAgent) -> None:
    session, _, ended = await say(agent, None, "Off the record: I hate my job.")
    reply = new_id()
    agent._memory.stream(reply, session=session, parent=ended.reply_turn, model="fake", text="Why do you")
    await agent.close()
    agent = await ready(make_agent, FakeGenerator("I see."), PLAIN)
    assert [(turn.stop_reason, turn.withheld) for turn in await agent.chats.thread(session)][-1] == ("crashed", True)


@pytest.mark.restarts
async def test_a_message_that_is_answered_later_keeps_its_answer_out_too(
    agent: Agent, model: FakeGenerator, make_agent: MakeAgent
) -> None:
    session, _, _ = await say(agent, None, "hello there")
    model.gate.clear()
    events = agent.send(session, "Off the record: I hate my job.")
    await anext(events)
    await agent.close()
    await collect(events)
    agent = await ready(make_agent, FakeGenerator("I see."), PLAIN)
    path = await agent.chats.thread(session)
    if path[-1].role == "user":  # stopped before a word came
        await collect(agent.retry(session))
        path = await agent.chats.thread(session)
    assert [turn.withheld for turn in path] == [False, False, True, True]


async def test_a_message_can_be_kept_out_by_hand_and_let_in_again(agent: Agent) -> None:
    session, _, ended = await say(agent, None, "My dog Biscuit is a beagle.")
    await agent.chats.withhold(ended.turn)
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [True, True]
    recalled = only(await collect(agent.send(None, "What about my dog Biscuit?")), RecallDone)
    assert recalled.hits == ()
    await agent.chats.release(ended.turn)
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [False, False]
    recalled = only(await collect(agent.send(None, "Which dog is Biscuit, my beagle?")), RecallDone)
    assert ended.turn in [hit.id for hit in recalled.hits]


async def test_what_is_forgotten_while_answered_is_kept_out_with_its_answer(agent: Agent, model: FakeGenerator) -> None:
    session, _, _ = await say(agent, None, "hello there")
    model.gate.clear()
    first = agent.send(session, "My dog Biscuit is a beagle.")
    await anext(first)
    second = agent.send(session, "Don't remember what I just said.")
    await anext(second)
    model.gate.set()
    await collect(first)
    await collect(second)
    said = {turn.text: turn.withheld for turn in await agent.chats.thread(session) if turn.role == "user"}
    assert said == {
        "hello there": False,
        "My dog Biscuit is a beagle.": True,
        "Don't remember what I just said.": True,
    }
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [False, False, True, True, True, True]


async def test_a_wish_alone_keeps_itself_out_please_forget_that_the_exchange_before(agent: Agent) -> None:
    session, _, _ = await say(agent, None, "Don't remember that.")
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [True, True]

    session, _, _ = await say(agent, None, "My boat is the Albatross.")
    await say(agent, session, "My dog Biscuit is a beagle.")
    await say(agent, session, "Please forget that.")
    assert [turn.withheld for turn in await agent.chats.thread(session)] == [False, False, True, True, True, True]
    _, recalled, _ = await say(agent, None, "What about my dog Biscuit?")
    assert "beagle" not in " ".join(hit.text for hit in recalled.hits)
