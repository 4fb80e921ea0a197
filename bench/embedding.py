"""What import and embedding cost over the raw embedder, and whether the chat stays responsive meanwhile.

`python -m bench.embedding [--turns 10000] [--json]`. The same N turns: once through the embedder alone, in rounds that
are spread over the run, and once as a file that the real Agent imports into a new memory and embeds in the background,
with log and vectors on disk. `embedding_over_raw` is turns a second of the whole, import included, over those of the
embedder alone (bar: .9 at 10,000 turns).

Then, with a backlog again: first tokens, queries' embeddings and the event loop's delay, while batches run and while
the embedder is paused, in turn, so that whatever else the machine does falls on both. The loop's delay is what a
keystroke waits before the application hears of it.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

from agent.agent import Agent
from agent.events import ReplyEnded
from agent.home import Home
from agent.model_host import llama_embedder_loader, llama_loader
from agent.settings import Settings
from bench.report import Figure, percentile, report, say
from graph.events import Sampling
from models.embedder import load_embedder
from models.store import DEFAULT_EMBEDDER, ModelStore

TURNS = 1000
ROUNDS = 4  # of the raw embedder: half before, half after
EXCHANGES = 6  # with and without, in turn
TICK_S = 0.01
WORDS = """
tide pools lighthouse sourdough chess opening volcano bicycle repair owl sailing knot moon mushroom old map violin
bridge glacier bee yesterday we walked along the harbour and talked about what the children should learn next year maybe
music because they like it but she said that the garden needs more water when it does not rain
"""


def said(count: int) -> list[str]:
    """Turns as people say them: mostly one or two sentences, some long; each another."""
    chance, words = random.Random(7), WORDS.split()
    return [
        f"{number}: " + " ".join(chance.choices(words, k=min(150, 4 + int(chance.expovariate(1 / 18)))))
        for number in range(count)
    ]


def write(path: Path, texts: list[str], start: int = 0) -> None:
    """The turns as JSON Lines, twenty to a session."""
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts, start):
            role = ("user", "assistant")[number % 2]
            record = {"role": role, "text": text, "time": 1_700_000_000 + number, "session": str(number // 20)}
            file.write(json.dumps(record) + "\n")


async def raw_speed(path: Path, texts: list[str], rounds: int) -> list[float]:
    """Turns a second of the embedder alone, a share of the texts in each round."""
    embedder = await asyncio.to_thread(load_embedder, path, name="raw")
    speeds = []
    for number in range(rounds):
        share = texts[number :: max(1, rounds)]
        start = time.perf_counter()
        await embedder.embed(share)
        speeds.append(len(share) / (time.perf_counter() - start))
        say(f"raw        {speeds[-1]:8.1f} turns/s")
    await embedder.close()
    return speeds


async def imported(home: Home, settings: Settings, file: Path, count: int) -> tuple[float, float]:
    """Seconds to import and embed a file through the agent, and those of them for the import."""
    agent = Agent(home, settings, client="bench", embedder_loader=llama_embedder_loader(home, settings))
    await agent.start(load_model=False, load_embedder=False, open_graph=False)
    start = time.perf_counter()
    result = await agent.documents.import_chats(file)
    import_s = time.perf_counter() - start
    agent.embed()
    await agent.idle()
    whole_s = time.perf_counter() - start
    key = agent._embedding.key
    done, total = agent._memory.readings.embedded(key) if key else (0, -1)
    await agent.close()
    if (result.new, done) != (count, total):
        raise SystemExit(f"Not everything was imported and embedded: {result}, {done} of {total}")
    say(f"agent      {count / whole_s:8.1f} turns/s ({import_s:.2f} s of {whole_s:.2f} s for the import)")
    return whole_s, import_s


async def first_token(agent: Agent) -> float:
    """Milliseconds from sending a message, in a chat of its own, to the first token."""
    first: float | None = None
    async with aclosing(agent.send(None, "Name one thing that lives in a tide pool.")) as events:
        async for event in events:
            if isinstance(event, ReplyEnded):
                first = event.first_token_ms
    if first is None:
        raise SystemExit("No reply came.")
    return first


async def delayed(work: Awaitable[float]) -> tuple[float, list[float]]:
    """What `work` gives, and by how many ms the event loop was late at each tick meanwhile."""
    late: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            late.append((time.perf_counter() - before - TICK_S) * 1000)

    ticking = asyncio.create_task(tick())
    try:
        return await work, late
    finally:
        ticking.cancel()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def responsive(home: Home, settings: Settings, exchanges: int) -> dict[str, Figure]:
    """The chat on a memory with a backlog, with the embedder at work and paused in turn."""
    agent = Agent(
        home,
        settings,
        client="bench",
        loader=llama_loader(home, settings),
        embedder_loader=llama_embedder_loader(home, settings),
    )
    await agent.start()
    await agent.models.embedder_ready()
    embedding = agent._embedding
    firsts: dict[bool, list[float]] = {True: [], False: []}
    queries: dict[bool, list[float]] = {True: [], False: []}
    late: dict[bool, list[float]] = {True: [], False: []}
    await first_token(agent)  # warms up
    for number in range(2 * exchanges):
        busy = number % 2 == 0
        if busy:
            embedding.resume()
        else:
            embedding.pause()
            await asyncio.sleep(0.5)  # the batch that is being embedded ends
        first, ticks = await delayed(first_token(agent))
        firsts[busy].append(first)
        late[busy] += ticks
        for _ in range(5):
            took, ticks = await delayed(timed(lambda: embedding.query("what did we say about the tide pools")))
            queries[busy].append(took)
            late[busy] += ticks
        say(f"{'batches' if busy else 'paused '}    first token {first:6.1f} ms, query {queries[busy][-1]:6.1f} ms")
    reply = asyncio.create_task(first_token(agent))
    streaming = []
    while not reply.done():
        streaming.append(await timed(lambda: embedding.query("what did we say about the tide pools")))
        await asyncio.sleep(0.05)
    await reply
    key = embedding.key or ""
    done, total = await asyncio.to_thread(agent._memory.readings.embedded, key)
    if done == total:
        say("The backlog was embedded before the end: some of the figures beside batches are of an idle embedder.")
    await agent.close()
    with_batches, without = statistics.median(firsts[True]), statistics.median(firsts[False])
    return {
        "first_token_ms_batches": with_batches,
        "first_token_ms_paused": without,
        "first_token_batches_over_paused": with_batches / without,
        "query_ms_batches": statistics.median(queries[True]),
        "query_ms_paused": statistics.median(queries[False]),
        "query_ms_streaming": statistics.median(streaming),
        "loop_late_ms_p95_batches": percentile(late[True], 0.95),
        "loop_late_ms_p95_paused": percentile(late[False], 0.95),
    }


async def run(folder: Path, *, turns: int, exchanges: int) -> dict[str, Figure]:
    """Everything, in one process and one run."""
    path = ModelStore(Home.resolve().models).path(DEFAULT_EMBEDDER)
    settings = Settings(
        context=2048, high_water=1500, low_water=800, sampling=Sampling(temperature=0, max_tokens=24, seed=7)
    )
    texts = said(turns)
    write(folder / "turns.jsonl", texts)
    raw = await raw_speed(path, texts, ROUNDS // 2)
    whole_s, import_s = await imported(Home.resolve(folder / "a"), settings, folder / "turns.jsonl", turns)
    raw += await raw_speed(path, texts, ROUNDS // 2)
    figures: dict[str, Figure] = {
        "turns": turns,
        "raw_turns_per_s": statistics.mean(raw),
        "embedding_turns_per_s": turns / whole_s,
        "embedding_over_raw": turns / whole_s / statistics.mean(raw),
        "import_s": import_s,
        "import_turns_per_s": turns / import_s,
    }
    backlog = Home.resolve(folder / "b")
    write(folder / "more.jsonl", said(20_000))
    agent = Agent(backlog, settings, client="bench")
    await agent.start(load_model=False, load_embedder=False, open_graph=False)
    await agent.documents.import_chats(folder / "more.jsonl")
    await agent.close()
    return figures | await responsive(backlog, settings, exchanges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat object")
    parser.add_argument("--turns", type=int, default=TURNS, help="10000 for the bar")
    parser.add_argument("--exchanges", type=int, default=EXCHANGES, help="measured replies, with batches and without")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        figures = asyncio.run(run(Path(folder), turns=options.turns, exchanges=options.exchanges))
    report(figures, as_json=options.json)


if __name__ == "__main__":
    main()
