"""Tools that change the memory: asked for, told in words, done with leave only, and never without an answer."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.agent import Agent
from agent.events import AgentEvent, ApprovalWanted, ReplyEnded, ToolDone
from agent.quoting import mark_of
from agent.settings import Settings
from agent.steps import REFUSED, UNASKED
from graph.errors import NotFound
from graph.values import Wanted
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready, say, spelled
from tests.fakes import FakeGenerator

TOOLS = Settings(tools="on", kv_mb=0, reflect=False)
ANSWER = {"tool": "answer"}
REMEMBER = {"tool": "remember", "text": "The user's boat is called Zephyrine."}
EVERYTHING = Wanted(everything=True, dead=True)


async def started(make_agent: MakeAgent, *, asks: bool = True) -> tuple[Agent, FakeGenerator]:
    model = FakeGenerator("done")
    agent = await ready(make_agent, model, TOOLS)
    agent.approvals.clients = {"test"} if asks else set()
    return agent, model


def kinds(agent: Agent) -> list[str]:
    """The kinds of all events about leave."""
    with agent._memory.readings.snapshot() as db:
        return [kind for (kind,) in db.execute("SELECT kind FROM events WHERE kind LIKE 'approval.%' ORDER BY seq")]


async def answering(
    agent: Agent, model: FakeGenerator, text: str, step: dict[str, Any], *, allow: bool, session: str | None = None
) -> list[AgentEvent]:
    """Send a message for which the model takes a step, and answer when it asks for leave."""
    model.structured_replies = [step, ANSWER]
    events: list[AgentEvent] = []
    async for event in agent.send(session, text):
        events.append(event)
        if isinstance(event, ApprovalWanted):
            await agent.approvals.answer(event.approval, allowed=allow)
    await agent.idle()
    return events


async def test_with_leave_it_is_remembered_by_proof_of_the_message_corrected_forgotten(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent)
    events = await answering(agent, model, "My boat is called Zephyrine.", REMEMBER, allow=True)
    wanted, done = only(events, ApprovalWanted), only(events, ToolDone)
    assert (wanted.tool, wanted.what) == ("remember", "Remember: The user's boat is called Zephyrine.")
    assert (done.error, done.result) == (None, 'Remembered: "The user\'s boat is called Zephyrine."')
    (made,) = await agent.memories.find()
    assert (made.text, made.status, made.sources) == (REMEMBER["text"], "active", (wanted.turn,))
    assert kinds(agent) == ["approval.asked", "approval.given"]
    with pytest.raises(NotFound, match="already answered"):
        await agent.approvals.answer(wanted.approval, allowed=True)

    await agent.memories.pin(made.id)  # a memory is meant by the mark it is listed with
    step = {"tool": "correct", "mark": mark_of(made.id), "text": "The boat is called Boreas."}
    events = await answering(agent, model, "It is called Boreas now.", step, allow=True)
    assert only(events, ApprovalWanted).what == f"Correct: {made.text} → The boat is called Boreas."
    (now,) = await agent.memories.find()
    assert (now.text, now.supersedes) == ("The boat is called Boreas.", made.id)
    assert set(now.sources) == {*made.sources, only(events, ReplyEnded).turn}
    session, forget = only(events, ReplyEnded).session, {"tool": "forget", "mark": mark_of(now.id)}
    events = await answering(agent, model, "Forget the boat.", forget, allow=True, session=session)
    assert only(events, ToolDone).error is None
    assert await agent.memories.find(EVERYTHING) == []
    events = await answering(agent, model, "Again.", {"tool": "forget", "mark": "#NOSUCH"}, allow=True)
    assert "There is no memory #NOSUCH" in (only(events, ToolDone).error or "")
    assert not [event for event in events if isinstance(event, ApprovalWanted)]


async def test_without_leave_nothing_is_changed_and_the_model_is_told(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent)
    events = await answering(agent, model, "My boat is called Zephyrine.", REMEMBER, allow=False)
    assert only(events, ToolDone).error == REFUSED
    assert f"Error: {REFUSED}" in spelled(model, model.prompts[-1])
    assert await agent.memories.find(EVERYTHING) == []
    assert kinds(agent) == ["approval.asked", "approval.refused"]
    assert only(events, ReplyEnded).text == "done"
    asked, text = kinds(agent), "Don't remember this: my boat is called Zephyrine."
    events = await answering(agent, model, text, REMEMBER, allow=True)
    assert "out of memory" in (only(events, ToolDone).error or ""), "nor is what is withheld remembered by a tool"
    assert (await agent.memories.find(EVERYTHING), kinds(agent)) == ([], asked)


async def test_where_nobody_can_be_asked_it_is_refused_at_once(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent, asks=False)
    events = await answering(agent, model, "My boat is called Zephyrine.", REMEMBER, allow=True)
    assert not [event for event in events if isinstance(event, ApprovalWanted)]
    assert only(events, ToolDone).error == UNASKED
    assert kinds(agent) == ["approval.asked", "approval.refused"]


async def until_asked(events: AsyncIterator[AgentEvent]) -> ApprovalWanted:
    async for event in events:
        if isinstance(event, ApprovalWanted):
            return event
    raise AssertionError("nothing was asked")


@pytest.mark.parametrize("how", ["stop", "another message", "close"])
@pytest.mark.restarts
async def test_what_is_no_answer_refuses(make_agent: MakeAgent, how: str) -> None:
    agent, model = await started(make_agent)
    model.structured_replies = [REMEMBER, ANSWER, ANSWER]
    events = agent.send(None, "My boat is called Zephyrine.")
    wanted = await until_asked(events)
    if how == "stop":
        assert agent.stop()
        await collect(events)
    elif how == "another message":
        await asyncio.gather(collect(events), collect(agent.send(wanted.session, "never mind")))
    else:
        await asyncio.gather(agent.close(), collect(events))
        agent = await ready(make_agent, FakeGenerator("done"), TOOLS)
    assert await agent.memories.find(EVERYTHING) == []
    assert kinds(agent) == ["approval.asked", "approval.refused"]
    with pytest.raises(NotFound):
        await agent.approvals.answer(wanted.approval, allowed=True)


async def test_a_block_that_a_model_wrote_dies_with_the_words_it_was_made_from(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent)
    step = {"tool": "write_block", "name": "human", "text": "Owns a boat, Zephyrine."}
    events = await answering(agent, model, "I own a boat called Zephyrine.", step, allow=True)
    (block,) = await agent.memories.blocks()
    assert (block.name, block.text, block.by) == ("human", "Owns a boat, Zephyrine.", "agent")
    session, _, _ = await say(agent, None, "hello there")
    assert "Zephyrine" in spelled(model, model.prompts[-1])
    await agent.chats.hide(only(events, ReplyEnded).turn)
    assert await agent.memories.blocks() == []
    await say(agent, session, "and now?")
    assert "Zephyrine" not in spelled(model, model.prompts[-1])


async def test_what_a_memory_may_carry_of_other_turns_in_the_prompt_is_named(make_agent: MakeAgent) -> None:
    agent, model = await started(make_agent)
    model.structured_replies = [ANSWER]
    session, _, first = await say(agent, None, "My boat is called Zephyrine.")
    step = {"tool": "remember", "text": "The boat Zephyrine is red."}
    await answering(agent, model, "It is red. Keep that.", step, allow=True, session=session)
    (made,) = await agent.memories.find()
    assert first.turn in made.sources
    await agent.chats.hide(first.turn)
    assert await agent.memories.find() == []
