"""What it costs to keep a turn: appends to the log and the graph that follows it, each durable before the next.

    python -m bench.append [--turns 1000] [--samples 300] [--json]

The memory holds so many turns before. No model is loaded.
"""

import argparse
import shutil
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.report import percentile, report
from graph.events import Event, Role, SessionStarted, TurnSaid
from graph.ids import new_id
from graph.memory import Memory

TEXT = "Message {} of a long memory, with a few words about boats, tea and the river in it."
WARMING = 20  # appends that are not counted


def said(number: int, session: str, parent: str | None) -> TurnSaid:
    """A turn after another."""
    role = Role.USER if number % 2 == 0 else Role.ASSISTANT
    return TurnSaid(
        turn=new_id(),
        session=session,
        parent=parent,
        role=role,
        speaker="you" if role is Role.USER else "assistant",
        client="bench",
        text=TEXT.format(number),
    )


def measure(folder: Path, *, turns: int, samples: int) -> dict[str, float]:
    """The figures, in ms and appends a second. Raises RuntimeError where the graph does not follow."""
    session, parent = new_id(), None
    with closing(Memory.open(folder, command="bench.append")) as memory:
        events: list[Event] = [SessionStarted(session=session, client="bench")]
        for number in range(turns):
            turn = said(number, session, parent)
            events.append(turn)
            parent = turn.turn
        memory.append(*events)
        memory.open_graph(lambda progress: None)
        times: list[float] = []
        for number in range(turns, turns + WARMING + samples):
            turn = said(number, session, parent)
            parent = turn.turn
            start = time.perf_counter()
            if memory.append(turn)[0].graph_behind:
                raise RuntimeError("the graph did not follow; the figure would leave it out")
            times.append(1000 * (time.perf_counter() - start))
    counted = times[WARMING:]
    return {
        "turns": turns,
        "appends_per_s": 1000 * len(counted) / sum(counted),
        "append_p50_ms": percentile(counted, 0.5),
        "append_p95_ms": percentile(counted, 0.95),
    }


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.append", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=300)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        figures = measure(folder / "memory", turns=arguments.turns, samples=arguments.samples)
    finally:
        shutil.rmtree(folder)
    report(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
