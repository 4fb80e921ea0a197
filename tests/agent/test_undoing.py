"""Changes by hand are undone one by one, made again by undoing that, and put back together as they were at a mark."""

from typing import Any

import pytest

from agent import marks
from agent.agent import Agent
from agent.errors import AgentError, EmptyMessage
from agent.events import MemoriesChanged, SessionsChanged
from graph import events
from graph.errors import NotFound
from graph.ids import new_id
from tests.agent.test_plans import chat
from tests.examples import soaking
from tests.graph.teach import observed


async def said(agent: Agent, session: str) -> list[str | None]:
    return [turn.text for turn in await agent.chats.thread(session) if turn.role == "user" and not turn.hidden]


async def test_undo_goes_back_one_change_at_a_time_and_undoing_that_makes_it_again(agent: Agent) -> None:
    await chat(agent, "Hello there.")
    assert await agent.history.changes() == []
    head = agent._memory.head()
    with pytest.raises(AgentError, match="nothing to undo"):
        await agent.history.undo()
    with pytest.raises(NotFound, match="not a change you made"):
        await agent.history.undo(1)
    with pytest.raises(NotFound, match="not a change you made"):
        await agent.history.undo(9999)
    assert agent._memory.head() == head

    _, (one,) = await chat(agent, "The ferry leaves at nine.")
    made: events.ObservationMade = observed("FERRY", one.turn)
    agent._memory.append(made, events.TurnRated(turn=one.turn, significance=3, by="rule"))
    assert await agent.history.changes() == []

    session, (_, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.chats.rename(session, "Voyage")
    await agent.chats.rename(session, "Journey")
    await agent.chats.hide(two.turn)
    undone = await agent.history.undo()
    assert undone.what == "hid the message “Buy the tickets.”", "it is shown again"
    again = (await agent.history.changes())[0]
    assert again.what == "undid a change (hid the message “Buy the tickets.”)"
    assert (await agent.history.undo(again.seq)).what == f"undid a change (hid the message {two.turn})", (
        "what is hidden is not quoted"
    )
    assert (await agent.history.undo()).what == "hid the message “Buy the tickets.”"
    assert await said(agent, session) == ["The ferry leaves at nine.", "Buy the tickets."]
    await agent.history.undo()
    assert (await agent.chats.get(session)).name == "Voyage"
    again = (await agent.history.changes())[0]
    assert again.what == "undid a change (named a chat “Journey”)"
    await agent.history.undo(again.seq)
    assert (await agent.chats.get(session)).name == "Journey"
    await agent.history.undo()
    assert (await agent.chats.get(session)).name == "Voyage"
    await agent.history.undo()
    assert not (await agent.chats.get(session)).named_by_user
    with pytest.raises(AgentError, match="nothing to undo"):
        await agent.history.undo()

    session, _ = await chat(agent, "Hello there.")
    await agent.chats.rename(session, "Voyage")
    first = (await agent.history.changes())[0]
    await agent.chats.rename(session, "Journey")
    head = agent._memory.head()
    with pytest.raises(AgentError, match="changed again since"):
        await agent.history.undo(first.seq)
    assert agent._memory.head() == head
    await agent.history.undo()
    await agent.history.undo(first.seq)
    with pytest.raises(AgentError, match="already been undone"):
        await agent.history.undo(first.seq)


async def test_faces_hear_of_what_is_undone(agent: Agent) -> None:
    session, (one, _) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    await agent.chats.hide(one.turn)
    await agent.chats.rename(session, "Voyage")
    notices = agent.notices()
    await agent.history.undo()
    await agent.history.undo()
    await agent.close()
    heard = [notice async for notice in notices]
    assert heard.count(SessionsChanged(session)) == 1
    assert heard.count(MemoriesChanged()) == 2


async def test_a_rewind_is_undone_though_the_chat_went_on_and_a_fork_with_what_it_kept_alive(agent: Agent) -> None:
    session, (one, _) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    agent._memory.append(events.HeadMoved(session=session, turn=one.reply_turn))
    async for _ in agent.send(session, "Rather walk."):
        pass
    assert await said(agent, session) == ["The ferry leaves at nine.", "Rather walk."]
    await agent.history.undo()
    assert await said(agent, session) == ["The ferry leaves at nine.", "Buy the tickets."]
    redo = (await agent.history.changes())[0]
    await agent.history.undo(redo.seq)
    assert await said(agent, session) == ["The ferry leaves at nine.", "Rather walk."]

    session, (one, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    fork = new_id()
    agent._memory.append(events.SessionForked(session=fork, origin=session, at=two.reply_turn, client="test"))
    agent._memory.append(events.HeadMoved(session=session, turn=one.reply_turn))
    agent._memory.append(observed("TICKETS", two.turn))
    assert [each.id for each in await agent.memories.find()] == ["TICKETS"]
    forked = next(change for change in await agent.history.changes() if change.what.startswith("forked"))
    await agent.history.undo(forked.seq)
    assert await agent.memories.find() == []
    assert (await agent.chats.get(fork)).archived
    await agent.history.undo((await agent.history.changes())[0].seq)
    assert [each.id for each in await agent.memories.find()] == ["TICKETS"]
    assert not (await agent.chats.get(fork)).archived


@pytest.mark.restarts
async def test_a_delete_cannot_be_undone_and_what_was_before_it_can(agent: Agent) -> None:
    session, (one,) = await chat(agent, "The ferry leaves at nine.")
    await agent.chats.rename(session, "Voyage")
    renamed = (await agent.history.changes())[0]
    await agent.plans.carry_out(await agent.plans.delete(one.reply_turn))
    head = agent._memory.head()
    with pytest.raises(AgentError, match=f"cannot be undone.*clew undo {renamed.seq}`"):
        await agent.history.undo()
    assert not (await agent.history.changes())[0].undoable
    with pytest.raises(AgentError, match="permanently gone"):
        await agent.history.undo((await agent.history.changes())[0].seq)
    assert agent._memory.head() == head
    await agent.history.undo(renamed.seq)
    assert (await agent.chats.get(session)).name != "Voyage"
    await agent.chats.hide(one.turn)
    hidden = (await agent.history.changes())[0]
    await agent.plans.carry_out(await agent.plans.delete(one.turn))
    with pytest.raises(AgentError, match="has since been deleted"):
        await agent.history.undo(hidden.seq)


async def test_what_was_stated_corrected_reviewed_pinned_rated_or_kept_out_is_as_it_was(agent: Agent) -> None:
    old = await agent.memories.remember("I live in Lyon.")
    new = await agent.memories.correct(old.id, "I live in Porto.")
    assert (await agent.history.undo()).what == "corrected a memory: “I live in Porto.”"
    assert [each.text for each in await agent.memories.find()] == ["I live in Lyon."]
    await agent.history.undo((await agent.history.changes())[0].seq)
    assert [each.id for each in await agent.memories.find()] == [new.id]
    await agent.history.undo()
    await agent.memories.reject(old.id)
    assert await agent.memories.find() == []
    assert (await agent.history.undo()).what == "rejected the memory “I live in Lyon.”"
    assert [each.id for each in await agent.memories.find()] == [old.id]
    await agent.history.undo()
    assert await agent.memories.find() == []

    _, (one,) = await chat(agent, "The ferry leaves at nine.")
    agent._memory.append(events.TurnRated(turn=one.turn, significance=1, by="rule"))
    await agent.memories.write_block("human", "Sails.")
    await agent.memories.write_block("human", "Sails and rows.")
    await agent.memories.write_block("human", "")
    assert (await agent.history.undo()).what == "removed the core block human"
    await agent.memories.rate([one.turn], 2)
    await agent.chats.pin(one.turn)
    await agent.chats.withhold(one.turn)
    assert [each.what.split(" ")[0] for each in await agent.history.changes(3)] == ["kept", "pinned", "rated"]
    await agent.history.undo()
    assert not agent._memory.readings.turn(one.turn).withheld
    await agent.history.undo()
    assert not agent._memory.readings.turn(one.turn).pinned
    await agent.history.undo()
    assert (await agent.memories.significance())[1] == 1
    await agent.history.undo()
    assert [block.text for block in await agent.memories.blocks()] == ["Sails."]
    await agent.history.undo()
    assert await agent.memories.blocks() == []

    session, (one,) = await chat(agent, "The ferry leaves at nine.")
    await agent.memories.write_block("human", "Sails.")
    what_if = new_id()
    agent._memory.append(
        events.SessionForked(session=what_if, origin=session, at=one.reply_turn, world=what_if, client="test"),
        events.PinSet(turn=one.turn),
    )
    agent._memory.append(events.CoreWritten(block="human", world=what_if, by="user", text="Rows."))
    agent._memory.append(events.PinCleared(turn=one.turn, world="main"))
    await agent.history.undo()
    assert agent._memory.readings.turn(one.turn).pinned, "a pin without a world is one of the message's own"
    await agent.history.undo()
    assert [block.text for block in agent._memory.readings.blocks(what_if)] == ["Sails."]
    assert [block.text for block in await agent.memories.blocks()] == ["Sails."]


async def test_a_mark_is_set_listed_found_by_its_beginning_and_taken_off_and_those_set_by_themselves_are_few(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await chat(agent, "The ferry leaves at nine.")
    mark = await agent.history.marks.add(" before the trip ")
    assert (mark.name, mark.reason, mark.seq) == ("before the trip", "named", agent._memory.head())
    assert [each.id for each in await agent.history.marks.all()] == [mark.id]
    with pytest.raises(EmptyMessage):
        await agent.history.marks.add("  ")
    with pytest.raises(NotFound):
        await agent.history.marks.remove("01UNKNOWN")
    with pytest.raises(NotFound):
        await agent.history.plan_restore("01UNKNOWN")
    with pytest.raises(AgentError, match="Nothing has changed since that mark"):
        await agent.history.plan_restore(mark.id)
    await agent.history.marks.remove(mark.id[:20])
    assert await agent.history.marks.all() == []

    pins = 60
    if not soaking():
        pins = 6
        monkeypatch.setattr(marks, "EVENTS", 12)
    session, (one,) = await chat(agent, "The ferry leaves at nine.")
    for _ in range(8):
        for _ in range(pins):
            await agent.chats.pin(one.turn)
            await agent.chats.unpin(one.turn)
        await agent.chats.rename(session, "Voyage")
        await agent.chats.hide(one.turn)
        await agent.chats.unhide(one.turn)
        await agent.idle()
    assert [each.reason for each in await agent.history.marks.all()] == ["automatic"] * 5
    with agent._memory.readings.snapshot() as db:
        (count,) = db.execute("SELECT count(*) FROM events WHERE kind = 'mark.set'").fetchone()
    assert count == 1 + 8


async def state(agent: Agent) -> dict[str, Any]:
    """What a person decides, as it stands."""
    sessions = [*await agent.chats.all(), *await agent.chats.all(archived=True)]
    return {
        "paths": {each.id: await said(agent, each.id) for each in sessions if each.head},
        "names": {each.id: each.name for each in sessions if each.head},
        "shelf": {each.id for each in sessions if each.archived and each.head},
        "memories": {each.id for each in await agent.memories.find()},
        "blocks": {each.name: each.text for each in await agent.memories.blocks()},
        "pins": {turn.id for turn in await agent.chats.pinned()},
    }


@pytest.mark.restarts
async def test_restoring_a_mark_puts_back_what_was_decided_and_is_undone_as_one(agent: Agent) -> None:
    session, (one, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    agent._memory.append(observed("FERRY", one.turn))
    await agent.memories.write_block("human", "Sails.")
    then = await state(agent)
    mark = await agent.history.marks.add("before")
    await agent.chats.hide(one.turn)
    await agent.chats.rename(session, "Voyage")
    await agent.chats.pin(two.turn)
    await agent.memories.remember("I row.")
    await agent.memories.write_block("human", "Rows.")
    other, (_, last) = await chat(agent, "Another day.", "And another.")
    async for _ in agent.send(session, "And the cabin."):
        pass
    await agent.chats.archive(session)
    await agent.plans.carry_out(await agent.plans.delete(last.turn))
    await agent.erasure.finished()  # or the graph may change places just when it is asked
    since = await state(agent)
    plan = await agent.history.plan_restore(mark.id)
    assert [form.id for form in plan.impact.returning] == ["FERRY"]
    assert [form.text for form in plan.impact.lost] == ["I row."]
    assert "1 message is unhidden." in plan.notes
    assert "1 chat is unarchived." in plan.notes
    assert not plan.impact.erases
    assert await state(agent) == since
    await agent.plans.carry_out(plan)
    assert await state(agent) == then
    assert [each.reason for each in await agent.history.marks.all()] == ["restore", "named"]
    assert other in {each.id for each in await agent.chats.all(archived=True)}
    assert (await agent.history.undo()).what == "restored a mark"
    assert await state(agent) == since
