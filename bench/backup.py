"""What a backup of a long memory costs whoever goes on chatting: appends beside it, and what the copy is.

    python -m bench.backup FOLDER [--turns 100000]

Fills FOLDER with a memory if it has none, then appends a message every 20 ms for as long as a backup made by a process
of its own lasts, and as long again without one. The bar: no append fails, and none is slower by a blink (100 ms).
"""

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from graph.events import Event, Role, SessionStarted, StopReason, TurnSaid
from graph.ids import new_id
from graph.memory import Memory

PAUSE_S = 0.02
WORDS = [f"word{number}" for number in range(20_000)]


def fill(folder: Path, turns: int) -> None:
    """A memory of so many turns in chats of a hundred, each with a vector."""
    memory = Memory.open(folder, command="bench")
    chance, numbers = random.Random(7), np.random.default_rng(7)
    try:
        for _ in range(turns // 100):
            memory.append(*_chat(chance))
            pending = memory.unembedded("bench", 100)
            vectors = numbers.standard_normal((len(pending), 384), dtype=np.float32)
            memory.keep_vectors("bench", [(hash, vector) for (hash, _), vector in zip(pending, vectors, strict=True)])
    finally:
        memory.close()


def _chat(chance: random.Random) -> list[Event]:
    session, parent = new_id(), None
    events: list[Event] = [SessionStarted(session=session, client="bench")]
    for number in range(100):
        turn, text = new_id(), " ".join(chance.choices(WORDS, k=60))
        more = {"role": Role.USER} if number % 2 == 0 else {"role": Role.ASSISTANT, "stop_reason": StopReason.END}
        events.append(
            TurnSaid.model_validate(
                {"turn": turn, "session": session, "parent": parent, "speaker": "x", "client": "bench", "text": text}
                | more
            )
        )
        parent = turn
    return events


def appends(memory: Memory, session: str, *, while_: "subprocess.Popen[bytes] | float") -> list[float]:
    """Milliseconds of each append, until the process ends or the seconds are over."""
    took: list[float] = []
    began = time.perf_counter()
    while while_.poll() is None if isinstance(while_, subprocess.Popen) else time.perf_counter() - began < while_:
        at = time.perf_counter()
        memory.append(
            TurnSaid(turn=new_id(), session=session, role=Role.USER, speaker="you", client="bench", text="a line " * 20)
        )
        took.append((time.perf_counter() - at) * 1000)
        time.sleep(PAUSE_S)
    return took


def described(took: list[float]) -> str:
    """The figures of some appends, in ms."""
    median, high = np.percentile(took, [50, 95])
    return f"{len(took)} appends: median {median:.2f}, p95 {high:.2f}, max {max(took):.2f} ms"


def main() -> int:
    """Run it; 1 if the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=100_000)
    asked = parser.parse_args()
    if not asked.folder.exists():
        fill(asked.folder, asked.turns)
    target = asked.folder.parent / "bench-backup.sqlite"
    target.unlink(missing_ok=True)
    memory = Memory.open(asked.folder, command="bench")
    try:
        session = new_id()
        memory.append(SessionStarted(session=session, client="bench"))
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "graph.copying", str(asked.folder), str(target)])
        beside = appends(memory, session, while_=process)
        seconds = time.perf_counter() - began
        alone = appends(memory, session, while_=seconds)
    finally:
        memory.close()
    print(f"backup of {target.stat().st_size >> 20} MB in {seconds:.1f} s, ended with {process.returncode}")
    print(f"beside it  {described(beside)}\nwithout it {described(alone)}")
    return int(process.returncode != 0 or max(beside) > max(alone) + 100)


if __name__ == "__main__":
    sys.exit(main())
