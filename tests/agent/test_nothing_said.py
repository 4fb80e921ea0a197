"""Asked for a time in which nothing was said: the model is told so, the panel can say so later, and it stays so."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.events import RecallDone, ReplyEnded, ToolAsked, ToolDone
from agent.recall import nothing_said
from graph.recall.intent import Intent
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready, say, spelled, tell_facts
from tests.fakes import FakeGenerator


@pytest.mark.restarts
async def test_the_model_is_told_that_nothing_was_said_then_and_again_after_a_restart(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    await tell_facts(agent)
    events = await collect(agent.send(None, "What did we talk about in March 2019?"))
    await agent.idle()
    recalled, ended = only(events, RecallDone), only(events, ReplyEnded)
    assert (recalled.route, recalled.hits, recalled.note) == ("recent", (), "Nothing was said then.")
    asked, done = only(events, ToolAsked), only(events, ToolDone)
    assert (asked.tool, asked.arguments["since"]) == ("recent_conversations", "2019-03-01")
    assert (done.result, done.error) == ("Nothing was said from 2019-03-01 until 2019-04-01.", None)
    assert f"> {done.result}" in spelled(model, model.prompts[-1])
    assert [turn.role for turn in await agent.chats.thread(ended.session)] == ["user", "tool", "assistant"]
    before = spelled(model, model.kv)
    await agent.close()
    again = FakeGenerator("and")
    agent = await ready(make_agent, again)
    assert await agent.search.missed(ended.reply_turn) == done.result
    _, _, other = await say(agent, ended.session, "ok thanks")
    assert spelled(again, again.prompts[0]).startswith(before)
    assert await agent.search.missed(other.reply_turn) == ""
    assert agent.rewrites == {}


@pytest.mark.restarts
async def test_a_first_message_that_asks_for_the_newest_learns_that_there_is_nothing(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model)
    for question, told in (
        ("Summarize our recent conversations", "Nothing was said in other conversations yet."),
        ("What did we talk about today?", "Nothing was said on "),
    ):
        done = only(await collect(agent.send(None, question)), ToolDone)
        await agent.idle()
        assert done.result.startswith(told)
        assert done.result in spelled(model, model.prompts[-1])
        for session in await agent.chats.all():
            await agent.chats.delete(session.id)


async def test_what_stands_in_the_chat_already_is_not_told_to_be_nothing(make_agent: MakeAgent) -> None:
    agent = await ready(make_agent, FakeGenerator("noted"))
    facts = await tell_facts(agent)
    events = await collect(agent.send(facts, "What did we talk about today?"))
    assert not [event for event in events if isinstance(event, ToolAsked)]
    recalled = only(events, RecallDone)
    assert (recalled.route, recalled.hits) == ("recent", ())
    assert "stands in this chat" in recalled.note


def test_a_time_in_which_nothing_was_said_is_told_by_its_days() -> None:
    midnight, next_midnight = datetime(2026, 11, 18, 23, tzinfo=UTC), datetime(2026, 11, 19, 23, tzinfo=UTC)
    morning, noon = datetime(2026, 11, 19, 5, tzinfo=UTC), datetime(2026, 11, 19, 11, tzinfo=UTC)
    for since, until, words in (
        (midnight, next_midnight, "on 2026-11-19."),
        (midnight, None, "from 2026-11-19 on."),
        (None, next_midnight, "before 2026-11-20."),
        (morning, noon, "from 2026-11-19 06:00 until 2026-11-19 12:00."),
        (None, None, "in other conversations yet."),
    ):
        told = nothing_said(Intent("recent", since, until), ZoneInfo("Europe/Berlin"))
        assert told.words == f"Nothing was said {words}"
