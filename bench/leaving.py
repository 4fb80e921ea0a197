"""Terminals that go away: clew goes with them within 5 s, with the code it documents, and nothing accepted is lost.

    python -m bench.leaving [--n 200] [--beside 3] [--seed 1] [--linger SECONDS] [--json]

Each trial is a chat on a pseudo-terminal of its own, half of them while a reply streams, a quarter after the terminal
has first stopped reading. The terminal is closed, or SIGTERM sent. At the end `clew log` must have every message that
was accepted, and `clew doctor` be content. With --linger the chats are faces of a service that stays so long after the
last of them: no face may stay, and the service not longer than that. Exits 1 if a promise was broken.
"""

import argparse
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from platformdirs import user_data_path

from bench.report import report
from graph.reader import LogReader

CHAT = (sys.executable, "-c", "import sys; from tui.entry import main; sys.exit(main(['--new']))")
STATES = ("starting", "loading", "fetching", "reading", "reflecting", "dialog", "editor", "suspended", "closing")
PATIENCE_S = 120.0  # for a state to be reached
LIMIT_S = 5.0
STALL_S = 2.0
ESCAPES = re.compile(rb"\x1b\[[0-9;?<>]*[A-Za-z]|\x1b\][^\x07]*\x07")
PAINTED = re.compile(
    r"\x1b\[(?P<row>\d+);(?P<column>\d+)H|\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b."
    r"|(?P<line>\n)|(?P<back>\r)|(?P<words>[^\x00-\x1f]+)|."
)
EDITOR = "sh -c 'echo saved in the editor >\"$1\"; echo EDITING; exec sleep 600' editor"


@dataclass(slots=True)
class Trial:
    """One process, and how it ended. `gone_s` is None if it had to be killed."""

    state: str
    closes: bool  # the terminal is closed; else SIGTERM
    stalls: bool  # it stops reading first
    message: str
    accepted: bool = False
    gone_s: float | None = None
    code: int | None = None
    survivors: int = 0
    trouble: str = ""

    @property
    def expected(self) -> set[int]:
        number = signal.SIGHUP if self.closes else signal.SIGTERM
        codes = {128 + number}
        if self.state == "starting":
            codes.add(-number)  # before Python runs a line of ours
        # At the end, behind the last line of ours, a signal does what it does to any process.
        return codes | ({0, -number} if self.state == "closing" else set())

    @property
    def well(self) -> bool:
        timely = self.gone_s is not None and self.gone_s <= LIMIT_S
        return timely and self.code in self.expected and not self.survivors and not self.trouble


@dataclass(slots=True)
class Terminal:
    """A pseudo-terminal with a chat on it, whose output is read by a thread unless `stalled`."""

    process: subprocess.Popen[bytes]
    leader: int
    stalled: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    painted: bytearray = field(default_factory=bytearray)

    def read(self) -> None:
        while not self.closed.is_set():
            if self.stalled.is_set() or not select.select([self.leader], [], [], 0.05)[0]:
                self.closed.wait(0.01)
                continue
            try:
                self.painted += os.read(self.leader, 65536)
            except OSError:
                return

    def press(self, keys: bytes) -> None:
        view = memoryview(keys)
        while view:
            view = view[os.write(self.leader, view[:1024]) :]

    def until(self, words: bytes, *, since: int = 0) -> int:
        """Wait until these words were painted; where they end. Raises TimeoutError."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            seen = bytes(self.painted)
            if words in ESCAPES.sub(b"", seen[since:]):
                return len(seen)
            if self.process.poll() is not None:
                raise TimeoutError(f"it ended with {self.process.returncode} before {words!r} was painted")
            time.sleep(0.02)
        raise TimeoutError(f"{words!r} was not painted. The screen:\n{self.screen()}")

    def screen(self) -> str:
        """What stands on the screen, as far as moves of the cursor, new lines and words make it."""
        rows: dict[int, str] = {}
        row = column = 0
        for part in PAINTED.finditer(self.painted.decode("utf-8", "replace")):
            if part["row"] is not None:
                row, column = int(part["row"]) - 1, int(part["column"]) - 1
            elif part["line"]:
                row, column = row + 1, 0
            elif part["back"]:
                column = 0
            elif words := part["words"]:
                line = rows.get(row, "").ljust(column)
                rows[row], column = line[:column] + words + line[column + len(words) :], column + len(words)
        return "\n".join(rows[row].rstrip() for row in sorted(rows))


def take_terminal() -> None:
    """In the child: standard input is the controlling terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextlib.contextmanager
