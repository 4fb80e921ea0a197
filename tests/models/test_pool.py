"""Several real llama-servers as one model: where a chat goes, that it moves when a server dies, and with what."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest
from pydantic import BaseModel

from models.errors import EngineClosed, ServerError, ServerRefused
from models.protocols import Finished, Generator, Piece, SamplingParams
from models.servers.address import ServerAddress, checked_address
from models.servers.chat_completions import ChatServerGenerator
from models.servers.connecting import connect
from models.servers.llama_generator import LlamaServerGenerator
from models.servers.pool import PoolGenerator
from tests.models.llama_server import serving
from tests.models.test_generator import GREEDY, collect
from tests.models.test_llama_generator import opening

pytestmark = pytest.mark.model
MODEL = "SmolLM2-135M-Instruct.Q4_1"
LONG = "The ferry leaves at nine, and the market opens before that. " * 12


class Bird(BaseModel):
    bird: bool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slots")


@pytest.fixture(scope="module")
def addresses(chat_gguf: Path, folder: Path) -> Iterator[list[ServerAddress]]:
    with ExitStack() as stack:
        urls = [stack.enter_context(serving(chat_gguf, states=folder)) for _ in range(2)]
        yield [checked_address("den", url) for url in urls]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as made:
        yield made


async def made(
    stack: AsyncExitStack, addresses: Sequence[ServerAddress], *, states: bool = False, model: str = MODEL
) -> Generator:
    generator = await asyncio.to_thread(
        connect, addresses, model, name=f"{model}@den", context=8192, shared_states=states, owner="test"
    )
    stack.push_async_callback(generator.close)
    return generator


async def test_one_address_is_that_server(stack: AsyncExitStack, addresses: list[ServerAddress]) -> None:
    generator = await made(stack, addresses[:1])
    assert isinstance(generator, LlamaServerGenerator)
    assert generator.info.name == f"{MODEL}@den"


async def test_a_llama_server_is_spoken_to_in_the_common_way_where_that_is_said(
    stack: AsyncExitStack, addresses: list[ServerAddress]
) -> None:
    generator = await asyncio.to_thread(connect, addresses[:1], MODEL, name=f"{MODEL}@den", context=8192, kind="openai")
    stack.push_async_callback(generator.close)
    assert isinstance(generator, ChatServerGenerator)
    *_, text, finished = await collect(generator, opening(generator, "Name a sea."))
    assert text
    assert finished.prompt_tokens > 4


async def test_a_model_that_the_server_has_not_is_told_with_those_it_has(
    stack: AsyncExitStack, addresses: list[ServerAddress]
) -> None:
    with pytest.raises(ServerRefused, match=f"no model “other”; it has {MODEL}"):
        await made(stack, addresses[:1], model="other")


async def test_a_chat_stays_with_its_server_and_chats_spread(
    stack: AsyncExitStack, addresses: list[ServerAddress]
) -> None:
    pool = await made(stack, addresses)
    assert isinstance(pool, PoolGenerator)
    homes: dict[str, set[str]] = {}
    for _ in range(2):
        for name in "abcdefgh":
            await collect(pool, opening(pool, f"Chat {name}."), SamplingParams(max_tokens=1))
            homes.setdefault(name, set()).add(pool._current.host)
    assert all(len(each) == 1 for each in homes.values())
    assert len(set().union(*homes.values())) == 2


async def test_a_chat_moves_when_its_server_is_gone_and_another_takes_what_it_had(
    stack: AsyncExitStack, chat_gguf: Path, addresses: list[ServerAddress], folder: Path
) -> None:
    with serving(chat_gguf, states=folder) as dying:
        pool = await made(stack, [checked_address("den", dying), addresses[0]], states=True)
        assert isinstance(pool, PoolGenerator)
        number = 0
        while True:  # a chat whose server is the one that dies
            log = opening(pool, f"{LONG} Chat {number}.")
            tokens, *_ = await collect(pool, log, GREEDY)
            if pool._current is pool.members[0]:
                break
            number += 1
        await asyncio.gather(*pool._kept)
    prompt = [*log, *tokens, *pool.reply_close(), *opening(pool, "Go on.", first=False)]
    _, text, finished = await collect(pool, prompt, GREEDY)
    assert text
    assert pool._current is pool.members[1]
    assert finished.evaluated_tokens <= len(prompt) // 10
    *_, finished = await collect(pool, opening(pool, "Another chat."), GREEDY)
    assert finished.reason in ("end", "length")


async def test_what_was_written_down_of_chats_is_written_over_at_the_end(
    stack: AsyncExitStack, addresses: list[ServerAddress], folder: Path
) -> None:
    pool = await made(stack, addresses, states=True)
    assert isinstance(pool, PoolGenerator)
    await collect(pool, opening(pool, LONG), GREEDY)
    await asyncio.gather(*pool._kept)
    written = [each for each, size in sizes(folder) if size > 1 << 20]
    assert written
    await pool.close()
    assert [size for _, size in sizes(folder) if size > 1 << 10] == []


def sizes(folder: Path) -> list[tuple[str, int]]:
    return [(each.name, each.stat().st_size) for each in folder.glob("clew-test-*.bin")]


async def test_a_reply_that_was_begun_is_not_begun_again_elsewhere(
    stack: AsyncExitStack, chat_gguf: Path, addresses: list[ServerAddress]
) -> None:
    with serving(chat_gguf) as dying:
        pool = await made(stack, [checked_address("den", dying), addresses[0]])
        assert isinstance(pool, PoolGenerator)
        pool.members[1].down_until = float("inf")
        steps = pool.generate(opening(pool, "Tell a long story."), SamplingParams(max_tokens=3000, seed=1))
        assert isinstance(await anext(steps), Piece)
        pool.members[1].down_until = 0.0
    with pytest.raises(ServerError):
        [step async for step in steps]
    *_, finished = await collect(pool, opening(pool, "Tell a short one."), GREEDY)
    assert isinstance(finished, Finished)


async def test_background_work_goes_to_a_server_that_is_there(
    stack: AsyncExitStack, chat_gguf: Path, addresses: list[ServerAddress]
) -> None:
    with serving(chat_gguf) as dying:
        pool = await made(stack, [checked_address("den", dying), addresses[0]])
    for number in range(4):  # some of which would go to the one that is gone
        prompt = opening(pool, f"Is {number} a bird? As JSON.")
        assert isinstance(await pool.structured(prompt, Bird), Bird)
        assert await pool.prefill(prompt)


async def test_none_that_answers_is_told_once_for_all(stack: AsyncExitStack, chat_gguf: Path) -> None:
    with serving(chat_gguf) as one, serving(chat_gguf) as other:
        pool = await made(stack, [checked_address("den", one), checked_address("den", other)])
        prompt = opening(pool, "Hello.")
    with pytest.raises(ServerError, match="nobody answers"):
        await collect(pool, prompt)
    with pytest.raises(ServerError, match="nobody answers"):
        await made(stack, [checked_address("den", one), checked_address("den", other)])
    await pool.close()
    with pytest.raises(EngineClosed):
        await collect(pool, prompt)
