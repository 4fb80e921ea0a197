"""Tools: what a model may call, what comes back, and that the tool turns are the only record of it."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent import steps
from agent.agent import Agent
from agent.events import AgentEvent, Failed, RecallDone, ReplyEnded, ReplyStarted, ToolAsked, ToolDone, TurnAccepted
from agent.home import Home
from agent.pending import CancelToken
from agent.quoting import ANSWERED, mark_of
from agent.settings import Settings
from agent.tools import GUIDE, MOST_STEPS, AnswerNow, SearchMemory, ToolChoice, spelled
from models.generator import load_generator
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready
from tests.agent.test_recall import spelled as prompt_text
from tests.examples import few
from tests.fakes import FakeGenerator

TOOLS = Settings(tools="on", kv_mb=0, reflect=False)
ANSWER = {"tool": "answer"}
SEARCH = {"tool": "search_memory", "query": "dog Biscuit", "limit": 5}


def calls(events: Iterable[AgentEvent]) -> list[str]:
    return [event.tool for event in events if isinstance(event, ToolAsked)]


async def ask(
    agent: Agent, model: FakeGenerator, text: str, *taken: Any, session: str | None = None
) -> list[AgentEvent]:
    """Send a message, the model taking these steps, then answering."""
    model.structured_replies = [*taken, ANSWER]
    events = await collect(agent.send(session, text))
    await agent.idle()
    return events


async def with_a_fact(make_agent: MakeAgent, *replies: Any) -> tuple[Agent, FakeGenerator, str]:
    model = FakeGenerator(*(replies or ("noted",)))
    agent = await ready(make_agent, model, TOOLS)
    events = await ask(agent, model, "My dog Biscuit is a brown beagle.")
    return agent, model, only(events, TurnAccepted).turn


async def test_a_call_is_shown_kept_as_a_turn_and_quoted_to_the_model_until_hidden(make_agent: MakeAgent) -> None:
    agent, model, told = await with_a_fact(make_agent)
    events = await ask(agent, model, "hello there", SEARCH)
    kinds = [type(event) for event in events]
    assert kinds[:5] == [TurnAccepted, RecallDone, ToolAsked, ToolDone, ReplyStarted]
    asked, done = only(events, ToolAsked), only(events, ToolDone)
    assert (asked.tool, asked.arguments) == ("search_memory", {"query": "dog Biscuit", "limit": 5})
    assert (done.call, done.error) == (asked.call, None)
    assert "My dog Biscuit is a brown beagle." in done.result
    said, tool, reply = await agent.chats.thread(asked.session)
    assert (tool.id, tool.role, tool.parent, reply.parent) == (asked.call, "tool", said.id, tool.id)
    assert tool.text == f'search_memory(query="dog Biscuit", limit=5)\n{done.result}'
    assert told in [item.id for item in tool.recalled]
    assert all(item.ranks.keys() == {"tool"} for item in tool.recalled)
    prompt = prompt_text(model, model.prompts[-1])
    assert GUIDE in prompt
    assert f'{ANSWERED}\n> search_memory(query="dog Biscuit", limit=5)\n> - {mark_of(told)} ' in prompt
    assert told in [hit.id for hit in await agent.search.context(reply.id)]

    events = await ask(agent, model, "hello there", SEARCH)
    session = only(events, ReplyEnded).session
    before = list(model.kv)
    await ask(agent, model, "ok thanks", {"tool": "recent_conversations", "limit": 2, "since": None}, session=session)
    assert model.prompts[-1][: len(before)] == before
    assert agent.rewrites == {}

    session = only(await ask(agent, model, "hello there", SEARCH), ReplyEnded).session
    assert "brown beagle" in prompt_text(model, model.prompts[-1])
    await agent.chats.hide(told)
    await ask(agent, model, "ok thanks", session=session)
    assert "brown beagle" not in prompt_text(model, model.prompts[-1])
    assert agent.rewrites == {"removal": 1}


async def test_a_model_calls_at_most_six_tools_none_twice_and_by_real_calls_only(make_agent: MakeAgent) -> None:
    agent, model, _ = await with_a_fact(make_agent)
    events = await ask(agent, model, "hello there", *[SEARCH | {"limit": limit} for limit in range(1, 11)])
    assert calls(events) == ["search_memory"] * MOST_STEPS
    assert only(events, ReplyEnded).text == "noted"

    events = await ask(agent, model, "hello there", SEARCH, SEARCH)
    assert calls(events) == ["search_memory"]
    assert only(events, ReplyEnded).text == "noted"

    for step in (
        '{"tool":"forget","query":"everything"}',
        '{"tool":"search_memory"}',
        '{"tool":"search_memory","query":"x","limit":99}',
        "search_memory(query='x')",
        "",
    ):
        with pytest.raises(ValidationError):
            ToolChoice.model_validate_json(step)
        events = await ask(agent, model, "hello there", step)
        assert calls(events) == []
        assert only(events, ReplyEnded).text == "noted"


async def test_a_reply_that_looks_like_a_call_is_only_text(make_agent: MakeAgent) -> None:
    claim = 'I called search_memory(query="x"). {"tool":"search_memory","query":"x","limit":1}'
    agent, model, _ = await with_a_fact(make_agent, claim)
    events = await ask(agent, model, "hello there")
    assert calls(events) == []
    thread = await agent.chats.thread(only(events, ReplyEnded).session)
    assert [(turn.role, turn.text) for turn in thread] == [("user", "hello there"), ("assistant", claim)]


async def test_the_other_tools_answer_with_quotes_and_the_model_is_told_what_fails(make_agent: MakeAgent) -> None:
    agent, model, told = await with_a_fact(make_agent)
    events = await ask(agent, model, "hello there", {"tool": "recent_conversations", "limit": 5, "since": "2020-01-01"})
    assert only(events, ToolDone).result.count("My dog Biscuit") == 1
    events = await ask(agent, model, "hello there", {"tool": "about", "name": "Biscuit"})
    assert "My dog Biscuit" in only(events, ToolDone).result
    events = await ask(agent, model, "hello there", {"tool": "about", "name": "Nobody Atall"})
    assert "Nothing was said" in only(events, ToolDone).result
    events = await ask(agent, model, "hello there", SEARCH, {"tool": "open_turn", "id": mark_of(told)})
    first, second = [event for event in events if isinstance(event, ToolDone)]
    assert second.error is None
    assert second.result.endswith('user: "My dog Biscuit is a brown beagle."')
    assert first.result.startswith(f"- {mark_of(told)}")

    cannot: list[tuple[dict[str, Any], str]] = [
        ({"tool": "open_turn", "id": "#NOSUCH"}, "There is no turn #NOSUCH"),
        ({"tool": "recent_conversations", "limit": 3, "since": "2024-13-45"}, "2024-13-45 is no date"),
    ]
    for step, message in cannot:
        events = await ask(agent, model, "hello there", step)
        done = only(events, ToolDone)
        assert done.error is not None
        assert message in done.error
        assert f"Error: {message}" in prompt_text(model, model.prompts[-1])
        assert only(events, ReplyEnded).text == "noted"

    events = await ask(agent, model, "hello there", {"tool": "about", "name": "Zanzibar"})
    session = only(events, ReplyEnded).session
    assert await agent.search.recall("Zanzibar") == []
    assert not [text for text in await agent.chats.said() if "Zanzibar" in text]
    assert "Zanzibar" not in ((await agent.chats.get(session)).name or "")
    exchange = await agent.chats.exchange(only(events, ReplyEnded).reply_turn)
    assert (exchange.turn.role, exchange.reply and exchange.reply.text) == ("user", "noted")


async def test_stopping_between_the_steps_leaves_a_thread_that_goes_on(make_agent: MakeAgent) -> None:
    agent, model, _ = await with_a_fact(make_agent)
    model.structured_replies = [SEARCH, SEARCH | {"limit": 2}, ANSWER]
    stream = agent.send(None, "hello there")
    events: list[AgentEvent] = []
    async for event in stream:
        events.append(event)
        if isinstance(event, ToolDone) and len(calls(events)) == 1:
            assert agent.stop()
    assert isinstance(events[-1], Failed)
    session = only(events, TurnAccepted).session
    roles = [turn.role for turn in await agent.chats.thread(session)]
    assert roles[:2] == ["user", "tool"]
    model.structured_replies = [ANSWER]
    again = await collect(agent.retry(session))
    assert only(again, ReplyEnded).text == "noted"
    thread = await agent.chats.thread(session)
    assert [turn.role for turn in thread] == [*roles, "assistant"]
    assert [turn.parent for turn in thread] == [None, *(turn.id for turn in thread[:-1])]


@pytest.mark.restarts
async def test_closing_between_the_steps_leaves_a_thread_that_goes_on(make_agent: MakeAgent) -> None:
    agent, model, _ = await with_a_fact(make_agent)
    model.structured_replies = [SEARCH, SEARCH | {"limit": 2}, ANSWER]
    stream = agent.send(None, "hello there")
    session = only([await anext(stream)], TurnAccepted).session
    async for event in stream:
        if isinstance(event, ToolDone):
            break
    model.gate.clear()
    await agent.close()
    again = await ready(make_agent, other := FakeGenerator("back"), TOOLS)
    other.structured_replies = [ANSWER]
    assert {turn.role for turn in await again.chats.thread(session)} == {"user", "tool"}
    assert only(await collect(again.retry(session)), ReplyEnded).text == "back"


def test_a_call_is_spelled_on_one_line() -> None:
    call = SearchMemory(tool="search_memory", query='a"\nb', limit=3)
    assert spelled(call) == 'search_memory(query="a\' b", limit=3)'
    assert isinstance(ToolChoice.model_validate(ANSWER).root, AnswerNow)


async def test_what_is_stopped_is_cancelled_and_what_fails_is_raised() -> None:
    cancel, never = CancelToken(), asyncio.Event()
    waiting = asyncio.create_task(never.wait())
    cancel.ask()
    assert await cancel.unless(waiting) is None
    assert waiting.cancelled()
    cancel.clear()

    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await cancel.unless(fails())


async def test_the_real_small_model_can_only_call_tools_there_are_and_comes_to_an_end(
    make_agent: MakeAgent, chat_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = max(2, few(MOST_STEPS))
    monkeypatch.setattr(steps, "MOST_STEPS", most)
    generator = load_generator(
        chat_gguf, name="smollm2-135m", context=4096, memo=Home.resolve().probed
    )  # its own: the agent closes it
    settings = Settings.model_validate(
        {"context": 4096, "high_water": 3000, "low_water": 1500, "tools": "on", "kv_mb": 0, "reflect": False}
        | {"sampling": {"temperature": 0, "max_tokens": 8}}
    )
    agent = await ready(make_agent, generator, settings)
    names = {"recent_conversations", "search_memory", "about", "open_turn", "themes"}
    names |= {"remember", "forget", "correct", "write_block"}
    texts = ("My dog Biscuit is a brown beagle.", "Search your memory: what is my dog called?")
    for text in texts[-few(len(texts)) :]:
        events = await collect(agent.send(None, text))
        assert set(calls(events)) <= names
        assert len(calls(events)) <= most
        ended = only(events, ReplyEnded)
        thread = await agent.chats.thread(ended.session)
        assert [turn.role for turn in thread] == ["user", *["tool"] * len(calls(events)), "assistant"]
        await agent.idle()
