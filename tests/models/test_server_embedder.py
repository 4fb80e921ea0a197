"""The Embedder over a server's embeddings: what is asked, what is believed, every fault, and a real server, too."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.embedder import load_embedder
from models.errors import (
    EngineClosed,
    ServerBroken,
    ServerBusy,
    ServerError,
    ServerLost,
    ServerRefused,
    ServerUnreachable,
)
from models.protocols import Embedder
from models.servers import embeddings
from models.servers.address import ServerAddress, checked_address
from models.servers.connecting import connect_embedder
from models.servers.embedder_pool import EmbedderPool
from models.servers.embeddings import BATCH, LEAST, PROBE, ServerEmbedder
from tests.models.chat_server import Request, Scripted, chat_server
from tests.models.embedding_server import MODEL, EmbeddingServer, Fault, answer, embedding_server
from tests.models.llama_server import serving
from tests.models.rows import every

KEY = "sk-secret-0123456789"
TEXTS = ["a heron stands", "the tide comes in", "nine boats leave the harbour"]


def at(*servers: EmbeddingServer | str) -> list[ServerAddress]:
    places = [each if isinstance(each, str) else each.address for each in servers]
    return [checked_address("den", each, key=KEY) for each in places]


async def connected(*servers: EmbeddingServer | str, model: str = MODEL) -> ServerEmbedder | EmbedderPool:
    return await asyncio.to_thread(connect_embedder, at(*servers), model, name=f"{model}@den")


@asynccontextmanager
async def embedder(*servers: EmbeddingServer | str, model: str = MODEL) -> AsyncIterator[ServerEmbedder | EmbedderPool]:
    made = await connected(*servers, model=model)
    try:
        yield made
    finally:
        await made.close()


def cosines(one: Any, other: Any) -> Any:
    return (np.asarray(one) * np.asarray(other)).sum(axis=1)


async def test_vectors_come_in_batches_each_of_length_one_and_in_the_order_of_the_texts() -> None:
    texts = [f"the ship number {number}" for number in range(2 * BATCH + 1)]
    async with embedding_server() as server, embedder(server) as made:
        checked: Embedder = made
        server.batches.clear()
        rows = await checked.embed(texts)
        assert (rows.shape, str(rows.dtype), checked.dimension) == ((len(texts), 16), "float32", 16)
        assert (rows**2).sum(1) == pytest.approx([1.0] * len(texts), abs=1e-6)
        assert [text for batch in server.batches for text in batch] == texts
        assert [len(batch) for batch in server.batches] == [BATCH, BATCH, 1]
        alone = [(await checked.embed([text], brief=True))[0] for text in texts[:3]]
        assert cosines(alone, rows[:3]) == pytest.approx([1.0] * 3, abs=1e-6)
        assert (await checked.embed([])).shape == (0, 16)
        assert checked.info.name == f"{MODEL}@den"
        assert (checked.info.context, checked.info.away) == (512, "")
        assert {each.headers.get("authorization") for each in server.site.requests} == {f"Bearer {KEY}"}


async def test_a_text_is_cut_by_bytes_where_nobody_counts_its_tokens() -> None:
    async with embedding_server() as server, embedder(server) as made:
        server.batches.clear()
        await made.embed(["é" * 5000, "", "\ud800 and more"], most=100)
        ((long, empty, odd),) = server.batches
        assert (len(long.encode()), empty, odd) == (300, " ", "? and more")


async def test_what_a_server_says_of_its_context_is_kept_to_and_what_is_too_long_is_halved_until_it_fits() -> None:
    models = [{"id": MODEL, "max_model_len": 4096}]
    async with embedding_server(models=models, most=900) as server, embedder(server) as made:
        assert made.info.context == embeddings.LONGEST
        await made.embed(["a" * 9000])
        assert made.info.context == 300
        server.batches.clear()
        await made.embed(["a" * 9000])
        assert [len(text) for (text,) in server.batches] == [900]
    refusal = answer({"error": {"message": "input is too large to process. increase the physical batch size"}}, 500)
    async with embedding_server() as server, embedder(server) as made:  # which tells no number
        server.batches.clear()
        server.faults = [refusal, refusal]
        await made.embed(["a" * 9000])
        assert [len(text) for (text,) in server.batches] == [512 * 3, 256 * 3, 128 * 3]
        assert made.info.context == 512
        server.faults = [refusal] * 9
        with pytest.raises(ServerBroken, match="physical batch"):
            await made.embed(["a" * 9000])
        assert len(server.batches[-1][0]) == LEAST * 3


def without(key: str) -> Callable[[dict[str, Any]], Any]:
    return lambda whole: {name: value for name, value in whole.items() if name != key}


def with_first(**changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda whole: whole | {"data": [whole["data"][0] | changed, *whole["data"][1:]]}


UNBELIEVABLE: list[tuple[Fault, str]] = [
    (without("data"), "something else than vectors"),
    (lambda whole: [whole], "something else than vectors"),
    (lambda whole: whole | {"data": "AAAA"}, "something else than vectors"),
    (lambda whole: whole | {"data": [1, 2, 3, 4]}, "something else than vectors"),
    (lambda whole: whole | {"data": whole["data"][:-1]}, "3 vectors for 4 texts"),
    (lambda whole: whole | {"data": [*whole["data"], whole["data"][0]]}, "5 vectors for 4 texts"),
    (lambda whole: whole | {"data": whole["data"][::-1]}, "another order"),
    (lambda whole: whole | {"model": KEY}, "answers with another model than “nomic-embed-text:latest”"),
    (with_first(embedding="AAAA"), "something else than vectors"),
    (with_first(embedding=[]), "something else than vectors"),
    (with_first(embedding=[[0.5] * 16]), "something else in them than numbers"),
    (with_first(embedding=[True] * 16), "something else in them than numbers"),
    (with_first(embedding=[None] * 16), "something else in them than numbers"),
    (with_first(embedding=[float("nan")] * 16), "point nowhere"),
    (with_first(embedding=[float("inf")] * 16), "point nowhere"),
    (with_first(embedding=[10**400] * 16), "point nowhere"),
    (with_first(embedding=[0.0] * 16), "point nowhere"),
    (with_first(embedding=[0.5] * 32), r"another length \(32, was 16\)"),
    (Scripted([b"<html>"]), "no JSON"),
    (answer({"error": {"message": "out of memory"}}, 500), "out of memory"),
    (answer({"error": {"message": f"wrong key {KEY}"}}, 401), "does not take the key"),
    (answer({}, 307, Location="http://elsewhere.invalid/"), "another address"),
]


async def test_what_cannot_be_believed_is_refused_and_the_next_answer_is_taken() -> None:
    async with embedding_server() as server, embedder(server) as made:

        async def check(row: tuple[Fault, str]) -> None:
            fault, words = row
            server.faults = [fault]
            with pytest.raises(ServerError, match=words) as failed:
                await made.embed(TEXTS)
            assert KEY not in str(failed.value)
            assert (await made.embed(TEXTS)).shape == (3, 16)

        await every(UNBELIEVABLE, check)
        for each in (1e300, 1e-300):  # numbers that are huge or tiny are a direction all the same
            server.faults = [with_first(embedding=[each] * 16)]
            assert (await made.embed(TEXTS))[0] == pytest.approx([0.25] * 16)


async def test_another_model_at_the_same_address_is_noticed() -> None:
    for name, value in (("dimension", 32), ("salt", "other ")):  # of another length, and of the same
        async with embedding_server() as server, embedder(server) as made:
            setattr(server, name, value)
            with pytest.raises(ServerBroken, match=r"another length|another model"):
                await made.embed(["a heron"], brief=True)


async def test_a_lost_connection_is_tried_and_a_busy_server_waited_for_once_and_only_where_nobody_waits() -> None:
    cut, busy = Scripted([b'{"data": ['], cut=True), answer({}, 429, retry_after="0")
    async with embedding_server() as server, embedder(server) as made:
        server.faults = [cut]
        assert (await made.embed(TEXTS)).shape == (3, 16)
        server.faults = [cut, cut]
        with pytest.raises(ServerLost):
            await made.embed(TEXTS)
        server.faults = [busy]
        assert (await made.embed(TEXTS)).shape == (3, 16)
        for faults, brief in (([busy, busy], False), ([busy], True), ([answer({}, 503, retry_after="999")], False)):
            server.faults = list(faults)
            with pytest.raises(ServerBusy):
                await made.embed(["a heron"], brief=brief)


async def test_a_brief_text_goes_at_once_and_is_not_waited_for_long_and_the_batch_is_asked_for_again_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with embedding_server() as server, embedder(server) as made:
        server.gate.clear()
        batch = asyncio.create_task(made.embed(TEXTS))
        await server.waiting.wait()
        assert (await made.embed(["a heron"], brief=True)).shape == (1, 16)
        assert not batch.done()
        server.gate.set()
        assert (await batch).shape == (3, 16)
        assert server.batches.count(TEXTS) == 2
        monkeypatch.setattr(embeddings, "BRIEF_S", 0.05)
        server.gate.clear()
        with pytest.raises(ServerLost, match="too long"):
            await made.embed(["a heron", "a gull"], brief=True)


@pytest.mark.parametrize("brief", [True, False])
async def test_who_waits_while_it_is_closed_is_told(brief: bool) -> None:
    async with embedding_server() as server:
        made = await connected(server)
        server.gate.clear()
        waiting = asyncio.create_task(made.embed(TEXTS, brief=brief))
        await server.waiting.wait()
        await made.close()
        await made.close()
        with pytest.raises(EngineClosed):
            await waiting
        with pytest.raises(EngineClosed):
            await made.embed(TEXTS)


async def test_who_leaves_closes_the_connection() -> None:
    async with embedding_server() as server, embedder(server) as made:
        server.gate.clear()
        for brief in (True, False):
            server.site.left.clear()
            server.waiting.clear()
            waiting = asyncio.create_task(made.embed(TEXTS, brief=brief))
            await server.waiting.wait()
            waiting.cancel()
            await server.site.left.wait()
            with pytest.raises(asyncio.CancelledError):
                await waiting


USELESS: list[tuple[list[Fault], str]] = [
    ([without("data")], "something else than vectors"),
    ([lambda whole: whole, with_first(embedding=[1.0, *[0.0] * 15])], "another vector each time"),
    ([lambda whole: whole | {"data": [each | {"embedding": [1.0] * 16} for each in whole["data"]]}], "same vector"),
    ([answer({"error": {"message": "no embeddings here"}}, 501)], "nothing of the kind"),
]


async def test_a_model_that_is_not_there_or_whose_vectors_are_of_no_use_is_not_connected() -> None:
    for faults, words in USELESS:
        async with embedding_server(faults=list(faults)) as server:
            with pytest.raises(ServerError, match=words):
                await connected(server)
    async with embedding_server() as server:
        with pytest.raises(ServerRefused, match="it has nomic-embed-text:latest"):
            await connected(server, model="other")


async def gone() -> str:
    """An address where nobody is any more."""
    async with chat_server(Scripted()) as site:
        return site.address


async def test_of_a_pool_the_first_that_answers_is_used_and_then_the_next() -> None:
    down = await gone()
    async with embedding_server() as first, embedding_server() as second, embedder(down, first, second) as made:
        before = await made.embed(TEXTS)
        assert second.batches == []
        first.faults = [answer({}, 500)]
        with pytest.raises(ServerBroken):  # the other is not connected yet, and that takes its time
            await made.embed(TEXTS, brief=True)
        assert cosines(await made.embed(TEXTS), before) == pytest.approx([1.0] * 3, abs=1e-6)
        assert second.batches[-1] == TEXTS
        second.faults = [answer({}, 500)]
        assert cosines(await made.embed(TEXTS, brief=True), before) == pytest.approx([1.0] * 3, abs=1e-6)
        assert first.batches[-1] == TEXTS


async def test_of_a_pool_one_with_another_model_is_not_used_and_if_all_are_gone_the_first_failure_is_told() -> None:
    async with embedding_server() as first, embedding_server(salt="other ") as second:
        async with embedder(first, second) as made:
            first.faults = [answer({"error": {"message": "the first failed"}}, 500)]
            with pytest.raises(ServerBroken, match="the first failed"):
                await made.embed(TEXTS)
            assert second.batches == [[PROBE], []]
        with pytest.raises(EngineClosed):
            await made.embed(TEXTS)
    with pytest.raises(ServerUnreachable, match="nobody answers"):
        await connected(await gone(), await gone())


class Native:
    """A llama-server: token ids are the lengths of words, and 101 and 102 stand around them."""

    def __init__(self) -> None:
        self.inputs: list[list[Any]] = []
        self.tokenized: list[Any] = []
        self.told: Any = None

    def __call__(self, request: Request) -> Scripted:
        match request.path:
            case "/props":
                return answer(
                    {"default_generation_settings": {"n_ctx": 64}, "total_slots": 1, "model_path": "/m/e.gguf"}
                )
            case "/v1/models":
                return answer({"data": [{"id": "/m/e.gguf", "meta": {"size": 7}}]})
            case "/tokenize":
                self.tokenized.append(request.body)
                words = request.body["content"].split()
                return answer(self.told or {"tokens": [101, *map(len, words), 102]})
            case "/v1/embeddings":
                self.inputs.append(request.body["input"])
                rows = [[1.0, 2.0] if each == PROBE else [2.0, -1.0] for each in request.body["input"]]
                return answer({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]})
        return answer({"status": "ok"})


async def test_at_a_llama_server_a_long_text_is_cut_by_its_tokens_and_keeps_the_one_that_ends_it() -> None:
    native = Native()
    async with chat_server(native) as site, embedder(site.address, model="e") as made:
        assert (made.info.context, made.info.size, made.dimension) == (64, 7, 2)
        native.tokenized.clear()
        await made.embed(["short", "word " * 20, "word " * 200])
        assert native.inputs[-1] == ["short", [101, *[4] * 20, 102], [101, *[4] * 62, 102], PROBE]
        assert [each["add_special"] for each in native.tokenized] == [True, True]
        assert [each["parse_special"] for each in native.tokenized] == [False, False]
        await made.embed(["[CLS] a", "</s>", "a > b]"])
        assert native.inputs[-1] == [[101, 5, 1, 102], [101, 4, 102], "a > b]", PROBE]
        await made.embed(["word " * 200], most=8)
        assert native.inputs[-1] == [[101, *[4] * 6, 102], PROBE]
        native.told = {"tokens": ["a"]}
        with pytest.raises(ServerBroken, match="something else than tokens"):
            await made.embed(["word " * 200])


@pytest.fixture(scope="module")
def address(embed_gguf: Path) -> Iterator[str]:
    with serving(embed_gguf, embedding=True) as running:
        yield running


@pytest.mark.model
async def test_a_real_server_makes_the_embedded_vectors_also_beside_a_batch(address: str, embed_gguf: Path) -> None:
    texts = ["That is a happy person.", "Wo liegt der Hafen? 🌊 [CLS]", "word and water " * 300]
    here = await asyncio.to_thread(load_embedder, embed_gguf, name="here")
    async with embedder(address, model=embed_gguf.stem) as there:
        rows, known = await there.embed(texts), await here.embed(texts)
        assert (there.info.context, there.dimension) == (512, 384)
        assert min(cosines(rows, known)) > 0.99
        many: Sequence[str] = [f"The ship number {number} left at dawn. " * 4 for number in range(16)]
        batch = asyncio.create_task(there.embed(many))
        await asyncio.sleep(0)
        (brief,) = await there.embed([texts[0]], brief=True)
        assert not batch.done()
        assert float(brief @ known[0]) > 0.99
        assert (await batch).shape == (16, 384)
    await here.close()
