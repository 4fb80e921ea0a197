"""Going back and branching through the Agent: alternatives, edits, rewinds, switches, forks, and what is refused."""

import asyncio
import re
import shutil
from collections.abc import Awaitable
from contextlib import closing
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.errors import AgentError, EmptyMessage
from agent.events import AgentEvent, Failed, ReplyEnded, TokensArrived, TurnAccepted
from agent.settings import Settings
from graph.errors import NotFound
from graph.events import MAIN_WORLD, HeadMoved, Sampling, TurnDeleted, TurnHidden, TurnSaid, Undone
from graph.memory import Memory
from graph.values import Turn
from models.errors import RunError
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator, Reply

BARE = Settings(reflect=False)
NOTHING_ELSE = Settings(reflect=False, recall=False, tools="off")  # than what is said stands in a prompt


async def talk(agent: Agent, *messages: str, session: str | None = None) -> str:
    """Say the messages and have them answered; returns the session."""
    for message in messages:
        ended = (await collect(agent.send(session, message)))[-1]
        assert isinstance(ended, ReplyEnded)
        session = ended.session
    assert session is not None
    await agent.idle()
    return session


async def said(agent: Agent, session: str) -> list[str | None]:
    """The texts on the path."""
    return [turn.text for turn in await agent.chats.thread(session)]


async def path(agent: Agent, session: str) -> list[Turn]:
    return await agent.chats.thread(session)


def ways(agent: Agent, session: str, turn: str, *, fork_at: str | None) -> tuple[Awaitable[object], ...]:
    """All ways for a chat to go on from a turn, a fork from where it is said."""
    branches = agent.branches
    return branches.rewind(session, turn), branches.switch(session, turn), branches.fork(session, at=fork_at)


def refused(events: list[AgentEvent]) -> Failed:
    """The one event of what was refused."""
    (failed,) = events
    assert isinstance(failed, Failed)
    return failed


@pytest.fixture
async def agent(make_agent: MakeAgent) -> Agent:
    """An agent that numbers what it says."""
    return await make_agent(FakeGenerator(*(f"Reply {number}." for number in range(1, 30))), BARE)


async def test_a_reply_made_anew_stands_beside_the_old_one_and_what_followed_that(agent: Agent) -> None:
    session = await talk(agent, "one", "two")
    before = await path(agent, session)
    events = await collect(agent.regenerate(session))
    assert isinstance(events[0], TurnAccepted)
    assert events[0].turn == before[2].id
    assert await said(agent, session) == ["one", "Reply 1.", "two", "Reply 3."]
    last = (await path(agent, session))[-1]
    assert last.parent == before[2].id
    found = await agent.branches.alternatives(session, [turn.id for turn in await path(agent, session)])
    assert {turn: each.label for turn, each in found.items()} == {last.id: "2/2"}
    assert found[last.id].turns == (before[3].id, last.id)

    await collect(agent.regenerate(session, before[1].id))
    assert await said(agent, session) == ["one", "Reply 4."]
    await agent.branches.switch(session, before[1].id)
    assert await said(agent, session) == ["one", "Reply 1.", "two", "Reply 3."]
    await collect(agent.regenerate(session, before[0].id))  # a message is named for the reply to it
    assert await said(agent, session) == ["one", "Reply 5."]


