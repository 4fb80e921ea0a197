"""Running clew: in this process for the quick tests, in one of its own where processes are the point."""

import gc
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.killing import CLEW
from graph.events import Event, Recalled, Role, SessionStarted, SessionTitled, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from tui.commands import run


@dataclass(frozen=True)
class Ended:
    """How a clew ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def clew(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run a command line in this process; without `stdin` what the test has put there is read, or nothing."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr("models.quiet.guard_descriptors", lambda log_file: None)  # they are of who runs the tests

    def call(*argv: str, stdin: bytes | None = None, **variables: str) -> Ended:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as given:
            for name, value in variables.items():
                given.setenv(name, value)
            if stdin is not None:
                given.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            code = run(argv)
        gc.collect()  # the readers that a command leaves open end with its process, and here with this
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return call


@pytest.fixture
def answering(clew: Callable[..., Ended], models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """The same, with the real models."""
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))
    return clew


@pytest.fixture
def environment(home: Path, models_folder: Path) -> dict[str, str]:
    """What a clew of its own process needs: this test's home, and the real models."""
    # llama_cpp leaves two files open when it ends, and that is all it is excused for.
    warnings = "error,ignore::ResourceWarning"
    return os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder), "PYTHONWARNINGS": warnings}


@pytest.fixture
def spawn(environment: dict[str, str]) -> Callable[..., Ended]:
    """Run a command line in a process of its own, to its end."""

    def call(*argv: str, stdin: bytes = b"", **variables: str) -> Ended:
        ended = subprocess.run(
            [*CLEW, *argv], input=stdin, capture_output=True, env=environment | variables, check=False, timeout=120
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


@pytest.fixture
def background(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a command line that goes on beside the test, and end it with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def call(*argv: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*CLEW, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class Said:
    """The ids of a stored exchange."""

    session: str
    turn: str
    reply: str
    tool: str = ""


@pytest.fixture
def remember(home: Path) -> Callable[..., Said]:
    """Store one exchange the way the agent does, without a model."""

    def store(
        said: str,
        reply: str = "I see.",
        *,
        session: str | None = None,
        project: str | None = None,
        client: str = "ask",
        title: str | None = None,
        recalled: Sequence[Recalled] = (),
        tool: str | None = None,
        found: Sequence[Recalled] = (),
    ) -> Said:
        home.mkdir(mode=0o700, exist_ok=True)
        memory = Memory.open(home / "memory", command="test")
        try:
            events: list[Event] = []
            of = session or new_id()
            parent = memory.readings.session(of).head if session else None
            if session is None:
                events.append(SessionStarted(session=of, project=project, client=client))
            turn, answer, looked_up = new_id(), new_id(), new_id() if tool else ""
            asked = TurnSaid(
                turn=turn, session=of, parent=parent, role=Role.USER, speaker="you", client=client, text=said
            )
            events.append(asked)
            if tool:
                more = {"parent": turn, "turn": looked_up, "role": Role.TOOL, "speaker": "tool", "text": tool}
                events.append(asked.model_copy(update=more | {"recalled": tuple(found)}))
            events += [
                TurnSaid(
                    turn=answer,
                    session=of,
                    parent=looked_up or turn,
                    role=Role.ASSISTANT,
                    speaker="assistant",
                    client=client,
                    model="fake",
                    prompt_tokens=12,
                    evaluated_tokens=7,
                    completion_tokens=3,
                    first_token_ms=15.25,
                    total_ms=1250.0,
                    prompt_hash="0123456789abcdef",
                    recalled=tuple(recalled),
                    text=reply,
                ),
            ]
            if title is not None:
                events.append(SessionTitled(session=of, sources=(turn,), text=title))
            memory.append(*events)
            return Said(of, turn, answer, looked_up)
        finally:
            memory.close()

    return store


@pytest.fixture
def record(home: Path) -> Callable[..., None]:
    """Append events to the memory."""

    def append(*events: Event) -> None:
        memory = Memory.open(home / "memory", command="test")
        try:
            memory.append(*events)
        finally:
            memory.close()

    return append


def modules_of(*argv: str, environment: dict[str, str]) -> set[str]:
    """Which modules a command line had imported when it ended."""
    code = "import sys; from tui.entry import main; main(sys.argv[1:]); sys.stderr.write('\\n' + ' '.join(sys.modules))"
    ended = subprocess.run(
        [sys.executable, "-c", code, *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return set(ended.stderr.splitlines()[-1].split())
