"""Several real llama-servers as one model: where a chat goes, that it moves when a server dies, and with what."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pydantic import BaseModel

from models.errors import EngineClosed, ServerError, ServerRefused
from models.protocols import Generator, Piece, SamplingParams
from models.servers.address import ServerAddress, checked_address
from models.servers.chat_completions import ChatServerGenerator
from models.servers.connecting import connect
from models.servers.llama_generator import LlamaServerGenerator
from models.servers.pool import PoolGenerator
from tests.models.chat_server import beside
from tests.models.llama_server import serving
from tests.models.scripted_llama import MODEL as SCRIPTED
from tests.models.scripted_llama import ScriptedLlama
from tests.models.test_generator import GREEDY, collect
from tests.models.test_llama_generator import opening

pytestmark = pytest.mark.model
MODEL = "SmolLM2-135M-Instruct.Q4_1"
LONG = "The ferry leaves at nine, and the market opens before that. " * 6
STORY = SamplingParams(max_tokens=3000, seed=1)


class Bird(BaseModel):
    bird: bool


@pytest.fixture
def addresses(llama_servers: list[str]) -> list[ServerAddress]:
    return [checked_address("den", url) for url in llama_servers]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


async def made(
    stack: AsyncExitStack,
    addresses: Sequence[ServerAddress],
    *,
    states: bool = False,
    model: str = MODEL,
    note: Path = Path(os.devnull),
) -> Generator:
    generator = await asyncio.to_thread(
        connect, addresses, model, name=f"{model}@den", context=8192, shared_states=states, owner="test", note=note
    )
    stack.push_async_callback(generator.close)
    return generator


async def test_one_address_is_that_server_in_either_way(stack: AsyncExitStack, addresses: list[ServerAddress]) -> None:
    generator = await made(stack, addresses[:1])
    assert isinstance(generator, LlamaServerGenerator)
    assert generator.info.name == f"{MODEL}@den"
    common = await asyncio.to_thread(connect, addresses[:1], MODEL, name=f"{MODEL}@den", context=8192, kind="openai")
    stack.push_async_callback(common.close)
    assert isinstance(common, ChatServerGenerator)
    *_, text, finished = await collect(common, opening(common, "Name a sea."))
    assert text
    assert finished.prompt_tokens > 4
    with pytest.raises(ServerRefused, match=f"no model “other”; it has {MODEL}"):
        await made(stack, addresses[:1], model="other")


async def test_a_chat_stays_at_its_server_and_all_spread(stack: AsyncExitStack, addresses: list[ServerAddress]) -> None:
    pool = await made(stack, addresses)
    assert isinstance(pool, PoolGenerator)
    homes: dict[str, set[str]] = {}
    for _ in range(2):
        for name in "abcdefghijkl":
            await collect(pool, opening(pool, f"Chat {name}."), SamplingParams(max_tokens=1))
            homes.setdefault(name, set()).add(pool._current.host)
    assert all(len(each) == 1 for each in homes.values())
    assert len(set().union(*homes.values())) == 2


async def test_when_a_server_dies_another_takes_its_chats_and_its_work_but_no_reply_that_was_begun(
    stack: AsyncExitStack, chat_gguf: Path, addresses: list[ServerAddress], slots_folder: Path
) -> None:
    with serving(chat_gguf, states=slots_folder) as url:
        dying = checked_address("den", url)
        moving, telling, working = [await made(stack, [dying, addresses[0]], states=not n) for n in range(3)]
        alone = await made(stack, [dying])
        assert isinstance(moving, PoolGenerator)
        assert isinstance(telling, PoolGenerator)
        number = 0
        while True:  # a chat whose server is the one that dies
            log = opening(moving, f"{LONG} Chat {number}.")
            tokens, *_ = await collect(moving, log, GREEDY)
            if moving._current is moving.members[0]:
                break
            number += 1
        await asyncio.gather(*moving._kept)
        telling.members[1].down_until = float("inf")
        begun = [telling.generate(opening(telling, "Tell a long story."), STORY)]
        for first in await asyncio.gather(*map(anext, begun)):
            assert isinstance(first, Piece)
            assert first.text
        telling.members[1].down_until = 0.0
    for steps in begun:
        with pytest.raises(ServerError, match="den"):
            [step async for step in steps]
    with pytest.raises(ServerError, match="nobody answers"):
        await collect(alone, opening(alone, "Hello."))
    for pool in (moving, telling):
        *_, finished = await collect(pool, opening(pool, "Another chat."), GREEDY)
        assert finished.reason in ("end", "length")
    prompt = [*log, *tokens, *moving.reply_close(), *opening(moving, "Go on.", first=False)]
    _, text, finished = await collect(moving, prompt, GREEDY)
    assert text
    assert moving._current is moving.members[1]
    assert finished.evaluated_tokens <= len(prompt) - len(log)
    for number in range(4):  # some of which would go to the one that is gone
        asked = opening(working, f"Is {number} a bird? As JSON.")
        assert isinstance(await working.structured(asked, Bird), Bird)
        assert await working.prefill(asked)


async def test_what_was_written_down_of_chats_is_written_over_at_the_end(
    stack: AsyncExitStack, addresses: list[ServerAddress], slots_folder: Path
) -> None:
    pool = await made(stack, addresses, states=True)
    assert isinstance(pool, PoolGenerator)
    await collect(pool, opening(pool, LONG), GREEDY)
    await asyncio.gather(*pool._kept)
    written = [each for each, size in sizes(slots_folder) if size > 1 << 20]
    assert written
    await pool.close()
    assert [size for _, size in sizes(slots_folder) if size > 1 << 10] == []


async def test_what_a_clew_that_was_killed_had_written_down_is_written_over_by_the_next(
    stack: AsyncExitStack, addresses: list[ServerAddress], slots_folder: Path, tmp_path: Path
) -> None:
    note = tmp_path / "slots"
    killed = await made(stack, addresses, states=True, note=note)
    assert isinstance(killed, PoolGenerator)
    for text in (LONG, f"Now {LONG}"):
        await collect(killed, opening(killed, text), GREEDY)
        await asyncio.gather(*killed._kept)
    assert len([size for _, size in sizes(slots_folder) if size > 1 << 20]) == 2
    killed._carrier = None  # it closes without a word to anybody

    pool = await made(stack, addresses, states=True, note=note)
    assert isinstance(pool, PoolGenerator)
    await collect(pool, opening(pool, f"And {LONG}"), GREEDY)
    await asyncio.gather(*pool._kept)
    assert len([size for _, size in sizes(slots_folder) if size > 1 << 10]) == 1, "its own"
    assert note.read_text() == "test\n"
    await pool.close()
    assert note.read_text() == ""


def sizes(folder: Path) -> list[tuple[str, int]]:
    return [(each.name, each.stat().st_size) for each in folder.glob("clew-test-*.bin")]


async def test_none_that_answers_is_told_once_for_all(stack: AsyncExitStack) -> None:
    with beside(ScriptedLlama().answer) as one, beside(ScriptedLlama().answer) as other:
        addresses = [checked_address("den", each.address.removesuffix("/v1")) for each in (one, other)]
        pool = await made(stack, addresses, model=SCRIPTED)
        prompt = opening(pool, "Hello.")
    with pytest.raises(ServerError, match="nobody answers"):
        await collect(pool, prompt)
    with pytest.raises(ServerError, match="nobody answers"):
        await made(stack, addresses, model=SCRIPTED)
    await pool.close()
    with pytest.raises(EngineClosed):
        await collect(pool, prompt)
