"""Every command, alone, beside a chat, beside a service, in a home that cannot be written: never ends in a bug."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.home import Home
from agent.settings import Settings
from tests.agent.service.behind import Behind, agent_of
from tests.fakes import FakeGenerator
from tests.tables import each
from tests.tui.commands.conftest import Clew, Remember, held
from tui.commands import COMMANDS

# {turn}, {session}, {memory} and {folder} are of the memory there is; commands that change it come last.
LINES = (
    "log", "show {turn}", "recall ferry", "recent", "about Ada", "themes", "tree {session}", "sessions", "marks",
    "query RETURN~1~AS~one", "schema", "memories", "review", "relations", "blocks", "projects", "story list",
    "knows Ada ferry --session {session}", "card {folder}/card.json", "export", "models list", "doctor --no-model",
    "entity",
    "ingest {folder}/notes.md", "ingest", "import {folder}/chat.jsonl", "backup {folder}/copy.sqlite",
    "remember I~row", "relate Ada works_with Bob", "correct {memory} I~row~often", "pin {turn}", "hide {turn}",
    "unhide {turn}", "reflect", "ask hello", "regenerate {turn}", "edit {turn} hello~again", "fork {turn}",
    "rewind {turn}", "undo", "synthesize {memory} {memory}", "forget {memory} --yes", "delete {turn} --yes",
    "rebuild",
)  # fmt: skip
OTHERS = {"mcp", "web", "serve", "restore", "erase"}  # which serve, or begin anew: tests of their own


@pytest.fixture
def lines(clew: Clew, remember: Remember, home: Path, tmp_path: Path) -> list[list[str]]:
    """The command lines, for a memory with an exchange and a memory."""
    said = remember("The ferry leaves at nine, says Ada.")
    assert clew("remember", "I swim.").code == 0
    (memory,) = clew("memories", "--json").json
    (tmp_path / "notes.md").write_text("# Tides\n\nThe key is under the mat.\n")
    (tmp_path / "card.json").write_text('{"spec": "chara_card_v2", "data": {"name": "Mara", "first_mes": "Hello."}}')
    (tmp_path / "chat.jsonl").write_text(
        '{"role": "user", "content": "I sail."}\n{"role": "assistant", "content": "Ah."}\n'
    )
    given = {"turn": said.turn, "session": said.session, "memory": memory["id"], "folder": str(tmp_path)}
    return [[word.format(**given).replace("~", " ") for word in line.split()] for line in LINES]


@pytest.fixture
def beside_a_service(home: Path) -> Iterator[None]:
    """A service in another thread."""
    started, ending = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        behind = Behind(Home.resolve(), agent_of(Home.resolve(), FakeGenerator("Hello."), Settings(reflect=False)))
        await behind.start()
        loops.append(asyncio.get_running_loop())
        started.set()
        await ending.wait()
        await behind.end()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert started.wait(60)
    yield
    loops[0].call_soon_threadsafe(ending.set)
    thread.join()


def test_every_command_is_among_them() -> None:
    named = {line.split()[0] for line in LINES}
    assert named | OTHERS == set(COMMANDS)


def end_in_words(clew: Clew, lines: list[list[str]], *refusing: int) -> None:
    """Each does what it is for, finds that there is nothing to do (1, 69), or is refused with one of these codes."""

    def ends(argv: list[str]) -> None:
        ended = clew(*argv)
        assert "Traceback" not in ended.err, ended.err
        assert ended.code in (0, 1, 69, *refusing), (ended.code, ended.err)
        assert ended.code == 0 or ended.err.strip()

    each(lines, ends)


@pytest.mark.process
@pytest.mark.restarts
def test_alone(clew: Clew, lines: list[list[str]], words_only: None) -> None:
    end_in_words(clew, lines)


@pytest.mark.process
@pytest.mark.restarts
def test_beside_a_service(clew: Clew, lines: list[list[str]], words_only: None, beside_a_service: None) -> None:
    end_in_words(clew, lines, 75)


@pytest.mark.restarts
def test_beside_a_chat_that_holds_the_memory_alone(clew: Clew, lines: list[list[str]], home: Path) -> None:
    with held(home):
        end_in_words(clew, lines, 75)


@pytest.mark.restarts
def test_in_a_home_that_cannot_be_written(clew: Clew, lines: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    end_in_words(clew, lines, 73, 74)
