"""Killing `clew ask` at random moments and looking at what is left: shared by the benchmark and the test of bar 2.

Every trial starts a real process, reads what it prints with the time of each piece, and sends SIGKILL to its whole
group. After each kill `clew doctor` opens the memory again; at the end the log must have every turn that was
printed as accepted, and of each reply all but what was printed within the last second before the kill.
"""

import json
import os
import random
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from graph.reader import LogReader

CLEW = (sys.executable, "-c", "import sys; from tui.entry import main; sys.exit(main())")
MESSAGES = (
    "Tell me a long story about a lighthouse and its keeper.",
    "Explain in detail how bread is baked, step by step.",
    "List twenty animals, and say something about each of them.",
    "Write a long letter to a friend about a journey by train.",
)
LISTED = 500  # exchanges that are looked at
PATIENCE_S = 120.0  # a process that neither writes nor ends for so long is counted as a start that failed
ENOUGH_FAILED = 10  # nothing more is learnt from trying on

Phase = Literal["starting", "accepted", "replying"]
PHASES: tuple[Phase, ...] = ("starting", "accepted", "replying")


@dataclass(slots=True)
class Trial:
    """One process: what it printed and when (monotonic seconds), and when it was killed; None if it ended before."""

    message: str
    phase: Phase
    out: list[tuple[float, bytes]] = field(default_factory=list)
    err: bytes = b""
    killed_at: float | None = None
    returncode: int | None = None
    stuck: bool = False

    def heard(self, at: float, pieces: dict[str, bytes]) -> None:
        """Take in what was read of its stdout ("out") and stderr ("err")."""
        if pieces.get("out"):
            self.out.append((at, pieces["out"]))
        self.err += pieces.get("err", b"")

    @property
    def failed(self) -> bool:
        """It neither answered nor was given the time to: it ended badly by itself, or hung."""
        return self.stuck or (self.killed_at is None and self.returncode != 0)

    @property
    def accepted(self) -> str | None:
        """The turn that was printed as accepted; a line that was not written to its end does not count."""
        lines = self.err.decode("utf-8", "replace").split("\n")[:-1]
        return next((line.split()[1] for line in lines if line.startswith("accepted ")), None)

    def printed(self) -> str:
        """All of the reply that reached stdout; the newline that ends a whole reply is not part of it."""
        text = b"".join(piece for _, piece in self.out).decode("utf-8", "ignore")
        return text if self.killed_at is not None else text.removesuffix("\n")

    def gap_s(self, kept: str) -> float:
        """How long before the kill the first word was on the screen that `kept` has not: 0 if nothing is missing."""
        if self.killed_at is None:
            return 0.0
        seen = b""
        for at, piece in self.out:
            seen += piece
            text = seen.decode("utf-8", "ignore")
            if len(text) > len(kept) and text != kept + "\n":
                return self.killed_at - at
        return 0.0


@dataclass(frozen=True, slots=True)
class Toll:
    """What the kills did; `altered` counts texts of which the log has others than were said or printed."""

    kills: int
    ended_before: int
    accepted: int
    accepted_missing: int
    partial_replies: int
    altered: int
    worst_partial_gap_s: float
    doctor_failures: int
    failed_starts: int
    first_failure: str  # what the first process that failed had to say
    seconds: float


def kill_many(
    home: Path, models: Path, *, kills: int, seed: int, longest_s: float, tell: Callable[[str], None] = lambda _: None
) -> Toll:
    """Kill `clew ask` until `kills` of them died of it, up to `longest_s` seconds into each phase; then look.

    A third of the moments is chosen in each phase: while it starts, after `accepted`, and after the first words.
    """
    chance = random.Random(seed)
    environment = os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models)}
    began = time.monotonic()
    trials: list[Trial] = []
    doctor_failures = failed_starts = 0
    said: list[str] = []
    while (done := sum(trial.killed_at is not None for trial in trials)) < kills and failed_starts < ENOUGH_FAILED:
        phase = PHASES[len(trials) % len(PHASES)]
        trial = _ask(chance, phase, environment, longest_s=longest_s, go_on=bool(trials) and chance.random() < 0.5)
        trials.append(trial)
        if trial.failed:
            failed_starts += 1
            said.append(trial.err.decode("utf-8", "replace"))
        verdict, words = _doctor(environment)
        if not verdict:
            said.append(words)
        failed_starts += verdict is None
        doctor_failures += verdict is False
        tell(f"{done} of {kills} killed, {failed_starts} starts and {doctor_failures} doctors failed")
    counted = _count(trials, _log(home / "memory"))
    return Toll(
        **counted,
        doctor_failures=doctor_failures,
        failed_starts=failed_starts,
        first_failure=said[0][-2000:] if said else "",
        seconds=round(time.monotonic() - began, 1),
    )


