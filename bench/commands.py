"""What the commands cost in a large memory: each over the same command in a small one, in processes of their own.

    python -m bench.commands [--messages 11000] [--chats 100] [--runs 3] [--json]

The chats are imported ones, whose messages nearly all hold one word and whose every tenth reply has another version,
off the path, that the title was taken from; the newest chat is one of a person's own. `--chats 1` makes one long chat.
The graph is made before the clock runs, and no model is there.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import report
from graph.events import Event, Role, SessionStarted, SessionTitled, TurnSaid
from graph.ids import new_id, now_ms
from graph.memory import Memory

WORD = "boat"
FEW = 110  # messages of the small memory
TENTH = 10
COMMANDS = {
    "tree": ("tree",),
    "sessions": ("sessions",),
    "show": ("show", "last"),
    "log": ("log", "--limit", "500"),
    "log_json": ("log", "--limit", "500", "--json"),
    "recent": ("recent", "--limit", "500"),
    "about": ("about", WORD),
    "rewind": ("rewind", "start", "--dry-run"),
    "fork": ("fork",),
}


def main() -> None:
    """Run the benchmark and print its figures."""
    arguments = _arguments()
    report(measure(arguments.messages, arguments.chats, arguments.runs), as_json=arguments.json)


def measure(messages: int, chats: int, runs: int) -> dict[str, float]:
    """Of each command the seconds that it takes, median over `runs`, and how often it takes what it does with few."""
    figures: dict[str, float] = {"messages": messages, "chats": chats}
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        fill(few, FEW, 1)
        fill(many, messages, chats)
        for name, command in COMMANDS.items():
            times = [(_seconds(few, *command), _seconds(many, *command)) for _ in range(runs)]
            figures[f"{name}_s"] = statistics.median(large for _, large in times)
            figures[f"{name}_ratio"] = statistics.median(large / small for small, large in times)
    return figures


def fill(home: Path, messages: int, chats: int) -> None:
    """A memory of so many imported messages in so many chats, one that a person began after them, and its graph."""
    home.mkdir(mode=0o700)
    memory = Memory.open(home / "memory", command="bench.commands")
    try:
        said_at = now_ms() - 1000 * (messages + 1)
        for number in range(chats):
            memory.append(*_imported(messages // chats, said_at + 1000 * number * (messages // chats)))
        session, turn = new_id(), new_id()
        memory.append(
            SessionStarted(session=session, client="ask"),
            TurnSaid(turn=turn, session=session, role=Role.USER, speaker="you", client="ask", text="My boat?"),
            TurnSaid(
                turn=new_id(), session=session, parent=turn, role=Role.ASSISTANT, speaker="m", client="ask", text="No."
            ),
        )  # fmt: skip
        memory.open_graph(lambda step: None)
    finally:
        memory.close()


def _imported(messages: int, said_at: int) -> list[Event]:
    """One chat; its title is from a reply beside the path, so that it may not be shown."""
    session, parent, beside = new_id(), None, None
    events: list[Event] = [SessionStarted(session=session, client="import", said_at=said_at)]
    for number in range(messages):
        role = Role.USER if number % 2 == 0 else Role.ASSISTANT
        words = f"Message {number}: the {WORD} lies in the harbour, and we talk about the weather and the next trip."
        turns = [new_id() for _ in range(2 if number % TENTH == 1 else 1)]
        events += [
            TurnSaid(
                turn=turn, session=session, parent=parent, role=role, speaker=str(role), client="import",
                said_at=said_at + 1000 * number, text=words,
            )
            for turn in turns
        ]  # fmt: skip
        beside, parent = beside or (turns[0] if len(turns) > 1 else None), turns[-1]
    if beside is not None:
        events.append(SessionTitled(session=session, sources=(beside,), text="A reply that was made anew"))
    return events


def _seconds(home: Path, *command: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"CLEW_HOME": str(home), "CLEW_MODELS": str(home / "none")}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tui", *command],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    return time.perf_counter() - began


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=11_000)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
