"""Words in pages: what does not fit is summed up above, how much lies below is said; a screen's keys as such a page."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.keymaps import KeyContext
from tui.text import MUTED, plain
from tui.widgets.foot import row

NOTHING = Content("")


@dataclass(frozen=True, slots=True)
class PageText:
    """Words to read, `first` above them; `short` is all they say in brief, for where there is no room for them."""

    whole: Content
    short: Content = NOTHING
    first: Content = NOTHING

    def content(self, *, briefed: bool) -> Content:
        above = [each for each in (self.first, self.short if briefed else NOTHING) if each]
        return Content("\n").join([*above, *([NOTHING] if above else []), self.whole])


class Pages(VerticalScroll, can_focus=False):
    """Words that scroll. `Turned` is for the `Fold` that stands beside them."""

    class Turned(Message):
        """Something else of the words is in sight: so many lines are above it, and so many below."""

        def __init__(self, above: int, below: int) -> None:
            super().__init__()
            self.above, self.below = above, below

    def __init__(self, words: Content, *, classes: str) -> None:
        super().__init__(classes=classes)
        self._words = PageText(words)
        self._briefed = False  # they did not fit, and what is said in brief stands above them
        self._around = (0, 0)

    def compose(self) -> ComposeResult:
        yield Static(self._words.whole, markup=False)

    def tell(self, words: PageText) -> None:
        """Show these, from the beginning."""
        self._words, self._briefed = words, False
        self._paint()
        self.scroll_home(animate=False)

    def _paint(self) -> None:
        self.query_one(Static).update(self._words.content(briefed=self._briefed))

    def turn(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(1, self.size.height - 1), animate=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._measure_soon()

    def watch_virtual_size(self) -> None:
        self._measure_soon()

    def on_resize(self) -> None:
        self._measure_soon()

    def _measure_soon(self) -> None:
        self.call_after_refresh(self._measure)  # once everything around it has its size too

    def _measure(self) -> None:
        above = round(self.scroll_y)
        around = (above, max(0, round(self.max_scroll_y) - above)) if self.size.height else (0, 0)
        if around[1] and self._words.short and not self._briefed:
            self._briefed = True
            self._paint()
        if around != self._around:
            self._around = around
            self.post_message(self.Turned(*around))


class Fold(Static):
    """The line below `Pages` that says what else there is; not there where all of it is in sight."""

    def __init__(self) -> None:
        super().__init__("", classes="fold", markup=False)
        self.display = False

    def show(self, turned: Pages.Turned) -> None:
        lines = f"{turned.below} more line{'' if turned.below == 1 else 's'}"
        more = plain(f"▼ {lines} · ") + plain("PgDn", "bold") if turned.below else plain("▲ ") + plain("PgUp", "bold")
        self.update(more.stylize(MUTED))
        self.display = bool(turned.above or turned.below)


WIDE = 16  # cells of the names of the keys


def keys_content(places: Iterable[KeyContext], width: int) -> Content:
    """The keys of some places alone, each under its heading."""
    parts: list[Content] = []
    for place in places:
        parts.extend((Content(""), heading(place.title)))
        parts.extend(row(each.label, each.words, width, WIDE) for each in place.rows)
    return Content("\n").join(parts[1:])


def heading(title: str) -> Content:
    """The name of a screen, above its keys."""
    return plain(title, "bold $primary")
