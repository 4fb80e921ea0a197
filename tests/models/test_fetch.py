"""A file arrives whole and right, or not at all, whatever the connection does."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.catalogue import HubSource
from models.errors import ChecksumMismatch, FetchFailed, NoSpace
from models.fetch import TRIES, Connection, Description, Fetch, FetchProgress, Outside, Source, Unavailable

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SOURCE = HubSource("owner/repo", "tiny.gguf")
GIGABYTE = 10**9


@dataclass
class FakeWorld:
    """Both methods of the outside world, and what was asked of them."""

    content: bytes = CONTENT
    sha256: str | None = SHA256
    cuts: list[int] = field(default_factory=list)  # bytes after which each connection breaks off; then none does
    resumes: bool = True
    refuses: str | None = None
    space: int = GIGABYTE
    offsets: list[int] = field(default_factory=list)
    sent: int = 0
    opened: int = 0
    closed: int = 0
    pauses: int = 0

    @contextmanager
    def connect(self, source: Source, beat: Callable[[], None]) -> Iterator[Connection]:
        self.opened += 1
        try:
            yield self
        finally:
            self.closed += 1

    def describe(self) -> Description:
        if self.refuses:
            raise Unavailable(self.refuses)
        return Description(len(self.content), self.sha256)

    def resume(self, offset: int) -> tuple[int, Iterator[bytes]]:
        self.offsets.append(offset)
        start = offset if self.resumes else 0
        return start, self._pieces(start, self.cuts.pop(0) if self.cuts else len(self.content))

    def _pieces(self, start: int, most: int) -> Iterator[bytes]:
        for at in range(start, min(start + most, len(self.content)), 1000):
            piece = self.content[at : min(at + 1000, start + most)]
            self.sent += len(piece)
            yield piece
            yield b""

    def pause(self, seconds: float) -> None:
        self.pauses += 1

    @property
    def outside(self) -> Outside:
        return Outside(connect=self.connect, free=lambda _: self.space, pause=self.pause)


def fetch(world: FakeWorld, part: Path, progress: Callable[[FetchProgress], None] = lambda _: None) -> Path:
    return Fetch("tiny", [SOURCE], part=part, needs=0, progress=progress, outside=world.outside).run()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "tiny.gguf.part"


@pytest.fixture(autouse=True)
def _folder(part: Path) -> None:
    part.parent.mkdir()


def test_what_arrives_is_private_and_told_from_connecting_to_checking(part: Path) -> None:
    told: list[FetchProgress] = []
    assert fetch(FakeWorld(), part, told.append).read_bytes() == CONTENT
    assert {path.stat().st_mode & 0o777 for path in part.parent.iterdir()} == {0o600}
    assert [each.stage for each in told][:2] == ["connecting", "fetching"]
    assert told[-1] == FetchProgress("tiny", "checking", len(CONTENT), len(CONTENT))
    assert max(each.done for each in told if each.stage == "fetching") == len(CONTENT)


def test_a_broken_connection_goes_on_where_it_broke_or_at_the_start_where_the_server_cannot_resume(part: Path) -> None:
    world = FakeWorld(cuts=[3000, 2500])
    assert fetch(world, part).read_bytes() == CONTENT
    assert world.offsets == [0, 3000, 5500]
    assert world.opened == world.closed == 3
    part.unlink()
    world = FakeWorld(cuts=[3000], resumes=False)
    assert fetch(world, part).read_bytes() == CONTENT
    assert world.offsets == [0, 3000]


@given(cuts=st.lists(st.integers(1, 4000), max_size=12), resumes=st.booleans())
def test_any_sequence_of_breaks_gives_the_same_file_and_no_byte_comes_twice(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], resumes: bool
) -> None:
    world = FakeWorld(cuts=list(cuts), resumes=resumes)
    try:
        whole = fetch(world, tmp_path_factory.mktemp("any") / "tiny.part")
    except FetchFailed:
        assert not resumes  # each try brought no more than the one before
    else:
        assert whole.read_bytes() == CONTENT
        assert not resumes or world.sent == len(CONTENT)


def begun(part: Path) -> None:
    """A download that broke off after 6000 bytes."""
    with pytest.raises(FetchFailed, match="are kept"):
        fetch(FakeWorld(cuts=[6000, 0, 0, 0]), part)


def test_a_later_run_resumes_what_an_earlier_one_left_and_only_checks_what_is_whole(part: Path) -> None:
    begun(part)
    for offsets in ([6000], []):
        later = FakeWorld()
        assert fetch(later, part).read_bytes() == CONTENT
        assert later.offsets == offsets


def test_the_beginning_of_another_file_is_not_gone_on_with(part: Path) -> None:
    begun(part)
    other = CONTENT[::-1]
    world = FakeWorld(content=other, sha256=hashlib.sha256(other).hexdigest())
    assert fetch(world, part).read_bytes() == other
    assert world.offsets == [0]


def test_a_damaged_beginning_is_fetched_once_more(part: Path) -> None:
    begun(part)
    part.write_bytes(b"x" * 6000)
    world = FakeWorld()
    assert fetch(world, part).read_bytes() == CONTENT
    assert world.offsets == [6000, 0]


def test_a_wrong_checksum_is_refused_and_thrown_away(part: Path) -> None:
    with pytest.raises(ChecksumMismatch, match="discarded"):
        fetch(FakeWorld(sha256="0" * 64), part)
    assert list(part.parent.iterdir()) == []


def test_a_server_that_sends_too_much_cannot_fill_the_disk(part: Path) -> None:
    world = FakeWorld()
    world.describe = lambda: Description(5000, hashlib.sha256(CONTENT[:5000]).hexdigest())  # type: ignore[method-assign]
    assert fetch(world, part).read_bytes() == CONTENT[:5000]


def test_without_any_progress_it_gives_up_and_says_what_is_kept_and_what_to_do(part: Path) -> None:
    world = FakeWorld(cuts=[6000, 0, 0, 0, 0])
    with pytest.raises(FetchFailed, match=r"clew models pull tiny.*--model PATH"):
        fetch(world, part)
    assert world.pauses == TRIES - 1
    assert part.stat().st_size == 6000


def test_a_refusal_is_told_and_not_repeated_and_what_cannot_be_verified_or_kept_is_not_fetched(part: Path) -> None:
    for reason, says in (("not found", "does not have it"), ("denied", "HF_TOKEN"), ("offline", "HF_HUB_OFFLINE")):
        world = FakeWorld(refuses=reason)
        with pytest.raises(FetchFailed, match=says):
            fetch(world, part)
        assert world.opened == 1
    world = FakeWorld(sha256=None)
    with pytest.raises(FetchFailed, match="no checksum"):
        fetch(world, part)
    assert world.sent == 0
    world = FakeWorld(space=1000)
    with pytest.raises(NoSpace, match="CLEW_MODELS"):
        fetch(world, part)
    assert world.sent == 0


def test_a_disk_that_fills_up_meanwhile_keeps_what_arrived(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(NoSpace, match="the partial download is kept"):
            fetch(FakeWorld(cuts=[4000]), part)
    later = FakeWorld()
    assert fetch(later, part).read_bytes() == CONTENT
    assert later.offsets == [4000]


def test_giving_up_from_the_progress_closes_the_connection_and_keeps_what_arrived(part: Path) -> None:
    class GivenUp(Exception):
        pass

    def give_up(progress: FetchProgress) -> None:
        if progress.stage == "fetching" and progress.done >= 2000:
            raise GivenUp

    world = FakeWorld()
    with pytest.raises(GivenUp):
        fetch(world, part, give_up)
    assert world.closed == 1
    assert part.stat().st_size == 2000
