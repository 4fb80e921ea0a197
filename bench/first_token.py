"""Time to first token over a long chat: clew's append-only prompt beside the usual way, which rebuilds it each turn.

A scripted chat of 120 exchanges runs through the real Agent, log, graph and chat model. Its first message is a long
page, so that the early turns are as deep in the prompt as the late ones and can be compared at equal depth. The chat
passes the high-water mark several times: most compactions are left to end while "the user reads", but the second one is
met by a message the moment it starts.

Recall is on, as it is for everyone; `--no-recall` shows the chat without. A quote costs its tokens when it comes, once.
The early turns have nothing to recall, as the prompt still holds all there is, and the late ones do: the bar's ratio
is taken between turns that have as many new tokens, too. With `--told` the memory holds chats from before about every
topic, and the early turns are given quotes too.

The usual way gets the same model, the same system prompt and the newest turns up to the same depth, but a memory block
in its system message that changes with every turn, as retrieval there does; it is sampled at some early and late turns.
The same turns are asked of a bare loop too, which holds all of a prompt of that size but as many new tokens.
CLEW_MODEL names the model; without it that is the smallest.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from agent import prompt
from agent.agent import Agent
from agent.events import Compaction, Notice, RecallDone, ReplyEnded, TokensArrived
from agent.home import Home
from agent.model_host import llama_loader
from agent.quoting import quote_hit
from agent.settings import Settings
from bench.report import Figure, percentile, report, say
from graph.events import Event, Role, Sampling, SessionStarted, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from models.protocols import Finished, Generator, SamplingParams

EARLY = range(3, 23)  # turns 3–22, counted from 1
LATE = 20
EQUAL_DEPTH = 400  # tokens between two turns that count as equally deep
EQUAL_NEW = 16  # and in what is new in them
PAGE_WORDS = 2000
REPLY_TOKENS = 48
TOPICS = (
    "tide pools", "lighthouses", "sourdough", "chess openings", "volcanoes", "bicycle repair", "owls", "sailing knots",
    "the moon", "mushrooms", "old maps", "violins", "bridges", "glaciers", "bees",
)  # fmt: skip
TOLD = (
    "I have liked {} since the summer that I spent on the island with my grandmother.",
    "My neighbour Ana knows a lot about {}, and we talk about it over the fence on Sundays.",
)
ASKS = (
    "Tell me something about {} that I could repeat to a friend over dinner tonight.",
    "What would you say is the most common mistake that people make with {} at first?",
    "If I had one free afternoon for {}, what should I do with it, step by step?",
    "Earlier I said that I like {}; give me one more reason why people care about that.",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One measured turn; times in ms, sizes in tokens. `note` says what it met."""

    number: int
    first_ms: float
    evaluated: int
    depth: int
    note: str
    quotes: tuple[str, ...]
    recall_ms: float


