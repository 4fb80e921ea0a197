"""The steps that a prompt is evaluated in on a server."""

import pytest

from models.servers.pace import FIRST_STEP, LEAST_STEP, LONGEST_STEP, STEP_S, Pace


def read(pace: Pace, *, each: float, fixed: float, tokens: int) -> list[int]:
    """The steps in which so many tokens are read."""
    steps = []
    while tokens > 0:
        step = min(pace.step(), tokens)
        pace.note(step, fixed + each * step)
        steps.append(step)
        tokens -= step
    return steps


@pytest.mark.parametrize("each", [1e-5, 5e-4, 0.002, 0.01])
def test_a_step_takes_about_its_time_where_a_request_costs_nothing(each: float) -> None:
    steps = read(Pace(), each=each, fixed=0.0, tokens=8000)
    wanted = max(LEAST_STEP, min(LONGEST_STEP, STEP_S / each))
    assert steps[0] == FIRST_STEP
    assert all(abs(step - wanted) <= 1 for step in steps[1:-1])


@pytest.mark.parametrize(("each", "fixed"), [(1e-4, 0.3), (1e-3, 0.3), (1e-4, 0.05), (0.004, 0.3), (0.03, 3.0)])
def test_steps_do_not_become_small_where_a_request_costs_much(each: float, fixed: float) -> None:
    steps = read(Pace(), each=each, fixed=fixed, tokens=8000)
    in_all = len(steps) * fixed + 8000 * each
    assert in_all < 3 * (fixed + 8000 * each) + 10 * fixed + len(steps) * STEP_S


def test_a_server_that_becomes_slow_gets_smaller_steps_and_then_larger_ones_again() -> None:
    pace = Pace()
    assert read(pace, each=1e-3, fixed=0.0, tokens=2000)[-2] == pytest.approx(100, abs=2)
    assert read(pace, each=0.01, fixed=0.0, tokens=2000)[-2] <= 30
    assert read(pace, each=1e-3, fixed=0.0, tokens=4000)[-2] == pytest.approx(100, abs=10)
    assert pace.reading_s == pytest.approx(1e-3, rel=0.2)


def test_nonsense_is_no_pace() -> None:
    pace = Pace()
    for tokens, seconds in ((100, float("nan")), (100, -1.0), (100, float("inf")), (1, 0.1)):
        pace.note(tokens, seconds)
    assert pace.step() == FIRST_STEP
    assert pace.reading_s is None
