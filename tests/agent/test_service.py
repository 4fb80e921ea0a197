"""The Agent on a real log and graph: what is durable when, what waits, what survives a face that goes away."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent import events as happened
from agent import opening as running
from agent.agent import Agent
from agent.errors import AgentError
from agent.home import Home
from agent.settings import Settings
from graph.errors import MemoryHeld, NotFound
from graph.events import Sampling
from graph.reader import LogReader
from models.errors import DecodeFailed, NotGguf
from models.generator import load_generator
from models.protocols import Generator
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator, Reply


async def talk(agent: Agent, session: str | None, text: str) -> tuple[str, happened.ReplyEnded]:
    ended = [event for event in await collect(agent.send(session, text)) if isinstance(event, happened.ReplyEnded)]
    assert len(ended) == 1
    return ended[0].session, ended[0]


async def sent(
    agent: Agent, session: str | None, text: str
) -> tuple[AsyncGenerator[happened.AgentEvent, None], happened.TurnAccepted]:
    """What comes of a message, and that it was taken up."""
    events = agent.send(session, text)
    accepted = await anext(events)
    assert isinstance(accepted, happened.TurnAccepted)
    return events, accepted


async def said_in(agent: Agent, session: str) -> list[str]:
    return [turn.text or "" for turn in await agent.chats.thread(session)]


def kept() -> closing[LogReader]:
    """The log of this test, as another process reads it."""
    return closing(LogReader.open(Home.resolve().memory))


async def until(events: AsyncIterator[happened.AgentEvent], kind: type) -> happened.AgentEvent:
    """The first event of a kind; those before it are passed over."""
    async for event in events:
        if isinstance(event, kind):
            return event
    raise AssertionError(f"no {kind.__name__} came")


async def test_an_exchange_is_told_step_by_step_and_kept_with_its_figures(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Nice to meet you.")
    agent = await make_agent(model)
    events = await collect(agent.send(None, " hello \n"))
    kinds = [type(event) for event in events]
    assert kinds[:3] == [happened.TurnAccepted, happened.RecallDone, happened.ReplyStarted]
    assert set(kinds[3:-1]) == {happened.TokensArrived}
    accepted, started, ended = events[0], events[2], events[-1]
    assert isinstance(accepted, happened.TurnAccepted)
    assert isinstance(started, happened.ReplyStarted)
    assert isinstance(ended, happened.ReplyEnded)
    assert (accepted.text, accepted.new_session, accepted.queued) == ("hello", True, False)
    assert (ended.text, ended.truncated, ended.stop_reason) == ("Nice to meet you.", False, "end")
    said, reply = await agent.chats.thread(accepted.session)
    assert (said.id, said.text, said.role, said.parent) == (accepted.turn, "hello", "user", None)
    assert (reply.id, reply.text, reply.role, reply.parent) == (ended.reply_turn, ended.text, "assistant", said.id)
    found = (reply.model, reply.prompt_tokens, reply.completion_tokens)
    assert found == ("fake", len(model.prompts[0]), ended.completion_tokens)
    assert reply.prompt_hash
    assert started.prompt_tokens == ended.prompt_tokens


async def test_a_message_is_on_disk_before_the_first_token_and_a_leaving_face_loses_none(make_agent: MakeAgent) -> None:
    model = FakeGenerator("a long answer that nobody reads")
    model.gate.clear()
    agent = await make_agent(model)
    events, accepted = await sent(agent, None, "remember this")
    with kept() as log:
        assert [turn.text for turn in log.thread(accepted.session)] == ["remember this"]
    model.gate.set()
    await events.aclose()
    await collect(agent.send(accepted.session, "still there?"))
    said = await said_in(agent, accepted.session)
    assert said[:2] == ["remember this", "a long answer that nobody reads"]


async def test_a_blank_message_and_a_retry_of_what_is_answered_store_nothing(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator())
    session, _ = await talk(agent, None, "hello")
    await agent.idle()
    head = (await agent.status()).log_head
    for blank in ("", "  \n\t"):
        (failed,) = await collect(agent.send(None, blank))
        assert isinstance(failed, happened.Failed)
        assert "empty" in failed.message
    (failed,) = await collect(agent.retry(session))
    assert isinstance(failed, happened.Failed)
    assert (await agent.status()).log_head == head


async def test_stop_keeps_the_partial_and_the_next_prompt_begins_with_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three four five", "fine")
    agent = await make_agent(model)
    events = agent.send(None, "count")
    session = ""
    ended: happened.AgentEvent | None = None
    async for event in events:
        if isinstance(event, happened.TokensArrived):
            session = event.session
            assert agent.answering == session
            assert agent.stop()
        ended = event
    assert isinstance(ended, happened.ReplyEnded)
    assert (ended.truncated, ended.stop_reason) == (True, "stopped")
    assert 0 < len(ended.text) < len("one two three four five")
    await talk(agent, session, "go on")
    first, second = model.prompts
    assert second[: len(first)] == first
    assert not agent.stop()


async def test_messages_said_meanwhile_are_durable_at_once_and_answered_in_their_order(make_agent: MakeAgent) -> None:
    model = FakeGenerator(lambda prompt: f"answer {len(prompt)}")
    model.gate.clear()
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "first")
    session = accepted.session
    later = [agent.send(session, text) for text in ("second", "third")]
    for events in later:
        assert getattr(await anext(events), "queued", False)
    assert [turn.text for turn in await agent.chats.waiting(session)] == ["second", "third"]
    assert [turn.text for turn in await agent.chats.thread(session)] == ["first"]
    model.gate.set()
    for events in (first, *later):
        await collect(events)
    assert [turn.role for turn in await agent.chats.thread(session)] == ["user", "assistant"] * 3
    said = [turn.text for turn in await agent.chats.thread(session)][::2]
    assert said == ["first", "second", "third"]
    assert await agent.chats.waiting(session) == []


async def test_a_stop_holds_what_is_queued_and_a_new_message_is_answered_before_it(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three", "right", "later", "last")
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "first")
    session = accepted.session
    await until(first, happened.TokensArrived)
    model.gate.clear()
    await model.waiting.wait()
    later = [agent.send(session, text) for text in ("second", "third")]
    queued = [(await anext(events)).turn or "" for events in later]  # type: ignore[union-attr]
    notices = agent.notices()
    assert agent.stop()
    held = await notices_until(notices, happened.QueueHeld)
    assert held == happened.QueueHeld(session, tuple(queued))
    model.gate.set()
    await collect(first)
    await agent.opened(session)
    assert agent.answering is None
    assert [turn.text for turn in await agent.chats.waiting(session)] == ["second", "third"]
    await talk(agent, session, "no: this")
    assert (await said_in(agent, session))[2:] == ["no: this", "right"]
    assert agent.go_on(session)
    assert await notices_until(notices, happened.QueueHeld) == happened.QueueHeld(session, ())
    for events in later:
        await collect(events)
    assert (await said_in(agent, session))[4:] == ["second", "later", "third", "last"]
    assert not agent.go_on(session)


@pytest.mark.restarts
async def test_a_message_that_waits_is_withdrawn_and_is_neither_answered_nor_forgotten(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three", "yes")
    model.gate.clear()
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "first")
    session = accepted.session
    second, third = (agent.send(session, text) for text in ("second", "third"))
    turn, last = [(await anext(events)).turn or "" for events in (second, third)]  # type: ignore[union-attr]
    await model.waiting.wait()
    with pytest.raises(AgentError, match="being answered"):
        await agent.withdraw(session, accepted.turn)
    assert await agent.withdraw(session, turn) == "second"
    assert await anext(second) == happened.TurnWithdrawn(session, turn)
    assert [each.id for each in await agent.chats.waiting(session)] == [last]
    with pytest.raises(AgentError, match="being answered"):
        await agent.withdraw(session, turn)
    assert agent.stop()
    assert await agent.withdraw(session, last) == "third"
    model.gate.set()
    for events in (first, second, third):
        await collect(events)
    assert await agent.history.changes() == []  # nobody would answer it if that were undone
    await agent.branches.rewind(session, None)  # nothing waits for a reply
    await agent.history.undo()
    await talk(agent, session, "on")
    assert "second" not in await said_in(agent, session)
    await agent.close()
    again = await make_agent(FakeGenerator("yes"))
    assert (await said_in(again, session))[-2:] == ["on", "yes"]  # it is not on the path after a start either
    assert [found.mark for found in await again.search.words("second")] == ["hidden"]


async def test_a_message_that_waits_for_another_chats_reply_is_withdrawn(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one", "two")
    agent = await make_agent(model)
    session, _ = await talk(agent, None, "hello")
    head = (await agent.chats.get(session)).head
    model.gate.clear()
    other = agent.send(None, "elsewhere")
    await anext(other)
    await model.waiting.wait()
    waits, accepted = await sent(agent, session, "here")
    assert accepted.queued
    assert await agent.withdraw(session, accepted.turn) == "here"
    assert (await agent.chats.get(session)).head == head
    assert (await said_in(agent, session))[::2] == ["hello"]
    model.gate.set()
    await collect(other)
    await collect(waits)


async def test_closing_with_messages_on_hold_ends_and_keeps_them(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three")
    model.gate.clear()
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "first")
    session = accepted.session
    await anext(agent.send(session, "second"))
    await model.waiting.wait()
    agent.stop()
    await collect(first)
    await agent.close()
    with kept() as log:
        assert [turn.text for turn in log.waiting(session)] == ["second"]


@pytest.mark.restarts
async def test_closing_in_the_middle_keeps_the_partial_and_the_queued_message(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three four five six")
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "count")
    session = accepted.session
    await until(first, happened.TokensArrived)
    model.gate.clear()
    await anext(agent.send(session, "and then?"))
    await model.waiting.wait()
    await agent.close()
    again = await make_agent(FakeGenerator("yes"))
    turns = await again.chats.thread(session)
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert turns[1].truncated
    assert turns[1].text
    assert turns[2].text == "and then?"
    events = await collect(again.retry(session))
    assert isinstance(events[-1], happened.ReplyEnded)
    assert (await again.chats.thread(session))[-1].text == "yes"


async def test_a_reply_that_fails_keeps_what_came_and_says_why(make_agent: MakeAgent) -> None:
    model = FakeGenerator(Reply("some of it came", error=DecodeFailed(1), fail_after=2), "now it works")
    agent = await make_agent(model)
    session, ended = await talk(agent, None, "hello")
    assert (ended.truncated, ended.stop_reason) == (True, "failed")
    assert ended.error
    assert ended.text
    stored = (await agent.chats.thread(session))[-1]
    assert (stored.text, stored.stop_reason, stored.error) == (ended.text, "failed", ended.error)
    _, ended = await talk(agent, session, "again")
    assert ended.text == "now it works"


class Shelf:
    """A loader of models that say what they are; every other name is a broken file."""

    def __init__(self, **replies: str) -> None:
        self.replies = replies

    def __call__(self, name: str, progress: Callable[[happened.ModelProgress], None]) -> Generator:
        if name not in self.replies:
            raise NotGguf(Home.resolve().models / name, "plain text")
        return FakeGenerator(self.replies[name], name=name)


async def notices_until(notices: AsyncIterator[happened.Notice], kind: type) -> happened.Notice:
    async for notice in notices:
        if isinstance(notice, kind):
            return notice
    raise AssertionError(f"no {kind.__name__} came")


async def test_a_model_that_does_not_load_leaves_the_message_safe_and_a_session_can_have_one_of_its_own() -> None:
    shelf = Shelf(good="here I am", large="large")
    agent = Agent(Home.resolve(), Settings(model="broken"), client="test", loader=shelf)
    notices, changes = agent.notices(), agent.notices()
    await agent.start()
    failed = await notices_until(notices, happened.ModelFailed)
    assert isinstance(failed, happened.ModelFailed)
    assert "plain text" in failed.message
    accepted, refused = await collect(agent.send(None, "Miso the cat"))
    assert isinstance(accepted, happened.TurnAccepted)
    assert isinstance(refused, happened.Failed)
    assert refused.turn == accepted.turn
    session = accepted.session
    assert await notices_until(changes, happened.SessionsChanged) == happened.SessionsChanged(session), (
        "it is told before any reply"
    )
    assert (await agent.chats.get(session)).name == "Miso the cat"
    await agent.models.use("good")
    assert isinstance((await collect(agent.retry(session)))[-1], happened.ReplyEnded)
    assert await said_in(agent, session) == ["Miso the cat", "here I am"]
    await agent.models.use("large", session=session)
    assert [(await talk(agent, each, "hello"))[1].text for each in (session, None)] == ["large", "here I am"]
    notices = agent.notices()
    with pytest.raises(NotGguf):
        await agent.models.use("broken")
    assert isinstance(await notices_until(notices, happened.ModelFailed), happened.ModelFailed)
    assert isinstance(await notices_until(notices, happened.ModelReady), happened.ModelReady), (
        "the one that answers stays"
    )
    await agent.close()


async def test_a_new_session_is_titled_by_its_words_and_then_by_the_model(make_agent: MakeAgent) -> None:
    model = FakeGenerator("Crabs live there.", answers=[{"title": "Crabs in tide pools"}])
    agent = await make_agent(model)
    session, _ = await talk(agent, None, "what crabs live in tide pools?")
    await agent.idle()
    assert (await agent.chats.get(session)).name == "Crabs in tide pools"
    await agent.chats.rename(session, "My crabs")
    assert (await agent.chats.get(session)).name == "My crabs"
    assert (await agent.chats.get(session)).named_by_user


@pytest.mark.restarts
async def test_sessions_are_listed_newest_first_archived_and_deleted(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator())
    one, _ = await talk(agent, None, "first chat")
    two, _ = await talk(agent, None, "second chat")
    assert [session.id for session in await agent.chats.all()] == [two, one]
    assert await agent.chats.last() == two
    await agent.chats.archive(two)
    assert [session.id for session in await agent.chats.all()] == [one]
    assert [session.id for session in await agent.chats.all(archived=True)] == [two]
    await agent.chats.unarchive(two)
    await agent.chats.delete(one)
    assert [session.id for session in await agent.chats.all()] == [two]
    (failed,) = await collect(agent.send(one, "anyone?"))
    assert isinstance(failed, happened.Failed)
    with pytest.raises(NotFound):
        await agent.chats.archive("nothing")


@pytest.mark.restarts
async def test_deleting_a_chat_ends_what_is_being_said_there(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three four five six", answers=[{"title": "count the numbers"}])
    agent = await make_agent(model)
    first, accepted = await sent(agent, None, "count")
    session = accepted.session
    await until(first, happened.TokensArrived)
    model.gate.clear()
    queued = agent.send(session, "and then?")
    await anext(queued)
    await model.waiting.wait()
    await agent.chats.delete(session)
    head = (await agent.status()).log_head
    model.gate.set()
    assert isinstance((await collect(first))[-1], happened.ReplyEnded)
    (refused,) = await collect(queued)
    assert isinstance(refused, happened.Failed)
    assert refused.message == "This chat was deleted before the message was answered."
    await agent.idle()
    assert (await agent.status()).log_head == head
    assert agent.answering is None
    assert len(model.prompts) == 1


async def test_a_system_prompt_of_its_own_reaches_the_model_in_the_middle_of_a_chat(make_agent: MakeAgent) -> None:
    model = FakeGenerator()
    agent = await make_agent(model)
    session, _ = await talk(agent, None, "hello")
    await agent.chats.configure(session, system_prompt="Speak like a pirate.")
    await talk(agent, session, "hello again")
    first, second = model.prompts
    assert second[: len(first)] == first
    assert "pirate" in model.detokenize(second)
    assert (await agent.chats.get(session)).system_prompt == "Speak like a pirate."
    fresh = await agent.chats.configure(None, system_prompt="Only rhymes.")
    await talk(agent, fresh, "hello")
    assert "rhymes" in model.detokenize(model.prompts[-1])


async def test_short_commands_take_turns_and_waiting_is_told_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "TOLD_S", 0.0)
    agents = [Agent(Home.resolve(), Settings(), client=name, brief=True) for name in ("ask", "import", "remember")]
    first, *others = agents
    await first.start(load_model=False, load_embedder=False, open_graph=False)

    async def turn(agent: Agent) -> None:
        await agent.start(load_model=False, load_embedder=False, open_graph=False)
        await agent.close()

    heard = [other.notices() for other in others]
    turns = [asyncio.create_task(turn(other)) for other in others]
    for notices in heard:
        told = await anext(notices)
        assert isinstance(told, happened.MemoryAwaited)
        assert told.message.startswith("waiting for `clew (ask)` (process ")
    await first.close()
    await asyncio.gather(*turns)

    first = Agent(Home.resolve(), Settings(), client="import", brief=True)
    await first.start(load_model=False, load_embedder=False, open_graph=False)
    second = Agent(Home.resolve(), Settings(), client="ask", brief=True)
    told_second = second.notices()
    waiting = asyncio.create_task(second.start())
    assert isinstance(await anext(told_second), happened.MemoryAwaited)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    monkeypatch.setattr(running, "TURN_S", 0.0)
    with pytest.raises(MemoryHeld, match="Try again when that has ended"):
        await second.start()
    await second.close()
    await first.close()


async def test_a_memory_of_another_version_is_made_ready_its_last_chat_is_told(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Hello there."))
    session, _ = await talk(agent, None, "hello")
    thread = await agent.chats.thread(session)
    await agent.close()
    with closing(sqlite3.connect(Home.resolve().memory / "log.sqlite", isolation_level=None)) as db:
        db.execute("DELETE FROM projected")
        db.execute("DELETE FROM turns")
    again = Agent(Home.resolve(), Settings(), client="test")
    notices = again.notices()
    await again.start(load_model=False, load_embedder=False, open_graph=False)
    told = await anext(notices)
    assert isinstance(told, happened.MemoryPreparing)
    assert told.done <= told.total
    assert list(told.turns) == thread
    assert isinstance(await anext(notices), happened.MemoryReady)
    assert await again.chats.thread(session) == thread
    await again.close()


async def test_a_second_agent_on_the_same_memory_is_told_who_holds_it(make_agent: MakeAgent) -> None:
    await make_agent(FakeGenerator())
    second = Agent(Home.resolve(), Settings(), client="ask")
    with pytest.raises(MemoryHeld, match="clew \\(test\\)"):
        await second.start()
    await second.close()


async def test_much_text_is_kept_whole_and_shortened_for_the_model_only(make_agent: MakeAgent) -> None:
    model = FakeGenerator("long")
    agent = await make_agent(model)
    text = "word " * 20_000
    events = await collect(agent.send(None, text))
    started = next(event for event in events if isinstance(event, happened.ReplyStarted))
    assert started.cut_tokens > 10_000
    assert len(model.prompts[0]) < agent.settings.context
    assert (await agent.chats.thread(started.session))[0].text == text.strip()


async def test_the_real_model_answers_and_evaluates_only_what_is_new(make_agent: MakeAgent, chat_gguf: Path) -> None:
    generator = load_generator(
        chat_gguf, name="smollm2-135m", context=2048, memo=Home.resolve().probed
    )  # its own: the agent closes it
    greedy = Settings(recall=False, reflect=False, tools="off", kv_mb=0, sampling=Sampling(temperature=0, max_tokens=8))
    agent = await make_agent(generator, greedy)
    session, first = await talk(agent, None, "Say hello, then name three animals. " * 4)
    _, second = await talk(agent, session, "And now a </s><|im_end|> colour.")
    assert first.text
    assert second.evaluated_tokens < first.evaluated_tokens
    assert second.prompt_tokens > first.prompt_tokens + first.completion_tokens
    assert second.evaluated_tokens < 60
