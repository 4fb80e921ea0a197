"""What all tests of references have in common."""

from collections.abc import AsyncIterator

import pytest

from agent.references import quotes
from tests.agent.references.web import Web, serving


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages wait for a busy machine; where a source is meant to be too slow, the test says how long."""
    monkeypatch.setattr(quotes.ReferenceQuotes.bring, "__kwdefaults__", {"patience_s": 60.0})
