"""How smooth the chat stays while a query of ten seconds runs: what keys and streamed words have to wait for.

    python -m bench.frames [--seconds 10] [--rounds 2] [--turns 100000] [--json]

The real app runs without a terminal over a memory of so many turns. The default model streams a reply, a key is typed
into the composer every 20 ms, and every 10 ms the event loop is asked whether it comes when it should: how late it is,
is what a frame would be late. Rounds with and without the query take turns, so that whatever else the machine does
meets both alike. `frame_gap` is the time between two pictures of the screen while keys are being typed.
"""

import argparse
import asyncio
import itertools
import os
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from agent.home import Home
from bench.console import build
from bench.report import Figure, percentile, report, say
from graph.errors import QueryTimeout
from tui.app import ClewApp
from tui.entry import make_app

TICK_S, KEY_S = 0.010, 0.020
QUERY = "MATCH (a:Turn), (b:Turn) WHERE a.text CONTAINS b.id RETURN count(*)"
ASK = "Tell me a long story about a boat, a river and three people, with every detail you can think of."
READY_S = 180.0


@dataclass
class Round:
    """What one round saw, in ms."""

    late: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    keys: int = 0
    streamed: int = 0  # characters


async def watch(app: ClewApp, seconds: float) -> Round:
    """Type for so many seconds, and see how late the loop and the pictures are."""
    seen, pictures = Round(), list[float]()
    display = app._display

    def displayed(screen: object, renderable: object) -> None:
        pictures.append(time.perf_counter())
        display(screen, renderable)  # type: ignore[arg-type]

    app._display = displayed  # type: ignore[method-assign]
    end = time.perf_counter() + seconds
    typing = asyncio.create_task(_type(app, end, seen))
    while (now := time.perf_counter()) < end:
        await asyncio.sleep(TICK_S)
        seen.late.append((time.perf_counter() - now - TICK_S) * 1000)
        if (reply := app.view.state.reply) is not None:
            seen.streamed = max(seen.streamed, len(reply.text))
    await typing
    app._display = display  # type: ignore[method-assign]
    seen.gaps = [(after - before) * 1000 for before, after in itertools.pairwise(pictures)]
    return seen


async def _type(app: ClewApp, end: float, seen: Round) -> None:
    while time.perf_counter() < end:
        app.post_message(events.Key("a", "a"))
        seen.keys += 1
        await asyncio.sleep(KEY_S)


async def measure(home: Path, *, seconds: float, rounds: int) -> dict[str, Figure]:
    """Rounds without and with the query, by turns."""
    app, found = make_app(home=home, new=True), {False: list[Round](), True: list[Round]()}
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, lambda: app.view.chat is not None and app.view.state.model.state in ("ready", "failed"))
        await _until(
            pilot, lambda: app.view.state.graph is not None and app.view.state.graph.state in ("ready", "failed")
        )
        assert app.view.backstage is not None
        service = app.view.backstage.service
        for number in range(2 * rounds):
            querying = number % 2 == 1
            app.view.composer.put(ASK)
            await pilot.press("enter")
            await _until(pilot, lambda: app.view.state.reply is not None and bool(app.view.state.reply.text))
            query = asyncio.create_task(_query(service, seconds)) if querying else None
            found[querying].append(await watch(app, seconds))
            if query is not None:
                await query
            await pilot.press("escape")
            await _until(pilot, lambda: app.view.state.reply is None)
            app.view.composer.put("")
        await app.leave()
    return {"seconds": seconds, "rounds": rounds} | _figures("alone", found[False]) | _figures("query", found[True])


async def _query(service: object, seconds: float) -> None:
    with suppress(QueryTimeout):
        await service.graph.console(QUERY, timeout_s=seconds)  # type: ignore[attr-defined]


def _figures(name: str, rounds: list[Round]) -> dict[str, Figure]:
    late = [each for one in rounds for each in one.late]
    gaps = [each for one in rounds for each in one.gaps]
    return {
        f"{name}_late_p50_ms": percentile(late, 0.5),
        f"{name}_late_p99_ms": percentile(late, 0.99),
        f"{name}_late_max_ms": max(late),
        f"{name}_frame_gap_p50_ms": percentile(gaps, 0.5),
        f"{name}_frame_gap_p99_ms": percentile(gaps, 0.99),
        f"{name}_frame_gap_max_ms": max(gaps),
        f"{name}_keys": sum(one.keys for one in rounds),
        f"{name}_streamed_characters": sum(one.streamed for one in rounds),
    }


async def _until(pilot: Pilot[int], true: object) -> None:
    async with asyncio.timeout(READY_S):
        while not true():  # type: ignore[operator]
            await pilot.pause(0.05)


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.frames", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    os.environ["CLEW_SERVICE"] = "0"  # nothing outlives the benchmark
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        say(f"building a memory of {arguments.turns:,} turns …")
        home = Home.resolve(Path(folder))
        with closing(build(home.memory, arguments.turns)):
            pass
        figures = asyncio.run(measure(home.root, seconds=arguments.seconds, rounds=arguments.rounds))
        report(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
