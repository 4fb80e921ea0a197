"""A backup while chatting: what it costs a reply, and whether the copy is sound.

    python -m bench.backup [--turns 100000] [--pairs 12] [--json]

The real Agent answers short messages with the real chat model over a memory of so many turns with their vectors. Every
second message is sent while `clew backup FILE` runs in a process of its own, as a person would start it; messages with
and without one take turns, so that the chat's growing depth meets both alike. The last copy is opened and looked over.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from agent.agent import Agent
from agent.home import Home
from agent.model_host import llama_loader
from agent.settings import Settings
from bench.first_token import measure_turn
from bench.killing import CLEW
from bench.recall import Speech, build
from bench.report import Figure, percentile, report, say
from graph.doctor import examine_log
from graph.events import Sampling
from graph.reader import LogReader

TOKENS = 48
STARTED_S = 20.0  # in which a command line has begun, or never does


def _begun(target: Path) -> None:
    """Wait until there is a piece of the copy: a command line has to start first, and that is not to be met."""
    deadline = time.monotonic() + STARTED_S
    while not any(target.parent.glob(f"{target.name}*")) and time.monotonic() < deadline:
        time.sleep(0.01)


async def measure(home: Home, pairs: int) -> dict[str, Figure]:
    """Replies by turns without a backup and beside one; times in ms."""
    settings = Settings(reflect=False, recall=True, sampling=Sampling(max_tokens=TOKENS, seed=1))
    agent = Agent(home, settings, client="bench", loader=llama_loader(home, settings))
    await agent.start(load_embedder=False)
    await agent.idle()
    first: dict[bool, list[float]] = {False: [], True: []}
    whole: dict[bool, list[float]] = {False: [], True: []}
    seconds, beside = list[float](), 0
    session, _ = await measure_turn(agent, None, "Hello there.", 0, "")
    try:
        for number in range(2 * pairs):
            backing_up = number % 2 == 1
            target = home.root / f"copy-{number}.sqlite"
            began = time.perf_counter()
            command = [*CLEW, "--home", str(home.root), "backup", str(target)]
            copying = await asyncio.create_subprocess_exec(*command) if backing_up else None
            if copying is not None:
                await asyncio.to_thread(_begun, target)
            start = time.perf_counter()
            _, turn = await measure_turn(agent, session, f"Tell me one thing about the number {number}.", number, "")
            first[backing_up].append(turn.first_ms)
            whole[backing_up].append(1_000 * (time.perf_counter() - start))
            if copying is not None:
                beside += copying.returncode is None
                if await copying.wait():
                    raise SystemExit(f"the backup ended with {copying.returncode}")
                seconds.append(time.perf_counter() - began)
    finally:
        await agent.close()
    found: dict[str, Figure] = {"backups": len(seconds), "still_running_after_the_reply": beside}
    found["backup_s"] = statistics.median(seconds)
    for name, times in (("first_token", first), ("reply", whole)):
        found[f"{name}_ms"], found[f"{name}_beside_ms"] = (
            statistics.median(times[False]),
            statistics.median(times[True]),
        )
        found[f"{name}_p95_ms"], found[f"{name}_beside_p95_ms"] = (
            percentile(times[each], 0.95) for each in (False, True)
        )
    return found


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-backup-") as folder:
        home = Home.resolve(Path(folder) / "home")
        say(f"building {options.turns} turns")
        build(home.memory, options.turns, Speech(), 0).memory.close()
        figures = asyncio.run(measure(home, options.pairs))
        copies = sorted(home.root.glob("copy-*.sqlite"), key=lambda path: path.stat().st_mtime)
        place = Path(folder) / "restored"
        place.mkdir(mode=0o700)
        copies[-1].rename(place / "log.sqlite")
        reader = LogReader.open(place)
        wrong = [check for check in examine_log(reader, place) if not check.ok]
        figures |= {"copy_events": reader.head(), "copy_faults": "; ".join(map(str, wrong))}
        reader.close()
    report(figures, as_json=options.json)
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
