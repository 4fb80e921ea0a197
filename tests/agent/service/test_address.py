"""Where the socket is: this user's alone, short enough for the system, and there without a runtime directory."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.home import Home
from agent.service.address import LONGEST_PATH, answered, elsewhere, folder, found, keep_files_here, note, socket_of
from agent.service.protocol import ServiceError
from agent.service.starting import Starter
from agent.service.wire import streams_to
from tests.agent.service.conftest import MakeBehind
from tests.fakes import FakeGenerator

FALLBACK = Path(f"/tmp/clew-{os.getuid()}")


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A runtime directory with a short name."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_it_is_in_the_runtime_directory(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert socket_of(Home.resolve()).parent == runtime / "clew"


@pytest.mark.parametrize("there", [None, "/nowhere/at/all", "long"])
def test_without_one_or_with_a_long_one_it_is_in_a_folder_of_its_own(
    there: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a" * LONGEST_PATH)
    long.mkdir()
    if there is None:
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(long) if there == "long" else there)
    assert folder() == FALLBACK
    assert FALLBACK.stat().st_mode & 0o777 == 0o700
    assert len(os.fsencode(socket_of(Home.resolve()))) <= LONGEST_PATH


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path)[:LONGEST_PATH])
    monkeypatch.setattr("agent.service.address.LONGEST_PATH", 1000)
    (tmp_path / "clew").mkdir()
    (tmp_path / "clew").chmod(0o755)
    with pytest.raises(ServiceError, match=r"not yours alone.*Nothing was changed.*chmod 700"):
        socket_of(Home.resolve())
    assert not answered(Home.resolve())


async def test_who_is_told_of_another_folder_finds_it(
    behind: MakeBehind, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await behind(FakeGenerator("Hello."))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert answered(service.home)
    assert found(service.home).parent == FALLBACK
    await service.end()
    assert not answered(service.home)
    assert found(service.home).parent == runtime / "clew"


def test_two_homes_have_two_sockets(tmp_path: Path) -> None:
    assert socket_of(Home.resolve(tmp_path / "a")) != socket_of(Home.resolve(tmp_path / "b"))


def test_a_face_is_told_of_one_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert elsewhere() is None
    monkeypatch.setenv("CLEW_SOCKET", "~/there.sock")
    assert elsewhere() == Path.home() / "there.sock"


@pytest.mark.parametrize("told", ["by nobody", "by the home", "by the user"])
async def test_nothing_is_sent_to_a_socket_at_which_another_user_listens(
    told: str, runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = await reader.read()
        writer.close()
        heard.put_nowait(said)

    home = Home.resolve(tmp_path / "home")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    path = runtime / "there.sock" if told == "by the user" else socket_of(home)
    async with await asyncio.start_unix_server(listen, str(path)):
        assert answered(home) == (told != "by the user")
        if told == "by the home":
            note(home, path)
        me = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: me + 1)  # so that the one who listens is somebody else
        starter = Starter(home, elsewhere=path if told == "by the user" else None, command=("false",))
        for asking in (starter.connect(), starter.running(), starter.health(), streams_to(path)):
            with pytest.raises(ServiceError, match=f"user {me} listens, and not you. Nothing was sent"):
                await asking
        assert not answered(home)
        monkeypatch.undo()
        _, writer = await streams_to(path)
        writer.write(b"mine")
        writer.close()
        said = []
        while b"mine" not in said:
            said.append(await heard.get())
        assert set(said) == {b"", b"mine"}


@pytest.mark.parametrize(
    "params",
    [
        {"path": "notes.md"},
        {"references": ["https://a.example/b", "@/etc/passwd"]},
        {"references": [" ~/notes.md"]},
        {"address": '"/etc/passwd"'},
        {"addresses": ["etc/passwd"]},
    ],
)
def test_no_file_is_named_to_a_service_elsewhere(params: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    keep_files_here("send", params)
    monkeypatch.setenv("CLEW_SOCKET", "/run/there.sock")
    keep_files_here("models.servers.add", {"address": "127.0.0.1:8080"})
    keep_files_here("chats.rename", {"session": "a", "name": "/a"})
    keep_files_here("send", {"references": ["https://a.example/b", "at://ada.example/app.bsky.feed.post/1"]})
    with pytest.raises(ServiceError, match="on another machine"):
        keep_files_here("send", params)
