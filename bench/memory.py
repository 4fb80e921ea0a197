"""What a long memory costs: appends at 1,000 and 100,000 turns, rebuilds, reading, room, and resident memory.

    python -m bench.memory [--json] [--turns 100000] [--samples 300]

Everything is real: the log with its word index, fsync and all, and the graph that follows it. No model is loaded.
"""

import argparse
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from bench.report import percentile, report
from graph.events import Event, Role, SessionStarted, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Progress

TURNS_PER_SESSION = 100
LONG = 2_000  # turns of one session that is opened whole
TEXT = (
    "the river ran under old bridge while we talked about gardens trains tea winter letters music and a port 8080 "
    "that nobody opened since Anna moved to Lisbon with her brother Tom who builds boats from larch and paints them"
)


def main() -> None:
    """Run the benchmark and print its figures."""
    arguments = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        figures = measure(folder, turns=arguments.turns, samples=arguments.samples)
    finally:
        shutil.rmtree(folder)
    report(figures, as_json=arguments.json)


def measure(folder: Path, *, turns: int, samples: int) -> dict[str, float]:
    """All figures, as one flat object; times in milliseconds unless the key says otherwise."""
    random.seed(7)
    figures: dict[str, float] = {"turns": turns}
    few = Memory.open(folder / "few", command="bench")
    _grow(few, 1_000)
    few.open_graph(_ignore)
    many = Memory.open(folder / "many", command="bench")
    seconds = _seconds(lambda: _grow(many, turns))
    figures["grow_turns_per_s"] = turns / seconds
    many.open_graph(_ignore)

    # Interleaved, so that whatever else the machine does meets both alike.
    small, large = _appender(few), _appender(many)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(samples):
        times[0].append(_seconds(lambda: next(small)))
        times[1].append(_seconds(lambda: next(large)))
    figures["append_ms_at_1000"] = 1_000 * statistics.median(times[0])
    figures["append_ms"] = 1_000 * statistics.median(times[1])
    figures["append_p95_ms"] = 1_000 * percentile(times[1], 0.95)
    figures["append_max_ms"] = 1_000 * max(times[1])
    figures["append_ratio"] = figures["append_ms"] / figures["append_ms_at_1000"]
    few.close()

    session = many.readings.sessions()[0].id
    figures["log_bytes_per_turn"] = (folder / "many" / "log.sqlite").stat().st_size / turns
    figures["sessions_ms"] = 1_000 * _seconds(many.readings.sessions)
    figures["thread_page_ms"] = 1_000 * _seconds(lambda: many.readings.thread(session, limit=50))
    many.append(*_conversation(LONG))
    long = many.readings.sessions()[0].id
    figures["thread_long_ms"] = 1_000 * _seconds(lambda: many.readings.thread(long))
    figures["exchanges_ms"] = 1_000 * _seconds(many.readings.exchanges)
    figures["counts_ms"] = 1_000 * _seconds(many.readings.counts)
    figures["words_ms"] = 1_000 * _seconds(lambda: many.readings.search_words("lisbon larch"))

    figures["anonymous_mb"] = _anonymous_mb()
    many.close()
    return figures | _opening(folder / "many")


def _opening(folder: Path) -> dict[str, float]:
    """What an opening costs, with the graph there, and with the graph gone so that it is rebuilt."""
    figures: dict[str, float] = {}
    start = time.perf_counter()
    memory = Memory.open(folder, command="bench")
    figures["open_log_ms"] = 1_000 * (time.perf_counter() - start)
    figures["open_graph_ms"] = 1_000 * _seconds(lambda: memory.open_graph(_ignore))
    memory.close()
    figures |= _tables(folder)
    (folder / "graph.kuzu").unlink()
    memory, peak = Memory.open(folder, command="bench"), Peak()
    figures["rebuild_events_per_s"] = memory.head() / _seconds(lambda: memory.open_graph(peak))
    figures["rebuild_peak_mb"] = peak.anonymous_mb
    figures["anonymous_mb_after_rebuild"] = _anonymous_mb()
    memory.close()
    return figures


def _tables(folder: Path) -> dict[str, float]:
    """What it costs to make the tables beside the events anew, as after an update; told how far it is."""
    figures: dict[str, float] = {}
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        db.execute("DELETE FROM projected")
    peak = Peak()

    def told(done: int, total: int) -> None:
        peak.anonymous_mb = max(peak.anonymous_mb, _anonymous_mb())

    start = time.perf_counter()
    memory = Memory.open(folder, command="bench", progress=told)
    seconds = time.perf_counter() - start
    figures["tables_s"], figures["tables_events_per_s"] = seconds, memory.head() / seconds
    figures["tables_peak_mb"] = peak.anonymous_mb
    memory.close()
    return figures


def _grow(memory: Memory, turns: int) -> None:
    """Fill a memory in large transactions, before its graph is open."""
    for _ in range(0, turns, TURNS_PER_SESSION):
        memory.append(*_conversation(TURNS_PER_SESSION))


def _conversation(turns: int) -> Iterator[Event]:
    session, parent = new_id(), None
    yield SessionStarted(session=session, client="bench")
    for number in range(turns):
        turn = _turn(session, parent, number)
        yield turn
        parent = turn.turn


def _turn(session: str, parent: str | None, number: int) -> TurnSaid:
    role, speaker = ((Role.USER, "you"), (Role.ASSISTANT, "assistant"))[number % 2]
    text = " ".join(random.choices(TEXT.split(), k=40))
    return TurnSaid(
        turn=new_id(), session=session, parent=parent, role=role, speaker=speaker, client="bench", text=text
    )


def _appender(memory: Memory) -> Iterator[None]:
    """Says one more turn at each step."""
    session, parent, number = new_id(), None, 0
    memory.append(SessionStarted(session=session, client="bench"))
    while True:
        turn = _turn(session, parent, number)
        recorded = memory.append(turn)
        if recorded[0].graph_behind:
            raise RuntimeError("the graph did not follow; the figure would leave it out")
        parent, number = turn.turn, number + 1
        yield


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _anonymous_mb() -> float:
    """Resident memory that no file stands behind."""
    rollup = Path("/proc/self/smaps_rollup")
    if rollup.exists():
        lines = dict(line.split(":", 1) for line in rollup.read_text().splitlines()[1:])
        return int(lines["Anonymous"].split()[0]) / 1024
    import psutil

    return float(psutil.Process().memory_full_info().uss) / 2**20


class Peak:
    """Watches a rebuild and keeps the most memory seen."""

    anonymous_mb = 0.0

    def __call__(self, progress: Progress) -> None:
        self.anonymous_mb = max(self.anonymous_mb, _anonymous_mb())


def _ignore(progress: Progress) -> None:
    """Nobody watches."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    main()