def chat(environment: dict[str, str], command: Sequence[str] = CHAT) -> Iterator[Terminal]:
    """A chat, or a command, on a terminal of its own; killed at the end, if it still runs."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (30, 100))
    process = subprocess.Popen(
        command,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "VISUAL": EDITOR},
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(follower)
    terminal = Terminal(process, leader)
    reading = threading.Thread(target=terminal.read)
    reading.start()
    try:
        yield terminal
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        close(terminal)
        reading.join()


def close(terminal: Terminal) -> None:
    """The terminal goes away."""
    if not terminal.closed.is_set():
        terminal.closed.set()
        os.close(terminal.leader)


def reach(terminal: Terminal, trial: Trial, chance: random.Random) -> None:
    """Bring the chat into the state that the trial is about. Raises TimeoutError."""
    if trial.state == "starting":
        time.sleep(chance.uniform(0, 1.0))
        return
    if trial.state == "fetching":  # which is asked about before the chat opens
        terminal.until(b"downloads it")
        terminal.press(b"\r")
    terminal.until(b"ay something")
    if trial.state == "loading":
        time.sleep(chance.uniform(0, 0.5))
        return
    if trial.state == "fetching":
        terminal.until(b"ownloading")
        time.sleep(chance.uniform(0, 0.5))
        return
    at = terminal.until(b"ready")
    match trial.state:
        case "streaming" | "reflecting":
            terminal.press(trial.message.encode() + b"\r")
            at = terminal.until(b"tok/s", since=at)
            trial.accepted = True
            if trial.state == "reflecting":
                terminal.press(b"\x1b")  # what came is the reply
                terminal.until(b"ready", since=at)
            time.sleep(chance.uniform(0, 1.5))
        case "reading":
            terminal.press(b"\x1b[200~" + trial.message.encode() + b"\x1b[201~")
            at = terminal.until(b"word and line", since=at)
            terminal.press(b"\r")
            terminal.until(b"thinking", since=at)
            trial.accepted = True
            time.sleep(chance.uniform(0, 1.5))
        case "dialog":
            terminal.press(chance.choice((b"\x1bOP", b"\x10", b"\x06")))  # help, palette, search
            time.sleep(chance.uniform(0.2, 0.8))
        case "editor":
            terminal.press(b"draft\x07")
            terminal.until(b"EDITING", since=at)
        case "suspended":
            terminal.press(b"\x1a")
            wait_until_stopped(terminal.process.pid)
        case "closing":
            terminal.press(b"\x11")
            time.sleep(chance.uniform(0, 0.2))


def wait_until_stopped(pid: int) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE_S
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        if time.monotonic() > deadline:
            raise TimeoutError("Ctrl+Z did not stop it")
        time.sleep(0.02)


def lose(terminal: Terminal, trial: Trial, home: Path) -> None:
    """Take the terminal of a chat of a home away, or ask the process to end, and watch it go."""
    if trial.stalls:
        terminal.stalled.set()
        time.sleep(STALL_S)
    runs = terminal.process.poll() is None
    children = psutil.Process(terminal.process.pid).children(recursive=True) if runs else []
    service = services(home)  # is everybody's, and goes by itself
    family = [each for each in children if not any(each == other or other in each.parents() for other in service)]
    began = time.monotonic()
    if trial.closes:
        close(terminal)
    else:
        with contextlib.suppress(ProcessLookupError):
            os.kill(terminal.process.pid, signal.SIGTERM)
            if trial.state == "suspended":
                os.kill(terminal.process.pid, signal.SIGCONT)  # as shells do: a stopped process hears nothing
    try:
        trial.code = terminal.process.wait(LIMIT_S * 4)
        trial.gone_s = time.monotonic() - began
    except subprocess.TimeoutExpired:
        trial.trouble = "it did not end"
    _, alive = psutil.wait_procs(family, timeout=max(0.0, LIMIT_S - (time.monotonic() - began)))
    trial.survivors = len([each for each in alive if each.is_running() and each.status() != psutil.STATUS_ZOMBIE])
    for each in alive:
        with contextlib.suppress(psutil.Error):
            each.kill()


def services(home: Path) -> list[psutil.Process]:
    """The services of a home that run or start."""
    running = psutil.process_iter(["cmdline"])
    return [each for each in running if "serve" in (words := each.info["cmdline"] or []) and str(home) in words]


def run_trial(trial: Trial, home: Path, models: Path, nowhere: str, seed: int, service: dict[str, str]) -> Trial:
    """One process from its start to its end; what went wrong is in `trouble`."""
    chance = random.Random(seed)
    environment = os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models)} | service
    if trial.state == "fetching":  # a home without a model, that a service of the other one does not have either
        environment |= {"CLEW_HOME": f"{home}-fetching", "CLEW_MODELS": str(home / "none")}
        environment |= {"PIP_INDEX_URL": nowhere, "PIP_NO_INDEX": "0", "HF_ENDPOINT": nowhere}
    with chat(environment) as terminal:
        try:
            reach(terminal, trial, chance)
        except TimeoutError as error:
            trial.trouble = str(error)
            return trial
        lose(terminal, trial, Path(environment["CLEW_HOME"]))
    return trial


@contextlib.contextmanager
def silent_index() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"


def message(state: str, nonce: str) -> str:
    """What is said in that state, like nothing else: for reading, 200 KB."""
    if state == "reading":
        return f"{'word and line. ' * 13_600}({nonce})"
    return f"Tell me a long story about a lighthouse and its keeper. ({nonce})"


def plan(count: int, seed: int) -> list[Trial]:
    """Half of the trials while streaming, the others through the other states; a quarter stalls first."""
    chance = random.Random(seed)
    trials = []
    for number in range(count):
        state = "streaming" if number % 2 == 0 else STATES[number // 2 % len(STATES)]
        stalls = number % 4 in (0, 1) and number // 4 % 2 == 0
        said = message(state, f"{number}-{chance.randrange(10**9)}")
        trials.append(Trial(state, closes=number % 3 != 0, stalls=stalls, message=said))
    return trials


def leave_many(
    folder: Path,
    models: Path,
    *,
    trials: Sequence[Trial],
    beside: int,
    seed: int,
    tell: Callable[[str], None],
    linger_s: float | None = None,
) -> tuple[list[Trial], int, int]:
    """Run the trials, `beside` at a time, each lane on a home of its own; with how many accepted messages are missing
    from the logs, and how many doctors were not content, or services stayed longer than they say."""
    service = {"CLEW_SERVICE": "0"} if linger_s is None else {"CLEW_SERVICE": "1", "CLEW_LINGER": str(linger_s)}
    lanes = [list(trials[lane::beside]) for lane in range(beside)]
    done: list[Trial] = []

    def run_lane(lane: int) -> tuple[int, int]:
        home = folder / f"home-{lane}"
        environment = os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models)}
        ill = 0
        for at, trial in enumerate(lanes[lane]):
            done.append(run_trial(trial, home, models, nowhere, seed * 1000 + lane * 100 + at, service))
            if linger_s is None and (home / "memory").exists():
                ill += not healthy(environment)
            tell(f"{len(done)} of {len(trials)}, {sum(not each.well for each in done)} ill, last {done[-1].state}")
        if linger_s is not None:
            for root in (home, Path(f"{home}-fetching")):
                gone = goes_by_itself(root, linger_s)
                ill += not gone or ((root / "memory").exists() and not healthy(environment | {"CLEW_HOME": str(root)}))
        memory = home / "memory"
        listed = []
        if memory.exists():
            with contextlib.closing(LogReader.open(memory)) as reader:
                listed = reader.exchanges(limit=500)
        missing = 0
        for each in (each for each in lanes[lane] if each.accepted):
            # An editor before it may have left a draft in front of it.
            kept = next((entry for entry in listed if (entry.turn.text or "").endswith(each.message)), None)
            reply = kept.reply.text if kept is not None and kept.reply is not None else None
            if reply is None or (each.state == "streaming" and not reply):
                missing += 1
                each.trouble = f"accepted, and not kept: {reply!r}"
        return missing, ill

    with silent_index() as nowhere, ThreadPoolExecutor(beside) as pool:
        counted = list(pool.map(run_lane, range(beside)))
    return done, sum(missing for missing, _ in counted), sum(ill for _, ill in counted)


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A clew command."""
    return subprocess.run(
        [sys.executable, "-m", "tui", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        check=False,
    )


def goes_by_itself(home: Path, linger_s: float) -> bool:
    """Whether the service of a home that nobody uses is gone when it says."""
    deadline = time.monotonic() + linger_s + LIMIT_S
    while services(home):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def healthy(environment: dict[str, str]) -> bool:
    """Whether the doctor is content with the memory."""
    ended = run(environment, "doctor", "--json", "--no-model")
    return ended.returncode == 0 and json.loads(ended.stdout)["ok"] is True


def main() -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.leaving")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--beside", type=int, default=3, help="how many at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", help="only this one")
    parser.add_argument("--linger", type=float, help="have a service, which stays so many seconds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    models = Path(os.environ.get("CLEW_MODELS") or user_data_path("clew") / "models")
    trials = plan(options.n, options.seed)
    if options.state:
        for trial in trials:
            trial.state = options.state
    with tempfile.TemporaryDirectory(prefix="clew-leaving-") as folder:
        done, missing, ill = leave_many(
            Path(folder),
            models,
            trials=trials,
            beside=options.beside,
            seed=options.seed,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
            linger_s=options.linger,
        )
    for trial in done:
        if not trial.well:
            print(
                f"{trial.state} {'close' if trial.closes else 'term'}{' stalled' if trial.stalls else ''}: gone "
                f"{trial.gone_s}, code {trial.code}, survivors {trial.survivors}, {trial.trouble}",
                file=sys.stderr,
            )
    times = sorted(trial.gone_s for trial in done if trial.gone_s is not None)
    report(
        {
            "trials": len(done),
            "well": sum(trial.well for trial in done),
            "streaming": sum(trial.state == "streaming" for trial in done),
            "stalled": sum(trial.stalls for trial in done),
            "accepted": sum(trial.accepted for trial in done),
            "accepted_missing": missing,
            "doctors_ill": ill,
            "gone_median_s": times[len(times) // 2] if times else None,
            "gone_max_s": times[-1] if times else None,
        },
        as_json=options.json,
    )
    return 0 if not missing and not ill and all(trial.well for trial in done) else 1


if __name__ == "__main__":
    sys.exit(main())
