"""Embedders on servers, as an agent has them: how they are loaded and told apart, and what recall does without one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.embedding import BATCH, TRIED, USELESS, Embedding
from agent.events import EmbeddingProgress, Notice, RecallDone, ReplyEnded
from agent.home import Home
from agent.model_host import EmbedderLoader, LoadedEmbedder, llama_embedder_loader
from agent.resting import Rest
from agent.served_embedders import KEPT, served_key
from agent.settings import Server, Settings
from graph.memory import Memory
from models.errors import ModelError, ServerBroken, ServerLost, ServerRefused, ServerUnreachable
from tests.agent.conftest import collect, opened
from tests.agent.test_embedding import missing, say
from tests.fakes import FakeEmbedder, FakeGenerator
from tests.models.embedding_server import MODEL, EmbeddingServer, embedding_server

KEY = "den/m@0-0"
URL = "http://localhost:1"
GONE = ServerUnreachable("den", "nobody answers at den:8080", "Start it.")
LOST = ServerLost("den", "the connection ended in the middle", "Try again.")
BROKEN = ServerBroken("den", "it failed (HTTP 500)", "Try again.")


class Served(FakeEmbedder):
    """On a server that fails with `error` as long as there is one, and refuses texts with "bad" in them."""

    def __init__(self, error: ModelError | None = None, *, bad: ModelError | None = None) -> None:
        super().__init__()
        self.error = error
        self.bad = bad
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        self.asked.append(list(texts))
        if self.error is not None:
            raise self.error
        if self.bad is not None and any("bad" in text for text in texts):
            raise self.bad
        return await super().embed(texts)


class Held(Rest):
    """Lasts until the test ends it; `begun` counts how often it began."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = 0
        self.refused: list[bool] = []
        self._then: Callable[[], None] | None = None
        self._troubled = False

    @property
    def lasts(self) -> bool:
        return self._then is not None

    @property
    def troubled(self) -> bool:
        return self._troubled

    def begin(self, then: Callable[[], None], *, refused: bool = False) -> bool:
        if self._then is not None:
            return False
        first, self._troubled, self._then = not self._troubled, True, then
        self.begun += 1
        self.refused.append(refused)
        return first

    def end(self) -> None:
        self._then, self._troubled = None, False

    def over(self) -> None:
        assert self._then is not None
        then, self._then = self._then, None
        then()


@asynccontextmanager
async def embedding(
    memory: Memory, load: EmbedderLoader, rest: Rest, told: list[Notice] | None = None
) -> AsyncIterator[Embedding]:
    made = Embedding(memory, load, (told if told is not None else []).append, name="m@den", rest=rest)
    made.start()
    try:
        yield made
    finally:
        await made.close()


def failures(told: list[Notice]) -> list[str]:
    return [each.message for each in told if isinstance(each, EmbeddingProgress) and each.state == "failed"]


@pytest.mark.parametrize("error", [GONE, LOST, BROKEN], ids=["gone", "lost", "broken"])
async def test_a_server_that_is_away_is_told_once_left_and_gone_on_with(memory: Memory, error: ModelError) -> None:
    say(memory, *(f"number {number}" for number in range(BATCH + 1)))
    served, rest, told = Served(error), Held(), list[Notice]()
    async with embedding(memory, lambda name: LoadedEmbedder(served, KEY), rest, told) as running:
        await running.idle()
        asked = len(served.asked)
        assert asked <= 2
        say(memory, "said meanwhile")
        await running.idle()
        assert await running.query("number 1") is None
        assert await running.vectors(["number 1"]) == [None]
        assert len(served.asked) == asked
        for _ in range(3):
            rest.over()
            await running.idle()
        assert served.asked[asked:] == [[TRIED]] * 3
        assert failures(told) == [f"Vectors cannot be created right now: {error} Recall continues by words only."]
        served.error = None
        rest.over()
        await running.idle()
        assert missing(memory, KEY) == []
        assert told[-1] == EmbeddingProgress("ready", "m@den", BATCH + 2, BATCH + 2)
        assert await running.query("number 1") is not None
        assert (rest.begun, rest.troubled) == (4, False)


