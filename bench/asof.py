"""What looking into the past costs: from the question to the first recall, and what the memory's own appends wait.

    python -m bench.asof [--json] [--turns 100000] [--samples 3] [--dimension 384]

Real log, real graph, vectors of chance, no model. The past is asked for at half of the memory and at its end, which is
the dearest; beside it a chat goes on, and each of its appends is timed.
"""

import argparse
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.memory import TURNS_PER_SESSION, _appender, _conversation, _ignore
from bench.report import Figure, percentile, report, say
from graph.events import Event, ObservationKind, ObservationMade, ReflectionDone, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Vector

MODEL = "bench@1"
TAUGHT = 10  # turns to an observation
QUESTION = "what was said about the harbour and the boats"
PAUSE_S = 0.05


def fill(memory: Memory, turns: int, dimension: int) -> None:
    """So many turns, an observation made of every tenth, and a vector for every text."""
    for _ in range(0, turns, TURNS_PER_SESSION):
        events: list[Event] = []
        for event in _conversation(TURNS_PER_SESSION):
            events.append(event)
            if isinstance(event, TurnSaid) and random.random() < 1 / TAUGHT:
                events.append(_observation(event))
                events.append(ReflectionDone(reflection=new_id(), turns=(event.turn,), trust="model"))
        memory.append(*events)
    chance = np.random.default_rng(1)
    while found := memory.unembedded(MODEL, 20_000):
        rows = chance.standard_normal((len(found), dimension), np.float32)
        memory.keep_vectors(MODEL, [(hash, row) for (hash, _), row in zip(found, rows, strict=True)])


def _observation(turn: TurnSaid) -> ObservationMade:
    id = new_id()
    return ObservationMade(
        observation=id, series=id, category=ObservationKind.FACT, status="active", confidence=0.9, grounded=True,
        origin="model", sources=(turn.turn,), text=turn.text[:120] if turn.text else id,
    )  # fmt: skip


@contextmanager
def chatting(memory: Memory) -> Iterator[list[float]]:
    """A chat beside what is inside; yields the seconds that each append took."""
    took: list[float] = []
    stop = threading.Event()

    def chat() -> None:
        steps = _appender(memory)
        while not stop.wait(PAUSE_S):
            began = time.perf_counter()
            next(steps)
            took.append(time.perf_counter() - began)

    thread = threading.Thread(target=chat)
    thread.start()
    try:
        yield took
    finally:
        stop.set()
        thread.join()


def measure(memory: Memory, samples: int, dimension: int) -> dict[str, Figure]:
    """Seconds to open a past and recall in it, at half and at the end; milliseconds of the appends beside it."""
    vector = Vector(MODEL, np.random.default_rng(2).standard_normal(dimension).astype(np.float32))
    head, now = memory.head(), datetime.now(UTC)
    figures: dict[str, Figure] = {"events": head}
    with chatting(memory) as alone:
        time.sleep(2)
    beside: list[float] = []
    for name, seq in (("half", head // 2), ("end", head)):
        opened: list[float] = []
        recalled: list[float] = []
        cpu: list[float] = []
        for _ in range(samples):
            with chatting(memory) as took:
                began, used = time.perf_counter(), time.process_time()
                with memory.past(seq) as past:
                    opened.append(time.perf_counter() - began)
                    past.recall.search(QUESTION, vector=vector, now=now, timezone=UTC)
                    recalled.append(time.perf_counter() - began)
                    cpu.append(time.process_time() - used)
            beside += took
        figures |= {
            f"{name}_open_s": percentile(opened, 0.5),
            f"{name}_open_and_recall_s": percentile(recalled, 0.5),
            f"{name}_cpu_s": percentile(cpu, 0.5),
        }
    return figures | {
        "append_alone_p95_ms": 1000 * percentile(alone, 0.95),
        "append_beside_p50_ms": 1000 * percentile(beside, 0.5),
        "append_beside_p95_ms": 1000 * percentile(beside, 0.95),
        "append_beside_max_ms": 1000 * max(beside),
    }


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--dimension", type=int, default=384)
    options = parser.parse_args()
    random.seed(1)
    folder = Path(tempfile.mkdtemp(prefix="clew-asof-"))
    try:
        memory = Memory.open(folder / "memory", command="bench.asof")
        say(f"filling a memory with {options.turns} turns …")
        fill(memory, options.turns, options.dimension)
        memory.open_graph(_ignore)
        report(measure(memory, options.samples, options.dimension), as_json=options.json)
        memory.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
