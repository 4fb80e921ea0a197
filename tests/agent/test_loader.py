"""What the real loader tells while it brings a model up."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.events import ModelProgress, Warned
from agent.home import Home, is_wanted, want_model
from agent.model_host import llama_loader
from agent.settings import Settings
from models.errors import FetchFailed, NotInstalled
from models.fetch import FetchProgress
from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER, ModelStore
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


@pytest.mark.parametrize(("chosen", "failing"), [("minilm-l6", False), ("minilm-l6", True), ("another", False)])
def test_the_first_start_fetches_both_default_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, failing: bool
) -> None:
    def pull(self: ModelStore, name: str, progress: Callable[[FetchProgress], None]) -> Path:
        if failing and name == DEFAULT_EMBEDDER:
            raise FetchFailed("no network")
        progress(FetchProgress(name, "fetching", 1, 2))
        return tmp_path / name

    monkeypatch.setattr(ModelStore, "pull", pull)
    monkeypatch.setattr("models.generator.load_generator", lambda *_, **__: FakeGenerator())
    told: list[ModelProgress | Warned] = []
    home = Home.resolve(tmp_path / "home")
    load = llama_loader(home, Settings(embedder=chosen), fetching=True)
    for who, loads in (("nobody said yes to it", load), ("a command asks for none", llama_loader(home, Settings()))):
        with pytest.raises(NotInstalled):
            loads(DEFAULT_CHAT, told.append)
        assert told == [], who
        want_model(home, DEFAULT_CHAT)
    load(DEFAULT_CHAT, told.append)
    both = [DEFAULT_CHAT, DEFAULT_EMBEDDER] if chosen == DEFAULT_EMBEDDER and not failing else [DEFAULT_CHAT]
    fetched = [ModelProgress("fetching", name, 1, 2) for name in both]
    assert told == [*fetched, ModelProgress("loading", DEFAULT_CHAT)]
    assert not is_wanted(home, DEFAULT_CHAT), "it is there now: once it is gone it is asked for anew"
