"""What a quit leaves open: where the user was comes back; a message that waited for another chat can be answered."""

import pytest

from agent.events import ReplyEnded, TokensArrived, TurnAccepted
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only
from tests.agent.test_service import talk, until
from tests.fakes import FakeGenerator


@pytest.mark.restarts
async def test_a_first_message_that_waited_for_another_chat_comes_back_to_be_answered(make_agent: MakeAgent) -> None:
    model = FakeGenerator("one two three four five six")
    agent = await make_agent(model)
    story = agent.send(None, "Write a long story about Miso the cat")
    await until(story, TokensArrived)
    model.gate.clear()
    waiting: list[str] = []
    for text in ("Write a poem on the sea", "list ten fruits"):
        accepted = await anext(agent.send(None, text))
        assert isinstance(accepted, TurnAccepted)
        assert accepted.queued
        waiting.append(accepted.session)
    await model.waiting.wait()
    await agent.close()

    again = await make_agent(FakeGenerator("apples"))
    assert await again.chats.last() == waiting[-1]
    for session in waiting:
        assert [turn.role for turn in await again.chats.thread(session)] == ["user"]
        assert only(await collect(again.retry(session)), ReplyEnded).text == "apples"


async def test_the_last_session_is_where_the_user_spoke_last(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator())
    assert await agent.chats.last() is None
    one, _ = await talk(agent, None, "first chat")
    two, _ = await talk(agent, None, "second chat")
    await agent.opened(one)
    assert await agent.chats.last() == two
    await talk(agent, one, "and on")
    assert await agent.chats.last() == one
    await agent.chats.archive(one)
    assert await agent.chats.last() == two
