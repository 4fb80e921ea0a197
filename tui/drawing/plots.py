"""Lines and bars of characters: a curve in braille dots, a bar in eighths of a block."""

from collections.abc import Sequence

from tui.drawing.braille import DOTS_ACROSS, DOTS_DOWN, Dots

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def line_plot(points: Sequence[float], width: int, height: int, *, bottom: float | None = None) -> list[str]:
    """A curve through the points from left to right, `height` lines of `width` cells.

    At the bottom is the least of them, or `bottom` if that is less.

    Points that are not finite leave a gap. Where all are the same the curve is flat: in the middle, below for 0.
    """
    if width <= 0 or height <= 0:
        return []
    dots = Dots(width, height)
    finite = [value for value in points if _is_finite(value)]
    if finite:
        low, high = min(finite if bottom is None else (*finite, bottom)), max(finite)
        spread = high - low
        across, down = width * DOTS_ACROSS - 1, height * DOTS_DOWN - 1
        before: tuple[int, int] | None = None
        for place, value in enumerate(points):
            if not _is_finite(value):
                before = None
                continue
            share = _share(value, low, high) if spread else float(value > 0) / 2
            x = round(place * across / (len(points) - 1)) if len(points) > 1 else across // 2
            here = (x, round(down * (1 - share)))
            dots.line(before or here, here)
            before = here
    return dots.lines()


def bar(value: float, most: float, width: int) -> str:
    """A bar of `width` cells, filled as far as `value` is of `most`; what is more than nothing is seen."""
    if width <= 0:
        return ""
    share = value / most if _is_finite(value) and _is_finite(most) and most > 0 else 0.0
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


def _is_finite(value: float) -> bool:
    return value - value == 0  # of infinities and of what is no number the difference is no number


def _share(value: float, low: float, high: float) -> float:
    halves = high / 2 - low / 2  # the difference of the largest floats has no float, and half the smallest is none
    return (value / 2 - low / 2) / halves if halves else (value - low) / (high - low)
