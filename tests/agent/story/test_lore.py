"""Lore: when an entry is told by the rules it was written for, and what cannot be met is off and named."""

from collections.abc import Mapping
from typing import Any

import pytest

from agent.story.book import Book, Entry, Salvage, book_json, book_of, entry_of, normal_book
from agent.story.lore import Lore, matching
from graph.values import Turn
from tests.graph.recall.conftest import NOW
from tests.tables import each


def told(entry: Mapping[str, Any], *said: str) -> bool:
    """Whether an entry of SillyTavern's is told where this was said."""
    book, _ = read(entry)
    lore = [Lore(f"lore.{at}", "", one.content, one) for at, one in enumerate(book.entries) if one.enabled]
    turns = [Turn(f"t{at}", "s", None, at, "user", "you", text, NOW, "test") for at, text in enumerate(said)]
    found, _ = matching([(book, lore)], turns, lambda id: False)
    return bool(found)


def read(entry: Mapping[str, Any]) -> tuple[Book, tuple[str, ...]]:
    """The book with that entry alone, and what was put right in reading it."""
    salvage = Salvage()
    value = normal_book({"entries": {"0": {"content": "It is old.", **entry}}}, salvage)
    assert value is not None
    return book_of(value, salvage), salvage.notes()


KEYS = (
    ("魔法", "她学会了魔法。", True),
    ("剣", "彼は剣を抜いた", True),
    ("서울", "서울에서 만났다", True),
    ("ปราสาท", "เขาไปที่ปราสาทเก่า", True),
    ("魔法", "她睡着了。", False),
    ("art", "the party starts", False),
    ("Ärger", "Nichts als ärger!", True),
)


def test_keys_match_in_scripts_that_have_no_blanks_and_whole_words_elsewhere() -> None:
    def matches(row: tuple[str, str, bool]) -> None:
        assert told({"key": [row[0]]}, row[1]) is row[2]

    each(KEYS, matches)


LOGIC: tuple[
    tuple[float, str, bool], ...
] = (  # SillyTavern's number, whether "moon" and "star" are said, whether it is told
    *((0, "wolf", False), (0, "wolf moon", True), (0, "wolf moon star", True)),  # any of them
    *((1, "wolf", True), (1, "wolf moon", True), (1, "wolf moon star", False)),  # not all of them
    *((2, "wolf", True), (2, "wolf moon", False), (2, "wolf moon star", False)),  # not any of them
    *((3, "wolf", False), (3, "wolf moon", False), (3, "wolf moon star", True)),  # all of them
    *((7, "wolf moon", False), (1.5, "wolf moon", False), (-1, "wolf moon", False)),  # none that is known: off
)


def test_the_logic_of_secondary_keys_is_that_of_its_number() -> None:
    def is_told(row: tuple[float, str, bool]) -> None:
        keys = {"key": ["wolf"], "keysecondary": ["moon", "star"], "selective": True}
        assert told({**keys, "selectiveLogic": row[0]}, row[1]) is row[2]
        assert told({**keys, "extensions": {"selectiveLogic": row[0]}}, row[1]) is row[2]

    each(LOGIC, is_told)


def test_a_chance_is_drawn_with_each_turn_and_one_of_none_is_off_and_named() -> None:
    half = {"key": ["wolf"], "probability": 50, "useProbability": True}
    several = [told(half, *["x"] * number, "wolf") for number in range(60)]
    assert 15 < several.count(True) < 45
    assert several == [told(half, *["x"] * number, "wolf") for number in range(60)], "the same again"
    assert told(half | {"useProbability": False}, "a wolf")
    book, notes = read({"key": ["wolf"], "comment": "Wolves", "probability": 0})
    assert not book.entries[0].enabled
    assert "Off, since its chance is none: Wolves." in notes


@pytest.mark.parametrize(("exclude", "mara", "jonas"), [(False, True, False), (True, False, True)])
def test_an_entry_of_some_characters_is_told_to_them_alone(*, exclude: bool, mara: bool, jonas: bool) -> None:
    book, _ = read({"key": ["wolf"], "characterFilter": {"isExclude": exclude, "names": ["Mara"], "tags": []}})
    (entry,) = book.entries
    assert (entry.is_for("mara"), entry.is_for("Jonas")) == (mara, jonas)


BUT = ({"isExclude": "true", "names": "Mara.png, Ada"}, {"isExclude": 1, "names": [" Mara "]})


@pytest.mark.parametrize("only", BUT)
def test_a_filter_written_otherwise_means_the_same(only: Any) -> None:
    (entry,) = read({"key": ["wolf"], "characterFilter": only})[0].entries
    assert (entry.is_for("Mara"), entry.is_for("Jonas")) == (False, True)
    (entry,) = read({"key": ["wolf"], "characterFilter": ["Mara"]})[0].entries
    assert (entry.is_for("Mara"), entry.is_for("Jonas")) == (True, False)
    assert told({"key": ["wolf"], "probability": 0, "useProbability": "false"}, "a wolf")


def test_an_entry_of_tags_is_off_and_named() -> None:
    book, notes = read({"key": ["wolf"], "characterFilter": {"isExclude": True, "names": [], "tags": ["elf"]}})
    assert not book.entries[0].enabled
    assert "Off, since it is for characters by their tags, which clew does not go by: wolf." in notes


def test_what_was_read_is_written_so_that_it_is_read_the_same() -> None:
    one = Entry(
        keys=("wolf",), content="It howls.", secondary=("moon",), selective=True, logic="not any", chance=30,
        members=("Mara",), but=True,
    )  # fmt: skip
    (written,) = book_json(Book(entries=(one,)))["entries"]
    assert entry_of(written, Salvage()) == one
