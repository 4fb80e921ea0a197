"""The charts: what the memory holds, how it grew, what matters in it, and how fast replies come, as curves and bars."""

import statistics as averages
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import ItemGrid, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from tui.chat_view import ChatView
from tui.drawing.cells import DOTS_ACROSS, DOTS_DOWN, Dots
from tui.keymaps import CHART_PLACES, CHARTS, bindings, signs
from tui.text import MUTED, counted, in_chat, plain
from tui.widgets.dialogs import Reader
from tui.widgets.foot import Foot

if TYPE_CHECKING:
    from graph.readings.statistics import Speed, Statistics


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


RATINGS = ("0 routine", "1 notable", "2 significant", "3 pivotal")
LATELY = 30  # days
STEPS = ((70, 1, "day"), (500, 7, "week"))  # up to so many days a point is so many; beyond, 30


def charts_of(found: "Statistics") -> tuple[Curve | Bars, ...]:
    """All charts, in their order on the screen."""
    return (
        said(found),
        known(found),
        rated(found),
        going(found),
        speed(found.speeds),
        waited(found.speeds),
    )


def said(found: "Statistics") -> Curve:
    """Messages over time."""
    total, lately = sum(found.messages), sum(found.messages[-LATELY:])
    if not total:
        return Curve("Messages", "No messages yet.")
    points, name = _in_steps(found.messages)
    told = f"{total:,} in all, {lately:,} in the last {LATELY} days"
    first, last = _ends(found.first_day, len(found.messages))
    return Curve("Messages", told, points, first, last, f"most in a {name}: {max(points):,}")


def known(found: "Statistics") -> Curve:
    """How the memories grew."""
    total, lately = sum(found.memories), sum(found.memories[-LATELY:])
    if not total:
        return Curve("Memories", "No memories yet. clew learns as you chat.")
    first, last = _ends(found.first_day, len(found.memories))
    told = f"{total:,} in use or under review, {lately:,} of them in the last {LATELY} days"
    return Curve("Memories", told, list(accumulate(found.memories)), first, last, f"now: {total:,}")


def rated(found: "Statistics") -> Bars:
    """How much what was said matters."""
    judged = sum(found.ratings.values())
    if not judged:
        return Bars("How much it matters", "Nothing is rated yet. clew rates each exchange after the reply.")
    told = f"{counted(judged, 'message')} {'is' if judged == 1 else 'are'} rated"
    if found.unrated:
        told += f", {found.unrated:,} {'is' if found.unrated == 1 else 'are'} not yet"
    return Bars("How much it matters", told, [(RATINGS[each], found.ratings[each]) for each in range(4)])


def going(found: "Statistics") -> Bars:
    """Where the memories are going."""
    if not sum(found.trends.values()):
        return Bars("Where memories are going", "There are no memories yet.")
    return Bars("Where memories are going", "by when they were said again", list(found.trends.items()))


def speed(speeds: "Sequence[Speed]") -> Curve:
    """Tokens a second over the last replies."""
    values = [each.tokens_per_s for each in speeds if each.tokens_per_s is not None]
    if not values:
        return Curve("Speed of replies", "No replies timed yet.")
    told = f"{averages.median(values):.1f} tokens per second (median of the last {_replies(len(values))})"
    return Curve("Speed of replies", told, values, "older", "newest", f"fastest: {max(values):.1f} tokens/s")


def waited(speeds: "Sequence[Speed]") -> Curve:
    """How long the first word took."""
    values = [each.first_token_s for each in speeds if each.first_token_s is not None]
    if not values:
        return Curve("Time to first word", "No replies timed yet.")
    told = f"{averages.median(values):.2f} s (median of the last {_replies(len(values))})"
    return Curve("Time to first word", told, values, "older", "newest", f"longest: {max(values):.2f} s")


def _replies(count: int) -> str:
    return "reply" if count == 1 else f"{count} replies"


def _in_steps(days: Sequence[int]) -> tuple[list[int], str]:
    """The days summed up to steps that fit on a screen, the last step whole; and what a step is called."""
    size, name = next(((size, name) for most, size, name in STEPS if len(days) <= most), (30, "stretch of 30 days"))
    beginning = len(days) % size
    steps = [sum(days[:beginning])] if beginning else []
    return steps + [sum(days[place : place + size]) for place in range(beginning, len(days), size)], name


def _ends(first: date, days: int) -> tuple[str, str]:
    last = first + timedelta(days=days - 1)
    return ("", "today") if days == 1 else (first.isoformat(), last.isoformat())


COUNTING = "Counting …"
TWO = 104  # columns from which charts stand beside each other


class ChartsScreen(Screen[None]):
    """Counts when it opens, and again when asked to."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = bindings(CHARTS)
    DEFAULT_CSS = """
    ChartsScreen { padding: 0 2; }
    #charts-title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; margin: 0 0 1 0; }
    #charts-body { height: 1fr; scrollbar-size-vertical: 1; }
    #charts-grid { height: auto; grid-rows: auto; grid-gutter: 1 4; }
    #charts-note { height: auto; }
    #charts-note.failed { color: $text-error; }
    #charts-keys { margin: 1 0 0 0; }
    ChartsScreen.-narrow { padding: 0 1; }
    ChartsScreen.-short #charts-title, ChartsScreen.-short #charts-keys { margin: 0; }
    ChartsScreen.-tiny { padding: 0; }
    ChartsScreen.-tiny #charts-title, ChartsScreen.-tiny #charts-keys { display: none; }
    """

    def __init__(self, view: ChatView) -> None:
        super().__init__()
        assert view.backstage is not None
        self._view = view
        self._service = view.backstage.service
        self._failures = view.failures
        self._charts: list[Chart] = []

    def compose(self) -> ComposeResult:
        yield Static(plain("Charts of your memory", "bold $primary"), id="charts-title", markup=False)
        with VerticalScroll(id="charts-body", can_focus=False):
            yield Static(plain(COUNTING, MUTED), id="charts-note", markup=False)
            yield ItemGrid(id="charts-grid", stretch_height=False)
        yield Foot(signs(CHARTS), lines=1, id="charts-keys")

    def on_mount(self) -> None:
        self.action_again()

    def on_resize(self) -> None:
        self.query_one(ItemGrid).styles.grid_size_columns = 2 if self.app.size.width >= TWO else 1

    def refresh_soon(self) -> None:
        """The graph is ready now."""
        self.action_again()

    def action_again(self) -> None:
        self.run_worker(self._count(), group="count", exclusive=True)

    async def _count(self) -> None:
        note = self.query_one("#charts-note", Static)
        try:
            found = charts_of(await self._service.graph.statistics())
        except self._failures as error:
            note.update(plain(in_chat(str(error))))
            note.add_class("failed")
            note.display = True
            return
        note.display = False
        if self._charts:
            for chart, what in zip(self._charts, found, strict=True):
                chart.tell(what)
        else:
            self._charts = [Chart(what) for what in found]
            await self.query_one(ItemGrid).mount_all(self._charts)

    def action_scroll(self, lines: int) -> None:
        self.query_one("#charts-body").scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        body = self.query_one("#charts-body")
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)

    def action_edge(self, side: int) -> None:
        body = self.query_one("#charts-body")
        if side < 0:
            body.scroll_home(animate=False)
        else:
            body.scroll_end(animate=False)

    def action_help(self) -> None:
        from tui.widgets.pages import keys_content

        self.app.push_screen(Reader("Chart keys", keys_content(CHART_PLACES, self._view.page_width)))
