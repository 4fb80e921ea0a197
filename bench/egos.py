"""What walking the graph costs: a hub with 5,000 neighbours, those of everybody, and a drawing, in a long memory.

    python -m bench.egos [--json] [--turns 100000] [--samples 30]

Everything is real: the log and the graph. The times are those of the Memory's answers; the screen paints what they say.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.memory import TURNS_PER_SESSION, _conversation, _ignore
from bench.report import percentile, report
from graph.events import EntityNoted, ObservationKind, ObservationMade, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.subgraphs import Ref

NEIGHBOURS = 5_000  # turns that name the hub, and memories about it


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=30)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        report(measure(folder, arguments.turns, arguments.samples), as_json=arguments.json)
    finally:
        shutil.rmtree(folder)


def measure(folder: Path, turns: int, samples: int) -> dict[str, float]:
    """Medians and 95th percentiles, in milliseconds."""
    random.seed(7)
    memory = Memory.open(folder, command="bench")
    hub, turn, observation = grow(memory, turns)
    memory.open_graph(_ignore)
    key = ("MENTIONS", False, "Turn")
    deeds: dict[str, Callable[[], object]] = {
        "hub": lambda: memory.ego(Ref("Entity", hub)),
        "everybody": lambda: memory.ego(Ref("Entity", "you")),
        "turn": lambda: memory.ego(Ref("Turn", turn)),
        "found_in_hub": lambda: memory.neighbours(Ref("Entity", hub), key, text="lisbon larch"),
        "drawn_hub": lambda: memory.around(Ref("Entity", hub)),
        "provenance": lambda: memory.provenance(observation),
    }
    figures: dict[str, float] = {"turns": turns, "neighbours": 2 * NEIGHBOURS}
    for name, deed in deeds.items():
        times = [_milliseconds(deed) for _ in range(samples + 1)][1:]
        figures[f"{name}_ms"] = percentile(times, 0.5)
        figures[f"{name}_p95_ms"] = percentile(times, 0.95)
    memory.close()
    return figures


def grow(memory: Memory, turns: int) -> tuple[str, str, str]:
    """Fill a memory; the hub, a turn and an observation of it."""
    hub, sessions = new_id(), max(1, turns // TURNS_PER_SESSION)
    each = max(1, NEIGHBOURS // sessions)
    said: list[str] = []
    made: list[ObservationMade] = []
    for _ in range(sessions):
        events = list(_conversation(TURNS_PER_SESSION))
        said = [event.turn for event in events if isinstance(event, TurnSaid)]
        named = [EntityNoted(entity=hub, category="person", by_turn=turn, text="Anna") for turn in said[:each]]
        made = [_observation(random.sample(said, 2), hub) for _ in range(each)]
        memory.append(*events, *named, *made)
    return hub, said[TURNS_PER_SESSION // 2], made[0].observation


def _observation(sources: list[str], about: str) -> ObservationMade:
    id = new_id()
    return ObservationMade(
        observation=id,
        series=id,
        category=ObservationKind.FACT,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="model",
        sources=tuple(sources),
        about=(about,),
        text=f"Anna paints boat {id[-6:]}",
    )


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
