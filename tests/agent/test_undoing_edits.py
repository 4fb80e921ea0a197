"""Edits are changes by a person; chats that are deleted do not come back; what cannot be undone is not offered."""

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from graph.events import Undone
from tests.agent.test_plans import chat
from tests.agent.test_undoing import said


async def edited(agent: Agent, session: str, turn: str, text: str) -> None:
    async for _ in agent.edit(session, turn, text):
        pass


@pytest.mark.restarts
async def test_a_reply_made_anew_is_undone_and_after_a_deletion_nothing_is_an_edit(agent: Agent) -> None:
    session, (_, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.plans.carry_out(await agent.plans.delete(two.turn, exchange=True))
    async for _ in agent.send(session, "Rather walk."):
        pass
    assert [change.what for change in await agent.history.changes()] == ["deleted 2 messages"]
    async for _ in agent.regenerate(session):
        pass
    assert (await agent.history.undo()).what == "regenerated the reply to the message “Rather walk.”"

    session, (one, _) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    fork = await agent.branches.fork(session)
    await agent.branches.rewind(session, one.turn)
    plan = await agent.plans.delete_session(fork)
    assert plan.impact.erases
    assert {turn.id for turn in plan.impact.gone} == plan.impact.kept, "they leave, and keep their words"
    assert plan.notes == (), "the impact tells it once"
    await agent.plans.carry_out(plan)
    with pytest.raises(AgentError, match=r"None of its words were erased.*went back to") as refused:
        await agent.history.undo()
    assert "permanently gone" not in str(refused.value)


async def test_what_was_said_in_the_place_of_another_is_undone_and_made_again(agent: Agent) -> None:
    session, _ = await chat(agent, "Hello there.")
    await agent.chats.rename(session, "Voyage")
    agent._memory.append(Undone(events=(1,)))
    found = [change.what for change in await agent.history.changes()]
    assert found == ["undid an automatic change", "named a chat “Voyage”"]
    assert (await agent.history.undo()).what == "named a chat “Voyage”"

    session, (one, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.chats.rename(session, "Voyage")
    await edited(agent, session, two.turn, "Rather walk.")
    assert (await agent.history.changes())[0].what == "edited the message “Buy the tickets.”"
    assert (await agent.history.undo()).what.endswith("“Buy the tickets.”")
    assert await said(agent, session) == ["The ferry leaves at nine.", "Buy the tickets."]
    await agent.history.undo((await agent.history.changes())[0].seq)
    assert await said(agent, session) == ["The ferry leaves at nine.", "Rather walk."]
    await edited(agent, session, one.turn, "The train leaves at ten.")  # the first of all
    assert await said(agent, session) == ["The train leaves at ten."]
    await agent.history.undo()
    assert await said(agent, session) == ["The ferry leaves at nine.", "Rather walk."]

    session, (one, _) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.branches.rewind(session, one.turn)
    await edited(agent, session, one.turn, "The train leaves at ten.")
    await agent.history.undo()
    assert await said(agent, session) == ["The ferry leaves at nine."]
    undone = await agent.history.undo()
    assert undone.what.startswith("went back to the message “The ferry leaves at nine.” in the chat")
    assert session not in undone.what
    assert await said(agent, session) == ["The ferry leaves at nine.", "Buy the tickets."]


@pytest.mark.restarts
async def test_what_was_done_to_what_is_deleted_since_is_not_offered_for_undoing(agent: Agent) -> None:
    session, (_, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.chats.rename(session, "Voyage")
    await agent.chats.hide(two.turn)
    await agent.plans.carry_out(await agent.plans.delete(two.turn))
    assert [change.undoable for change in await agent.history.changes()] == [False, False, True]
    with pytest.raises(AgentError, match="named a chat “Voyage”"):
        await agent.history.undo()