async def test_a_query_that_a_server_fails_leaves_it_alone_too(memory: Memory) -> None:
    say(memory, "hello")
    served, rest, told = Served(), Held(), list[Notice]()
    async with embedding(memory, lambda name: LoadedEmbedder(served, KEY), rest, told) as running:
        await running.idle()
        served.error = LOST
        assert await running.query("hello") is None
        assert await running.query("hello") is None
        assert (len(served.asked), len(failures(told))) == (2, 1)
        served.error = None
        rest.over()
        await running.idle()
        assert told[-1] == EmbeddingProgress("ready", "m@den", 1, 1)
        assert await running.query("hello") is not None


@pytest.mark.parametrize(
    "bad", [BROKEN, ServerRefused("den", "it refused (HTTP 400)", "Try again.", 400)], ids=["broken", "refused"]
)
async def test_texts_that_a_server_refuses_are_left_out_others_embedded(memory: Memory, bad: ModelError) -> None:
    say(memory, *(f"number {number}" for number in range(BATCH)), *(f"bad {number}" for number in range(2 * USELESS)))
    served, rest, told = Served(bad=bad), Held(), list[Notice]()
    async with embedding(memory, lambda name: LoadedEmbedder(served, KEY), rest, told) as running:
        await running.idle()
        assert {text.split()[0] for text in missing(memory, KEY)} == {"bad"}
        assert memory.readings.embedded(KEY) == (BATCH, BATCH + 2 * USELESS)
        assert (rest.begun, failures(told)) == (0, [])


async def test_a_key_that_is_refused_is_left_alone_for_long(memory: Memory) -> None:
    say(memory, "hello")
    refused, rest = ServerRefused("den", "it does not take the key", "Give it another one.", 401), Held()
    served = Served(refused)
    async with embedding(memory, lambda name: LoadedEmbedder(served, KEY), rest) as running:
        await running.idle()
        assert (rest.refused, len(served.asked)) == ([True], 1)


async def test_a_server_that_is_away_at_the_start_is_used_when_it_comes(memory: Memory) -> None:
    say(memory, "hello")
    up, loads = list[LoadedEmbedder](), list[str]()

    def load(name: str) -> LoadedEmbedder:
        loads.append(name)
        if not up:
            raise GONE
        return up[0]

    rest, told = Held(), list[Notice]()
    async with embedding(memory, load, rest, told) as running:
        assert not await running.ready()
        await running.idle()
        say(memory, "said meanwhile")
        await running.idle()
        assert (len(loads), await running.query("hello")) == (1, None)
        rest.over()
        await running.idle()
        assert (len(loads), len(failures(told))) == (2, 1)
        up.append(LoadedEmbedder(Served(), KEY))
        rest.over()
        await running.idle()
        assert await running.ready()
        assert told[-1] == EmbeddingProgress("ready", "m@den", 2, 2)


async def test_another_embedder_ends_the_rest(memory: Memory) -> None:
    say(memory, "hello")
    loaders = {"m@den": LoadedEmbedder(Served(GONE), KEY), "here": LoadedEmbedder(FakeEmbedder(), "here@0")}
    rest = Held()
    async with embedding(memory, lambda name: loaders[name], rest) as running:
        await running.idle()
        assert rest.lasts
        await running.use("here")
        await running.idle()
        assert missing(memory, "here@0") == []
        assert await running.query("hello") is not None


async def test_a_rest_is_longer_each_time_and_ends_by_itself() -> None:
    rest, over = Rest(first_s=0.001, longest_s=0.002), asyncio.Event()
    for first in (True, False):
        assert rest.begin(over.set) is first
        assert not rest.begin(over.set)
        assert rest.lasts
        await over.wait()
        over.clear()
        assert (rest.lasts, rest.troubled) == (False, True)
    rest.begin(over.set, refused=True)
    rest.end()
    assert (rest.lasts, rest.troubled, over.is_set()) == (False, False, False)


