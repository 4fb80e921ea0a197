"""Questions to the memory itself are answered in what it holds, at once, and what is forgotten is told no more."""

import pytest

from agent.agent import Agent
from agent.events import ReplyEnded, ReplyStarted
from graph.events import FROM_MEMORY
from graph.values import Wanted
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready, say, spelled
from tests.fakes import FakeGenerator

ASKED = ("What do you know about me?", "what do you remember?", "so what do you actually know about me by now")


async def told(agent: Agent, *said: str) -> str | None:
    session = None
    for text in said:
        session, _, _ = await say(agent, session, text)
    await agent.idle()
    return session


async def test_what_is_known_is_told_to_the_user_and_no_model_is_asked(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    await told(agent, "I work as a bookbinder in Graz.", "My sister Ada lives in Lyon.")
    prompts = len(model.prompts)
    for asked in ASKED:
        _, recalled, ended = await say(agent, None, asked)
        assert "You work as a bookbinder in Graz" in ended.text
        assert "our sister Ada lives in Lyon" in ended.text
        assert {hit.kind for hit in recalled.hits} == {"observation"}
    assert len(model.prompts) == prompts


async def test_who_said_nothing_yet_is_told_so(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("You are a pirate."))
    _, recalled, ended = await say(agent, None, ASKED[0])
    assert ended.text.startswith("I don't know anything about you yet.")
    assert recalled.hits == ()
    _, _, ended = await say(agent, None, "What did we talk about last year?")
    assert ended.text.startswith("Nothing was said")


async def test_what_a_program_wants_remembered_is_not_told_before_the_user_took_it(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    await told(agent, "I work as a bookbinder in Graz.")
    made = (await agent.proposals.add("The user keeps bees on the roof.", by="Helper")).memory
    for there in (False, True):
        _, recalled, ended = await say(agent, None, ASKED[0])
        assert ("bees" in ended.text) == there
        assert (made.id in {hit.id for hit in recalled.hits}) == there
        assert "bookbinder" in ended.text
        if not there:
            await agent.memories.promote(made.id)
    await agent.memories.reject(made.id)
    assert "bees" not in (await say(agent, None, ASKED[0]))[2].text


@pytest.mark.parametrize("asked", ["Where were we?", "where did we leave off", "Summarize our recent conversations"])
async def test_the_last_exchanges_are_told_by_chat(make_agent: MakeAgent, asked: str) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    await told(agent, "My dog Biscuit is a brown beagle.")
    await told(agent, "The tide pools at Porto Covo were full of anemones.")
    events = await collect(agent.send(None, asked))
    ended = only(events, ReplyEnded)
    assert ended.text.index("tide pools") < ended.text.index("brown beagle")
    assert "- I: noted" in ended.text
    assert only(events, ReplyStarted).model == FROM_MEMORY
    turn = (await agent.chats.thread(ended.session))[-1]
    assert (turn.text, turn.model, turn.stop_reason) == (ended.text, FROM_MEMORY, "end")
    assert len(turn.recalled) == 4


async def test_in_a_chat_that_goes_on_it_was_there(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    await told(agent, "Elsewhere I said that owls are quiet.")
    session = await told(agent, "Whales sing in autumn.")
    _, _, ended = await say(agent, session, "Where were we?")
    assert ended.text.index("Whales sing") < ended.text.index("owls")


@pytest.mark.restarts
async def test_what_is_forgotten_leaves_what_was_told_of_it_the_prompt_and_every_search(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    await told(agent, "I work as a bookbinder in Graz.")
    session, _, ended = await say(agent, None, ASKED[0])
    await say(agent, session, "ok thanks")
    assert "bookbinder" in spelled(model, model.prompts[-1])
    (known,) = await agent.memories.find(Wanted(plain=False))
    await agent.memories.forget(known.id)
    await agent.idle()
    assert [turn.text for turn in await agent.chats.thread(session) if turn.id == ended.reply_turn] == [None]
    await say(agent, session, "ok thanks")
    assert "bookbinder" not in spelled(model, model.prompts[-1])


async def test_it_is_not_found_as_words_of_anybody(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    await told(agent, "I work as a bookbinder in Graz.")
    _, _, ended = await say(agent, None, ASKED[0])
    _, recalled, _ = await say(agent, None, "What do I work as in Graz?")
    assert ended.reply_turn not in {hit.id for hit in recalled.hits}
