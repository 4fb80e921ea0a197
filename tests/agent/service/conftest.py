"""Services on a test's home."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from agent.home import Home
from agent.settings import Settings
from models.protocols import Generator
from tests.agent.service.behind import Behind, agent_of

MakeBehind = Callable[..., Awaitable[Behind]]


@pytest.fixture
async def behind() -> AsyncIterator[MakeBehind]:
    """Starts services on this test's home; those still open are ended."""
    made: list[Behind] = []

    async def make(model: Generator, settings: Settings | None = None, *, linger_s: float = 60) -> Behind:
        home = Home.resolve()
        each = Behind(home, agent_of(home, model, settings), linger_s=linger_s)
        made.append(each)
        await each.start()
        return each

    yield make
    for each in made:
        await each.end()
