"""A reply under a schema is streamed from the warm foreground, and is JSON of that schema."""

from collections.abc import Sequence
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from models.errors import StructuredOutputError
from models.generator import LlamaGenerator
from models.protocols import Finished, Generator, SamplingParams
from models.sampling import GrammarSampler
from tests.fakes import FakeGenerator

GREEDY = SamplingParams(temperature=0, max_tokens=100)


class Search(BaseModel):
    tool: Literal["search_memory", "recent_conversations"]
    query: str = Field(max_length=40)


class Echo(BaseModel):
    text: Literal['a "quoted" \\ back\nslash <|im_end|> {é🌊}']


async def ask(
    generator: Generator, prompt: Sequence[int], schema: type[BaseModel] | None, params: SamplingParams = GREEDY
) -> tuple[list[int], str, Finished]:
    tokens, text = list[int](), ""
    async for item in generator.generate(prompt, params, schema=schema):
        if isinstance(item, Finished):
            return tokens, text, item
        tokens += item.tokens
        text += item.text
    raise AssertionError("no Finished came")


def opening(generator: LlamaGenerator, text: str) -> list[int]:
    return [*generator.frame("user", text, first=True), *generator.reply_open()]


async def test_a_reply_under_a_schema_is_json_of_it(generator: LlamaGenerator) -> None:
    tokens, text, finished = await ask(generator, opening(generator, "Look for the tide pools."), Search)
    assert Search.model_validate_json(text).tool in ("search_memory", "recent_conversations")
    assert generator.detokenize(tokens) == text
    assert (finished.reason, finished.completion_tokens) == ("end", len(tokens))


async def test_it_uses_the_warm_prefix_and_leaves_one(generator: LlamaGenerator) -> None:
    prompt = opening(generator, "What is the deepest sea of all? Tell me in a word.")
    tokens, _, _ = await ask(generator, prompt, None)
    asked = [*prompt, *tokens, *generator.reply_close(), *generator.frame("user", "Search."), *generator.reply_open()]
    decided, _, finished = await ask(generator, asked, Search)
    assert finished.evaluated_tokens <= len(asked) - len(prompt) - len(tokens) + 1
    after = [*asked, *decided, *generator.reply_close(), *generator.reply_open()]
    _, _, last = await ask(generator, after, None)
    assert last.evaluated_tokens <= len(generator.reply_close()) + len(generator.reply_open()) + 1


async def test_special_characters_come_escaped_and_whole(generator: LlamaGenerator) -> None:
    params = SamplingParams(max_tokens=200)
    _, text, finished = await ask(generator, opening(generator, "Say it."), Echo, params)
    assert finished.reason == "end"
    Echo.model_validate_json(text)


def test_no_control_token_gets_into_a_string(generator: LlamaGenerator) -> None:
    start = next(token for token, text in generator.contexts.vocabulary._marked.items() if text == "<|im_start|>")
    never = generator.contexts.vocabulary.never_in_text
    assert start in never
    sampler = GrammarSampler(generator.contexts.model, r'root ::= [^"]+', never=never)
    try:
        assert sampler._allowed([(start, 1.0)]) == start  # the grammar alone would let it in
        generator.contexts.front.extend(generator.frame("user", "x"))
        assert sampler.sample(generator.contexts.front) not in never
    finally:
        sampler.free()


async def test_a_limit_ends_it_with_the_reason_told(generator: LlamaGenerator) -> None:
    _, _, finished = await ask(generator, opening(generator, "Hm."), Search, SamplingParams(max_tokens=2))
    assert finished.reason == "length"


async def test_the_fake_says_its_structured_replies_apart_from_the_others() -> None:
    fake = FakeGenerator("Plain.", structured_replies=[Search(tool="search_memory", query="owls"), '{"broken'])
    prompt = fake.frame("user", "Hello", first=True)
    assert Search.model_validate_json((await ask(fake, prompt, Search))[1]).query == "owls"
    assert (await ask(fake, prompt, None))[1] == "Plain."
    assert (await ask(fake, prompt, Search))[1] == '{"broken'
    with pytest.raises(StructuredOutputError):
        await ask(fake, prompt, Search)
