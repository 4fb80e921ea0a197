"""The generator on the real small model: streaming, the reuse of the KV cache, stopping, background work."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import pytest
from pydantic import BaseModel

from models.errors import ContextFull, EngineClosed
from models.generator import LlamaGenerator, load_generator
from models.protocols import Finished, Generator, KVState, Piece, SamplingParams

GREEDY = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=8)
SEA = "The sea is wide and blue and deep. "


async def collect(
    generator: Generator, prompt: Sequence[int], params: SamplingParams = GREEDY, schema: type[BaseModel] | None = None
) -> tuple[Any, ...]:
    """The reply's tokens, its text and how it ended."""
    tokens, text = list[int](), ""
    async for item in generator.generate(prompt, params, schema=schema):
        if isinstance(item, Finished):
            return tokens, text, item
        tokens += item.tokens
        text += item.text
    raise AssertionError("no Finished came")


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that the engine's thread does."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the engine sends no word of every batch
            await asyncio.sleep(0.002)


def opening(generator: LlamaGenerator, text: str = "Name three seas.") -> list[int]:
    return [
        *generator.frame("system", "You answer shortly.", first=True),
        *generator.frame("user", text),
        *generator.reply_open(),
    ]


def long_prompt(generator: LlamaGenerator, tokens: int, salt: str) -> list[int]:
    """A prompt of about `tokens` tokens that shares nothing with others."""
    return generator.frame("system", salt + SEA * (tokens // 9), first=True)


def test_the_generator_is_what_the_protocol_says(generator: LlamaGenerator) -> None:
    checked: Generator = generator
    assert checked.info.context == 4096
    assert checked.info.architecture == "llama"
    assert checked.info.size == checked.info.path.stat().st_size


async def test_a_reply_streams_the_same_text_as_its_tokens_spell(generator: LlamaGenerator) -> None:
    tokens, text, finished = await collect(generator, opening(generator))
    assert generator.detokenize(tokens) == text != ""
    assert finished.completion_tokens == len(tokens) <= 8
    assert finished.prompt_tokens == len(opening(generator))
    assert 0 < finished.first_token_ms <= finished.total_ms


async def test_greedy_replies_are_the_same_with_and_without_a_warm_cache(generator: LlamaGenerator) -> None:
    for words in ("cold", "colder"):  # one for each context
        await generator.prefill(long_prompt(generator, 100, words))
    cold = await collect(generator, opening(generator))
    warm = await collect(generator, opening(generator))
    assert cold[0] == warm[0]
    assert (cold[2].evaluated_tokens > 10, warm[2].evaluated_tokens) == (True, 1)


async def test_a_long_prompt_tells_how_far_it_is_read_and_a_short_one_does_not(generator: LlamaGenerator) -> None:
    read: list[tuple[int, int]] = []

    async def ask(prompt: list[int]) -> Finished:
        params = SamplingParams(max_tokens=1)
        items = [item async for item in generator.generate(prompt, params, progress=lambda *far: read.append(far))]
        assert isinstance(items[-1], Finished)
        return items[-1]

    finished = await ask([*long_prompt(generator, 300, "How far? "), *generator.reply_open()])
    assert read == sorted(read)
    assert {total for _, total in read} == {finished.evaluated_tokens}
    assert 0 < read[0][0] < finished.evaluated_tokens
    read.clear()
    await ask(opening(generator))
    assert read == []


async def test_a_seed_gives_the_same_reply_again_and_another_seed_another(generator: LlamaGenerator) -> None:
    def seeded(seed: int) -> SamplingParams:
        return SamplingParams(temperature=1.5, seed=seed, max_tokens=10)

    first, again, other = [(await collect(generator, opening(generator), seeded(seed)))[0] for seed in (7, 7, 8)]
    assert first == again != other


async def test_a_prompt_that_appends_to_the_last_one_evaluates_only_what_is_new(generator: LlamaGenerator) -> None:
    prompt = opening(generator)
    tokens, _, finished = await collect(generator, prompt, SamplingParams(temperature=0, max_tokens=10))
    new = [*generator.reply_close(), *generator.frame("user", "And three rivers?"), *generator.reply_open()]
    _, _, second = await collect(generator, [*prompt, *tokens, *new])
    unevaluated = 1 if finished.reason == "length" else 0  # the token that reached the limit was only sampled
    assert second.evaluated_tokens == len(new) + unevaluated


async def test_a_prompt_that_departs_evaluates_from_the_first_other_token(generator: LlamaGenerator) -> None:
    prompt = opening(generator)
    await collect(generator, prompt)
    changed = [*prompt]
    changed[10] = changed[10] + 1
    _, _, finished = await collect(generator, changed)
    assert finished.evaluated_tokens == len(prompt) - 10


async def test_a_reply_ends_at_its_limit_or_at_the_end_of_the_context(generator: LlamaGenerator) -> None:
    _, _, finished = await collect(generator, opening(generator), SamplingParams(temperature=0, max_tokens=3))
    assert (finished.reason, finished.completion_tokens) == ("length", 3)
    with pytest.raises(ContextFull) as caught:
        await collect(generator, [5] * 4096)
    assert caught.value.context == 4096
    with pytest.raises(ContextFull):
        await collect(generator, [])


async def test_stop_ends_a_reply_and_still_tells_how_it_ended(generator: LlamaGenerator) -> None:
    said, finished = 0, None
    endless = SamplingParams(temperature=1.2, max_tokens=2000, seed=1)
    async for item in generator.generate(opening(generator, "Write a very long story."), endless):
        if isinstance(item, Piece):
            said += len(item.tokens)
            generator.stop()
        else:
            finished = item
    assert finished is not None
    assert (finished.reason, finished.completion_tokens) == ("stopped", said)


async def test_stop_in_the_middle_of_a_prompt_keeps_what_was_evaluated(generator: LlamaGenerator) -> None:
    prompt = long_prompt(generator, 2000, "stop ")
    running = asyncio.create_task(collect(generator, prompt))
    await until(lambda: generator.contexts.front.tokens[:8] == prompt[:8])
    generator.stop()
    tokens, _, finished = await running
    assert (tokens, finished.reason, finished.first_token_ms) == ([], "stopped", None)
    assert 0 < finished.evaluated_tokens < len(prompt)
    kept = len(generator.contexts.front.tokens)
    _, _, rest = await collect(generator, prompt[: kept + 40])
    assert rest.evaluated_tokens == 40


async def test_who_closes_the_iterator_or_is_cancelled_frees_the_foreground(generator: LlamaGenerator) -> None:
    stream = generator.generate(opening(generator, "Tell a long tale."), SamplingParams(max_tokens=3000))
    await anext(stream)
    await stream.aclose()
    running = asyncio.create_task(collect(generator, long_prompt(generator, 3000, "cancel ")))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    tokens, _, finished = await collect(generator, opening(generator))
    assert finished.reason in ("length", "end")
    assert tokens


async def test_a_prefill_yields_to_the_foreground_and_becomes_its_prompt(generator: LlamaGenerator) -> None:
    chat, prompt = opening(generator), long_prompt(generator, 400, "yield ")
    await collect(generator, chat)
    back = generator.contexts.back()
    assert back is not None
    filling = asyncio.create_task(generator.prefill(prompt))
    await until(lambda: back.tokens[:8] == prompt[:8])
    tokens, _, finished = await collect(generator, chat)
    assert finished.evaluated_tokens == 1  # the foreground's cache was left alone
    assert tokens
    assert not filling.done()
    assert await filling
    _, _, after = await collect(generator, [*prompt, *generator.reply_open()])
    assert after.evaluated_tokens == len(generator.reply_open())
    assert not await generator.prefill([5] * 4096)


async def test_a_cancelled_prefill_leaves_the_foreground_and_resumes_where_it_was(generator: LlamaGenerator) -> None:
    chat = opening(generator)
    await collect(generator, chat)
    prompt = long_prompt(generator, 300, "resume ")
    filling = asyncio.create_task(generator.prefill(prompt))
    back = generator.contexts.back()
    assert back is not None
    await until(lambda: back.tokens[:8] == prompt[:8])
    filling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await filling
    _, _, finished = await collect(generator, chat)
    assert finished.evaluated_tokens == 1
    assert back.tokens[:8] == prompt[:8]
    assert await generator.prefill(prompt)
    assert generator.contexts.front is back


async def test_a_prompt_that_is_half_evaluated_behind_the_foreground_is_gone_on_with(generator: LlamaGenerator) -> None:
    one, other = opening(generator, "The first chat."), long_prompt(generator, 100, "other ")
    await collect(generator, one)
    assert await generator.prefill(other)
    _, _, back_to_one = await collect(generator, one)
    assert back_to_one.evaluated_tokens == 1
    _, _, back_to_other = await collect(generator, [*other, *generator.reply_open()])
    assert back_to_other.evaluated_tokens == len(generator.reply_open())


async def test_two_replies_asked_at_once_come_one_after_the_other(generator: LlamaGenerator) -> None:
    both = await asyncio.gather(collect(generator, opening(generator)), collect(generator, opening(generator, "Hi")))
    assert [len(tokens) > 0 for tokens, _, _ in both] == [True, True]


async def test_pieces_cross_to_the_event_loop_in_batches(generator: LlamaGenerator) -> None:
    pieces = list[Piece]()
    start = perf_counter()
    async for item in generator.generate(opening(generator, "Count to fifty."), SamplingParams(max_tokens=20, seed=2)):
        if isinstance(item, Piece):
            pieces.append(item)
    assert len(pieces[0].tokens) == 1
    assert len(pieces) <= 3 + (perf_counter() - start) / 0.033


async def test_a_closed_generator_says_so_and_whoever_waits_hears_it(chat_gguf: Any, tmp_path: Any) -> None:
    memo = tmp_path / "probed.json"
    generator = await asyncio.to_thread(load_generator, chat_gguf, name="x", context=2048, memo=memo)
    reply = asyncio.create_task(
        collect(generator, opening(generator, "A long story."), SamplingParams(max_tokens=1500))
    )
    filling = asyncio.create_task(generator.prefill(long_prompt(generator, 1500, "closed ")))
    await asyncio.sleep(0.05)
    await generator.close()
    await generator.close()
    assert (await reply)[2].reason == "stopped"
    with pytest.raises(EngineClosed):
        await filling
    with pytest.raises(EngineClosed):
        await collect(generator, [1])
    with pytest.raises(EngineClosed):
        await generator.take_state([1, 2])
    with pytest.raises(EngineClosed):
        await generator.put_state(KVState((1,), memoryview(b"x")))
    with pytest.raises(EngineClosed):
        generator.tokenize("x")
    assert memo.exists()


def test_the_generator_works_in_one_event_loop_after_another(generator: LlamaGenerator) -> None:
    first = asyncio.run(collect(generator, opening(generator)))
    assert asyncio.run(collect(generator, opening(generator)))[0] == first[0]
