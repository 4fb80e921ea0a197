"""Tokens a second of clew's streams over a bare llama.cpp decode loop of the same model, sampler and threads.

`python -m bench.throughput [--json]`. The two take turns, so that whatever else the machine does falls on both; the
figure is the median of the rounds' ratios.
"""

import argparse
import asyncio
import ctypes
import json
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from models.generator import LlamaGenerator, load_generator
from models.loading import physical_cores
from models.native import AbortFlag, NativeContext, library
from models.protocols import Finished, SamplingParams
from models.sampling import Sampler

TOKENS = 96
ROUNDS = 9
CONTEXT = 2048
# The same seed draws the same tokens in both, so they decode at the same depths; one that ends early is only shorter.
PARAMS = SamplingParams(temperature=0.8, seed=7, max_tokens=TOKENS)
QUESTION = "Describe a long walk through a large city, street by street, in great detail."


class RawLoop:
    """What llama.cpp's own examples do: sample, decode, nothing else, in the thread that asks."""

    def __init__(self, generator: LlamaGenerator) -> None:
        context = NativeContext.make(generator.model, AbortFlag(), size=CONTEXT, threads=physical_cores())
        if context is None:
            raise SystemExit("There is no memory for a second context.")
        self._context = context
        self._generator = generator

    def tokens_per_second(self, prompt: list[int]) -> float:
        c, handle = library(), self._context.handle
        self._context.keep_common(prompt)
        self._context.extend(prompt[len(self._context.tokens) :])
        sampler = Sampler(self._generator.model, PARAMS)
        token = (ctypes.c_int32 * 1)()
        batch = c.llama_batch_get_one(token, 1)
        start = perf_counter()
        for _ in range(TOKENS - 1):
            token[0] = c.llama_sampler_sample(sampler.chain, handle, -1)
            c.llama_decode(handle, batch)
        c.llama_sampler_sample(sampler.chain, handle, -1)
        seconds = perf_counter() - start
        sampler.free()
        c.llama_memory_seq_rm(c.llama_get_memory(handle), 0, len(prompt), -1)
        return TOKENS / seconds


async def stream(generator: LlamaGenerator, prompt: list[int]) -> float:
    """Tokens a second of the asynchronous stream, first token included, prompt evaluation not."""
    await generator.prefill(prompt)
    start = perf_counter()
    async for item in generator.generate(prompt, PARAMS):
        if isinstance(item, Finished):
            return item.completion_tokens / (perf_counter() - start)
    raise AssertionError("no Finished came")


def default_model() -> Path:
    """The default chat model in CLEW_MODELS, or where clew keeps it."""
    from platformdirs import user_data_path

    from models.store import DEFAULT_CHAT, ModelStore

    folder = os.environ.get("CLEW_MODELS")
    return ModelStore(Path(folder) if folder else user_data_path("clew") / "models").path(DEFAULT_CHAT)


def measure_generator(generator: LlamaGenerator, *, rounds: int = ROUNDS) -> dict[str, float]:
    """`raw_tps`, `stream_tps` (medians, tokens a second) and `stream_ratio`."""
    raw_loop = RawLoop(generator)
    prompt = [*generator.frame("user", QUESTION, first=True), *generator.reply_open()]
    raw, streamed = list[float](), list[float]()
    for number in range(rounds):
        measures: list[Callable[[], None]] = [
            lambda: raw.append(raw_loop.tokens_per_second(prompt)),
            lambda: streamed.append(asyncio.run(stream(generator, prompt))),
        ]
        for measure in measures if number % 2 else reversed(measures):
            measure()
    ratios = [ours / bare for ours, bare in zip(streamed, raw, strict=True)]
    return {
        "raw_tps": round(statistics.median(raw), 2),
        "stream_tps": round(statistics.median(streamed), 2),
        "stream_ratio": round(statistics.median(ratios), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat object")
    parser.add_argument("--model", type=Path, help="a GGUF; the default chat model otherwise")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    generator = load_generator(options.model or default_model(), name="bench", context=CONTEXT)
    figures = measure_generator(generator, rounds=options.rounds)
    asyncio.run(generator.close())
    print(json.dumps(figures) if options.json else "\n".join(f"{key:14} {value}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
