"""The background embedder on a real memory: what is kept when, what is left out, and who need not wait for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.agent import Agent
from agent.embedding import BATCH, PAGE, USELESS, Embedding
from agent.events import EmbeddingProgress, Notice, ReplyEnded, TokensArrived
from agent.home import Home
from agent.model_host import LoadedEmbedder, embedder_key, llama_embedder_loader
from agent.settings import Settings
from graph.events import Role, SessionStarted
from graph.ids import new_id
from graph.memory import Memory
from graph.recall.lending import RELATED
from models.catalogue import entry
from models.embedder import load_embedder
from models.errors import DecodeFailed, ModelMissing, NotInstalled
from models.generator import load_generator
from tests.fakes import FakeEmbedder, FakeGenerator
from tests.graph.talk import said

KEY = "fake@000000000000"


class TroubledEmbedder(FakeEmbedder):
    """Refuses, or spoils, the texts that contain a word; waits at `gate`, which closes after `free` batches.

    `asked` has every call.
    """

    def __init__(
        self,
        *,
        dimension: int = 32,
        refuses: str = "\0",
        spoils: str = "\0",
        spoil: float = np.nan,
        free: int | None = None,
    ) -> None:
        super().__init__(dimension=dimension)
        self.asked: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Event()
        self.closed = False
        self._free = free
        self._refuses, self._spoils, self._spoil = refuses, spoils, spoil

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        self.asked.append(list(texts))
        if self._free is not None and len(self.asked) > self._free:
            self.gate.clear()
        if not brief and not self.gate.is_set():
            self.waiting.set()
            await self.gate.wait()
            self.waiting.clear()
        if any(self._refuses in text for text in texts):
            raise DecodeFailed(-1)
        rows = await super().embed(texts)
        for row, text in zip(rows, texts, strict=True):
            if self._spoils in text:
                row[:] = self._spoil
        return rows

    async def close(self) -> None:
        self.closed = True

    @property
    def texts(self) -> list[str]:
        """Every text it was asked for."""
        return [text for batch in self.asked for text in batch]


def say(memory: Memory, *texts: str, role: Role = Role.USER) -> None:
    session = new_id()
    said_there = (said(new_id(), session, text=text, role=role) for text in texts)
    memory.append(SessionStarted(session=session, client="test"), *said_there)


def missing(memory: Memory, key: str = KEY) -> list[str]:
    return [text for _, text in memory.unembedded(key, 10_000)]


@asynccontextmanager
async def embedding(
    memory: Memory,
    embedder: FakeEmbedder | Callable[[str], LoadedEmbedder],
    *,
    told: list[Notice] | None = None,
    name: str = "fake",
) -> AsyncIterator[Embedding]:
    """The background embedder, with an embedder or what loads one."""

    def load(name: str) -> LoadedEmbedder:
        return LoadedEmbedder(embedder, KEY) if isinstance(embedder, FakeEmbedder) else embedder(name)

    made = Embedding(memory, load, (told if told is not None else []).append, name=name)
    made.start()
    try:
        yield made
    finally:
        await made.close()


async def test_everything_said_gets_a_vector_newest_first_and_each_text_once(memory: Memory) -> None:
    texts = [f"number {number}" for number in range(PAGE + 10)]
    say(memory, *texts, "twice", "twice", "  ")
    say(memory, "what a tool found", role=Role.TOOL)
    embedder, told = TroubledEmbedder(), list[Notice]()
    async with embedding(memory, embedder, told=told) as running:
        await running.idle()
        asked = embedder.texts
        assert asked == ["twice", *reversed(texts)]
        assert max(map(len, embedder.asked)) == BATCH
        assert (missing(memory), memory.readings.embedded(KEY)) == ([], (len(texts) + 1, len(texts) + 1))
        assert told[0] == EmbeddingProgress("loading", "fake")
        assert told[-1] == EmbeddingProgress("ready", "fake", len(texts) + 1, len(texts) + 1)


async def test_it_wakes_for_what_is_said_later_but_in_a_pause_in_which_queries_go_on(memory: Memory) -> None:
    told = list[Notice]()
    async with embedding(memory, TroubledEmbedder(), told=told) as running:
        await running.idle()
        say(memory, "said later")
        await running.idle()
        assert memory.readings.embedded(KEY) == (1, 1)
        assert [notice.state for notice in told if isinstance(notice, EmbeddingProgress)].count("ready") <= 2
        running.pause()
        say(memory, "hello")
        assert await running.query("hello") is not None
        assert missing(memory) == ["hello"]
        running.resume()
        await running.idle()
        assert missing(memory) == []


async def test_what_was_embedded_before_a_stop_is_not_embedded_again(memory: Memory) -> None:
    texts = [f"number {number}" for number in range(3 * BATCH)]
    say(memory, *texts)
    first = TroubledEmbedder(free=2)
    async with embedding(memory, first):
        await first.waiting.wait()
    kept = memory.readings.embedded(KEY)[0]
    assert kept == 2 * BATCH
    second = TroubledEmbedder()
    async with embedding(memory, second) as running:
        await running.idle()
    assert sum(map(len, second.asked)) == len(texts) - kept
    assert missing(memory) == []


@pytest.mark.parametrize(
    "trouble", [{"refuses": "bad"}, *({"spoils": "bad", "spoil": spoil} for spoil in (np.nan, 0.0, np.inf))], ids=repr
)
async def test_a_text_without_a_usable_vector_is_left_out_and_counted(memory: Memory, trouble: dict[str, Any]) -> None:
    embedder = TroubledEmbedder(**trouble)
    say(memory, "good one", "a bad one", "good two")
    told = list[Notice]()
    async with embedding(memory, embedder, told=told) as running:
        await running.idle()
        assert missing(memory) == ["a bad one"]
        asked = embedder.texts.count("a bad one")
        say(memory, "good three")
        await running.idle()
        assert embedder.texts.count("a bad one") == asked
        assert missing(memory) == ["a bad one"]
        assert told[-1] == EmbeddingProgress("ready", "fake", 3, 4, "1 text has no vector and is found by words only.")
        assert await running.query("bad") is None


async def test_an_embedder_whose_dimension_changed_is_left_alone_and_told_of(memory: Memory) -> None:
    say(memory, "before")
    async with embedding(memory, TroubledEmbedder(dimension=32)) as running:
        await running.idle()
    say(memory, *(f"after {number}" for number in range(BATCH)))
    changed, told = TroubledEmbedder(dimension=16), list[Notice]()
    async with embedding(memory, changed, told=told) as running:
        await running.idle()
        last = told[-1]
        assert isinstance(last, EmbeddingProgress)
        assert (last.state, memory.readings.embedded(KEY)) == ("failed", (1, BATCH + 1))
        assert "(16,)" in last.message
        assert "clew models use" in last.message
        asked = len(changed.asked)
        say(memory, "even later")
        await running.idle()
        assert len(changed.asked) == asked
        assert USELESS < BATCH


async def test_another_embedder_embeds_everything_anew_and_the_old_vectors_stay(memory: Memory) -> None:
    say(memory, *(f"number {number}" for number in range(BATCH + 1)))
    first, second = TroubledEmbedder(), TroubledEmbedder(dimension=16)
    loaders = {"first": LoadedEmbedder(first, "first@0"), "second": LoadedEmbedder(second, "second@0")}
    told = list[Notice]()

    def load(name: str) -> LoadedEmbedder:
        if name not in loaders:
            raise NotInstalled(f"{name} is not installed.")
        return loaders[name]

    async with embedding(memory, load, told=told, name="first") as running:
        await running.idle()
        second.gate.clear()
        await running.use("second")
        await second.waiting.wait()
        vector = await running.query("number 1")  # while the texts wait
        assert vector is not None
        assert (vector.model, vector.values.shape, str(vector.values.dtype)) == ("second@0", (16,), "float32")
        assert first.closed
        second.gate.set()
        await running.idle()
        assert [each[:2] for each in memory.readings.embedders()] == [("first@0", 32), ("second@0", 16)]
        assert (missing(memory, "first@0"), missing(memory, "second@0")) == ([], [])
        with pytest.raises(NotInstalled):
            await running.use("third")
        assert told[-1] == EmbeddingProgress("ready", "second", BATCH + 1, BATCH + 1)
        assert running.key == "second@0"
    assert second.closed


async def test_a_missing_or_damaged_embedder_is_told_once_recall_does_without(memory: Memory, tmp_path: Path) -> None:
    load, told = llama_embedder_loader(Home.resolve(), Settings()), list[Notice]()
    async with embedding(memory, load, told=told, name="minilm-l6") as running:
        assert not await running.ready()
        say(memory, "hello")
        await running.idle()
        assert await running.query("hello") is None
    how = "Download it with `clew models pull minilm-l6`. Recall continues by words only."
    assert told[-1] == EmbeddingProgress("failed", "minilm-l6", message=f"minilm-l6 is not installed. {how}")

    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    async with embedding(memory, load, told=told, name=str(broken)) as running:
        assert not await running.ready()
    last = told[-1]
    assert isinstance(last, EmbeddingProgress)
    assert last.state == "failed"
    assert "clew models use NAME" in last.message
    assert "--model" not in last.message


async def test_an_agent_loads_the_embedder_behind_the_chat_model_and_closes_it() -> None:
    order = list[str]()
    embedder = TroubledEmbedder()

    def chat(name: str, progress: object) -> FakeGenerator:
        order.append("chat")
        return FakeGenerator("Hello.")

    def vectors(name: str) -> LoadedEmbedder:
        order.append(name)
        return LoadedEmbedder(embedder, KEY)

    agent = Agent(Home.resolve(), Settings(), client="test", loader=chat, embedder_loader=vectors)
    await agent.start()
    assert await agent.models.embedder_ready()
    _ = [event async for event in agent.send(None, "hello there")]
    await agent.idle()
    assert order[:2] == ["chat", "minilm-l6"]
    await agent.close()
    assert embedder.closed
    with closing(Memory.open(Home.resolve().memory, command="test")) as memory:
        assert memory.readings.embedded(KEY) == (2, 2)


def test_the_key_names_the_file_by_its_content_and_the_beginning_of_what_is_kept(tmp_path: Path) -> None:
    one, other = tmp_path / "one.gguf", tmp_path / "other.gguf"
    one.write_bytes(b"1")
    other.write_bytes(b"2")
    keys = [embedder_key("m", one), embedder_key("m", other)]
    keys += [embedder_key("m", one, passage) for passage in ("passage: ", "search_document: ")]
    assert len(set(keys)) == 4
    assert all(len(key) == len("m@") + 12 for key in keys[:2])
    assert embedder_key("m", one, "") == keys[0]
    with pytest.raises(ModelMissing):
        embedder_key("m", tmp_path / "none.gguf")


async def test_an_embedder_gets_what_it_wants_before_a_text(memory: Memory) -> None:
    say(memory, "Ada sings")
    embedder = TroubledEmbedder()
    loaded = LoadedEmbedder(embedder, KEY, query="query: ", passage="passage: ", zero=0.7, slope=3.0)
    async with embedding(memory, lambda name: loaded) as running:
        await running.idle()
        vector = await running.query("who sings?")
        assert vector is not None
        assert (vector.zero, vector.slope) == (0.7, 3.0)
        assert [each.zero for each in await running.vectors(["Eva sings"]) if each is not None] == [0.7]
        assert embedder.asked == [["passage: Ada sings"], ["query: who sings?"], ["passage: Eva sings"]]


REPRESENT = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [("e5-small-v2", "query: ", "passage: "), ("minilm-l6", "", ""), ("arctic-embed-s", REPRESENT, ""),
     ("bge-small", REPRESENT, "")],
)  # fmt: skip
async def test_an_embedder_of_the_catalogue_is_used_as_its_makers_say(
    memory: Memory, embed_gguf: Path, name: str, query: str, passage: str
) -> None:
    """The weights are stand-ins: those of MiniLM under the name of the other's file."""
    (Home.resolve().models / entry(name).file).symlink_to(embed_gguf)
    say(memory, "Ada sings in a choir")
    async with embedding(memory, llama_embedder_loader(Home.resolve(), Settings(threads=1)), name=name) as running:
        assert await running.ready()
        await running.idle()
        asked = await running.query("who is in a choir?")
        plain = await asyncio.to_thread(load_embedder, embed_gguf, name="plain", threads=1)
        rows = await plain.embed([f"{query}who is in a choir?", f"{passage}Ada sings in a choir"])
        await plain.close()
        assert asked is not None
        assert asked.values == pytest.approx(rows[0], abs=1e-4)
        hit = memory.recall.search("zzz", vector=asked, now=datetime.now(UTC), timezone=UTC)[:1]
        near = (float(rows[0] @ rows[1]) - asked.zero) * asked.slope
        if near >= RELATED:
            assert hit[0].reasons[0].score == pytest.approx(near, abs=0.02)
        else:
            assert not hit


