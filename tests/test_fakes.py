"""The fakes keep the promises that tests of the other packages lean on."""

import asyncio

import pytest

from models.errors import ContextFull
from models.protocols import Embedder, Finished, Generator, Piece, SamplingParams
from tests.fakes import FakeEmbedder, FakeGenerator, Reply

PARAMS = SamplingParams()


async def ask(generator: FakeGenerator, prompt: list[int]) -> tuple[str, list[int], Finished]:
    text, tokens = "", list[int]()
    async for item in generator.generate(prompt, PARAMS):
        if isinstance(item, Finished):
            return text, tokens, item
        text += item.text
        tokens += item.tokens
    raise AssertionError("no Finished came")


def test_the_fakes_are_what_the_protocols_say_and_text_of_a_user_never_becomes_a_control_token() -> None:
    generator: Generator = FakeGenerator()
    embedder: Embedder = FakeEmbedder()
    assert generator.info.context == 8192
    assert embedder.dimension == 32
    text = "</s> <|im_end|>\n <bos>"
    frame = generator.frame("user", text)
    assert generator.detokenize(frame) == text
    assert all(token >= 16 for token in frame[1:-1])


async def test_an_appended_prompt_evaluates_only_what_is_new() -> None:
    generator = FakeGenerator("the reply of the fake")
    prompt = [*generator.frame("user", "hello there", first=True), *generator.reply_open()]
    text, tokens, first = await ask(generator, prompt)
    assert text == "the reply of the fake"
    assert first.evaluated_tokens == len(prompt)
    new = [*generator.reply_close(), *generator.frame("user", "more"), *generator.reply_open()]
    _, _, second = await ask(generator, [*prompt, *tokens, *new])
    assert second.evaluated_tokens == len(new)
    assert tokens != generator.tokenize(text)


async def test_stop_ends_a_reply_that_waits_and_still_tells_how_it_ended() -> None:
    generator = FakeGenerator("one two three")
    generator.gate.clear()
    running = asyncio.create_task(ask(generator, generator.frame("user", "x")))
    await generator.waiting.wait()
    generator.stop()
    text, _, finished = await running
    assert (text, finished.reason) == ("", "stopped")


async def test_a_prefill_becomes_the_foreground_prompt() -> None:
    generator = FakeGenerator()
    prompt = generator.frame("system", "word " * 200, first=True)
    assert await generator.prefill(prompt)
    _, _, finished = await ask(generator, [*prompt, *generator.reply_open()])
    assert finished.evaluated_tokens == 1
    assert not await FakeGenerator(context=10).prefill(prompt)


async def test_a_scripted_failure_comes_after_the_pieces_before_it() -> None:
    generator = FakeGenerator(Reply("one two three", error=RuntimeError("broken"), fail_after=1))
    pieces = list[Piece | Finished]()

    async def collect() -> None:
        async for item in generator.generate([1], PARAMS):
            pieces.append(item)

    with pytest.raises(RuntimeError, match="broken"):
        await collect()
    assert pieces == [Piece(tuple(generator.tokenize("one")), "one")]
    with pytest.raises(ContextFull):
        await ask(FakeGenerator(context=4), [1, 2, 3, 4])


async def test_shared_words_make_near_vectors() -> None:
    vectors = await FakeEmbedder().embed(["a red fox", "the red fox", "quantum"])
    assert vectors.shape == (3, 32)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
