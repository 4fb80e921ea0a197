"""What going back costs: a head moved over a tail of turns, and a turn deleted with all that was learned from it.

    python -m bench.rewind [--json] [--sizes 1000 100000] [--samples 40]

Everything is real: the log, fsync and all, and the graph that follows it; no model. Each time is from the call until
the change is durable and in force, so that no reading shows what is gone. The memories of all sizes are asked by turns,
so that whatever else the machine does meets them alike.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bench.memory import _conversation, _grow, _ignore, _turn
from bench.report import Figure, percentile, report, say
from graph.events import HeadMoved, ObservationKind, ObservationMade, SessionStarted, TurnDeleted, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Wanted

TAIL = 20
TAUGHT = 5  # observations made from turns of the tail
DERIVED = 50  # observations made from the turn that is deleted


@dataclass
class Case:
    """A memory of one size, and what was measured in it, in seconds."""

    memory: Memory
    session: str
    ids: list[str]
    back: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    delete: list[float] = field(default_factory=list)


def build(folder: Path, turns: int) -> Case:
    """A memory of `turns` turns, the last ones in a chat of its own that observations were made from."""
    memory = Memory.open(folder, command="bench")
    _grow(memory, turns)
    began, *said = list(_conversation(2 * TAIL))
    memory.append(began, *said)
    turns_said = [event for event in said if isinstance(event, TurnSaid)]
    ids = [turn.turn for turn in turns_said]
    memory.append(*(_observation(ids[-1 - 3 * place]) for place in range(TAUGHT)))
    memory.open_graph(_ignore)
    return Case(memory, turns_said[0].session, ids)


def measure(cases: list[Case], samples: int) -> None:
    """All deeds, by turns."""
    for _ in range(samples):
        for case in cases:
            move = HeadMoved(session=case.session, turn=case.ids[-1 - TAIL])
            case.back.append(_move(case, move))
        for case in cases:
            move = HeadMoved(session=case.session, turn=case.ids[-1])
            case.forward.append(_move(case, move))
        for case in cases:
            case.delete.append(_delete(case.memory))


def _delete(memory: Memory) -> float:
    """A turn that 50 observations hang on, said and taught for it."""
    session = new_id()
    turn = _turn(session, None, 0)
    memory.append(SessionStarted(session=session, client="bench"), turn)
    made = [_observation(turn.turn) for _ in range(DERIVED)]
    memory.append(*made)
    there = {each.id for each in memory.readings.memories(Wanted(), now=datetime.now(UTC), limit=DERIVED)}
    if {each.observation for each in made} - there:
        raise RuntimeError("what was taught is not there; the figure would mean nothing")
    start = time.perf_counter()
    if memory.append(TurnDeleted(turn=turn.turn))[0].graph_behind:
        raise RuntimeError("the graph did not follow; the figure would leave it out")
    seconds = time.perf_counter() - start
    left = {each.id for each in memory.readings.memories(Wanted(), now=datetime.now(UTC), limit=DERIVED)}
    if left & {each.observation for each in made}:
        raise RuntimeError("what was deleted can still be read")
    return seconds


def _move(case: Case, move: HeadMoved) -> float:
    start = time.perf_counter()
    if case.memory.append(move)[0].graph_behind:
        raise RuntimeError("the graph did not follow; the figure would leave it out")
    return time.perf_counter() - start


def _observation(turn: str) -> ObservationMade:
    id = new_id()
    return ObservationMade(
        observation=id,
        series=id,
        category=ObservationKind.FACT,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="verbatim",
        sources=(turn,),
        text=f"Paints a boat from larch {id[-4:]}",
    )


def figures(cases: dict[int, Case]) -> dict[str, Figure]:
    """Medians and 95th percentiles in milliseconds, and the ratio of the largest memory to the smallest."""
    found: dict[str, Figure] = {}
    for name in ("back", "forward", "delete"):
        for size, case in cases.items():
            times = getattr(case, name)
            found[f"{name}_ms_at_{size}"] = 1_000 * statistics.median(times)
            found[f"{name}_p95_ms_at_{size}"] = 1_000 * percentile(times, 0.95)
        few, many = getattr(cases[min(cases)], name), getattr(cases[max(cases)], name)
        found[f"{name}_ratio"] = statistics.median(many) / statistics.median(few)
    return found


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--samples", type=int, default=40)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        cases: dict[int, Case] = {}
        for size in options.sizes:
            say(f"filling a memory of {size} turns")
            cases[size] = build(folder / str(size), size)
        measure(list(cases.values()), options.samples)
        for case in cases.values():
            case.memory.close()
    finally:
        shutil.rmtree(folder)
    report(figures(cases), as_json=options.json)


if __name__ == "__main__":
    main()
