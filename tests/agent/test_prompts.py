"""Prompts through the whole Agent: append-only over random conversations, compaction that nobody waits for."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agent.agent import Agent
from agent.events import Compaction, Notice, PromptRead, ReplyEnded, ReplyStarted, TokensArrived
from agent.home import Home
from agent.loop import MOST_REDRAWN, NO_WORDS
from agent.quoting import NOTHING
from agent.settings import Settings
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import ready, spelled
from tests.examples import histories, soaking
from tests.fakes import FakeGenerator

SMALL = Settings(context=1024, high_water=600, low_water=300)
LONG = "word " * 150


async def next_compaction(notices: AsyncIterator[Notice], state: str) -> Compaction:
    async for notice in notices:
        if isinstance(notice, Compaction) and notice.state == state:
            return notice
    raise AssertionError(f"no compaction was {state}")


async def fill(agent: Agent) -> str:
    """Talk past the high-water mark; returns the session."""
    session: str | None = None
    for _ in range(4):
        ended = (await collect(agent.send(session, LONG)))[-1]
        assert isinstance(ended, ReplyEnded)
        session = ended.session
    assert session is not None
    return session


async def test_past_the_high_water_the_prompt_is_shortened_while_the_user_reads(make_agent: MakeAgent) -> None:
    model = FakeGenerator("short", context=1024)
    agent = await make_agent(model, SMALL)
    notices = agent.notices()
    session = await fill(agent)
    done = await next_compaction(notices, "done")
    assert done.before >= SMALL.high_water
    assert done.after <= SMALL.low_water
    await collect(agent.send(session, "next"))
    assert model.prompts[-1][: len(model.prefills[-1])] == model.prefills[-1]
    assert (await agent.status()).rewrites == {"compaction": 1}


async def test_a_message_during_compaction_is_answered_on_the_old_prompt(make_agent: MakeAgent) -> None:
    model = FakeGenerator("short", context=1024)
    agent = await make_agent(model, SMALL)
    notices = agent.notices()
    filling = asyncio.create_task(fill(agent))
    await next_compaction(notices, "started")
    model.gate.clear()
    session = await filling
    await model.waiting.wait()
    events = agent.send(session, "quick question")
    await anext(events)
    await next_compaction(notices, "interrupted")
    model.gate.set()
    await collect(events)
    old, new = model.prompts[-2:]
    assert new[: len(old)] == old
    await next_compaction(notices, "done")
    assert (await agent.status()).rewrites == {"compaction": 1}


@pytest.mark.restarts
async def test_a_session_that_is_looked_at_is_evaluated_before_anyone_asks(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("one"))
    session = (await collect(agent.send(None, "hello there")))[0].session  # type: ignore[union-attr]
    await agent.close()
    model = FakeGenerator("two")
    agent = await make_agent(model)
    await agent.models.use(agent.settings.model)
    await agent.opened(session)
    await agent.idle()
    assert len(model.prefills) == 1
    ended = (await collect(agent.send(session, "and now?")))[-1]
    assert isinstance(ended, ReplyEnded)
    assert ended.evaluated_tokens < 8


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 2), st.integers(1, 250)),
        st.tuples(st.just("system"), st.integers(0, 2), st.integers(0, 3)),
        st.tuples(st.just("wait"), st.just(0), st.just(0)),
    ),
    min_size=1,
    max_size=25 if soaking() else 12,
)


@given(MOVES)
@histories(25, excused=[HealthCheck.function_scoped_fixture])
def test_every_prompt_begins_with_the_one_before_or_the_rewrite_is_counted(moves: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(converse(moves, Path(folder)))


async def converse(moves: list[tuple[str, int, int]], folder: Path) -> None:
    model = FakeGenerator(lambda prompt: f"reply number {len(prompt)} with some words", context=SMALL.context)
    agent = Agent(Home.resolve(folder), SMALL, client="test", loader=lambda name, progress: model)
    compacted: Counter[str] = Counter()

    async def follow(notices: AsyncIterator[Notice]) -> None:
        async for notice in notices:
            if isinstance(notice, Compaction) and notice.state == "done":
                compacted[notice.session] += 1

    following = asyncio.create_task(follow(agent.notices()))
    await agent.start()
    sessions: list[str | None] = [None, None, None]
    last: dict[str, tuple[list[int], int]] = {}
    for move, which, size in moves:
        if move == "wait":
            await agent.idle()
        elif move == "system":
            sessions[which] = await agent.chats.configure(sessions[which], system_prompt=f"Manner {size}.")
        else:
            ended = (await collect(agent.send(sessions[which], "word " * size)))[-1]
            assert isinstance(ended, ReplyEnded)
            session = sessions[which] = ended.session
            given = model.prompts[-1]
            before, count = last.get(session, ([], 0))
            assert given[: len(before)] == before or compacted[session] == count + 1
            assert len(given) + ended.completion_tokens <= SMALL.context
            last[session] = (list(model.kv), compacted[session])
    await agent.close()
    await following
    assert sum(compacted.values()) == sum(agent.rewrites.values())


async def test_after_an_empty_reply_the_prompt_goes_on_without_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("", "", "", "Here I am.", context=1024)
    agent = await make_agent(model, SMALL)
    ended = (await collect(agent.send(None, "hello")))[-1]
    assert isinstance(ended, ReplyEnded)
    assert (ended.text, ended.error) == ("", NO_WORDS)
    turn = (await agent.chats.thread(ended.session))[-1]
    assert (turn.redrawn, turn.stop_reason) == (MOST_REDRAWN, "failed")
    await collect(agent.send(ended.session, "hello again"))
    first, last = [*model.prompts[0]], [*model.prompts[-1]]
    asked = model.reply_open()
    assert last == [*first[: -len(asked)], *model.frame("user", "hello again"), *asked]
    assert not agent.rewrites


async def test_a_frame_for_a_reply_is_drawn_again_without_what_was_recalled_and_leaves_nothing(
    make_agent: MakeAgent,
) -> None:
    model = FakeGenerator("noted", '{"tool":"forget","mark":"#A"}', "Brown.", "Fine.")
    agent = await ready(make_agent, model)
    await collect(agent.send(None, "My dog Biscuit is a brown beagle."))
    await agent.idle()
    events = await collect(agent.send(None, "What colour is my dog Biscuit?"))
    ended = events[-1]
    assert isinstance(ended, ReplyEnded)
    assert "".join(event.text for event in events if isinstance(event, TokensArrived)) == ended.text == "Brown."
    caused, without = (spelled(model, prompt) for prompt in model.prompts[1:3])
    assert "Biscuit is a brown beagle" in caused
    assert "Biscuit is a brown beagle" not in without
    turn = (await agent.chats.thread(ended.session))[-1]
    assert (turn.redrawn, turn.recalled) == (1, ())
    await collect(agent.send(ended.session, "ok thanks"))
    assert "tool" not in spelled(model, model.prompts[-1])


@pytest.mark.parametrize(("asked", "told"), [("What's my sister's name?", True), ("How deep is the sea?", False)])
async def test_who_is_asked_a_second_time_about_the_user_is_told_that_nothing_is_known(
    make_agent: MakeAgent, asked: str, told: bool
) -> None:
    frame = '{"tool":"forget","mark":"#A"}'
    model = FakeGenerator(frame, frame, "I don't know.")
    agent = await make_agent(model)
    ended = (await collect(agent.send(None, asked)))[-1]
    assert isinstance(ended, ReplyEnded)
    assert ended.text == "I don't know."
    last = spelled(model, model.prompts[-1])
    assert (NOTHING in last, asked in last) == (told, True)


async def test_a_reply_that_is_ended_as_it_goes_in_circles_says_so_and_one_that_ends_at_a_frame_has_ended(
    make_agent: MakeAgent,
) -> None:
    again = "The keeper lit the lamp and waited for the boat. "
    agent = await make_agent(FakeGenerator(again * 9, "It is green.\n\nUser: and then?\n\nassistant: no"))
    for text, reason in ((again * 3 + "The", "repeating"), ("It is green.", "end")):
        ended = (await collect(agent.send(None, "tell me of it")))[-1]
        assert isinstance(ended, ReplyEnded)
        assert (ended.text, ended.stop_reason) == (text, reason)
        turn = (await agent.chats.thread(ended.session))[-1]
        assert (turn.text, turn.stop_reason) == (text, reason)


async def test_reading_a_long_prompt_tells_how_far_it_is(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("It is long."))
    events = await collect(agent.send(None, "a word " * 300))
    read = [event for event in events if isinstance(event, PromptRead)]
    (started,) = [event for event in events if isinstance(event, ReplyStarted)]
    assert [event.done for event in read] == sorted({event.done for event in read})
    assert {event.total for event in read} == {read[-1].done} == {started.prompt_tokens}
    assert not [event for event in await collect(agent.send(read[0].session, "ok")) if isinstance(event, PromptRead)]
