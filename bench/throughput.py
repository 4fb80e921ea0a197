"""Tokens a second of clew's streams over a bare llama.cpp decode loop of the same model, sampler and threads.

`python -m bench.throughput [--json]`. Three streams are held against the loop: the generator's, the agent's on a real
memory, and the agent's under the app, mounted at 120×40 and painting. Each takes turns with the loop, so that whatever
else the machine does falls on both; a figure is the median of its rounds' ratios. The loop keeps its threads, clew
may use fewer where that is faster (models/machine.py): `--threads 1` compares at equal ones.
"""

import argparse
import asyncio
import ctypes
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Collection
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeVar, cast

from agent.agent import Agent
from agent.events import ModelProgress, ReplyEnded
from agent.face import Face
from agent.home import Home
from agent.settings import Settings
from bench.report import Figure, report, say
from graph.events import Sampling
from models.generator import LlamaGenerator, load_generator
from models.machine import Paces, physical_cores
from models.native import AbortFlag, NativeContext, library
from models.protocols import Finished, SamplingParams
from models.sampling import Sampler
from models.store import DEFAULT_CHAT, ModelStore
from tui.app import ClewApp
from tui.backstage import Options, RealBackstage

TOKENS = 96
ROUNDS = 9
CONTEXT = 2048
# The same seed draws the same tokens in both, so they decode at the same depths; one that ends early is only shorter.
PARAMS = SamplingParams(temperature=0.8, seed=7, max_tokens=TOKENS)
QUESTION = "Describe a long walk through a large city, street by street, in great detail."

STREAMS = ("generator", "agent", "app")
T = TypeVar("T")


class Pair(NamedTuple):
    """Tokens a second of the rounds, of the loop and of ours."""

    bare: list[float]
    streamed: list[float]


class RawLoop:
    """What llama.cpp's own examples do: sample, decode, nothing else, in the thread that asks."""

    def __init__(self, generator: LlamaGenerator, threads: int) -> None:
        context = NativeContext.make(generator.contexts.model, AbortFlag(), size=CONTEXT, paces=Paces.of(threads))
        if context is None:
            raise SystemExit("There is no memory for a second context.")
        self._context = context
        self._generator = generator

    def tokens_per_second(self, prompt: list[int]) -> float:
        c, handle = library(), self._context.handle
        self._context.keep_common(prompt)
        self._context.extend(prompt[len(self._context.tokens) :])
        sampler = Sampler(self._generator.contexts.model, PARAMS)
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


async def paired(raw_loop: RawLoop, prompt: list[int], ours: Callable[[], Awaitable[float]], rounds: int) -> Pair:
    """Rounds of the loop and of ours, the first to go changing each time."""
    bare, streamed = list[float](), list[float]()
    for number in range(rounds):
        if number % 2:
            streamed.append(await ours())
        bare.append(await asyncio.to_thread(raw_loop.tokens_per_second, prompt))
        if not number % 2:
            streamed.append(await ours())
        say(f"{streamed[-1]:7.1f} of {bare[-1]:7.1f} tokens/s")
    return Pair(bare, streamed)


def speed(reply: ReplyEnded) -> float:
    """Tokens a second of a reply, from its first token on."""
    if reply.first_token_ms is None or reply.completion_tokens < 2:
        raise SystemExit(f"The reply was too short to be timed: {reply}")
    return (reply.completion_tokens - 1) / (reply.total_ms - reply.first_token_ms) * 1000


async def by_agent(agent: Agent) -> float:
    """One exchange in a chat of its own."""
    async for event in agent.send(None, QUESTION):
        if isinstance(event, ReplyEnded):
            await agent.idle()  # its title is made in the background, and is not to be measured with the next
            return speed(event)
    raise SystemExit("The reply did not end.")


async def by_app(app: ClewApp, agent: Agent, ended: asyncio.Queue[ReplyEnded]) -> float:
    """One exchange in a new chat on the screen."""
    await app.open_session(None)
    app.view.composer.put(QUESTION)
    app.view.composer.action_send()
    reply = await ended.get()
    await agent.idle()
    return speed(reply)


