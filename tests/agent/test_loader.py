"""What the real loader tells while it brings a model up."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.events import ModelProgress, Warned
from agent.home import Home
from agent.models import llama_loader
from agent.settings import Settings
from tests.fakes import FakeGenerator


def test_a_model_that_runs_only_in_a_slower_way_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.gguf"
    file.touch()

    def load(path: Path, *, warn: Callable[[str], None], **_: object) -> FakeGenerator:
        warn("It runs in a slower way.")
        return FakeGenerator()

    monkeypatch.setattr("models.generator.load_generator", load)
    told: list[ModelProgress | Warned] = []
    llama_loader(Home.resolve(tmp_path / "home"), Settings())(str(file), told.append)
    assert told == [ModelProgress("loading", str(file)), Warned("It runs in a slower way.")]