async def test_the_new_reply_sees_nothing_of_the_old_one_and_what_followed_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("The zebra.", "The walrus.", "The heron.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "an animal", "and another")
    await collect(agent.regenerate(session, (await path(agent, session))[1].id))
    assert not {"zebra", "walrus"} & set(re.findall(r"\w+", model.detokenize(model.prompts[-1])))


async def test_a_reply_stopped_before_its_first_word_leaves_the_chat_as_it_was(make_agent: MakeAgent) -> None:
    model = FakeGenerator("First.", "Second.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "one")
    before = await path(agent, session)
    model.gate.clear()
    events = asyncio.create_task(collect(agent.regenerate(session)))
    await model.waiting.wait()
    agent.stop()
    last = (await events)[-1]
    assert isinstance(last, Failed)
    assert "is unchanged" in last.message
    assert await path(agent, session) == before
    assert await agent.branches.alternatives(session, [turn.id for turn in before]) == {}
    undone = agent._memory._reader.events(after=(await agent.status()).log_head - 2, limit=2)[0].event
    assert isinstance(undone, Undone)  # so that nobody is offered to undo what did not happen


async def test_a_reply_that_fails_before_its_first_word_leaves_the_chat_as_it_was(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("First.", Reply("", error=RunError("The model broke."))), BARE)
    session = await talk(agent, "one")
    last = (await collect(agent.regenerate(session)))[-1]
    assert isinstance(last, Failed)
    assert "The model broke." in last.message
    assert await said(agent, session) == ["one", "First."]


async def test_a_reply_stopped_after_a_word_is_kept_beside_the_other(make_agent: MakeAgent) -> None:
    model = FakeGenerator("First.", "Second one that is longer.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "one")
    async for event in agent.regenerate(session):
        if isinstance(event, TokensArrived) and event.tokens == 2:
            agent.stop()
    last = (await path(agent, session))[-1]
    assert last.stop_reason == "stopped"
    assert "Second one that is longer.".startswith(last.text or "nothing")
    assert (await agent.branches.alternatives(session, [last.id]))[last.id].label == "2/2"


async def test_while_a_reply_is_written_nothing_in_its_chat_is_made_anew_edited_or_moved(make_agent: MakeAgent) -> None:
    model = FakeGenerator("First.", "Second.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "one")
    turns = [turn.id for turn in await path(agent, session)]
    model.gate.clear()
    running = asyncio.create_task(collect(agent.send(session, "two")))
    await model.waiting.wait()
    queued = agent.send(session, "three")
    await anext(queued)
    for events in (agent.regenerate(session, turns[1]), agent.edit(session, turns[0], "uno")):
        assert "Stop it first" in refused(await collect(events)).message
    for work in ways(agent, session, turns[0], fork_at=None):
        with pytest.raises(AgentError, match="Stop it first"):
            await work
    (waiting,) = await agent.chats.waiting(session)
    with pytest.raises(AgentError, match="still in the queue"):
        await agent.branches.plan_rewind(session, waiting.id)
    model.gate.set()
    await running
    await collect(queued)
    assert await said(agent, session) == ["one", "First.", "two", "Second.", "three", "Second."]


async def test_in_another_chat_the_new_reply_waits_for_the_one_that_is_written(make_agent: MakeAgent) -> None:
    model = FakeGenerator("First.", "Other.", "Regeneration.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "one")
    model.gate.clear()
    other = asyncio.create_task(collect(agent.send(None, "elsewhere")))
    await model.waiting.wait()
    events = agent.regenerate(session)
    accepted = await anext(events)
    assert isinstance(accepted, TurnAccepted)
    assert accepted.queued
    assert await said(agent, session) == ["one", "First."]  # the head moves when its turn has come
    model.gate.set()
    await other
    await collect(events)
    assert await said(agent, session) == ["one", "Regeneration."]


async def test_an_edited_message_stands_beside_the_old_one_is_answered_and_may_give_the_title(agent: Agent) -> None:
    session = await talk(agent, "apples and pears", "two")
    first, _, old, _ = await path(agent, session)
    await collect(agent.edit(session, old.id, "  two, better "))
    assert await said(agent, session) == ["apples and pears", "Reply 1.", "two, better", "Reply 3."]
    new = (await path(agent, session))[2]
    assert (await agent.branches.alternatives(session, [new.id]))[new.id].turns == (old.id, new.id)
    await agent.branches.switch(session, old.id)
    assert await said(agent, session) == ["apples and pears", "Reply 1.", "two", "Reply 2."]

    await collect(agent.edit(session, first.id, "plums and cherries"))
    assert await said(agent, session) == ["plums and cherries", "Reply 4."]
    assert (await path(agent, session))[0].parent is None
    assert (await agent.chats.get(session)).name == "plums and cherries"
    await agent.branches.switch(session, first.id)
    assert (await agent.chats.get(session)).name == "apples and pears"

    await agent.chats.withhold(first.id)
    await collect(agent.edit(session, first.id, "uno"))
    uno, reply = await path(agent, session)
    assert (uno.withheld, reply.withheld) == (True, True), "as by hand"

    head = (await agent.status()).log_head
    for blank in ("", "  \n "):
        failed = refused(await collect(agent.edit(session, uno.id, blank)))
        assert failed.error is not None
        assert isinstance(failed.error.exception(), EmptyMessage)
    assert "your own messages" in refused(await collect(agent.edit(session, reply.id, "other"))).message
    assert (await agent.status()).log_head == head


async def test_a_rewind_moves_the_head_sets_a_mark_and_loses_nothing(agent: Agent) -> None:
    session = await talk(agent, "one", "two")
    turns = await path(agent, session)
    plan = await agent.branches.plan_rewind(session, turns[1].id)
    assert [turn.id for turn in plan.impact.gone] == [turns[2].id, turns[3].id]
    assert len(await path(agent, session)) == 4  # a plan changes nothing
    await agent.branches.rewind(session, turns[1].id, plan=plan)
    assert await said(agent, session) == ["one", "Reply 1."]
    assert [mark.reason for mark in await agent.history.marks.all()] == ["rewind"]
    await talk(agent, "three", session=session)
    assert await said(agent, session) == ["one", "Reply 1.", "three", "Reply 3."]
    assert await agent.branches.switch(session, turns[2].id) == turns[3].id
    assert await said(agent, session) == ["one", "Reply 1.", "two", "Reply 2."]

    with pytest.raises(AgentError, match="is already there"):
        await agent.branches.rewind(session, turns[3].id)
    plan = await agent.branches.plan_rewind(session, turns[1].id)
    await talk(agent, "four", session=session)
    with pytest.raises(AgentError, match="Check again"):
        await agent.branches.rewind(session, turns[1].id, plan=plan)
    assert len(await path(agent, session)) == 6
    await agent.branches.rewind(session, None)  # to before the first message
    assert await path(agent, session) == []
    await talk(agent, "again", session=session)
    assert (await agent.branches.alternatives(session, [turns[0].id]))[turns[0].id].label == "1/2"


async def test_hidden_deleted_queued_and_foreign_messages_are_no_place_to_go_to(agent: Agent) -> None:
    session = await talk(agent, "one", "two")
    other = await talk(agent, "elsewhere")
    turns, foreign = await path(agent, session), (await path(agent, other))[0].id
    agent._memory.append(TurnHidden(turn=turns[0].id), TurnDeleted(turn=turns[1].id))
    not_to = {turns[0].id: "is hidden", turns[1].id: "was deleted permanently", foreign: "belongs to another chat"}
    for turn, why in not_to.items():
        head = (await agent.status()).log_head
        for work in (*ways(agent, session, turn, fork_at=turn), agent.branches.plan_rewind(session, turn)):
            with pytest.raises(AgentError, match=why):
                await work
        assert why in refused(await collect(agent.regenerate(session, turn))).message
        assert why in refused(await collect(agent.edit(session, turn, "x"))).message
        assert (await agent.status()).log_head == head
    with pytest.raises(NotFound):
        await agent.branches.rewind(session, "01NOTHING")


async def test_a_fork_shares_the_past_and_each_goes_its_own_way(agent: Agent) -> None:
    session = await agent.chats.configure(None, system_prompt="Be brief.", project="garden")
    with pytest.raises(AgentError, match="no messages yet"):
        await agent.branches.fork(session)
    with pytest.raises(EmptyMessage):
        await agent.branches.fork(session, name="  ")
    await talk(agent, "one", "two", session=session)
    turns = await path(agent, session)
    fork = await agent.branches.fork(session, at=turns[1].id, name="Another way")
    assert [turn.id for turn in await path(agent, fork)] == [turns[0].id, turns[1].id]
    about = await agent.chats.get(fork)
    assert (about.name, about.world, about.turns) == ("Another way", MAIN_WORLD, 0)
    assert (about.system_prompt, about.project) == ("Be brief.", "garden")
    await talk(agent, "three", session=fork)
    assert await said(agent, fork) == ["one", "Reply 1.", "three", "Reply 3."]
    assert await said(agent, session) == ["one", "Reply 1.", "two", "Reply 2."]
    with pytest.raises(AgentError, match="belongs to another chat"):
        await agent.branches.rewind(fork, turns[3].id)
    tree = await agent.branches.tree(session)
    assert tree[0].children[0].forks == (fork,)

    await collect(agent.regenerate(fork, turns[1].id))  # what is shared, in the fork alone
    assert await said(agent, fork) == ["one", "Reply 4."]
    assert await said(agent, session) == ["one", "Reply 1.", "two", "Reply 2."]
    last = (await path(agent, fork))[-1].id
    assert (await agent.branches.alternatives(fork, [last]))[last].label == "2/2"
    assert await agent.branches.alternatives(session, [last]) == {}
    await agent.chats.delete(session)
    with pytest.raises(AgentError, match="was deleted"):
        await agent.branches.fork(session)


async def test_forks_of_a_fork_and_what_ifs_of_a_what_if(agent: Agent) -> None:
    session = await talk(agent, "one")
    fork = await agent.branches.fork(session)
    await talk(agent, "two", session=fork)
    forks = [await agent.branches.fork(fork), await agent.branches.fork(fork)]
    assert [await said(agent, each) for each in forks] == [["one", "Reply 1.", "two", "Reply 2."]] * 2
    what_if = await agent.branches.fork(forks[0], what_if=True)
    await talk(agent, "what if", session=what_if)
    deeper = await agent.branches.fork(what_if, what_if=True)
    beside = await agent.branches.fork(what_if)
    assert (await agent.chats.get(what_if)).world == what_if
    assert (await agent.chats.get(deeper)).world == deeper
    assert (await agent.chats.get(beside)).world == what_if
    parents = {world.id: world.parent for world in await agent.branches.worlds()}
    assert list(parents.items()) == [(MAIN_WORLD, None), (what_if, MAIN_WORLD), (deeper, what_if)]
    await talk(agent, "and then", session=deeper)
    assert await said(agent, deeper) == [
        "one", "Reply 1.", "two", "Reply 2.", "what if", "Reply 3.", "and then", "Reply 4.",
    ]  # fmt: skip


async def test_private_chats_go_back_and_branch_but_do_not_fork(agent: Agent) -> None:
    private = await agent.private.begin()
    await talk(agent, "one", "two", session=private)
    turns = await path(agent, private)
    plan = await agent.branches.plan_rewind(private, turns[1].id)
    assert [turn.id for turn in plan.impact.gone] == [turn.id for turn in turns[2:]]
    await agent.branches.rewind(private, turns[1].id)
    assert await said(agent, private) == ["one", "Reply 1."]
    await collect(agent.regenerate(private))
    await collect(agent.edit(private, turns[0].id, "uno"))
    assert await said(agent, private) == ["uno", "Reply 4."]
    assert (await agent.branches.alternatives(private, [turns[0].id]))[turns[0].id].label == "1/2"
    assert len(await agent.branches.tree(private)) == 2
    with pytest.raises(AgentError, match="Private"):
        await agent.branches.fork(private)
    assert (await agent.status()).log_head == 0


async def test_a_message_without_a_reply_is_answered_by_making_it_anew(agent: Agent) -> None:
    session = await talk(agent, "one")
    await agent.branches.rewind(session, (await path(agent, session))[0].id)
    await collect(agent.regenerate(session))
    assert await said(agent, session) == ["one", "Reply 2."]
    last = (await path(agent, session))[-1].id
    assert (await agent.branches.alternatives(session, [last]))[last].label == "2/2"


async def test_a_fork_keeps_the_prompt_and_a_head_move_its_beginning_and_is_counted(make_agent: MakeAgent) -> None:
    model = FakeGenerator(*(f"Reply number {number}." for number in range(9)))
    agent = await make_agent(model, NOTHING_ELSE)
    session = await talk(agent, "one", "two " * 40, "three")
    turns = await path(agent, session)
    fork = await agent.branches.fork(session, at=turns[3].id, what_if=True)
    ended = (await collect(agent.send(fork, "another way")))[-1]
    assert isinstance(ended, ReplyEnded)
    assert ended.evaluated_tokens < 8
    assert (await agent.status()).rewrites == {}
    await talk(agent, "four", session=session)
    kv = list(model.kv)
    await agent.branches.rewind(session, turns[3].id)
    ended = (await collect(agent.send(session, "five")))[-1]
    assert isinstance(ended, ReplyEnded)
    given = model.prompts[-1]
    shared = next(at for at, (a, b) in enumerate(zip(kv, given, strict=False)) if a != b)
    assert model.detokenize(given[:shared]).endswith("Reply number 1.")
    assert ended.evaluated_tokens == len(given) - shared
    assert (await agent.status()).rewrites == {"head_move": 1}


async def test_the_prompt_of_a_what_if_has_no_pin_that_its_origin_got_later(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Fine.")
    agent = await make_agent(model, NOTHING_ELSE)
    session = await talk(agent, "one")
    what_if = await agent.branches.fork(session, what_if=True)
    other = await talk(agent, "the walrus is pinned")
    await agent.chats.pin((await path(agent, other))[0].id)
    await talk(agent, "two", session=session)
    await agent._prompts.forget(session)
    await talk(agent, "three", session=session)  # its prompt begins anew, with the pin
    assert "walrus" in model.detokenize(model.prompts[-1])
    await talk(agent, "what if", session=what_if)
    assert "walrus" not in model.detokenize(model.prompts[-1])


async def test_killed_before_the_first_word_of_a_new_reply_the_chat_is_as_it_was_at_the_next_start(
    make_agent: MakeAgent, home: Path, tmp_path: Path
) -> None:
    model = FakeGenerator("First.", "Second.")
    agent = await make_agent(model, BARE)
    session = await talk(agent, "one", "two")
    before = [turn.id for turn in await path(agent, session)]
    model.gate.clear()
    running = asyncio.create_task(collect(agent.regenerate(session, before[1])))
    await model.waiting.wait()
    assert [turn.id for turn in await path(agent, session)] == before[:1]
    shutil.copytree(home / "memory", tmp_path / "killed")  # what a kill would leave
    agent.stop()
    await running
    with closing(Memory.open(tmp_path / "killed", command="test")) as again:
        assert [turn.id for turn in again.readings.thread(session)] == before


@pytest.mark.restarts
async def test_a_killed_new_reply_stands_beside_the_old(make_agent: MakeAgent, home: Path, tmp_path: Path) -> None:
    agent = await make_agent(FakeGenerator("First.", "Second."), BARE)
    session = await talk(agent, "one", "two")
    turns = await path(agent, session)
    await agent.close()
    with closing(Memory.open(home / "memory", command="test")) as memory:  # as the agent does it, up to a kill
        memory.append(HeadMoved(session=session, turn=turns[0].id))
        memory.stream("NEW", session=session, parent=turns[0].id, model="fake", text="Ano")
    again = await make_agent(FakeGenerator("Third."), BARE)
    assert await said(again, session) == ["one", "Ano"]
    assert (await path(again, session))[1].stop_reason == "crashed"
    assert (await again.branches.alternatives(session, ["NEW"]))["NEW"].turns == (turns[1].id, "NEW")
    await again.branches.switch(session, turns[1].id)
    assert await path(again, session) == turns


async def test_with_a_fixed_seed_each_reply_made_anew_has_another_one(agent: Agent) -> None:
    session = await talk(agent, "one")
    await agent.chats.configure(session, sampling=Sampling(seed=(1 << 32) - 2))
    session = await talk(agent, "two", session=session)
    seeds = []
    for _ in range(3):
        reply = (await path(agent, session))[-1]
        (seq,) = agent._memory.history.reach.seqs_of([reply.id])
        said = agent._memory._reader.event(seq)
        assert isinstance(said, TurnSaid)
        assert said.sampling is not None
        seeds.append(said.sampling.seed)
        await collect(agent.regenerate(session))
    assert seeds == [(1 << 32) - 2, (1 << 32) - 1, 0]
