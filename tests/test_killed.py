"""Bar 2 in small: kill -9 while a person goes back, forth and deletes loses nothing; bench/killed.py runs long."""

from pathlib import Path

import pytest

from bench.killed import kill_many

pytestmark = pytest.mark.process

KILLS = 15  # of each memory; the two are beside one another


@pytest.mark.parametrize("seed", [30, 31])
def test_kill_minus_nine_between_any_two_deeds_loses_nothing_and_brings_no_word_back(tmp_path: Path, seed: int) -> None:
    toll = kill_many(tmp_path, kills=KILLS, seed=seed, longest_s=0.6)
    assert toll.clean, toll.first_failure
    assert toll.kills == KILLS
    assert toll.deeds >= KILLS, "most kills should meet deeds, or this shows little"
    assert toll.deletions > 0
