"""Threads that fit what else the machine does, on simulated machines."""

from collections.abc import Callable

from models.machine import Pace, Paces


def run(pace: Pace, steps: int, seconds: Callable[[int], float]) -> list[int]:
    """The threads of each step on a machine where one takes `seconds(threads)`."""
    used = []
    for _ in range(steps):
        used.append(pace.threads)
        pace.took(seconds(pace.threads))
    return used


def quiet(threads: int) -> float:
    return 0.009 if threads == 2 else 0.015


def busy(threads: int) -> float:
    return 0.2 if threads == 2 else 0.017


def test_on_a_quiet_machine_all_threads_are_used_but_for_rare_trials() -> None:
    used = run(Paces.of(2).writing, 4000, quiet)
    assert used[:8] == [2] * 8
    assert used.count(1) <= 60
    assert used[-1] == 2


def test_beside_a_busy_program_half_the_threads_are_used_soon() -> None:
    used = run(Paces.of(2).writing, 400, busy)
    assert used[12:].count(2) <= 24


def test_a_trial_that_is_hopeless_ends_with_its_first_step() -> None:
    used = run(Paces.of(2).writing, 400, lambda threads: 2.0 if threads == 2 else 0.017)
    assert used[12:].count(2) == len([at for at in range(13, 400) if (used[at - 1], used[at]) == (1, 2)])


def test_it_notices_within_some_tokens_that_the_machine_became_busy_and_quiet_again() -> None:
    pace = Paces.of(2).writing
    run(pace, 1000, quiet)
    became_busy = run(pace, 200, busy)
    assert became_busy.index(1) <= 16
    assert became_busy[60:].count(2) <= 20
    became_quiet = run(pace, 1200, quiet)
    assert became_quiet[-1] == 2
    assert became_quiet[600:].count(1) <= 20


def test_a_long_prompt_on_a_busy_machine_is_read_with_half_the_threads_after_two_batches() -> None:
    used = run(Paces.of(2).reading, 60, busy)
    assert used[:2] == [2, 1]
    assert used.count(2) <= 12


def test_a_single_thread_has_nothing_to_try() -> None:
    assert set(run(Paces.of(1).writing, 600, quiet)) == {1}


def test_many_cores_are_halved() -> None:
    assert set(run(Paces.of(8).writing, 100, lambda threads: 1 / threads)) == {8, 4}


def test_how_long_a_step_takes_is_known_after_the_first_also_of_a_single_thread() -> None:
    for threads in (1, 2):
        pace = Paces.of(threads).reading
        assert pace.quickest is None
        run(pace, 40, quiet)
        assert pace.quickest == quiet(threads)
