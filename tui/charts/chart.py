"""One chart: its title and what it says in a number, then a curve or bars as wide as there is room."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from tui.drawing.plots import bar, line_plot
from tui.text import MUTED, plain

HEIGHT = 5  # lines of a curve
LEAST = 24  # cells below which a curve says nothing: its numbers stand alone
HEAD = 15  # cells for the name before a bar
COUNT = 9  # and for the number behind it


@dataclass(frozen=True, slots=True)
class Curve:
    """Values from left to right, oldest first; `first` and `last` say when those are, `top` how the most is told."""

    title: str
    told: str
    values: Sequence[float] = ()
    first: str = ""
    last: str = ""
    top: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers beside each other, each with its name."""

    title: str
    told: str
    counts: Sequence[tuple[str, int]] = field(default=())


class Chart(Widget):
    """Drawn anew for each width; a chart without numbers says so in `told`."""

    DEFAULT_CSS = "Chart { width: 1fr; height: auto; }"

    def __init__(self, what: Curve | Bars) -> None:
        super().__init__()
        self.what = what

    def tell(self, what: Curve | Bars) -> None:
        """Show this from now on."""
        if what != self.what:
            self.what = what
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(lines_of(self.what, width))

    def render(self) -> Content:
        return Content("\n").join(lines_of(self.what, self.content_size.width))


def lines_of(what: Curve | Bars, width: int) -> list[Content]:
    """The lines of a chart `width` cells wide, none of them longer."""
    head = [plain(what.title, "bold $primary"), plain(what.told, MUTED)]
    lines = [piece for line in head for piece in (line.wrap(width) if width > 0 else [line])]
    if isinstance(what, Bars):
        most = max((count for _, count in what.counts), default=0)
        return lines + [_bar(name, count, most, width) for name, count in what.counts]
    return lines + (_curve(what, width) if any(what.values) else [])


def _bar(name: str, count: int, most: int, width: int) -> Content:
    room = width - HEAD - COUNT
    if room < 4:
        return plain(f"{name} {count:,}").truncate(max(1, width), ellipsis=True)
    drawn = bar(count, most, room)
    return Content.assemble(plain(f"{name:<{HEAD}}"), plain(drawn, "$primary"), plain(f"{count:>{COUNT},}", MUTED))


def _curve(curve: Curve, width: int) -> list[Content]:
    if width < LEAST:
        return []
    top = plain(curve.top.ljust(width)[:width], MUTED)
    points = in_columns(curve.values, 2 * width)
    drawn = [plain(line, "$primary") for line in line_plot(points, width, HEIGHT, bottom=0.0)]
    gap = max(1, width - len(curve.first) - len(curve.last))
    return [top, *drawn, plain(f"{curve.first}{' ' * gap}{curve.last}"[:width], MUTED)]


def in_columns(values: Sequence[float], most: int) -> list[float]:
    """At most so many values: neighbours are one, the largest of them, so that no peak is lost."""
    step = -(-len(values) // max(1, most))
    return [max(values[place : place + step]) for place in range(0, len(values), max(1, step))]
