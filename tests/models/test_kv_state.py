"""A KV state of the real model: taken, put back, and worth the same as what was evaluated."""

import asyncio
from dataclasses import replace
from pathlib import Path

from models.generator import LlamaGenerator
from models.protocols import SamplingParams
from models.states import KVStates
from tests.models.test_generator import collect, long_prompt, opening

GREEDY = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=6)


def asked(generator: LlamaGenerator, salt: str) -> list[int]:
    return [*long_prompt(generator, 110, salt), *generator.frame("user", "Why?"), *generator.reply_open()]


async def test_from_disk_tokens_are_the_same(generator: LlamaGenerator, fresh: LlamaGenerator, tmp_path: Path) -> None:
    prompt = asked(generator, "disk ")
    tokens, _, _ = await collect(generator, prompt, GREEDY)
    further = [*prompt, *tokens, *generator.reply_close(), *opening(generator, "And then?")]
    state = await generator.take_state(further)
    assert state is not None
    assert state.tokens == tuple(further[: len(state.tokens)])
    assert len(state.tokens) >= len(prompt)
    states = KVStates(tmp_path, limit=1 << 30)
    assert states.save("A", generator.state_key, state, {})
    expected, _, _ = await collect(generator, further, GREEDY)

    assert fresh.state_key == generator.state_key
    kept = states.find("A", fresh.state_key)
    assert kept is not None
    back = states.read(kept)
    assert back is not None
    assert await fresh.put_state(back)
    assert fresh.warm(further) == len(state.tokens)
    got, _, finished = await collect(fresh, further, GREEDY)
    assert got == expected
    assert finished.evaluated_tokens == len(further) - len(state.tokens)


async def test_what_was_evaluated_beyond_the_tokens_is_not_in_the_state(generator: LlamaGenerator) -> None:
    prompt = asked(generator, "beyond ")
    await collect(generator, prompt, GREEDY)
    state = await generator.take_state(prompt[:80])
    assert state is not None
    assert state.tokens == tuple(prompt[:80])
    assert generator.warm(prompt) == 80


async def test_what_only_begins_alike_is_neither_cut_nor_taken_for_it(fresh: LlamaGenerator) -> None:
    prompt = asked(fresh, "mine ")
    await collect(fresh, prompt, GREEDY)
    other = [*prompt[:40], *fresh.frame("user", "Something else, from long ago. " * 12)]
    assert await fresh.take_state(other) is None
    assert fresh.warm(prompt) == len(prompt) - 1


async def test_a_state_put_back_leaves_the_front_or_goes_on(generator: LlamaGenerator, fresh: LlamaGenerator) -> None:
    first, second = asked(fresh, "one "), asked(fresh, "other ")
    await collect(fresh, first, GREEDY)
    state = await fresh.take_state(first)
    assert state is not None
    await collect(fresh, second, GREEDY)
    assert await fresh.put_state(state)
    assert fresh.warm(first) == len(first) - 1
    assert fresh.warm(second) == len(second) - 1
    # One that goes on with what is in front leaves what is behind it.
    longer = [*first, *fresh.frame("user", "And then? " * 10)]
    await collect(generator, longer, GREEDY)
    state = await generator.take_state(longer)
    assert state is not None
    assert fresh.keeps(second, longer, "put_state")
    assert await fresh.put_state(state)
    assert fresh.warm(longer) == len(longer) - 1
    assert fresh.warm(second) == len(second) - 1


async def test_nothing_is_taken_where_nothing_fits(fresh: LlamaGenerator) -> None:
    assert await fresh.take_state([]) is None
    assert await fresh.take_state([1, 2, 3]) is None
    await collect(fresh, opening(fresh), GREEDY)
    assert await fresh.take_state([*opening(fresh)[1:]]) is None


async def test_a_state_that_does_not_fit_is_refused_and_the_model_goes_on(fresh: LlamaGenerator) -> None:
    prompt = opening(fresh)
    expected, _, _ = await collect(fresh, prompt, GREEDY)
    state = await fresh.take_state(prompt)
    assert state is not None
    for keep in (0, 3, 40, -1):
        assert not await fresh.put_state(replace(state, data=state.data[:keep]))
        assert not await fresh.put_state(replace(state, tokens=(1,) * 5000))
        assert (await collect(fresh, prompt, GREEDY))[0] == expected


async def test_a_state_is_taken_while_the_background_works(fresh: LlamaGenerator) -> None:
    prompt = asked(fresh, "beside ")
    await collect(fresh, prompt, GREEDY)
    working = asyncio.create_task(fresh.prefill(long_prompt(fresh, 160, "background ")))
    await asyncio.sleep(0)
    state = await fresh.take_state(prompt)
    assert state is not None
    assert len(state.tokens) == len(prompt)
    assert await working


async def test_a_prefill_that_only_goes_on_needs_no_second_context(fresh: LlamaGenerator) -> None:
    prompt = asked(fresh, "on ")
    await collect(fresh, prompt[:-20], SamplingParams(temperature=0, max_tokens=1))
    assert await fresh.prefill(prompt)
    assert fresh.warm([*prompt, 1]) == len(prompt)
    assert fresh.contexts._back is None