def _ask(chance: random.Random, phase: Phase, environment: dict[str, str], *, longest_s: float, go_on: bool) -> Trial:
    trial = Trial(f"{chance.choice(MESSAGES)} ({chance.randrange(10**9)})", phase)
    process = subprocess.Popen(
        [*CLEW, "ask", *(["--session", "last"] if go_on else []), trial.message],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    delay = chance.uniform(0, longest_s)
    with process:
        timely = _watch(process, trial, delay)
        trial.stuck = not timely and not _ended(process)
        trial.killed_at = _kill(process)
        rest = {name: pipe.read() for name, pipe in (("out", process.stdout), ("err", process.stderr)) if pipe}
        trial.heard(trial.killed_at or time.monotonic(), rest)
        trial.returncode = process.wait()
    return trial


def _watch(process: subprocess.Popen[bytes], trial: Trial, delay: float) -> bool:
    """Take in what the process writes until `delay` seconds into the trial's phase; False if it never got there."""
    deadline = time.monotonic() + delay if trial.phase == "starting" else None
    with selectors.DefaultSelector() as waiting:
        for name, pipe in (("out", process.stdout), ("err", process.stderr)):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ, name)
        heard = time.monotonic()
        while waiting.get_map():
            left = (deadline or heard + PATIENCE_S) - time.monotonic()
            if left <= 0:
                break
            for key, _ in waiting.select(left):
                piece = os.read(key.fd, 1 << 16)
                heard = time.monotonic()
                if not piece:
                    waiting.unregister(key.fileobj)
                trial.heard(heard, {key.data: piece})
            if deadline is None and (trial.out if trial.phase == "replying" else trial.accepted):
                deadline = heard + delay
    return deadline is not None


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process that closed its pipes ends by itself, as it should."""
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(process: subprocess.Popen[bytes]) -> float | None:
    """SIGKILL to the process and its children; when, or None if it had ended by itself."""
    if process.poll() is not None:
        return None
    at = time.monotonic()
    os.killpg(process.pid, signal.SIGKILL)
    return at if process.wait() == -signal.SIGKILL else None


def _run(environment: dict[str, str], arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*CLEW, *arguments], stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False
    )


def _doctor(environment: dict[str, str]) -> tuple[bool | None, str]:
    """Whether the doctor is content, None if it did not even start; and what it said."""
    ended = _run(environment, ["doctor", "--json", "--no-model"])
    words = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        return None, words
    return ended.returncode == 0 and report["ok"] is True, words


def _log(memory: Path) -> dict[str, dict[str, str | None]]:
    """What the log has, by turn: whole, where `clew log` shortens long words."""
    with closing(LogReader.open(memory)) as reader:
        return {
            each.turn.id: {"said": each.turn.text, "reply": each.reply.text if each.reply is not None else None}
            for each in reader.exchanges(limit=LISTED)
        }


def _count(trials: Sequence[Trial], log: dict[str, dict[str, str | None]]) -> dict[str, Any]:
    """`log` holds the newest exchanges, LISTED of them, so at most as many trials can be counted."""
    accepted = [trial for trial in trials if trial.accepted]
    kept = [(trial, log[trial.accepted]) for trial in accepted if trial.accepted in log]
    replies = [(trial, entry["reply"] or "") for trial, entry in kept]
    altered = sum(entry["said"] != trial.message for trial, entry in kept)
    altered += sum(not _one_begins_the_other(reply, trial.printed()) for trial, reply in replies)
    return dict(
        kills=sum(trial.killed_at is not None for trial in trials),
        ended_before=sum(trial.killed_at is None for trial in trials),
        accepted=len(accepted),
        accepted_missing=len(accepted) - len(kept),
        partial_replies=sum(bool(reply) for trial, reply in replies if trial.killed_at is not None),
        altered=altered,
        worst_partial_gap_s=round(max((trial.gap_s(reply) for trial, reply in replies), default=0.0), 3),
    )


def _one_begins_the_other(kept: str, printed: str) -> bool:
    printed = printed.removesuffix("\n") if printed.removesuffix("\n") == kept else printed
    return kept.startswith(printed) or printed.startswith(kept)