async def test_an_agent_whose_embedder_is_away_recalls_by_words() -> None:
    def load(name: str, progress: object) -> FakeGenerator:
        return FakeGenerator("Nice.", name="chat")

    def vectors(name: str) -> LoadedEmbedder:
        return LoadedEmbedder(served, KEY)

    served = Served(GONE)
    async with opened(Settings(reflect=False), load, vectors) as agent:
        assert await agent.models.embedder_ready()
        await collect(agent.send(None, "My boat is called Heron."))
        events = await collect(agent.send(None, "What is my boat called?"))
        (recalled,) = [each for each in events if isinstance(each, RecallDone)]
        (end,) = [each for each in events if isinstance(each, ReplyEnded)]
        assert (end.text, end.error) == ("Nice.", None)
        assert ["Heron" in hit.text for hit in recalled.hits] == [True]
        assert len(served.asked) <= 2


# -- loading, and keys


def settings_for(*servers: EmbeddingServer) -> Settings:
    return Settings(servers={"den": Server(address=[each.address for each in servers])})


async def loaded_from(*servers: EmbeddingServer) -> LoadedEmbedder:
    load = llama_embedder_loader(Home.resolve(), settings_for(*servers))
    found = await asyncio.to_thread(load, f"{MODEL}@den")
    await found.embedder.close()
    return found


async def test_a_model_of_the_catalogue_is_used_as_its_makers_say_also_on_a_server(memory: Memory) -> None:
    say(memory, "Ada sings")
    async with embedding_server() as server:
        load = llama_embedder_loader(Home.resolve(), settings_for(server))
        made = Embedding(memory, load, lambda notice: None, name=f"{MODEL}@den")
        made.start()
        try:
            assert await made.ready()
            await made.idle()
            vector = await made.query("who sings?")
            assert vector is not None
            assert (vector.zero, vector.slope, vector.model) == (0.4, 1.6, made.key)
            assert server.batches[-2:] == [["search_document: Ada sings"], ["search_query: who sings?"]]
            assert missing(memory, vector.model) == []
        finally:
            await made.close()


async def test_the_key_stays_with_the_model_and_changes_with_it() -> None:
    async with embedding_server() as server, embedding_server() as other:
        first = (await loaded_from(server)).key
        assert first.startswith(f"den/{MODEL}@")
        assert (await loaded_from(server)).key == first
        keys = {first, (await loaded_from(other)).key}
        server.salt = "another model "
        keys.add((await loaded_from(server)).key)
        server.dimension = 32
        keys.add((await loaded_from(server)).key)
        assert len(keys) == 4
        server.salt, server.dimension = "", 16
        assert (await loaded_from(server)).key == first
        assert (await loaded_from(server, other)).key == first


def test_a_key_outlives_the_roundings_of_a_server(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    probe = random.normal(size=384)
    keys = set()
    for _ in range(20):
        noisy = probe + random.normal(scale=0.002, size=384)
        keys.add(served_key(tmp_path / "k.json", "m@den", URL, (noisy / np.linalg.norm(noisy)).astype(np.float32)))
    assert len(keys) == 1


def test_what_keys_were_made_with_may_be_lost_damaged_or_not_written(tmp_path: Path) -> None:
    probe, file = np.array([0.6, 0.8], np.float32), tmp_path / "k.json"
    key = served_key(file, "m@den", URL, probe)
    for kept in ("", "{", "[]", f'{{"{key}": "x"}}', f'{{"{key}": [[1], 2]}}', f'{{"{key}": [1e999, 0]}}'):
        file.write_text(kept)
        assert served_key(file, "m@den", URL, probe) == key
    assert served_key(tmp_path / "none" / "k.json", "m@den", URL, probe) == key
    assert served_key(file, "m@den", URL, probe, "passage: ") != key
    for number in range(KEPT + 3):
        served_key(file, f"m{number}@den", URL, probe)
    assert key not in file.read_text()
