"""The backups that clew makes by itself: when, how many, and what happens when one fails."""

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.backups import KEPT, Nightly, automatic, due
from agent.events import Notice, Warned
from agent.home import Home
from graph.errors import MemoryMissing
from graph.memory import Memory
from graph.transfer.backup import AUTOMATIC, PART, backups_of, examine
from tests.graph.talk import said, talk

NOW = datetime.now(UTC)
A_DAY = timedelta(days=1, minutes=1)


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home.resolve(tmp_path / "home")


def speak(home: Home, turns: int = 2) -> None:
    with closing(Memory.open(home.memory, command="test")) as memory:
        talk(memory, turns)


@pytest.mark.process
async def test_one_is_made_where_something_was_said_and_none_a_day_later_where_nothing_was(place: Home) -> None:
    speak(place)
    told: list[Notice] = []
    made = await Nightly(place, told.append).look()
    assert made is not None
    assert examine(made).turns == 2
    assert made.stat().st_mode & 0o777 == 0o600
    assert await Nightly(place, told.append).look() is None
    assert told == []
    later = datetime.fromtimestamp(made.stat().st_mtime, UTC) + A_DAY
    assert not due(place.memory, later)
    with closing(Memory.open(place.memory, command="test")) as memory:
        memory.append(said("more", parent="s1"))
    assert due(place.memory, later)
    assert not due(place.memory, NOW)


@pytest.mark.process
async def test_five_are_kept_and_what_was_cut_off_is_removed(place: Home) -> None:
    speak(place)
    folder = backups_of(place.memory)
    folder.mkdir(mode=0o700)
    long_ago = (NOW - timedelta(days=3)).timestamp()
    for number in range(7):
        old = folder / f"{AUTOMATIC}2025-01-0{number + 1}T000000Z.sqlite"
        old.write_bytes(b"an old one")
        os.utime(old, (long_ago, long_ago))
    (folder / f"{AUTOMATIC}2025-01-09T000000Z.sqlite{PART}").write_bytes(b"half of one")
    (folder / "clew-by-hand.sqlite").write_bytes(b"stays")
    made = await Nightly(place, lambda notice: None).look()
    left = automatic(place.memory)
    assert len(left) == KEPT
    assert left[-1] == made
    assert sorted(path.name for path in folder.iterdir() if path not in left) == ["clew-by-hand.sqlite"]


@pytest.mark.process
async def test_a_clock_that_was_ahead_once_keeps_none_from_being_made(place: Home) -> None:
    speak(place)
    folder = backups_of(place.memory)
    folder.mkdir(mode=0o700)
    years = (NOW + timedelta(days=3_000)).timestamp()
    for number in range(KEPT):
        ahead = folder / f"{AUTOMATIC}2035-01-0{number + 1}T000000Z.sqlite"
        ahead.write_bytes(b"of a clock that was ahead")
        os.utime(ahead, (years, years))
    made = await Nightly(place, lambda notice: None).look()
    assert made is not None
    assert automatic(place.memory)[-1] == made, "and no other goes for those of the future"
    assert await Nightly(place, lambda notice: None).look() is None, "until a day later"


async def test_one_that_fails_is_told_once(place: Home) -> None:
    speak(place)
    backups_of(place.memory).write_text("a file where the folder should be")
    told: list[Notice] = []
    nightly = Nightly(place, told.append)
    assert await nightly.look() is None
    assert await nightly.look() is None
    [warned] = told
    assert isinstance(warned, Warned)
    assert "The automatic backup failed" in warned.message
    assert "Your chats are not affected" in warned.message


async def test_one_that_is_given_up_leaves_nothing_and_without_a_memory_none_is_due(
    place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MemoryMissing):
        due(place.memory, NOW)
    speak(place, 400)
    monkeypatch.setattr("agent.backups.SETTLE_S", 0.0)
    nightly = Nightly(place, lambda notice: None)
    nightly.start()
    await nightly.close()
    assert not list(backups_of(place.memory).glob("*"))
