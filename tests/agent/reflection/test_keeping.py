"""Whoever stands in a relationship that is in use has a name, whatever is deleted, and in whatever order."""

import random
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from agent.reflection.keeping import lost_names
from graph.errors import NotFound
from graph.events import EntityNoted, Relation, RelationNoted, TurnDeleted
from graph.values import Wanted
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_learning import started
from tests.agent.test_recall import say
from tests.graph.deeds import begin
from tests.graph.talk import said
from tests.graph.teach import observed


async def stands(agent: Agent) -> list[str]:
    """What is in use, each with its ends as they are called; one without a name fails."""
    found = agent._memory.readings.memories(Wanted(related=True), now=datetime.now(UTC))
    for each in found:
        assert each.relationship is not None
        assert all(end.name for end in (each.relationship.subject, each.relationship.object)), each
    return sorted(each.relationship.sentence for each in found if each.relationship is not None)


async def told(make_agent: MakeAgent, *texts: str) -> tuple[Agent, list[str]]:
    """An agent to whom this was said in one chat, and the ids of those messages."""
    agent, session, turns = await started(make_agent), None, []
    for text in texts:
        session, _, _ = await say(agent, session, text)
        await agent.idle()
        turns.append([turn.id for turn in await agent.chats.thread(session) if turn.role == "user"][-1])
    return agent, turns


async def test_the_name_lives_while_a_message_says_it(make_agent: MakeAgent) -> None:
    agent, (first, second) = await told(make_agent, "My brother is called Paul.", "Paul lives in Hamburg.")
    assert await stands(agent) == ["I am a sibling of Paul.", "Paul lives in Hamburg."]
    await agent.plans.carry_out(await agent.plans.delete(first))
    assert await stands(agent) == ["Paul lives in Hamburg."]
    assert [turn.id for turn in agent._memory.readings.about("Paul", limit=9).turns] == [second]


async def test_what_rests_on_another_messages_name_goes_with_that_and_the_preview_says_so(
    make_agent: MakeAgent,
) -> None:
    agent, (first, _) = await told(make_agent, "My sister is called Ada.", "My sister works for Siemens.")
    assert await stands(agent) == ["Ada works for Siemens.", "I am a sibling of Ada."]
    plan = await agent.plans.delete(first)
    lost = sorted(each.text or "" for each in plan.impact.lost)
    assert lost == ["My sister is called Ada.", "My sister works for Siemens."]
    await agent.plans.carry_out(plan)
    assert await stands(agent) == []


@pytest.mark.parametrize("name", ["李雷", "Иван", "paul", "van der Berg"])
async def test_a_lost_name_is_read_off_the_sentence_in_any_script(agent: Agent, name: str) -> None:
    memory = agent._memory
    memory.append(begin("s"), said("t1", text=name), said("t2", parent="t1", text="In Hamburg."))
    memory.append(
        EntityNoted(entity="p", category="person", by_turn="t1", text=name),
        EntityNoted(entity="h", category="place", by_turn="t2", text="Hamburg"),
        observed("m", "t2", text=f"{name} lives in Hamburg.", about=("p", "h"), category="relationship"),
        RelationNoted.of("m", Relation(subject="p", kind="lives_in", object="h")),
        TurnDeleted(turn="t1"),
    )
    assert [each.text for each in lost_names(memory)] == [name]


async def test_an_older_log_gets_the_names_back_that_its_relationships_still_say(agent: Agent) -> None:
    memory = agent._memory
    memory.append(begin("s"), said("t1", text="My brother is Paul."), said("t2", parent="t1", text="He is in Hamburg."))
    lives = Relation(subject="p", kind="lives_in", object="h")
    memory.append(
        EntityNoted(entity="p", category="person", by_turn="t1", text="Paul"),
        EntityNoted(entity="h", category="place", by_turn="t2", text="Hamburg"),
        observed("m", "t2", text="Paul lives in Hamburg.", about=("p", "h"), category="relationship"),
        RelationNoted.of("m", lives),
        TurnDeleted(turn="t1"),
    )
    assert memory.readings.names(["p", "h"]) == {"h": "Hamburg"}
    (again,) = lost_names(memory)
    assert again == EntityNoted(entity="p", category="person", by_turn="t2", text="Paul")
    memory.append(again)
    assert await stands(agent) == ["Paul lives in Hamburg."]
    assert lost_names(memory) == []


SAID = (
    "My sister is called Ada.",
    "My sister works for Siemens.",
    "My sister lives with Tom.",
    "My boss is Paul.",
    "My boss lives in Hamburg.",
    "Paul moved to Berlin.",
    "Tom manages paul",
)


@pytest.mark.restarts
@pytest.mark.parametrize("seed", range(12))
async def test_whoever_stands_in_what_is_in_use_has_a_name_after_any_history(make_agent: MakeAgent, seed: int) -> None:
    chance = random.Random(seed)
    agent, turns = await told(make_agent, *chance.sample(SAID, k=len(SAID)))
    for _ in range(6):
        turn, how = chance.choice(turns), chance.choice(("delete", "delete", "hide", "show"))
        with suppress(AgentError, NotFound):
            if how == "show":
                await agent.chats.unhide(turn)
            else:
                await agent.plans.carry_out(await getattr(agent.plans, how)(turn))
        await agent.idle()
        await stands(agent)
