"""What people get from models that they really run: an answer, from what they told in another chat where it is there.

Where such a model is not to be had the tests are skipped, and the summary of the run says so.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.events import RecallDone, ReplyEnded
from agent.home import Home
from agent.settings import Settings
from bench.answers import FRAMES, UNTOLD, goes_in_circles
from graph.events import Sampling
from models.errors import NotInstalled
from models.store import ModelStore
from tests.agent.conftest import collect
from tests.agent.test_recall import only
from tests.marking import NOT_HERE

pytestmark = [pytest.mark.real, pytest.mark.restarts]

FACT = "My sister Ada works at the harbour office in Bergen."


@pytest.fixture(params=["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"])
async def answering(
    request: pytest.FixtureRequest, models_folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Agent]:
    """An agent as shipped, but greedy and brief, with a model that people run."""
    try:
        ModelStore(models_folder).path(request.param)
    except NotInstalled:
        pytest.skip(f"{NOT_HERE}{request.param}: what it answers was not tested.")
    greedy = Sampling(temperature=0, max_tokens=32)
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))
    agent = Agent(Home.resolve(), Settings(model=request.param, reflect=False, sampling=greedy), client="test")
    await agent.start()
    yield agent
    await agent.close()


async def ask(agent: Agent, text: str) -> tuple[str, int]:
    """What is replied to the first message of a new chat, and the number of quotes that it was given."""
    events = await collect(agent.send(None, text))
    ended = only(events, ReplyEnded)
    await agent.idle()
    assert ended.error is None
    assert ended.text.strip()
    assert FRAMES.search(ended.text) is None, ended.text
    assert not goes_in_circles(ended.text), ended.text
    found = [event for event in events if isinstance(event, RecallDone)]
    return ended.text, len(found[0].hits) if found else 0


async def test_everyday_messages_are_answered_and_what_was_told_in_another_chat_is_known(answering: Agent) -> None:
    said, _ = await ask(answering, "What is the name of my dog?")
    assert UNTOLD.search(said), said
    for message in ("hi", "Bonjour, ça va ?", FACT):
        await ask(answering, message)
    said, quotes = await ask(answering, "Where does my sister work?")
    assert quotes
    assert "harbour" in said.lower() or "Bergen" in said, said
    said, quotes = await ask(answering, "What is the capital of France?")
    assert quotes == 0
    assert "Paris" in said, said
    recounted = only(await collect(answering.send(None, "Where were we?")), ReplyEnded)
    assert "Ada works at the harbour office" in recounted.text
    assert recounted.completion_tokens == 0
