"""What the graph screen asks of a long memory: the schema with its counts, a hub's neighbours, a million rows.

    python -m bench.console [--turns 100000] [--samples 30] [--json]

Everything is real: the log, the graph, and the process in which people's queries run. Times are in ms, medians and 95th
percentiles; the growth of memory is what both processes have more, resident, after the query of a million rows than
before it. `cold` is a first query after the graph has moved: the copy it runs on is made anew.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil

from bench.memory import _conversation, _ignore
from bench.report import Figure, percentile, report, say
from graph.console.console import Answer
from graph.events import EntityNoted, ObservationKind, ObservationMade, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Ref

HUB = "Anna"
SIDE = ("MENTIONS", False, "Turn")
NEIGHBOURS = 5_000
A_CHAT = 100
MILLION = "MATCH (t:Turn) UNWIND range(1, {each}) AS n RETURN t.id, t.text, n"
SMALL = "MATCH (o:Observation) WHERE o.current RETURN o.kind, count(*) AS n ORDER BY n DESC"
MB = 1 << 20


def build(folder: Path, turns: int) -> Memory:
    """A memory of `turns` turns, with one person who is named by turns and spoken of by memories, 5,000 in all."""
    memory = Memory.open(folder, command="bench")
    chats = max(1, turns // A_CHAT)
    each = max(1, NEIGHBOURS // 2 // chats)
    for _ in range(chats):
        events = list(_conversation(A_CHAT))
        said = [event.turn for event in events if isinstance(event, TurnSaid)]
        memory.append(*events)
        memory.append(
            *(EntityNoted(entity=HUB, category="person", by_turn=turn, text=HUB) for turn in said[:each]),
            *(_about(said[-1 - place]) for place in range(each)),
        )
    memory.open_graph(_ignore)
    return memory


def _about(turn: str) -> ObservationMade:
    id = new_id()
    return ObservationMade(
        observation=id,
        series=id,
        about=(HUB,),
        category=ObservationKind.FACT,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="model",
        sources=(turn,),
        text=f"{HUB} paints boats, {id}.",
    )


def measure(memory: Memory, turns: int, samples: int) -> dict[str, Figure]:
    """All figures of one memory."""
    figures: dict[str, Figure] = {"turns": turns}
    ego = memory.walk.ego(Ref("Entity", HUB))
    figures["hub_neighbours"] = sum(side.total for side in ego.sides)
    for name, ask in (
        ("schema", memory.console.schema),
        ("ego", lambda: memory.walk.ego(Ref("Entity", HUB))),
        ("ego_of_everybody", lambda: memory.walk.ego(Ref("Entity", "you"))),
        ("found_in_hub", lambda: memory.walk.neighbours(Ref("Entity", HUB), SIDE, text="lisbon larch")),
        ("drawn", lambda: memory.walk.around(Ref("Entity", HUB))),
    ):
        times = [_ms(ask) for _ in range(samples)]
        figures[f"{name}_first_ms"] = times[0]
        figures[f"{name}_p50_ms"], figures[f"{name}_p95_ms"] = percentile(times, 0.5), percentile(times, 0.95)
    figures["cold_query_ms"] = _ms(lambda: memory.console.run(SMALL))
    warm = [_ms(lambda: memory.console.run(SMALL)) for _ in range(samples)]
    figures["warm_query_p50_ms"], figures["warm_query_p95_ms"] = percentile(warm, 0.5), percentile(warm, 0.95)
    return figures | _million(memory, turns)


def _million(memory: Memory, turns: int) -> dict[str, Figure]:
    cypher = MILLION.format(each=max(1, -(-1_000_000 // turns)))
    before, began, first = _resident(), time.perf_counter(), list[float]()

    def came(answer: Answer) -> None:
        if not first:
            first.append((time.perf_counter() - began) * 1000)

    answer = memory.console.run(cypher, limit=500, timeout_s=60, first=came)
    after = _resident()
    return {
        "million_rows": answer.total,
        "million_shown": len(answer.rows),
        "million_first_ms": first[0] if first else None,
        "million_counted_ms": (time.perf_counter() - began) * 1000,
        "million_grew_here_mb": (after[0] - before[0]) / MB,
        "million_grew_child_mb": (after[1] - before[1]) / MB,
    }


def _resident() -> tuple[int, int]:
    """Bytes resident of this process, and of those it started."""
    here = psutil.Process()
    return here.memory_info().rss, sum(each.memory_info().rss for each in here.children(recursive=True))


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.console", description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        say(f"building a memory of {arguments.turns:,} turns …")
        with closing(build(Path(folder), arguments.turns)) as memory:
            report(measure(memory, arguments.turns, arguments.samples), as_json=arguments.json)


if __name__ == "__main__":
    main()
