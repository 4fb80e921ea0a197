"""LlamaEmbedder: the Embedder over llama.cpp; it shares the engine's thread, so a reply never waits for it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from models.engine import Engine, EngineCall, EngineTask, Rank, shared_engine
from models.errors import EngineClosed, TooBigForMemory
from models.header import GgufHeader
from models.loading import load_model
from models.machine import Paces, available_memory, physical_cores
from models.native import NativeContext, NativeModel
from models.protocols import ModelInfo

LONGEST = 2048  # tokens of one text; what is longer is cut


def load_embedder(
    path: Path, *, name: str, threads: int | None = None, gpu_layers: int = -1, memo: Path | None = None
) -> "LlamaEmbedder":
    """Load an embedding model; blocking, so call it in a thread. See `load_generator`.

    Raises LoadError's children.
    """
    model, header = load_model(path, embeds=True, context=LONGEST, gpu_layers=gpu_layers, memo=memo)
    size = min(LONGEST, model.train_context or LONGEST)
    engine = shared_engine()
    threads = threads or physical_cores()
    context = NativeContext.make(model, engine.flag, size=size, paces=Paces.of_texts(threads), embeddings=True)
    if context is None:
        model.free()
        raise TooBigForMemory(path, header.size, available_memory())
    return LlamaEmbedder(model, header, context, engine, name=name)


class LlamaEmbedder:
    """One loaded embedding model. Made by `load_embedder`."""

    def __init__(
        self, model: NativeModel, header: GgufHeader, context: NativeContext, engine: Engine, *, name: str
    ) -> None:
        self.model = model
        self.context = context
        self.closed = False
        self._engine = engine
        self._info = ModelInfo(name, header.path, header.architecture, header.size, context.size, "none")
        engine.own(self._free)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def dimension(self) -> int:
        return self.model.dimension

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        """float32[len(texts), dimension], each row of length 1; texts beyond `info.context` or `most` are cut.

        See the Embedder protocol for `brief`.
        """
        job = EmbedJob(self, texts, rank=Rank.BRIEF if brief else Rank.BACKGROUND, most=most)
        self._engine.submit(job)
        try:
            return await job.outcome
        finally:
            self._engine.cancel(job)

    async def close(self) -> None:
        """Free the memory; whoever still waits gets EngineClosed. Idempotent."""
        if self.closed:
            return
        self.closed = True
        self._engine.disown(self._free)
        call = EngineCall(self._free)
        try:
            self._engine.submit(call)
        except EngineClosed:
            return
        await asyncio.shield(call.outcome)

    def _free(self) -> None:
        self.context.free()
        self.model.free()


class EmbedJob(EngineTask):
    """Texts one by one; after an interruption it goes on with the text it was at."""

    def __init__(self, embedder: LlamaEmbedder, texts: Sequence[str], *, rank: Rank, most: int | None) -> None:
        super().__init__()
        self.rank = rank
        self._most = min(embedder.context.size, most or embedder.context.size)
        self._embedder = embedder
        self._texts = list(texts)
        self._vectors: list[Any] = []

    def run(self) -> bool:
        import numpy as np

        context, model = self._embedder.context, self._embedder.model
        while len(self._vectors) < len(self._texts):
            if self._embedder.closed:
                raise EngineClosed
            text = self._texts[len(self._vectors)] or " "
            vector = context.embed(_fit(model.tokenize(text, special=False, whole=True), self._most))
            if vector is None:
                return False
            self._vectors.append(vector / max(float(np.linalg.norm(vector)), 1e-12))
        shape = (len(self._texts), model.dimension)
        self.succeed(np.array(self._vectors, np.float32).reshape(shape))
        return True


def _fit(tokens: list[int], size: int) -> list[int]:
    """Cut a text that is too long, but keep the token that ends it."""
    return tokens if len(tokens) <= size else [*tokens[: size - 1], tokens[-1]]
