"""The embedder on the real MiniLM."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from models.embedder import LlamaEmbedder, load_embedder
from models.errors import EngineClosed
from models.generator import LlamaGenerator
from models.protocols import Embedder, SamplingParams


@pytest.fixture
async def embedder(embed_gguf: Path) -> AsyncIterator[LlamaEmbedder]:
    loaded = await asyncio.to_thread(load_embedder, embed_gguf, name="minilm-l6")
    yield loaded
    await loaded.close()


async def test_cosines_are_the_published_ones_and_vectors_of_any_text_have_length_one(embedder: LlamaEmbedder) -> None:
    checked: Embedder = embedder
    texts = ["That is a happy person", "That is a very happy person", "That is a happy dog", "Today is a sunny day"]
    vectors = await checked.embed(texts)
    # Model card of sentence-transformers/all-MiniLM-L6-v2; Q8_0 costs less than .01.
    assert vectors[0] @ vectors[1:].T == pytest.approx([0.943, 0.695, 0.257], abs=0.01)
    vectors = await checked.embed(["", " ", "word " * 2000, "[CLS] </s> \ud800", "🌊" * 10])
    assert (vectors.shape, str(vectors.dtype)) == ((5, checked.dimension), "float32")
    assert (vectors**2).sum(1) == pytest.approx([1.0] * 5, abs=1e-5)
    assert (await checked.embed([])).shape == (0, 384)


async def test_an_embedding_is_the_same_beside_a_reply(embedder: LlamaEmbedder, generator: LlamaGenerator) -> None:
    texts = [f"The ship number {number} left the harbour at dawn." for number in range(30)]
    alone = await embedder.embed(texts)
    beside = asyncio.create_task(embedder.embed(texts))
    prompt = generator.frame("user", "Hello", first=True)
    items = [item async for item in generator.generate(prompt, SamplingParams(max_tokens=4))]
    assert len(items) > 0
    assert await beside == pytest.approx(alone, abs=1e-5)  # more or fewer threads may round differently


async def test_a_closed_embedder_says_so(embed_gguf: Path) -> None:
    embedder = await asyncio.to_thread(load_embedder, embed_gguf, name="x")
    waiting = asyncio.create_task(embedder.embed(["text " * 400] * 50))
    await asyncio.sleep(0.01)
    await embedder.close()
    await embedder.close()
    with pytest.raises(EngineClosed):
        await waiting
    with pytest.raises(EngineClosed):
        await embedder.embed(["x"])
