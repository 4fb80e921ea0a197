"""What all tests of references have in common."""

import pytest

from agent.references import quotes


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages wait for a busy machine; where a source is meant to be too slow, the test says how long."""
    monkeypatch.setattr(quotes.ReferenceQuotes.bring, "__kwdefaults__", {"patience_s": 60.0})
