"""Time that passes, another place, and the end of a scene, as the user tells them; little else is taken for it."""

import tomllib
from pathlib import Path

import pytest

from agent.story.passing import Passing, passing


def rows(name: str) -> list[tuple[str, str]]:
    told = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    return [(text, expected) for text, expected in told["rows"]]


def measured(table: list[tuple[str, str]]) -> tuple[float, float, str]:
    """How many are found of all that there are, how many are so of all that are found, and the misses."""
    got = [(text, expected, found.sort if (found := passing(text)) is not None else "") for text, expected in table]
    right = sum(bool(expected) and expected == found for _, expected, found in got)
    wrong = [(text, expected, found or "nothing") for text, expected, found in got if expected != found]
    misses = "\n".join(f"{text!r}: {found}, not {expected}" for text, expected, found in wrong)
    there, told = sum(bool(expected) for _, expected, _ in got), sum(bool(found) for _, _, found in got)
    return right / there, right / max(1, told), misses


@pytest.mark.parametrize(("name", "least"), [("passing", 0.9), ("passing_held_out", 0.8)])
def test_what_the_user_tells_is_found_and_little_else(name: str, least: float) -> None:
    recall, precision, misses = measured(rows(name))
    print(f"recall {recall:.2f}, precision {precision:.2f}\n{misses}")
    assert recall >= least, misses
    assert precision >= 0.9, misses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Three days later, the ferry is back.", Passing("time", "Three days later")),
        ("Skip to the wedding.", Passing("time", "the wedding")),
        ("*we walk over to the old chapel, in the rain*", Passing("place", "the old chapel")),
        ("Cut to the harbour.", Passing("place", "the harbour")),
        ("Fade to black.", Passing("close", "")),
        ("((Three days later, please.)) Good evening.", None),
        ("", None),
        ("?" * 5000, None),
    ],
)
def test_it_is_told_in_which_words(text: str, expected: Passing | None) -> None:
    assert passing(text) == expected
