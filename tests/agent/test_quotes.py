"""What was recalled for a question, beside the reply of a model that may waste it: told live, and read again later."""

from collections.abc import Callable

import pytest

from agent.agent import Agent
from agent.events import ModelProgress
from agent.quoting import HEADER
from graph.values import Hit
from models.protocols import Generator
from tests.agent.conftest import MakeAgent, opened
from tests.agent.test_recall import PLAIN, ready, say, spelled, tell_facts
from tests.fakes import FakeGenerator

DOG = "My dog Biscuit is a brown beagle."
TOLD = "Your dog Biscuit is a brown beagle."
ASKED = "What colour is my dog Biscuit?"


def texts(quotes: tuple[Hit, ...]) -> list[str]:
    return [quote.text for quote in quotes]


async def read(agent: Agent, reply: str) -> list[str]:
    """What stands open below a reply now."""
    return texts((await agent.search.quotes([reply]))[reply])


async def test_what_was_recalled_is_told_to_be_read_and_stands_before_the_question(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    told = (await agent.chats.thread(await tell_facts(agent)))[0]
    _, recalled, ended = await say(agent, None, ASKED)
    assert texts(recalled.quotes) == [DOG]
    assert [(quote.id, quote.at) for quote in recalled.quotes] == [(told.id, told.at)]
    text = spelled(model, model.prompts[-1])
    assert text.index(HEADER) < text.index(TOLD) < text.index(ASKED)
    assert await read(agent, ended.reply_turn) == [DOG]


async def test_a_model_that_passed_the_probe_and_what_is_no_question_leave_it_folded(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    await tell_facts(agent)
    _, recalled, ended = await say(agent, None, "A brown beagle was ill.")
    assert recalled.hits
    assert (recalled.quotes, await read(agent, ended.reply_turn)) == ((), [])
    await agent.close()
    agent = await ready(make_agent, FakeGenerator("noted"), trusted=True)
    _, recalled, ended = await say(agent, None, ASKED)
    assert recalled.hits
    assert (recalled.quotes, await read(agent, ended.reply_turn)) == ((), [])


async def test_no_more_than_three_are_given_to_it_the_oldest_first(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    for number in range(5):
        await say(agent, None, f"My dog Biscuit ate {number} biscuits.")
    _, recalled, _ = await say(agent, None, "What about my dog Biscuit?")
    assert len(recalled.hits) == 3
    text = spelled(model, model.prompts[-1])
    places = [text.index(hit.text.replace("My", "Your")) for hit in sorted(recalled.hits, key=lambda hit: hit.at)]
    assert places == sorted(places)


async def test_asked_again_it_is_shown_again_though_the_prompt_holds_it_once(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model, PLAIN.model_copy(update={"reflect": False}))
    await tell_facts(agent)
    session, _, _ = await say(agent, None, ASKED)
    before = list(model.kv)
    _, recalled, ended = await say(agent, session, "Is my dog Biscuit a beagle?")
    assert texts(recalled.quotes) == [DOG] == await read(agent, ended.reply_turn)
    assert model.prompts[-1][: len(before)] == before
    assert spelled(model, model.prompts[-1]).count(TOLD) == 1
    _, recalled, _ = await say(agent, session, "What colour are the anemones at Porto Covo?")
    assert DOG not in texts(recalled.quotes)
    assert not any(agent.rewrites.values())


@pytest.mark.restarts
async def test_words_that_are_live_no_more_are_not_shown(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    told = (await agent.chats.thread(await tell_facts(agent)))[0]
    _, _, ended = await say(agent, None, ASKED)
    for take_out in (
        agent.chats.hide(told.id),
        agent.chats.withhold(told.id),
        agent.branches.rewind(told.session, None),
    ):
        assert await read(agent, ended.reply_turn) == [DOG]
        await take_out
        assert await read(agent, ended.reply_turn) == []
        await agent.history.undo()
    await agent.plans.carry_out(await agent.plans.delete(told.id))
    assert await read(agent, ended.reply_turn) == []


@pytest.mark.restarts
async def test_it_is_shown_again_before_model_and_graph_are_there(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted", name="smollm2-135m"))
    await agent.memories.remember("My boat is called Skua.")
    _, recalled, ended = await say(agent, None, "What is my boat called?")
    assert "My boat is called Skua." in texts(recalled.quotes)
    await agent.close()
    async with opened(PLAIN, no_model, load_model=False, load_embedder=False, open_graph=False) as agent:
        assert await read(agent, ended.reply_turn) == texts(recalled.quotes)


def no_model(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
    raise AssertionError("nobody asks for a model")