def script(exchanges: int, page_words: int) -> list[str]:
    """The user's messages: a long page first, then questions of nearly equal length."""
    page = " ".join(f"{TOPICS[n % len(TOPICS)]} {n}," for n in range(page_words // 3))
    rest = [ASKS[n // len(TOPICS) % len(ASKS)].format(TOPICS[n % len(TOPICS)]) for n in range(exchanges - 1)]
    return [f"Here are my notes. {page} Keep them in mind.", *rest]


class Watch:
    """Follows the agent's notices: is a compaction running, and how many began."""

    def __init__(self) -> None:
        self.running = False
        self.begun = 0
        self.changed = asyncio.Condition()

    async def follow(self, agent: Agent) -> None:
        async for notice in agent.notices():
            await self.take(notice)

    async def take(self, notice: Notice) -> None:
        if isinstance(notice, Compaction):
            async with self.changed:
                self.running = notice.state == "started"
                self.begun += notice.state == "started"
                self.changed.notify_all()


async def measure_turn(agent: Agent, session: str | None, text: str, number: int, note: str) -> tuple[str, Turn]:
    """Send one message and time the first text the user sees, from the moment it is sent."""
    start = time.perf_counter()
    first: float | None = None
    quotes: tuple[str, ...] = ()
    recall_ms = 0.0
    async with aclosing(agent.send(session, text)) as events:
        async for event in events:
            if isinstance(event, RecallDone):
                quotes, recall_ms = tuple(quote_hit(hit, about=text).line for hit in event.hits), event.took_ms
            if isinstance(event, TokensArrived) and first is None and event.text:
                first = (time.perf_counter() - start) * 1000
            if isinstance(event, ReplyEnded):
                shown = first if first is not None else (time.perf_counter() - start) * 1000
                evaluated, depth = event.evaluated_tokens, event.prompt_tokens
                return event.session, Turn(number, shown, evaluated, depth, note, quotes, recall_ms)
            if type(event).__name__ == "Failed":
                raise SystemExit(f"turn {number} failed: {event}")
    raise SystemExit(f"turn {number} did not end")


async def usual_way(generator: Generator, agent: Agent, session: str, turn: Turn) -> tuple[float, float]:
    """The time to first token of the same moment, told with a fresh memory block in the system message; ms.

    Second, that of a bare loop for as many tokens as the turn had, of which as many were new.
    """
    depth, number = turn.depth, turn.number
    turns = await agent.chats.thread(session)
    block = "\n".join(f"- {turn.text}" for turn in turns[-2 - number % 7 : -1 : 2] if turn.text)
    system = f"{agent.settings.system_prompt}\n\nWhat you remember (turn {number}):\n{block[:600]}"
    limits = prompt.Limits(generator.info.context, agent.settings.high_water, agent.settings.low_water)
    log = await asyncio.to_thread(prompt.build, generator, system, turns[:-1], limits, budget=depth)
    asked = prompt.asking(log, generator)
    usual_ms = await first_ms(generator, asked)
    await first_ms(generator, asked[: max(1, len(asked) - turn.evaluated)])
    return usual_ms, await first_ms(generator, asked)


async def first_ms(generator: Generator, tokens: Sequence[int]) -> float:
    """The time to the first text of a model; ms."""
    start = time.perf_counter()
    async with aclosing(generator.generate(tokens, SamplingParams(max_tokens=2))) as steps:
        async for step in steps:
            if not isinstance(step, Finished) and step.text:
                break
    return (time.perf_counter() - start) * 1000


def tell(folder: Path) -> None:
    """Put chats from before into a memory: one for each topic."""
    memory = Memory.open(folder, command="bench")
    for topic in TOPICS:
        session, parent = new_id(), None
        events: list[Event] = [SessionStarted(session=session, client="bench")]
        for text in TOLD:
            turn = new_id()
            said = text.format(topic)
            events.append(
                TurnSaid(
                    turn=turn, session=session, parent=parent, role=Role.USER, speaker="you", client="bench", text=said
                )
            )
            parent = turn
        memory.append(*events)
    memory.close()


async def run(options: argparse.Namespace, folder: Path, home: Home) -> dict[str, Figure]:
    """The whole chat; returns the figures."""
    exchanges, samples, reply_tokens = options.exchanges, options.usual_samples, options.reply_tokens
    settings = Settings(sampling=Sampling(seed=7, max_tokens=reply_tokens), recall=options.recall)
    if options.told:
        await asyncio.to_thread(tell, folder / "memory")
    agent = Agent(Home(folder, home.models), settings, client="bench")
    watch = Watch()
    follower = asyncio.create_task(watch.follow(agent))
    await asyncio.sleep(0)
    await agent.start()
    await agent.idle()  # the chats from before have their vectors
    load = llama_loader(home, settings)
    usual = await asyncio.to_thread(load, settings.model, lambda step: None) if samples else None
    apart = max(1, samples - 1)
    sampled = {EARLY[round(n * (len(EARLY) - 1) / apart)] for n in range(samples)} | {
        exchanges - round(n * (LATE - 1) / apart) for n in range(samples)
    }
    turns: list[Turn] = []
    usual_ms: dict[int, float] = {}
    bare_ms: dict[int, float] = {}
    at_start: list[float] = []
    session: str | None = None
    for number, text in enumerate(script(exchanges, options.page_words), start=1):
        met = watch.running and watch.begun == 2 and not at_start
        note = "met a compaction that had just started" if met else ""
        session, turn = await measure_turn(agent, session, text, number, note)
        turns.append(turn)
        if met:
            at_start.append(turn.first_ms)
        met_with = f"{turn.evaluated:5} evaluated of {turn.depth:5}  {len(turn.quotes)} quotes  {turn.note}"
        say(f"{number:>4}  {turn.first_ms:8.0f} ms  {met_with}")
        await settle(watch, at_start, compacts=turn.depth + reply_tokens >= settings.high_water - 60)
        if usual is not None and number in sampled:
            usual_ms[number], bare_ms[number] = await usual_way(usual, agent, session, turn)
            say(f"      {usual_ms[number]:8.0f} ms  the usual way, {bare_ms[number]:.0f} ms a bare loop")
    await agent.close()
    result = figures(turns, usual_ms, at_start, watch.begun)
    if usual is not None:
        sizes = [sum(len(usual.tokenize(line)) for line in turn.quotes) for turn in turns if turn.quotes]
        result["quotes_median_tokens"] = statistics.median(sizes) if sizes else 0
        result["over_bare_ms"] = statistics.median(turns[n - 1].first_ms - ms for n, ms in bare_ms.items())
        await usual.close()
    await follower
    return result


async def settle(watch: Watch, at_start: list[float], *, compacts: bool) -> None:
    """Where a compaction is due, wait until it ends; the second one only until it has started."""
    if not compacts:
        return
    async with watch.changed:
        try:
            await asyncio.wait_for(watch.changed.wait_for(lambda: watch.running), timeout=2)
        except TimeoutError:
            return  # the reply was short: it is not due yet
        if watch.begun == 2 and not at_start:
            return
        await watch.changed.wait_for(lambda: not watch.running)


def equally_deep(late: list[Turn], early: list[Turn]) -> list[tuple[Turn, Turn]]:
    """Each late turn with the early one nearest in depth, where they count as equally deep and have as much new."""
    alike = [(turn, [each for each in early if abs(each.evaluated - turn.evaluated) <= EQUAL_NEW]) for turn in late]
    pairs = [(turn, min(there, key=lambda other: abs(other.depth - turn.depth))) for turn, there in alike if there]
    return [(turn, other) for turn, other in pairs if abs(turn.depth - other.depth) <= EQUAL_DEPTH]


def figures(
    turns: list[Turn], usual_ms: dict[int, float], at_start: list[float], compactions: int
) -> dict[str, Figure]:
    """Bar by bar: medians at equal depth, the spread over all turns, the slowest with their reasons, and the ratios."""
    early = [turn for turn in turns if turn.number in EARLY]
    late = turns[-LATE:]
    equal = equally_deep(late, early)
    late_ms = statistics.median([turn.first_ms for turn, _ in equal]) if equal else None
    early_ms = statistics.median([other.first_ms for _, other in equal]) if equal else None
    after_first = [turn.first_ms for turn in turns[1:]]
    median = statistics.median(after_first)
    late_usual = [ms for number, ms in usual_ms.items() if number > len(turns) - LATE]
    usual_late = statistics.median(late_usual) if late_usual else None
    result: dict[str, Figure] = {
        "exchanges": len(turns),
        "compactions": compactions,
        "equal_depth_pairs": len(equal),
        "early_median_ms": early_ms,
        "late_median_ms": late_ms,
        "late_over_early": late_ms / early_ms if late_ms is not None and early_ms is not None else None,
        "median_ms": median,
        "p95_ms": percentile(after_first, 0.95),
        "max_ms": max(after_first),
        "median_evaluated_tokens": statistics.median(turn.evaluated for turn in turns[1:]),
        "at_compaction_start_ms": at_start[0] if at_start else None,
        "at_compaction_start_over_median": at_start[0] / median if at_start else None,
        "usual_late_median_ms": usual_late,
        "usual_over_clew_at_end": usual_late / statistics.median(turn.first_ms for turn in late)
        if usual_late
        else None,
        "first_message_ms": turns[0].first_ms,
        "turns_with_quotes": sum(bool(turn.quotes) for turn in turns),
        "early_turns_with_quotes": sum(bool(turn.quotes) for turn in early),
        "late_turns_with_quotes": sum(bool(turn.quotes) for turn in late),
        "recall_median_ms": statistics.median(turn.recall_ms for turn in turns[1:]),
    }
    for rank, turn in enumerate(sorted(turns, key=lambda turn: -turn.first_ms)[:5], start=1):
        result[f"slowest_{rank}"] = (
            f"turn {turn.number}: {turn.first_ms:.0f} ms, waited for {turn.evaluated} tokens to be evaluated"
            + (f", {turn.note}" if turn.note else "")
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--exchanges", type=int, default=120)
    parser.add_argument("--usual-samples", type=int, default=4, help="how often the usual way is timed, early and late")
    parser.add_argument("--page-words", type=int, default=PAGE_WORDS, help="how long the first message is")
    parser.add_argument("--reply-tokens", type=int, default=REPLY_TOKENS, help="how long a reply may be")
    parser.add_argument("--recall", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--told", action="store_true", help="begin with a memory of chats about the topics")
    options = parser.parse_args()
    home = Home.resolve()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder)
        for name in ("memory", "cache"):
            (root / name).mkdir()
        measured = asyncio.run(run(options, root, home))
        report(measured, as_json=options.json)


if __name__ == "__main__":
    main()
