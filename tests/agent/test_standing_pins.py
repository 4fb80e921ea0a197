"""Core blocks and pinned memories through the whole Agent: in every prompt, which still only grows at its end."""

import pytest

from agent.agent import Agent
from agent.prompt import CORE, CORE_NOW
from agent.settings import Settings
from tests.agent.conftest import PLAIN, MakeAgent
from tests.agent.test_prompts import LONG, next_compaction
from tests.agent.test_recall import ready, say, spelled
from tests.fakes import FakeGenerator

SMALL = Settings(context=1024, high_water=600, low_water=300, tools="off", reflect=False, recall=False, kv_mb=0)


async def test_a_block_enters_with_the_next_message_and_prompts_only_grow(agent: Agent, model: FakeGenerator) -> None:
    session, _, _ = await say(agent, None, "hello there")
    for number in range(3):
        await agent.memories.write_block("persona", f"You are number {number}.")
        held = list(model.kv)
        await say(agent, session, f"message {number}")
        assert model.prompts[-1][: len(held)] == held
        text = spelled(model, model.prompts[-1])
        assert text.count(f'- persona: "You are number {number}."') == 1
        assert text.count(CORE_NOW) == number + 1
    held = list(model.kv)
    await say(agent, session, "nothing new")
    assert model.prompts[-1][: len(held)] == held
    assert spelled(model, model.prompts[-1]).count(CORE_NOW) == 3
    assert agent.rewrites == {}
    await say(agent, None, "another chat")
    other = spelled(model, model.prompts[-1])
    assert other.count("- persona:") == 1
    assert "number 2" in other


@pytest.mark.restarts
async def test_a_pinned_memory_enters_once_and_is_cut_when_it_is_forgotten(agent: Agent, model: FakeGenerator) -> None:
    session, _, _ = await say(agent, None, "hello there")
    made = await agent.memories.remember("My boat is called Zephyrine.")
    await agent.memories.pin(made.id)
    held = list(model.kv)
    await say(agent, session, "ok thanks")
    assert model.prompts[-1][: len(held)] == held
    assert spelled(model, model.prompts[-1]).count("Zephyrine") == 1
    await say(agent, session, "and on")
    assert spelled(model, model.prompts[-1]).count("Zephyrine") == 1
    assert agent.rewrites == {}
    await agent.memories.forget(made.id)
    await say(agent, session, "still here")
    assert "Zephyrine" not in spelled(model, model.prompts[-1])
    assert agent.rewrites == {"removal": 1}


async def test_a_memory_without_proof_and_an_emptied_block_leave_the_prompt(agent: Agent, model: FakeGenerator) -> None:
    made = await agent.memories.remember("My boat is called Zephyrine.")
    await agent.memories.pin(made.id)
    session, _, _ = await say(agent, None, "hello there")
    assert "Zephyrine" in spelled(model, model.prompts[-1])
    await agent.chats.hide(made.sources[0])
    await say(agent, session, "ok thanks")
    assert "Zephyrine" not in spelled(model, model.prompts[-1])
    assert agent.rewrites == {"removal": 1}

    await agent.memories.write_block("persona", "You are Zephyrine.")
    session, _, _ = await say(agent, None, "hello there")
    assert f"{CORE}\n" in spelled(model, model.prompts[-1])
    await agent.memories.write_block("persona", "")
    await say(agent, session, "ok thanks")
    assert "Zephyrine" not in spelled(model, model.prompts[-1])


async def test_shortening_a_prompt_folds_the_blocks_in_and_drops_what_they_said_before(make_agent: MakeAgent) -> None:
    model = FakeGenerator("short", context=1024)
    agent = await ready(make_agent, model, SMALL)
    notices = agent.notices()
    await agent.memories.write_block("persona", "old words")
    session, _, _ = await say(agent, None, LONG)
    await agent.memories.write_block("persona", "new words")
    for _ in range(3):
        await say(agent, session, LONG)
    await next_compaction(notices, "done")
    await say(agent, session, "next")
    text = spelled(model, model.prompts[-1])
    assert model.prompts[-1][: len(model.prefills[-1])] == model.prefills[-1]
    assert "old words" not in text
    assert text.count("new words") == 1
    assert CORE in text
    assert agent.rewrites == {"compaction": 1}


@pytest.mark.restarts
async def test_after_a_restart_the_prompt_holds_the_same_blocks(agent: Agent, make_agent: MakeAgent) -> None:
    await agent.memories.write_block("persona", "You are Zephyrine.")
    made = await agent.memories.remember("I row on Sundays.")
    await agent.memories.pin(made.id)
    session, _, _ = await say(agent, None, "hello there")
    await agent.close()
    model = FakeGenerator("I see.")
    agent = await ready(make_agent, model, PLAIN)
    await say(agent, session, "ok thanks")
    text = spelled(model, model.prompts[-1])
    assert (text.count("Zephyrine"), text.count("I row on Sundays.")) == (1, 1)


@pytest.mark.restarts
async def test_a_pinned_message_left_by_going_back_leaves_the_prompts_of_others_too(make_agent: MakeAgent) -> None:
    model = FakeGenerator("I see.")
    agent = await ready(make_agent, model, Settings(tools="off", kv_mb=0, reflect=False, recall=False))
    one, _, ended = await say(agent, None, "My boat is called Zephyrine.")
    await agent.chats.pin(ended.turn)
    other, _, _ = await say(agent, None, "hello there")
    assert spelled(model, model.prompts[-1]).count("Zephyrine") == 1
    await agent.branches.rewind(one, None)
    await say(agent, other, "and on")
    assert "Zephyrine" not in spelled(model, model.prompts[-1])
    assert agent.rewrites == {"removal": 1}
    await agent.history.undo()
    await say(agent, other, "still here")
    assert spelled(model, model.prompts[-1]).count("Zephyrine") == 1
