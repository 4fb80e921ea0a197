"""An Agent on a real memory in a temporary home, with a fake or a given model."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from agent.agent import Agent
from agent.events import AgentEvent, ModelProgress
from agent.home import Home
from agent.settings import Settings
from models.protocols import Generator

MakeAgent = Callable[..., Awaitable[Agent]]


@pytest.fixture
async def make_agent() -> AsyncIterator[MakeAgent]:
    """Starts agents on this test's home; those still open are closed at the end."""
    agents: list[Agent] = []

    async def make(model: Generator, settings: Settings | None = None) -> Agent:
        def loader(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
            progress(ModelProgress("loading", name))
            return model

        agent = Agent(Home.resolve(), settings or Settings(), client="test", loader=loader)
        await agent.start()
        agents.append(agent)
        return agent

    yield make
    for agent in agents:
        await agent.close()


async def collect(events: AsyncIterator[AgentEvent]) -> list[AgentEvent]:
    """All events of one message."""
    return [event async for event in events]
