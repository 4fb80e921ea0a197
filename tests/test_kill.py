"""Bar 2 in small: kill -9 at random moments of `clew ask` loses nothing accepted; bench/kill.py is the long run."""

from pathlib import Path

import pytest

from bench.killing import PHASES, Trial, kill_many
from tests.examples import few

SEEDS = (20, 21)  # beside one another
KILLS = max(len(PHASES), few(6))  # of each memory


@pytest.mark.process
@pytest.mark.parametrize("seed", SEEDS[: few(len(SEEDS))])
def test_kill_minus_nine_loses_nothing_that_was_accepted(tmp_path: Path, models_folder: Path, seed: int) -> None:
    toll = kill_many(tmp_path / "home", models_folder, kills=KILLS, seed=seed, longest_s=1.5)
    assert (toll.kills, toll.failed_starts, toll.doctor_failures) == (KILLS, 0, 0)
    assert toll.accepted >= KILLS // 2, "most kills should meet an accepted turn, or this shows little"
    assert (toll.accepted_missing, toll.altered) == (0, 0)
    assert toll.worst_partial_gap_s <= 1.0


def test_the_gap_is_the_age_of_the_first_printed_word_that_is_missing() -> None:
    trial = Trial("Hello?", "replying", out=[(10.0, b"one "), (10.5, b"two "), (11.2, b"three")], killed_at=11.5)
    assert trial.gap_s("one two three and more that was not printed yet") == 0
    assert trial.gap_s("one two three") == 0
    assert trial.gap_s("one two ") == 11.5 - 11.2
    assert trial.gap_s("one ") == 1.0
    assert trial.gap_s("") == 1.5


def test_a_line_that_was_cut_short_is_no_acceptance() -> None:
    assert Trial("Hello?", "accepted", err=b"accepted 01ABC").accepted is None
    assert Trial("Hello?", "accepted", err=b"loading\naccepted 01ABC\n").accepted == "01ABC"
