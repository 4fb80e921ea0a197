"""An Agent on a real memory in a temporary home, with a fake or a given model; and the same behind its socket."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any, cast
from zlib import crc32

import pytest

from agent.agent import Agent
from agent.events import AgentEvent
from agent.home import Home
from agent.settings import Settings
from graph.memory import Memory
from models.protocols import Generator
from tests.agent.service.behind import Behind, agent_of
from tests.examples import soaking
from tests.fakes import FakeGenerator

PLAIN = Settings(tools="off", kv_mb=0, reflect=False)
MakeAgent = Callable[..., Awaitable[Agent]]

# What is tested of the Agent here is tested of a client of it too, over the socket; in `ci` one test of two each way.
OVER_THE_SOCKET = frozenset(
    (
        "branching", "branching_memory", "changing_tools", "core_blocks", "documents", "dossier", "entities",
        "forgetting", "keeping", "nothing_said", "past", "plans", "plans_hold", "plots", "quotes", "relearning",
        "sampling", "sending", "service", "stage_keeper", "stories", "themes", "title", "undoing",
        "undoing_edits", "using_settings", "what_if", "withholding", "work", "tests.agent.references.test_in_chats",
        "tests.agent.references.test_orders",
    )
)  # fmt: skip
BUT = frozenset(
    (
        "test_a_bug_while_answering_reaches_the_sender",  # there it is told as an AgentError
        # A stop takes its way over the socket; these hold the Agent to its very place in the code.
        "test_a_reply_stopped_after_a_word_is_kept_beside_the_other",
        "test_stop_keeps_the_partial_and_the_next_prompt_begins_with_it",
        "test_a_stop_holds_what_is_queued_and_a_new_message_is_answered_before_it",
        "test_a_model_that_learns_is_not_shown_such_a_reply",  # which looks at the memory of the Agent itself
    )
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.module.__name__.removeprefix("tests.agent.test_")
    if "make_agent" in metafunc.fixturenames and module in OVER_THE_SOCKET and metafunc.function.__name__ not in BUT:
        ways = ["agent", "client"]
        way = crc32(metafunc.function.__name__.encode()) % len(ways)
        metafunc.parametrize("make_agent", ways if soaking() else ways[way : way + 1], indirect=True)


@pytest.fixture
async def make_agent(request: pytest.FixtureRequest) -> AsyncIterator[MakeAgent]:
    """Starts agents on this test's home, or clients of such; those still open are closed at the end."""
    agents: list[Agent] = []

    async def make(model: Generator, settings: Settings | None = None) -> Agent:
        agent = agent_of(Home.resolve(), model, settings)
        if getattr(request, "param", "agent") == "client":
            behind = Behind(Home.resolve(), agent)
            await behind.start()
            served = await behind.client()
            served.ends = behind.end
            agents.append(cast(Agent, served))
            return agents[-1]
        await agent.start()
        agents.append(agent)
        return agent

    yield make
    for agent in agents:
        await agent.close()


@asynccontextmanager
async def opened(settings: Settings, loader: Any = None, embedders: Any = None, **parts: bool) -> AsyncIterator[Agent]:
    """An agent on this test's home until this is left, with these loaders; of its `parts` those that are true."""
    agent = Agent(Home.resolve(), settings, client="test", loader=loader, embedder_loader=embedders)
    await agent.start(**parts)
    try:
        yield agent
    finally:
        await agent.close()


async def collect(events: AsyncIterator[AgentEvent]) -> list[AgentEvent]:
    """All events of one message."""
    return [event async for event in events]


@pytest.fixture
def model() -> FakeGenerator:
    return FakeGenerator("I see.")


@pytest.fixture
async def agent(make_agent: MakeAgent, model: FakeGenerator) -> Agent:
    """One that learns nothing by itself, once its graph is open."""
    made = await make_agent(model, PLAIN)
    await made.idle()
    return made


@pytest.fixture
def memory() -> Iterator[Memory]:
    with closing(Memory.open(Home.resolve().memory, command="test")) as opened:
        yield opened
