"""Curves and bars hold their size, whatever numbers come."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tui.charts import bar, line_plot

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


def test_a_rising_curve_goes_from_the_lower_left_to_the_upper_right_and_points_without_a_number_leave_a_gap() -> None:
    assert line_plot([0, 1, 2, 3], 4, 2) == ["  ⡠⠊", "⡠⠊  "]
    line = line_plot([1, 1, math.nan, math.nan, math.nan, 1, 1], 9, 1)[0]
    assert line.strip("⣀⠤⠒⠉⠠⠄⡀⢀⠂⠐⠁⠈").isspace()


def test_a_bar_fills_by_eighths_and_what_is_more_than_nothing_is_seen() -> None:
    assert [bar(value, 8, 1) for value in range(9)] == [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
    assert bar(5, 10, 8) == "████    "
    assert bar(1, 1_000_000, 5) == "▏    "
    assert bar(7, 5, 5) == "█████"
    assert bar(7, 0, 5) == bar(-1, 5, 5) == "     "


@given(st.lists(NUMBERS, max_size=50), st.integers(-1, 30), st.integers(-1, 6))
def test_a_plot_is_as_large_as_asked(points: list[float], width: int, height: int) -> None:
    lines = line_plot(points, width, height)
    if width > 0 and height > 0:
        assert [len(line) for line in lines] == [width] * height
        assert any(not line.isspace() for line in lines) == any(map(math.isfinite, points))
    else:
        assert lines == []


@given(NUMBERS, NUMBERS, st.integers(-1, 40))
def test_a_bar_is_as_wide_as_asked(value: float, most: float, width: int) -> None:
    assert len(bar(value, most, width)) == max(0, width)


def test_a_scale_may_begin_below_the_least_and_the_smallest_and_largest_numbers_have_their_place() -> None:
    flat, from_nothing = line_plot([4, 5], 4, 3), line_plot([4, 5], 4, 3, bottom=0)
    assert flat[-1].strip()
    assert not from_nothing[-1].strip()
    assert line_plot([4, 5], 4, 3, bottom=9) == flat
    assert line_plot([5e-324, 0.0], 2, 1) == line_plot([1, 0], 2, 1)
    assert line_plot([1.7e308, -1.7e308], 2, 1) == line_plot([1, 0], 2, 1)
