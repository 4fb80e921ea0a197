"""What other programs propose, on a real log and graph: it waits for the user, proves nothing, and is never theirs."""

from collections.abc import AsyncIterator

import pytest

from agent.agent import Agent
from agent.errors import AgentError, EmptyMessage
from agent.events import Notice, Proposed
from agent.proposals import CLIENT, MOST_WAITING, program_name
from graph.events import ObservationKind
from graph.values import Filters

SAID = "The user keeps bees on the roof."


async def until(notices: AsyncIterator[Notice], kind: type) -> AsyncIterator[Notice]:
    """Notices up to the first of a kind."""
    async for notice in notices:
        yield notice
        if isinstance(notice, kind):
            return


@pytest.mark.restarts
async def test_a_proposal_waits_for_review_and_its_proof_is_the_call_of_the_program(agent: Agent) -> None:
    notices = agent.notices()
    made = await agent.proposals.add(SAID, by="Helper")
    told = [notice async for notice in until(notices, Proposed)]
    assert told[-1] == Proposed(made.memory.id, SAID, "Helper (over MCP)", 1)
    assert (made.outcome, made.memory.status, made.memory.text) == ("waits", "candidate", SAID)
    assert (made.memory.origin, made.memory.grounded) == ("model", False)
    assert [each.id for each in await agent.memories.review()] == [made.memory.id]
    (proof,) = (await agent.memories.story(made.memory.id)).proofs[made.memory.id]
    assert (proof.speaker, proof.text) == ("Helper (over MCP)", f'remember(text="{SAID}")')
    (turn,) = await agent.chats.thread(proof.session)
    assert (turn.role, turn.client) == ("tool", CLIENT)
    assert await agent.memories.forget(made.memory.id) == 1
    assert await agent.chats.thread(proof.session) == []


async def test_a_proposal_is_recalled_once_the_user_took_it_into_use_and_never_was_said(agent: Agent) -> None:
    made = (await agent.proposals.add(SAID, by="Helper")).memory
    assert await agent.search.recall("bees on the roof") == []
    await agent.memories.promote(made.id)
    (hit,) = await agent.search.recall("bees on the roof")
    assert (hit.kind, hit.id, hit.role, hit.speaker) == ("observation", made.id, "tool", "Helper (over MCP)")
    of_people = Filters(roles=frozenset({"user", "note"}))
    assert await agent.search.recall("bees on the roof", filters=of_people) == []
    assert await agent.search.recent() == []
    about = (await agent.search.dossier("bees")).words
    assert (about.said, about.mentioned, about.turns) == (0, 0, ())
    assert await agent.chats.last() is None
    assert await agent.chats.said() == []
    assert agent._memory.readings.unreflected(limit=10) == []
    await agent.memories.restore(made.id, "candidate")
    assert await agent.search.recall("bees on the roof") == []
    own = await agent.memories.reword(made.id, "I keep two hives on the roof.")
    assert (own.status, own.origin) == ("active", "user")
    (hit,) = await agent.search.recall("hives on the roof")
    assert hit.id == own.id


def test_no_program_is_called_like_a_person() -> None:
    for name in ("you", "You", "assistant", "clew", "y\u200bou", "", " \n ", "x" * 500, "\x1b[2Jyou"):
        called = program_name(name)
        assert called.endswith(" (over MCP)")
        assert called.isprintable()
        assert len(called) < 60


async def test_what_is_known_waits_or_was_rejected_is_not_proposed_again(agent: Agent) -> None:
    stated = await agent.memories.remember("I live in Lyon.")
    again = await agent.proposals.add("i live in  lyon", by="Helper")
    assert (again.outcome, again.memory.id, again.memory.proof_count) == ("known", stated.id, 1)  # no proof is gained
    waits = (await agent.proposals.add(SAID, by="Helper")).memory
    assert (await agent.proposals.add(SAID, by="Other")).outcome == "waits already"
    await agent.memories.reject(waits.id)
    assert (await agent.proposals.add(SAID, by="Other")).outcome == "rejected before"
    assert await agent.memories.review() == []
    made = await agent.proposals.add("I keep goats.", by="Helper", kind=ObservationKind.PLAN, in_use=True)
    assert (made.outcome, made.memory.status, made.memory.kind) == ("in use", "active", "plan"), "as the user set it"
    assert [hit.id for hit in await agent.search.recall("keep goats")] == [made.memory.id]


async def test_what_cannot_be_kept_or_waits_too_long_a_queue_is_refused_and_nothing_is_stored(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_WAITING >= 100
    monkeypatch.setattr("agent.proposals.MOST_WAITING", 2)
    for number in range(2):
        await agent.proposals.add(f"The user has {number} goats.", by="Helper")
    head = agent._memory.head()
    with pytest.raises(AgentError, match="already waiting for the user's review"):
        await agent.proposals.add(SAID, by="Helper")
    with pytest.raises(EmptyMessage):
        await agent.proposals.add(" \n", by="Helper")
    with pytest.raises(AgentError, match="at most 500"):
        await agent.proposals.add("x" * 501, by="Helper")
    assert agent._memory.head() == head
