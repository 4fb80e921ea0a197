"""The service in processes of its own: many starters meet one, and a kill of it costs nothing that was accepted."""

import asyncio
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.home import Home
from agent.service.address import socket_of
from agent.service.client import AgentClient
from agent.service.starting import Starter
from agent.settings import Settings
from bench.kill_service import end, kill_many, start_many
from bench.leaving import Trial, leave_many, message, services
from tests.examples import few
from tui.exit_codes import ExitCode

pytestmark = pytest.mark.process

STARTERS, KILLS = max(3, few(5)), max(2, few(4))


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one would only wait for the first."""
    monkeypatch.setenv("CLEW_THREADS", "1")


@dataclass
class Ended:
    """What a command said, and how it ended."""

    out: str
    err: str
    code: int | None


async def command(*arguments: str, **variables: str) -> Ended:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tui", *arguments, env=os.environ | variables, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    return Ended(out.decode(), err.decode(), process.returncode)


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: Path) -> None:
    """What comes on one socket goes to another, and back, as `ssh -L` has it."""
    there, back = await asyncio.open_unix_connection(str(to))

    async def pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
        target.close()

    await asyncio.gather(pass_on(reader, back), pass_on(there, writer))


def test_starters_at_once_meet_one_service(home: Path, models_folder: Path) -> None:
    there = Home(home, models_folder)
    try:
        met = start_many(there, STARTERS)
        assert None not in met
        assert len(set(met)) == 1
        assert [each.pid for each in services(home)] == [met[0]]
    finally:
        asyncio.run(end(there))


def test_a_killed_service_is_followed_by_the_next_and_nothing_is_lost(home: Path, models_folder: Path) -> None:
    toll = asyncio.run(kill_many(Home(home, models_folder), kills=KILLS, seed=3, longest_s=2.0))
    assert toll.clean, toll
    assert toll.kills >= KILLS
    assert toll.accepted


def test_a_face_goes_with_its_terminal_and_the_service_when_it_says(tmp_path: Path, models_folder: Path) -> None:
    trials = [
        Trial(state, closes=number % 2 == 0, stalls=state == "reading", message=message(state, str(number)))
        for number, state in enumerate(("starting", "streaming", "reading", "suspended"))
    ]
    done, missing, ill = leave_many(
        tmp_path, models_folder, trials=trials, beside=1, seed=5, tell=lambda line: None, linger_s=1
    )
    assert [each for each in done if not each.well] == []
    assert sum(each.accepted for each in done) == 2
    assert (missing, ill) == (0, 0)


async def test_a_second_service_says_who_is_there_and_a_socket_that_was_brought_here_is_used_and_keeps_nothing_here(
    home: Path, models_folder: Path, tmp_path: Path
) -> None:
    there, here = Home(home, models_folder), tmp_path / "here"
    brought = Path("/tmp") / f"clew-test-{os.getpid()}.sock"
    refused = await command("--home", str(here), "ask", "Say hello.", CLEW_SOCKET=str(brought))
    assert refused.code == ExitCode.FAILED
    assert f"No service answers at {brought}, which CLEW_SOCKET names. Nothing was changed." in refused.err
    client = AgentClient(Starter(there).connect, Settings(), name="chat")
    await client.start()
    second = await command("--home", str(home), "serve", CLEW_MODELS=str(models_folder))
    assert "in use by `clew serve`" in second.out + second.err
    assert second.code != 0
    assert await client.chats.all() == []
    forwarded: list[asyncio.Task[None]] = []

    def forwarding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        forwarded.append(asyncio.create_task(forward(reader, writer, socket_of(there))))

    async with await asyncio.start_unix_server(forwarding, str(brought)):
        asked = await command("--home", str(here), "ask", "Say hello.", CLEW_SOCKET=str(brought))
        told = await command("--home", str(here), "remember", "The ferry leaves at nine.", CLEW_SOCKET=str(brought))
        await asyncio.gather(*forwarded)
    brought.unlink(missing_ok=True)  # Python 3.13 takes it away itself
    assert (asked.code, told.code) == (0, 0), asked.err + told.err
    said = [[turn.text for turn in await client.chats.thread(each.id)] for each in await client.chats.all()]
    assert ["Say hello.", asked.out.rstrip("\n")] in said
    assert "The ferry leaves at nine." in [each.text for each in await client.memories.find()]
    assert not (here / "memory" / "log.sqlite").exists()
    await client.close()
    await end(there)
