"""What the doctor makes of the models: vectors of no use, and a build of llama.cpp that crashes or runs slowly."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.home import Home
from agent.settings import Server, Settings
from models.errors import CrashingBuild
from tests.fakes import FakeEmbedder, FakeGenerator
from tests.models.discovered_server import discovered, listing
from tui.commands.examination import probe_embedder, probe_generator


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A model's file."""
    (tmp_path / "model.gguf").touch()
    return str(tmp_path / "model.gguf")


def test_an_embedder_is_well_if_its_vectors_are_kept(home: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant(FakeEmbedder):
        value = 0.0

        async def embed(self, texts: Any, *, brief: bool = False, most: int | None = None) -> Any:
            return np.full((len(texts), self.dimension), self.value, np.float32)

    constant = Constant(dimension=8)
    monkeypatch.setattr("models.embedder.load_embedder", lambda *_, **__: constant)
    for constant.value, told in ((np.nan, "none at all"), (np.inf, "infinite"), (0.0, "points nowhere"), (0.5, None)):
        check = probe_embedder(Home.resolve(home), Settings(embedder=file))
        assert check.ok == (told is None)
        assert (told or "vectors of 8 numbers") in check.detail
        assert check.ok or "clew models use" in check.advice


def test_fetching_the_model_mends_no_build_crash(home: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(path: Path, **_: object) -> None:
        raise CrashingBuild(path, "make rebuild-llama")

    monkeypatch.setattr("models.embedder.load_embedder", crash)
    monkeypatch.setattr("models.generator.load_generator", crash)
    settings = Settings(model=file, embedder=file)
    for check in (probe_generator(Home.resolve(home), settings), probe_embedder(Home.resolve(home), settings)):
        assert not check.ok
        assert "`make rebuild-llama`" in check.detail
        assert "Rebuild llama.cpp" in check.advice
        assert "pull" not in check.advice


def test_a_model_that_runs_slower_is_well_and_says_so(home: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(path: Path, *, warn: Callable[[str], None], **_: object) -> FakeGenerator:
        warn("It runs in a slower way.")
        return FakeGenerator()

    monkeypatch.setattr("models.generator.load_generator", load)
    check = probe_generator(Home.resolve(home), Settings(model=file))
    assert check.ok
    assert "It runs in a slower way." in check.detail


def test_a_model_on_a_server_is_asked_there_and_one_that_does_not_answer_says_why(home: Path) -> None:
    with discovered(listing("vllm")) as server:
        settings = Settings(model="m/one@den", servers={"den": Server(address=server.address)})
        well = probe_generator(Home.resolve(home), settings)
        assert well.ok
        assert well.detail.startswith(f"m/one@den ({server.address.removeprefix('http://')}): ")
    gone = probe_generator(Home.resolve(home), settings)
    assert not gone.ok
    assert "nobody answers" in gone.detail
    assert "`clew models test den`" in gone.advice
