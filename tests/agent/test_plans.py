"""What a change by hand would do is told to the very items, and carrying it out does that and nothing else."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.events import ReplyEnded
from graph.errors import GraphFailure, NotFound
from graph.events import HeadMoved, ObservationSupported, PinSet, Recalled, SessionForked, SessionRenamed, TurnHidden
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Progress, Turn
from tests.agent.conftest import PLAIN, MakeAgent, collect
from tests.agent.test_recall import ready, say
from tests.fakes import FakeGenerator
from tests.graph.talk import reply, said
from tests.graph.teach import observed, read


async def chat(agent: Agent, *messages: str) -> tuple[str, list[ReplyEnded]]:
    """A chat of some exchanges; its id and the ends of its replies."""
    session: str | None = None
    ended: list[ReplyEnded] = []
    for message in messages:
        session, _, end = await say(agent, session, message)
        ended.append(end)
    assert session is not None
    return session, ended


def ids(turns: tuple[Turn, ...] | list[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def texts(agent: Agent) -> set[str]:
    with agent._memory.readings.snapshot() as db:
        return {text for (text,) in db.execute("SELECT text FROM events WHERE text IS NOT NULL")}


@pytest.mark.restarts
async def test_a_turn_goes_alone_or_with_its_exchange_and_a_plan_alone_changes_nothing(agent: Agent) -> None:
    _, (one, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    before = agent._memory.head()
    alone, whole = await agent.plans.delete(two.turn), await agent.plans.delete(two.reply_turn, exchange=True)
    assert (ids(alone.impact.gone), ids(whole.impact.gone)) == ([two.turn], [two.turn, two.reply_turn])
    assert alone.impact.erases
    assert agent._memory.head() == before
    await agent.plans.carry_out(await agent.plans.delete(one.turn))  # the root
    await agent.plans.carry_out(whole)
    assert "Buy the tickets." not in texts(agent)
    assert not agent._memory.history.reach.deleted([one.reply_turn])

    _, (one,) = await chat(agent, "The train leaves at ten.")
    with pytest.raises(NotFound):
        await agent.plans.delete("01UNKNOWN")
    await agent.plans.carry_out(await agent.plans.hide(one.turn))
    with pytest.raises(AgentError, match="already hidden"):
        await agent.plans.hide(one.turn)
    with pytest.raises(AgentError, match="not hidden"):
        await agent.plans.unhide(one.reply_turn)
    hidden = await agent.plans.delete(one.turn)
    assert ids(hidden.impact.gone) == [one.turn]
    await agent.plans.carry_out(hidden)
    for planning in (agent.plans.delete, agent.plans.hide, agent.plans.unhide):
        with pytest.raises(AgentError, match="already deleted"):
            await planning(one.turn)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Graphs that are opened when this is called, and not before."""
    may = threading.Event()
    opens = Memory.open_graph

    def open_graph(memory: Memory, progress: Callable[[Progress], None]) -> None:
        may.wait()
        opens(memory, progress)

    monkeypatch.setattr(Memory, "open_graph", open_graph)
    yield may.set
    may.set()


