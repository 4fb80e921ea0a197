"""The default embedder, for what words alone do not tell."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.home import Home
from agent.model_host import llama_embedder_loader
from agent.reflection.likeness import Embed
from agent.settings import Settings
from graph.values import Vector


@pytest.fixture
async def embed(models_folder: Path, embed_gguf: Path) -> AsyncIterator[Embed]:
    import numpy as np

    home = replace(Home.resolve(writing=False), models=models_folder)
    loaded = llama_embedder_loader(home, Settings())(Settings().embedder)

    async def vectors(texts: Sequence[str]) -> list[Vector | None]:
        return [Vector(loaded.key, np.array(row)) for row in await loaded.embedder.embed(list(texts))]

    yield vectors
    await loaded.embedder.close()