async def test_with_real_models_a_query_comes_into_a_reply_and_a_reply_before_the_texts(
    chat_gguf: Path, embed_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(embed_gguf.parent))
    with closing(Memory.open(Home.resolve().memory, command="test")) as memory:
        say(memory, *(f"The ship number {number} left the harbour at dawn. " * 8 for number in range(400)))

    def chat(name: str, progress: Callable[..., None]) -> Any:
        return load_generator(chat_gguf, name=name, context=2048, threads=1)

    settings = Settings(context=2048, high_water=1500, low_water=800, threads=1)
    agent = Agent(Home.resolve(), settings, client="test", loader=chat)
    await agent.start()
    assert await agent.models.embedder_ready()
    steps = list[str]()
    query: asyncio.Task[Any] | None = None
    async for event in agent.send(None, "Tell me a long story about a harbour."):
        if isinstance(event, TokensArrived) and query is None:
            query = asyncio.create_task(agent._embedding.query("a ship at dawn"))
            query.add_done_callback(lambda _: steps.append("query"))
        elif isinstance(event, ReplyEnded):
            steps.append("reply")
        elif query is not None and query.done():
            agent.stop()  # the rest of the reply shows no more
    assert query is not None
    vector = await query
    assert vector.values.shape == (384,)
    assert steps[0] == "query"
    done, total = agent._memory.readings.embedded(vector.model)
    assert done < total  # the texts were still waiting when the reply had ended
    await agent.close()
