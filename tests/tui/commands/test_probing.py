"""What the doctor makes of an embedder: one whose vectors are of no use is as wrong as one that does not load."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.home import Home
from agent.settings import Settings
from tests.fakes import FakeEmbedder
from tui.commands.probing import probe_embedder


@pytest.mark.parametrize(
    ("value", "told"), [(np.nan, "none at all"), (np.inf, "infinite"), (0.0, "points nowhere"), (0.5, None)]
)
def test_an_embedder_is_well_if_the_memory_would_keep_its_vectors(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float, told: str | None
) -> None:
    class Constant(FakeEmbedder):
        async def embed(self, texts: Any, *, brief: bool = False, most: int | None = None) -> Any:
            return np.full((len(texts), self.dimension), value, np.float32)

    monkeypatch.setattr("models.embedder.load_embedder", lambda *_, **__: Constant(dimension=8))
    file = tmp_path / "constant.gguf"
    file.touch()
    check = probe_embedder(Home.resolve(home), Settings(embedder=str(file)))
    assert check.ok == (told is None)
    assert (told or "vectors of 8 numbers") in check.detail
    assert check.ok or "clew models use" in check.advice
