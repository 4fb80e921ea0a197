"""Running clew: in this process for the quick tests, in one of its own where processes are the point."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.killing import CLEW
from graph.events import Event, Recalled, Role, SessionStarted, SessionTitled, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.reader import LogReader
from tests.tables import each
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


Clew = Callable[..., Ended]


class Terminal(io.StringIO):
    """A stream that is a terminal, on which this is typed."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def clew(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clew:
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
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return call


@pytest.fixture
def answering(clew: Clew, models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Clew:
    """The same, with the real models, in one thread: a second would only wait for it."""
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))
    monkeypatch.setenv("CLEW_THREADS", "1")
    return clew


Refusal = tuple[tuple[str, ...], int, str]


def refused(clew: Clew, *rows: Refusal, stdin: bytes = b"") -> None:
    """Each of these command lines ends with its code, writes nothing on stdout, and these words on stderr."""

    def check(row: Refusal) -> None:
        argv, code, says = row
        ended = clew(*argv, stdin=stdin)
        assert (ended.code, ended.out) == (code, "")
        assert says in plain(ended.err)

    each(rows, check)


def plain(told: str) -> str:
    """What was told, without the lines and the frame that it stands in."""
    return " ".join(told.replace("│", " ").split())


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder: found by words, which needs no model's file."""
    monkeypatch.setenv("CLEW_EMBEDDER", "nothing-here")


@pytest.fixture
def environment(home: Path, models_folder: Path) -> dict[str, str]:
    """What a clew of its own process needs: this test's home, and the real models."""
    # llama_cpp leaves two files open when it ends, and that is all it is excused for.
    warnings = "error,ignore::ResourceWarning"
    given = {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder), "CLEW_THREADS": "1"}
    return os.environ | given | {"PYTHONWARNINGS": warnings}


def started(environment: dict[str, str], *argv: str, **streams: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run a command line in a process of its own, to its end; what is not said of its streams is empty, or caught."""
    usual: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    usual |= {} if "input" in streams else {"stdin": subprocess.DEVNULL}
    return subprocess.run([*CLEW, *argv], env=environment, check=False, timeout=120, **usual | streams)


@pytest.fixture
def spawn(environment: dict[str, str]) -> Clew:
    """The same as `clew`, in a process of its own."""

    def call(*argv: str, stdin: bytes = b"", **variables: str) -> Ended:
        ended = started(environment | variables, *argv, input=stdin)
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


@pytest.fixture
def background(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a command line that goes on beside the test, and end it with the test."""
    running: list[subprocess.Popen[bytes]] = []
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    def call(*argv: str) -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen([*CLEW, *argv], bufsize=0, env=environment, **streams))
        return running[-1]

    yield call
    for process in running:
        process.kill()
        process.communicate()


FIGURES = {
    "model": "fake",
    "prompt_tokens": 12,
    "evaluated_tokens": 7,
    "completion_tokens": 3,
    "first_token_ms": 15.25,
    "total_ms": 1250.0,
    "prompt_hash": "0123456789abcdef",
}


@dataclass(frozen=True)
class Said:
    """The ids of a stored exchange."""

    session: str
    turn: str
    reply: str
    tool: str = ""


Remember = Callable[..., Said]
Record = Callable[..., None]


def held(home: Path) -> closing[Memory]:
    """The memory, which a chat has until this is left."""
    return closing(Memory.open(home / "memory", command="clew (chat)"))


@pytest.fixture
def record(home: Path) -> Record:
    """Append events to the memory, which is made if there is none."""

    def append(*events: Event) -> None:
        home.mkdir(mode=0o700, exist_ok=True)
        with held(home) as memory:
            memory.append(*events)

    return append


@pytest.fixture
def remember(home: Path, record: Record) -> Remember:
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
        events: list[Event] = []
        of, parent = session or new_id(), None
        if session is None:
            events.append(SessionStarted(session=of, project=project, client=client))
        else:
            with closing(LogReader.open(home / "memory")) as reader:
                parent = reader.session(of).head
        turn, answer, looked_up = new_id(), new_id(), new_id() if tool else ""
        asked = TurnSaid(turn=turn, session=of, parent=parent, role=Role.USER, speaker="you", client=client, text=said)
        events.append(asked)
        if tool:
            more = {"parent": turn, "turn": looked_up, "role": Role.TOOL, "speaker": "tool", "text": tool}
            events.append(asked.model_copy(update=more | {"recalled": tuple(found)}))
        replied = {"parent": looked_up or turn, "turn": answer, "role": Role.ASSISTANT, "speaker": "assistant"}
        events.append(asked.model_copy(update=replied | FIGURES | {"recalled": tuple(recalled), "text": reply}))
        if title is not None:
            events.append(SessionTitled(session=of, sources=(turn,), text=title))
        record(*events)
        return Said(of, turn, answer, looked_up)

    return store


def modules_of(*argv: str, environment: dict[str, str]) -> set[str]:
    """Which modules a command line had imported when it ended."""
    code = "import sys; from tui.entry import main; main(sys.argv[1:]); sys.stderr.write('\\n' + ' '.join(sys.modules))"
    command = [sys.executable, "-c", code, *argv]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=True)
    return set(ended.stderr.decode().splitlines()[-1].split())
