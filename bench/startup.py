"""How soon one can type: clew over a bare Textual app with the same kinds of widgets, in one run, interleaved.

    python -m bench.startup [--turns 100000] [--runs 7] [--json]

Each start is a process on a pseudo-terminal of 120×40. The clock runs from the spawn to the bytes of the composer's
placeholder (first paint); then a key is pressed and its echo awaited (typing possible). `clew --version` is timed over
`python -c "import pydantic"`. All of them find their modules compiled, as every start but the first does.
"""

import argparse
import json
import os
import pty
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from agent.home import Home

BARE = """
from textual.app import App
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Markdown, OptionList, Static, TextArea

class Bare(App):
    CSS = "Input, OptionList { display: none; } TextArea { height: 5; }"
    def compose(self):
        with Horizontal():
            with Vertical():
                yield Input()
                yield OptionList()
            with Vertical():
                yield Static("title")
                with VerticalScroll():
                    yield Static("words")
                yield Static("banner")
                yield TextArea(placeholder="Say something")
                yield Static("status")
    def on_mount(self):
        self.query_one(TextArea).focus()
        self.call_after_refresh(self._begin)
    def _begin(self):
        pass

Bare().run()
"""
CLEW = "import sys; from tui.entry import main; sys.exit(main([]))"
TELLING = """
import sys
from pathlib import Path
def told(app):
    Path(sys.argv[1]).write_text(" ".join(sys.modules))
    app.exit()
assert callable(APP._begin)  # what is called after the first paint
APP._begin = told
"""
TOLD_BARE = BARE.replace("Bare().run()", TELLING.replace("APP", "Bare") + "Bare().run()")
TOLD_CLEW = "from tui.app import ClewApp" + TELLING.replace("APP", "ClewApp") + CLEW
HEAVY = frozenset(
    ("kuzu", "sqlite3", "llama_cpp", "pydantic", "typer", "networkx", "numpy", "pyarrow", "huggingface_hub", "gguf")
)
PAINTED = b"ay something"  # the cursor stands on the first letter
KEY = b"\xc3\xa7"  # ç: a letter that no screen shows by itself
LIMIT_S = 30.0


def one_start(code: str, home: Path) -> tuple[float, float]:
    """Start `code` on a terminal; milliseconds to the first paint and to the echo of a key."""
    began = time.perf_counter()
    process, leader = started(code, home)
    try:
        painted = read_until(leader, PAINTED) - began
        os.write(leader, KEY)
        typed = read_until(leader, KEY) - began
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(leader)
    return 1000 * painted, 1000 * typed


def started(code: str, home: Path, *arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """The process on a terminal of its own, and the terminal's other end."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 120))
    environment = environment_of_start() | {"CLEW_HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
    )
    os.close(follower)
    return process, leader


def environment_of_start() -> dict[str, str]:
    """This one, but for the setting under which every start would compile its modules anew.

    Nothing outlives a start, unless it is asked to: what starting a service takes is timed by bench/service.py.
    """
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"CLEW_SERVICE": "0"} | here


def read_until(descriptor: int, wanted: bytes) -> float:
    """The time at which `wanted` has been read; raises TimeoutError after LIMIT_S, RuntimeError at the end of all."""
    seen = b""
    limit = time.perf_counter() + LIMIT_S
    while time.perf_counter() < limit:
        if select.select([descriptor], [], [], 0.5)[0]:
            try:
                seen = seen[-len(wanted) :] + os.read(descriptor, 65536)
            except OSError as error:  # EIO: how Linux says that the other end is closed
                raise RuntimeError(f"the process ended before {wanted!r} was painted") from error
            if wanted in seen:
                return time.perf_counter()
    raise TimeoutError(f"{wanted!r} was not painted within {LIMIT_S} s")


def one_run(*command: str) -> float:
    """Milliseconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment_of_start())
    return 1000 * (time.perf_counter() - began)


def modules_at_paint(code: str, home: Path) -> frozenset[str]:
    """The names of all modules that TOLD_CLEW or TOLD_BARE has imported when its first frame is painted.

    Raises TimeoutError where nothing is painted, FileNotFoundError where nothing was told after that.
    """
    file = home / "modules"
    process, leader = started(code, home, str(file))
    try:
        read_until(leader, PAINTED)
        _read_to_end(leader)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(leader)
    return frozenset(file.read_text().split())


def _read_to_end(descriptor: int) -> None:
    """Read what comes until the other end is closed, or for LIMIT_S."""
    limit = time.perf_counter() + LIMIT_S
    while time.perf_counter() < limit:
        try:
            if select.select([descriptor], [], [], 0.5)[0] and not os.read(descriptor, 65536):
                return
        except OSError:
            return


def fill(home: Path, turns: int) -> None:
    """A memory of so many turns, twenty exchanges a session; the graph follows by itself at the first start."""
    from graph.events import Event, Role, SessionStarted, TurnSaid
    from graph.ids import new_id
    from graph.memory import Memory

    memory = Memory.open(home / "memory", command="bench.startup")
    try:
        events: list[Event] = []
        parent: str | None = None
        session = ""
        for number in range(turns):
            if number % 40 == 0:
                session, parent = new_id(), None
                events.append(SessionStarted(session=session, client="bench"))
            role = Role.USER if number % 2 == 0 else Role.ASSISTANT
            turn = new_id()
            events.append(
                TurnSaid(
                    turn=turn, session=session, parent=parent, role=role, speaker=str(role), client="bench",
                    text=f"Message {number} of a long memory, with a few words in it.",
                )
            )  # fmt: skip
            parent = turn
            if len(events) >= 5000 or number == turns - 1:
                memory.append(*events)
                events.clear()
    finally:
        memory.close()


def measure(turns: int, runs: int) -> dict[str, float | str]:
    """One flat object of figures; times in milliseconds, medians over `runs` interleaved starts."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "models").symlink_to(Home.resolve().models)  # without one a start asks for it before it paints
        fill(home, turns)
        bare, clew, version, pydantic = [], [], [], []
        one_start(CLEW, home)  # once for the caches of the file system and of Python
        for _ in range(runs):
            bare.append(one_start(BARE, home))
            clew.append(one_start(CLEW, home))
            version.append(one_run(sys.executable, "-m", "tui", "--version"))
            pydantic.append(one_run(sys.executable, "-c", "import pydantic"))
        modules = modules_at_paint(TOLD_CLEW, home)
    paint = [statistics.median(times[0] for times in series) for series in (bare, clew)]
    typed = [statistics.median(times[1] for times in series) for series in (bare, clew)]
    return {
        "turns": turns,
        "bare_paint_ms": round(paint[0], 1),
        "clew_paint_ms": round(paint[1], 1),
        "paint_ratio": round(_ratio([each[0] for each in clew], [each[0] for each in bare]), 3),
        "bare_typed_ms": round(typed[0], 1),
        "clew_typed_ms": round(typed[1], 1),
        "typed_ratio": round(_ratio([each[1] for each in clew], [each[1] for each in bare]), 3),
        "version_ms": round(statistics.median(version), 1),
        "pydantic_ms": round(statistics.median(pydantic), 1),
        "version_ratio": round(_ratio(version, pydantic), 3),
        "modules_at_paint": len(modules),
        "heavy_modules_at_paint": " ".join(sorted(HEAVY & modules)),
    }


def _ratio(ours: list[float], others: list[float]) -> float:
    """The median over the pairs that ran one after the other, so that a machine busy for a while meets both."""
    return statistics.median(a / b for a, b in zip(ours, others, strict=True))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.startup")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.turns, arguments.runs)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:>24}  {value}")


if __name__ == "__main__":
    main()
