"""Bar 2 in small: kill -9 while a person goes back, forth and deletes loses nothing; bench/killed.py runs long."""

import time
from pathlib import Path

import pytest

from bench.killed import CHECKED, kill_many
from bench.person import Person
from tests.examples import few

SEEDS = (30, 31)  # beside one another
KILLS = max(2 * CHECKED, few(15))  # of each memory
WITHIN = 12  # deeds, as long as they take here: a slow machine is given the time to do some


@pytest.mark.process
@pytest.mark.parametrize("seed", SEEDS[: few(len(SEEDS))])
def test_kill_minus_nine_between_any_two_deeds_loses_nothing_and_brings_no_word_back(tmp_path: Path, seed: int) -> None:
    toll = kill_many(tmp_path / "killed", kills=KILLS, seed=seed, longest_s=max(0.6, WITHIN * pace(tmp_path / "paced")))
    assert toll.clean, toll.first_failure
    assert toll.kills == KILLS
    assert toll.deeds >= KILLS, "most kills should meet deeds, or this shows little"
    assert toll.deletions > 0


def pace(home: Path) -> float:
    """How many seconds a deed takes on this machine now."""
    person = Person(home)
    began = time.monotonic()
    for number in range(WITHIN):
        person.do("send" if number else "begin", number, number, number, True)
    took = time.monotonic() - began
    person.end()
    return took / WITHIN
