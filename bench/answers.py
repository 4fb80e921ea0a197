"""What a real model answers: everyday messages as the Agent has them answered, and questions with what was recalled.

    python -m bench.answers [--model NAME_OR_PATH] [--only messages,told,general,never] [--seeds 0,1,2] [--json] [--why]

The texts (bench/texts) are by hands that have not seen the code; each part takes another file of the same kind with
`--messages FILE` and so on. The verdicts are a program's:

messages  Each in a new chat of an empty memory, as shipped but greedy: how many replies have a frame of clew's or of
          the model's format (a tool's call, a header, a line of quotes, a role), are empty, or go in circles.
told      A question with the hits of a search: how many answers have the fact that one hit tells (`once`), the newer of
          two where the older is known to be outdated (`changed`), or say that they do not know where none tells it
          (`never`); and how many of the right ones speak to the user (`person`).
general   Questions about the world beside stray quotes: how many are refused as unknown, and how many have a fragment
          that any answer has.
never     Questions about the user with nothing at all: how many answers say that they do not know.

Seed 0 is greedy, others draw as chats do by default.
"""

import argparse
import asyncio
import re
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent import prompt
from agent.agent import Agent
from agent.events import Failed, ReplyEnded
from agent.home import Home
from agent.model_host import llama_loader
from agent.prompt import Limits, Quotes
from agent.quoting import quote_hit
from agent.relevance import without_outdated
from agent.settings import Settings
from bench.report import Figure, report, say
from graph.events import Sampling
from graph.values import Hit, Turn
from models.protocols import Generator, Piece, SamplingParams

TEXTS = Path(__file__).with_name("texts")
PARTS = ("messages", "told", "general", "never")
ASKED_AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
ANSWER_TOKENS, REPLY_TOKENS = 64, 160
LIMITS = Limits(4096, 3000, 1500)
UNTOLD = re.compile(
    r"(?:don['’]?t|do not) (?:\w+ )?(?:know|have|remember|recall)|unknown|isn['’]?t (?:mentioned|specified|known)"
    r"|(?:haven['’]?t|have not|didn['’]?t|did not|never) (?:\w+ )?(?:say|said|told|tell|mention\w*)"
    r"|not (?:\w+ )?(?:sure|aware|mentioned|told|provided|specified|stated|known)"
    r"|no (?:\w+ )?(?:information|record|mention|idea)|(?:doesn['’]?t|does not) (?:say|mention|specify)"
    r"|(?:cannot|can['’]?t|unable to) (?:\w+ )?(?:say|tell|provide|determine|answer|find)",
    re.IGNORECASE,
)
FRAMES = re.compile(
    r"\{\s*\"(?:tool|function)\"\s*:|<\|?\w*(?:im_start|im_end|tool_call|eot|start_of_turn|endoftext)\w*\|?>"
    r"|\[TOOL_CALLS\]|\[/?INST\]|</?think>|^\s*\[?(?:user|assistant|system|human)\]?\s*:"
    r"|^\[(?:Quotes|End of quotes|Core memory|Looked up|Passages|From)\b|^What the user told you"
    r"|^- (?:#\w+ )?\d{4}-\d\d-\d\d,? the (?:user|assistant): ",
    re.IGNORECASE | re.MULTILINE,
)
OWN = re.compile(r"\b(?:I|I'm|I've|my|mine)\b")
YOURS = re.compile(r"\b(?:you|your|yours|you're|you've)\b", re.IGNORECASE)


def rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a file of texts."""
    (found,) = tomllib.loads(file.read_text(encoding="utf-8")).values()
    return list(found)


def goes_in_circles(text: str) -> bool:
    """Whether a line or sentence of some length comes four times, or a word eight times in a row."""
    said = Counter(part.strip() for part in re.split(r"(?<=[.!?])\s|\n", text) if len(part.strip()) > 12)
    return max(said.values(), default=0) > 3 or re.search(r"\b(\w+)(?:\W+\1\b){7}", text) is not None


async def answer(generator: Generator, tokens: Sequence[int], seed: int, most: int) -> str:
    """What a model answers to a prompt."""
    drawn = Sampling(temperature=0) if seed == 0 else Sampling(seed=seed)
    params, said = SamplingParams(**drawn.model_copy(update={"max_tokens": most}).model_dump()), ""
    async with aclosing(generator.generate(tokens, params)) as steps:
        async for step in steps:
            said += step.text if isinstance(step, Piece) else ""
    return said


def asked(generator: Generator, question: str, hits: Sequence[Hit]) -> list[int]:
    """The prompt of a question that a new chat begins with, and of what was recalled for it."""
    turn = Turn("T", "S", None, 0, "user", "you", question, ASKED_AT, "bench")
    quotes = Quotes(packs={"T": tuple(quote_hit(hit, about=question) for hit in hits)})
    system = Settings().system_prompt
    return prompt.asking(
        prompt.build(generator, system, [turn], LIMITS, budget=LIMITS.high_water, quotes=quotes), generator
    )


def hits_of(row: dict[str, Any]) -> list[Hit]:
    """The hits of a row, without what is known to be outdated."""
    found, outdated = [], {}
    for number, each in enumerate(row.get("hits") or row.get("quotes") or ()):
        at, role = datetime.fromisoformat(f"{each['date']}T10:00:00+00:00"), each["who"]
        speaker = "you" if role == "user" else role
        found.append(Hit("turn", f"H{number}", f"S{number}", None, role, speaker, each["text"], at, 1.0 - number / 10))
        if each.get("role") == "outdated":
            right = next(n for n, other in enumerate(row["hits"]) if other["role"] == "right")
            outdated[f"H{number}"] = frozenset({f"H{right}"})
    return without_outdated(found, outdated)


class Tally:
    """Counts by name, and what is amiss."""

    def __init__(self, *, why: bool) -> None:
        self.right: Counter[str] = Counter()
        self.all: Counter[str] = Counter()
        self._why = why

    def count(self, name: str, right: bool, row: dict[str, Any], said: str) -> None:
        self.all[name] += 1
        self.right[name] += right
        if self._why and not right:
            say(f"{name}: {' '.join(row['text'].split())[:90]!r} -> {' '.join(said.split())[:200]!r}")


async def told(generator: Generator, file: Path, seed: int, tally: Tally) -> None:
    """Questions with the hits of a search."""
    for row in rows(file):
        said = await answer(generator, asked(generator, row["text"], hits_of(row)), seed, ANSWER_TOKENS)
        low = said.lower()
        if row["kind"] == "never":
            tally.count("never", UNTOLD.search(said) is not None, row, said)
            continue
        right = any(each in low for each in row["answer"]) and not any(each in low for each in row["wrong"])
        tally.count(row["kind"], right, row, said)
        if right:
            tally.count("person", OWN.search(said) is None or YOURS.search(said) is not None, row, said)


async def general(generator: Generator, file: Path, seed: int, tally: Tally) -> None:
    """Questions about the world beside stray quotes."""
    for row in rows(file):
        said = await answer(generator, asked(generator, row["text"], hits_of(row)), seed, ANSWER_TOKENS)
        tally.count("not_refused", UNTOLD.search(said) is None, row, said)
        if row["must"]:
            tally.count("to_the_point", any(each in said.lower() for each in row["must"]), row, said)


async def never(generator: Generator, file: Path, seed: int, tally: Tally) -> None:
    """Questions about the user with nothing to answer them from."""
    for row in rows(file):
        said = await answer(generator, asked(generator, row["text"], []), seed, ANSWER_TOKENS)
        tally.count("never_with_nothing", UNTOLD.search(said) is not None, row, said)


async def messages(agent: Agent, file: Path, seed: int, tally: Tally) -> None:
    """First messages of new chats, through the Agent."""
    drawn = (
        Sampling(temperature=0, max_tokens=REPLY_TOKENS) if seed == 0 else Sampling(seed=seed, max_tokens=REPLY_TOKENS)
    )
    for row in rows(file):
        session, said, error = await agent.chats.configure(None, sampling=drawn), "", ""
        async for event in agent.send(session, row["text"]):
            match event:
                case ReplyEnded():
                    said, error = event.text, event.error or ""
                case Failed():
                    error = event.message
        tally.count("no_frame", FRAMES.search(said) is None, row, said)
        tally.count("not_empty", bool(said.strip()) and not error, row, said or error)
        tally.count("no_circles", not goes_in_circles(said), row, said)
        say(f"  {row['text'][:60]!r} -> {' '.join(said.split())[:160]!r}")


async def measure(
    model: str, parts: Sequence[str], files: dict[str, Path], seeds: Sequence[int], *, why: bool
) -> dict[str, Figure]:
    """All parts with a model."""
    tally, began = Tally(why=why), time.monotonic()
    settings = Settings(model=model, reflect=False, kv_mb=0)
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        if "messages" in parts:
            home = Home.resolve(Path(folder))
            models = Home.resolve(writing=False).models
            agent = Agent(Home(home.root, models), settings, client="bench")
            await agent.start()
            try:
                for seed in seeds:
                    await messages(agent, files["messages"], seed, tally)
            finally:
                await agent.close()
        if set(parts) - {"messages"}:
            loader = llama_loader(Home.resolve(writing=False), settings)
            generator = await asyncio.to_thread(loader, model, lambda step: None)
            try:
                for seed in seeds:
                    for part in (each for each in (told, general, never) if each.__name__ in parts):
                        await part(generator, files[part.__name__], seed, tally)
            finally:
                await generator.close()
    figures: dict[str, Figure] = {"model": model, "seconds": time.monotonic() - began}
    for name, count in tally.all.items():
        figures |= {name: tally.right[name], f"{name}_of": count}
    return figures


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers", description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="a name, or a path to a GGUF file")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--seeds", default="0", help="with commas; 0 is greedy")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--why", action="store_true", help="name what is amiss, on stderr")
    for part in PARTS:
        parser.add_argument(f"--{part}", type=Path, default=TEXTS / f"{part}.toml", help="other texts of that kind")
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    files = {part: getattr(arguments, part) for part in PARTS}
    figures = asyncio.run(measure(arguments.model, arguments.only.split(","), files, seeds, why=arguments.why))
    report(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