async def test_a_plan_waits_a_moment_for_a_graph_that_is_being_opened_and_no_longer(
    make_agent: MakeAgent, held: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await make_agent(FakeGenerator("I see."), PLAIN)
    (one,) = [each for each in await collect(agent.send(None, "The ferry leaves at nine.")) if type(each) is ReplyEnded]
    monkeypatch.setattr("agent.opening.PATIENCE_S", 0.01)
    with pytest.raises(GraphFailure, match="not open yet"):
        await agent.plans.delete(one.turn)
    monkeypatch.setattr("agent.opening.PATIENCE_S", 600.0)
    planning = asyncio.create_task(agent.plans.delete(one.turn))
    held()
    assert ids((await planning).impact.gone) == [one.turn]


async def test_a_memory_whose_later_proof_goes_falls_back_and_one_whose_only_proof_goes_is_lost(agent: Agent) -> None:
    _, (one, two) = await chat(agent, "I live in Lyon.", "I moved to Porto, and I row.")
    first = observed("LYON", one.turn, text="lives in Lyon")
    agent._memory.append(first, observed("PORTO", two.turn, after=first, text="lives in Porto"))
    agent._memory.append(observed("ROWS", two.turn, text="rows"), PinSet(observation="ROWS"))
    plan = await agent.plans.hide(two.turn)
    assert [(form.id, earlier.id) for form, earlier in plan.impact.fallen_back] == [("PORTO", "LYON")]
    assert [form.id for form in plan.impact.lost] == ["ROWS"]
    assert plan.impact.pins == ("ROWS",)
    await agent.plans.carry_out(plan)
    assert [form.id for form in await agent.memories.find()] == ["LYON"]
    back = await agent.plans.unhide(two.turn)
    assert ids(back.impact.back) == [two.turn]
    assert {form.id for form in back.impact.returning} == {"PORTO", "ROWS"}
    assert back.impact.lost == ()


@pytest.mark.restarts
async def test_what_stays_with_less_proof_what_was_given_it_and_who_quotes_it_are_told(agent: Agent) -> None:
    session, (one, two) = await chat(agent, "The harbour master keeps seven grey cats.", "Something else entirely.")
    again = said("AGAIN", session, parent=two.reply_turn, text="You know he keeps SEVEN grey cats, the harbour man!")
    given = reply("GIVEN", session, parent="AGAIN", text="Yes.", recalled=(Recalled(id=one.turn),))
    agent._memory.append(again, given, observed("OTHER", two.turn, text="speaks of something else"))
    agent._memory.append(observed("CATS", "AGAIN", text="seven cats"))
    agent._memory.append(ObservationSupported(observation="CATS", source=one.turn))
    plan = await agent.plans.delete(one.turn)
    assert [form.id for form in plan.impact.weaker] == ["CATS"]
    assert ids(plan.impact.references) == ["GIVEN"]
    assert ids(plan.impact.quoting) == ["AGAIN"]
    await agent.plans.carry_out(plan)
    assert {form.id for form in await agent.memories.find()} == {"CATS", "OTHER"}

    agent._memory.append(*read("MANUAL", "PIECE"))
    given = reply("TOLD", session, parent="GIVEN", text="This.", recalled=(Recalled(id="PIECE", kind="chunk"),))
    agent._memory.append(given, observed("LEARNED", "PIECE", text="knows the manual"))
    plan = await agent.plans.remove_document("MANUAL")
    assert ids(plan.impact.references) == ["TOLD"]
    assert [form.id for form in plan.impact.lost] == ["LEARNED"]
    await agent.plans.carry_out(plan)
    assert await agent.documents.all() == []
    assert "knows the manual" not in texts(agent)


@pytest.mark.restarts
async def test_a_chat_goes_with_the_turns_that_no_other_chat_or_world_goes_on_from(agent: Agent) -> None:
    session, (one, two) = await chat(agent, "The ferry leaves at nine.", "Buy the tickets.")
    fork = new_id()
    agent._memory.append(
        SessionRenamed(session=session, text="Secret voyage"),
        SessionForked(session=fork, origin=session, at=one.reply_turn, client="test"),
    )
    plan = await agent.plans.delete_session(session)
    assert ids(plan.impact.gone) == [two.turn, two.reply_turn]
    assert plan.notes == ("2 messages stay, because other chats continue from them.",)
    await agent.plans.carry_out(plan)
    assert not {"Secret voyage", "Buy the tickets."} & texts(agent)
    assert [turn.text for turn in await agent.chats.thread(fork)] == ["The ferry leaves at nine.", "I see."]
    with pytest.raises(AgentError, match="already deleted"):
        await agent.plans.delete_session(session)

    session, (one, two) = await chat(agent, "The train leaves at ten.", "Buy the tickets.")
    what_if = new_id()
    forked = SessionForked(session=what_if, origin=session, at=one.reply_turn, world=what_if, client="test")
    agent._memory.append(forked)
    plan = await agent.plans.delete_session(session)
    assert set(ids(plan.impact.gone)) == {one.turn, one.reply_turn, two.turn, two.reply_turn}
    assert plan.impact.kept == {one.turn, one.reply_turn}
    await agent.plans.carry_out(plan)
    assert {"The ferry leaves at nine.", "The train leaves at ten.", "I see."} == texts(agent)
    assert [turn.text for turn in await agent.chats.thread(what_if)] == ["The train leaves at ten.", "I see."]


@pytest.mark.restarts
async def test_a_deleted_chat_that_a_fork_went_on_from_leaves_nothing_once_that_is_gone_too(agent: Agent) -> None:
    session, (one,) = await chat(agent, "The ferry leaves at nine.")
    fork, again = new_id(), new_id()
    agent._memory.append(SessionForked(session=fork, origin=session, at=one.turn, client="test"))
    agent._memory.append(SessionForked(session=again, origin=fork, at=one.turn, client="test"))
    agent._memory.append(reply("LATER", again, parent=one.turn, text="At ten."))
    assert ids((await agent.plans.delete_session(session)).impact.gone) == [one.reply_turn]
    assert ids((await agent.plans.delete_session(again)).impact.gone) == ["LATER"]
    await agent.chats.delete(again)
    await agent.chats.delete(fork)
    assert ids((await agent.plans.delete_session(session)).impact.gone) == [one.turn, one.reply_turn]


async def test_a_plan_that_would_do_something_else_by_now_is_not_carried_out(agent: Agent) -> None:
    session, (one, two) = await chat(agent, "I live in Lyon.", "Good night.")
    plan = await agent.plans.hide(one.turn)
    agent._memory.append(observed("LYON", one.turn))
    head = agent._memory.head()
    with pytest.raises(AgentError, match="Check again"):
        await agent.plans.carry_out(plan)
    assert agent._memory.head() == head
    stale = await agent.plans.plan("Go back", HeadMoved(session=session, turn=one.reply_turn))
    agent._memory.append(TurnHidden(turn=two.turn))
    with pytest.raises(AgentError, match="Check again"):
        await agent.plans.carry_out(stale)


async def test_nothing_is_deleted_where_a_reply_is_being_written(make_agent: MakeAgent) -> None:
    model = FakeGenerator("One.", "Two.")
    agent = await ready(make_agent, model, PLAIN)
    session, (one,) = await chat(agent, "Hello there.")
    model.gate.clear()
    events = agent.send(session, "And now?")
    await anext(events)
    await model.waiting.wait()
    with pytest.raises(AgentError, match="Stop it"):
        await agent.plans.delete(one.turn)
    with pytest.raises(AgentError, match="Stop it"):
        await agent.plans.delete_session(session)
    model.gate.set()
    async for _ in events:
        pass
    assert ids((await agent.plans.delete(one.turn)).impact.gone) == [one.turn]