class Staged(RealBackstage):
    """The real backstage around an agent that already has its model."""

    def __init__(self, home: Home, agent: Agent) -> None:
        super().__init__(home, Options(home=home.root))
        self.service = cast("Face", agent)


async def mounted(home: Home, agent: Agent, measure: Callable[[ClewApp, asyncio.Queue[ReplyEnded]], Awaitable[T]]) -> T:
    """Measure with the app running at 120×40 on a terminal that nobody sees."""
    ended: asyncio.Queue[ReplyEnded] = asyncio.Queue()

    async def connect() -> Staged:
        return await asyncio.to_thread(Staged, home, agent)

    app = ClewApp(connect, home.cache)
    async with app.run_test(size=(120, 40)) as pilot:
        while app.view.chat is None or not app.view.chat.opened_once:
            await pilot.pause(0.05)
        told = app.view.chat._ended

        def tell(event: ReplyEnded) -> None:
            told(event)
            ended.put_nowait(event)

        app.view.chat._ended = tell
        figures = await measure(app, ended)
        await app.leave()
    return figures


def agent_on(home: Home, generator: LlamaGenerator) -> Agent:
    """An agent whose replies are drawn as the loop's."""
    drawn = {name: value for name, value in asdict(PARAMS).items() if name in Sampling.model_fields}

    def loader(name: str, progress: Callable[[ModelProgress], None]) -> LlamaGenerator:
        return generator

    return Agent(
        home, Settings(sampling=Sampling.model_validate(drawn), offer_model=False), client="bench", loader=loader
    )


async def run(
    load: Callable[[], LlamaGenerator], folder: Path, streams: Collection[str], *, rounds: int, threads: int
) -> dict[str, Figure]:
    """These of the STREAMS; each loads the model anew, as an agent closes the one it was given."""
    figures: dict[str, Figure] = {}

    async def against_loop(name: str, generator: LlamaGenerator, ours: Callable[[], Awaitable[float]]) -> None:
        say(name)
        prompt = [*generator.frame("user", QUESTION, first=True), *generator.reply_open()]
        pair = await paired(RawLoop(generator, threads), prompt, ours, rounds)
        figures[f"{name}_raw_tps"] = statistics.median(pair.bare)
        figures[f"{name}_tps"] = statistics.median(pair.streamed)
        figures[f"{name}_over_raw"] = statistics.median(a / b for a, b in zip(pair.streamed, pair.bare, strict=True))

    if "generator" in streams:
        generator = await asyncio.to_thread(load)
        prompt = [*generator.frame("user", QUESTION, first=True), *generator.reply_open()]
        await against_loop("generator", generator, lambda: stream(generator, prompt))
        await generator.close()
    if "agent" in streams:
        generator = await asyncio.to_thread(load)
        agent = agent_on(Home.resolve(folder / "agent"), generator)
        await agent.start()
        await against_loop("agent", generator, lambda: by_agent(agent))
        await agent.close()
    if "app" in streams:
        generator = await asyncio.to_thread(load)
        home = Home.resolve(folder / "app")
        agent = agent_on(home, generator)
        await mounted(home, agent, lambda app, ended: against_loop("app", generator, lambda: by_app(app, agent, ended)))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat object")
    parser.add_argument("--model", type=Path, help="a GGUF; the default chat model otherwise")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=physical_cores(), help="the loop's; with 1, clew's are the same")
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS, help="only these")
    options = parser.parse_args()
    path = options.model or ModelStore(Home.resolve().models).path(DEFAULT_CHAT)
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        figures = asyncio.run(
            run(
                lambda: load_generator(path, name="bench", context=CONTEXT, threads=options.threads),
                Path(folder),
                options.streams,
                rounds=options.rounds,
                threads=options.threads,
            )
        )
    report(figures, as_json=options.json)


if __name__ == "__main__":
    main()
