"""The service in processes of its own: many starters meet one, and a kill of it costs nothing that was accepted."""

import asyncio
from pathlib import Path

import pytest

from agent.home import Home
from bench.kill_service import end, kill_many, start_many
from bench.leaving import Trial, leave_many, message, services

pytestmark = pytest.mark.process


def test_starters_at_once_meet_one_service(home: Path, models_folder: Path) -> None:
    there = Home(home, models_folder)
    try:
        met = start_many(there, 5)
        assert None not in met
        assert len(set(met)) == 1
        assert [each.pid for each in services(home)] == [met[0]]
    finally:
        asyncio.run(end(there))


def test_a_killed_service_is_followed_by_the_next_and_nothing_is_lost(home: Path, models_folder: Path) -> None:
    toll = asyncio.run(kill_many(Home(home, models_folder), kills=4, seed=3, longest_s=2.0))
    assert toll.clean, toll
    assert toll.kills >= 4
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
