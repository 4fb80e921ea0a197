"""How soon a long chat is resumed: time to first token with its KV state on disk, beside evaluating it again.

    python -m bench.resume [--tokens 4000] [--runs 3] [--json]

A chat of about that many tokens is made once with the real Agent and model, and closed. Then, in turns, a copy of that
home is opened by a new process with its states and without them; once the model is loaded and nothing runs in the
background, a message is sent and the clock runs until its first text. Nobody "opens" the chat before, which would fetch
the state while the user reads: this is the worst case. The states are not in the page cache.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path

from agent.agent import Agent
from agent.events import Failed, ReplyEnded, TokensArrived
from agent.home import Home
from agent.settings import Settings
from bench.first_token import TOPICS
from bench.report import Figure, report, say
from graph.events import Sampling

QUESTION = "Which of all these would you begin with?"
WORDS_PER_TOKEN = 0.4  # of the notes below, with this tokenizer


def settings() -> Settings:
    return Settings(sampling=Sampling(temperature=0, max_tokens=48))


async def exchange(agent: Agent, session: str | None, text: str) -> tuple[float, ReplyEnded]:
    """Send a message; ms until its first text, and how it ended."""
    start, first = time.perf_counter(), 0.0
    async with aclosing(agent.send(session, text)) as events:
        async for event in events:
            if isinstance(event, TokensArrived) and event.text and not first:
                first = (time.perf_counter() - start) * 1000
            if isinstance(event, Failed):
                raise SystemExit(f"it failed: {event}")
            if isinstance(event, ReplyEnded):
                return first or (time.perf_counter() - start) * 1000, event
    raise SystemExit("the reply did not end")


async def make(home: Home, tokens: int) -> dict[str, Figure]:
    """A chat of about `tokens` tokens, closed."""
    agent = Agent(home, settings(), client="bench")
    await agent.start()
    notes = " ".join(f"{TOPICS[n % len(TOPICS)]} {n}," for n in range(int(tokens * WORDS_PER_TOKEN / 2)))
    _, ended = await exchange(agent, None, f"Here are my notes. {notes} Keep them in mind.")
    while ended.context_used < tokens:
        _, ended = await exchange(agent, ended.session, "Tell me something about one of them. " * 8)
    await agent.idle()
    closed = await closing(agent)
    size = sum(path.stat().st_size for path in home.states.glob("*.kv"))
    return {"session": ended.session, "context_tokens": ended.context_used, "close_ms": closed, "state_mb": size / 1e6}


async def closing(agent: Agent) -> float:
    start = time.perf_counter()
    await agent.close()
    return (time.perf_counter() - start) * 1000


async def resume(home: Home, session: str) -> dict[str, Figure]:
    """In a new process: one more message."""
    agent = Agent(home, settings(), client="bench")
    await agent.start()
    await agent.models.use(agent.settings.model)
    await agent.idle()
    first, ended = await exchange(agent, session, QUESTION)
    closed = await closing(agent)
    return {"first_ms": first, "evaluated": ended.evaluated_tokens, "prompt": ended.prompt_tokens, "close_ms": closed}


def in_new_process(made: Path, models: Path, session: str, *, states: bool) -> dict[str, float]:
    """`resume` on a copy of a home, with or without its states."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder) / "home"
        shutil.copytree(made, root)
        home = Home(root, models)
        if not states:
            shutil.rmtree(home.states)
        for path in home.states.glob("*.kv"):
            with path.open("rb") as file:
                os.fsync(file.fileno())
                if hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        command = [sys.executable, "-m", "bench.resume", "--of", session, "--home", str(root), "--models", str(models)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        figures: dict[str, float] = json.loads(done.stdout)
        return figures


def run(tokens: int, runs: int) -> dict[str, Figure]:
    """All of it; returns the figures."""
    models = Home.resolve().models
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        made = Home(Path(folder), models)
        for path in (made.memory, made.cache):
            path.mkdir()
        chat = asyncio.run(make(made, tokens))
        say(f"a chat of {chat['context_tokens']} tokens, closed in {chat['close_ms']:.0f} ms")
        took: dict[bool, list[dict[str, float]]] = {True: [], False: []}
        for _ in range(runs):
            for states in (True, False):
                one = in_new_process(made.root, models, str(chat["session"]), states=states)
                took[states].append(one)
                how = "state on disk" if states else "without      "
                say(f"{how}  {one['first_ms']:8.0f} ms, {one['evaluated']} of {one['prompt']} tokens evaluated")
    resumed, again = (statistics.median(one["first_ms"] for one in took[states]) for states in (True, False))
    return {
        "context_tokens": chat["context_tokens"],
        "state_mb": chat["state_mb"],
        "runs": runs,
        "resumed_ms": resumed,
        "resumed_max_ms": max(one["first_ms"] for one in took[True]),
        "resumed_evaluated_tokens": statistics.median(one["evaluated"] for one in took[True]),
        "again_ms": again,
        "again_evaluated_tokens": statistics.median(one["evaluated"] for one in took[False]),
        "again_over_resumed": again / resumed,
        "close_ms": statistics.median(one["close_ms"] for one in took[True]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--of", help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--models", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.of:
        print(json.dumps(asyncio.run(resume(Home(options.home, options.models), options.of))))
        return
    report(run(options.tokens, options.runs), as_json=options.json)


if __name__ == "__main__":
    main()
