"""Lists: a chosen row with a mark as well as a ground, and one of any length that draws what is in view."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widgets import Input, OptionList

from tui.keymaps import LIST, bindings


class Rows(OptionList):
    """Rows of one or more lines; the mark stands in the first column of the chosen row's first line."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= len(self._lines) or self._lines[place] != (self.highlighted, 0):
            return strip
        first = next(iter(strip), None)
        mark = Segment("›", first.style if first is not None else None)
        return Strip.join([Strip([mark], 1), strip.crop(1)])


def type_into(box: Input, event: events.Key) -> None:
    """A key on a list that has a search box: what is typed there belongs to the box, and so do its editing keys."""
    if event.is_printable and event.character:
        box.insert_text_at_cursor(event.character)
    elif event.key == "backspace":
        box.action_delete_left()
    elif event.key == "ctrl+u":
        box.action_delete_left_all()
    elif event.key == "ctrl+a":
        box.action_home()
    else:
        return
    event.stop()
    event.prevent_default()


Item = TypeVar("Item")
MARK, TICK = "›", "✓"
GUTTER = 2  # cells for the mark of the chosen row; one more where rows can be ticked


class LongList(ScrollView, Generic[Item], can_focus=True):
    """Rows of `height` lines; `paint(item, width)` gives the lines of one, `identity(item)` what it is known by."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"long-list--row", "long-list--chosen"}
    BINDINGS: ClassVar[list[BindingType]] = bindings(LIST)

    class About(Message):
        """Something of one list, which is its `control`."""

        def __init__(self, rows: "LongList[Any]") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "LongList[Any]":
            return self.rows

    class Moved(About):
        """Another row is chosen, or none."""

    class Chosen(About):
        """Enter or a second click on the chosen row."""

    def __init__(
        self,
        paint: Callable[[Item, int], Sequence[Content]],
        identity: Callable[[Item], str],
        *,
        height: int = 2,
        ticks: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.items: Sequence[Item] = ()
        self.place = 0
        self.marks: set[str] = set()
        self._rows: dict[tuple[int, int], list[Strip]] = {}  # the strips of rows that were in view
        self._paint = paint
        self._identity = identity
        self._height = height
        self._gutter = GUTTER + ticks

    @property
    def chosen(self) -> Item | None:
        """The item the mark stands at."""
        return self.items[self.place] if self.place < len(self.items) else None

    @property
    def marked(self) -> list[Item]:
        """The marked items in their order; the chosen one where none is."""
        found = [item for item in self.items if self._identity(item) in self.marks]
        return found or ([self.chosen] if self.chosen is not None else [])

    def fill(self, items: Sequence[Item], *, choose: str | None = None) -> None:
        """Show these; the chosen item stays chosen and at its line of the screen, else the mark stays at its place."""
        before = self._identity(self.chosen) if self.chosen is not None else None
        wanted = choose if choose is not None else before
        line = self.place * self._height - round(self.scroll_y)
        self.items = items
        places = {self._identity(item): place for place, item in enumerate(items)}
        self.place = places.get(wanted or "", max(0, min(self.place, len(items) - 1)))
        self.marks &= set(places)
        self.virtual_size = Size(0, len(items) * self._height)
        self.redraw()
        if before is not None and wanted == before:
            self.scroll_to(y=self.place * self._height - line, animate=False, immediate=True)
        self._keep_in_view()
        now = self._identity(self.chosen) if self.chosen is not None else None
        if now != before:
            self.post_message(self.Moved(self).set_sender(self))

    def redraw(self) -> None:
        """Something that the rows show has changed."""
        self._rows.clear()
        self.refresh()

    def choose(self, place: int) -> None:
        """Put the mark at a row."""
        place = max(0, min(place, len(self.items) - 1))
        if self.items and place != self.place:
            self.place = place
            self.redraw()
            self._keep_in_view()
            self.post_message(self.Moved(self).set_sender(self))

    def toggle_mark(self) -> None:
        """Mark the chosen row, or take its mark away, and go on to the next."""
        if self.chosen is not None:
            self.marks ^= {self._identity(self.chosen)}
            self.redraw()
            self.choose(self.place + 1)

    def mark_all(self) -> None:
        """Mark every row; take all marks away where all have one."""
        every = {self._identity(item) for item in self.items}
        self.marks = set() if self.marks == every else every
        self.redraw()

    def _keep_in_view(self) -> None:
        row = Region(0, self.place * self._height, 1, self._height)
        self.scroll_to_region(row, animate=False, immediate=True, x_axis=False)

    # Drawing

    def render_line(self, y: int) -> Strip:
        place, line = divmod(round(self.scroll_y) + y, self._height)
        width = self.scrollable_content_region.width
        style = self.get_visual_style("long-list--row", *(("long-list--chosen",) if place == self.place else ()))
        if place >= len(self.items) or width <= self._gutter:
            return Strip.blank(width, self.get_visual_style("long-list--row").rich_style)
        if (place, width) not in self._rows:
            if len(self._rows) > 200:
                self._rows.clear()
            self._rows[place, width] = [
                Visual.to_strips(self, content, width, 1, style, apply_selection=False)[0].extend_cell_length(
                    width, style.rich_style
                )
                for content in self._lines(place, width)
            ]
        return self._rows[place, width][line]

    def _lines(self, place: int, width: int) -> list[Content]:
        item = self.items[place]
        lines = [line.truncate(width - self._gutter, ellipsis=True) for line in self._paint(item, width - self._gutter)]
        lines = (lines + [Content("")] * self._height)[: self._height]
        mark = MARK if place == self.place and self.has_focus else " "
        tick = TICK if self._identity(item) in self.marks else " "
        return [
            Content(f"{mark}{tick} "[: self._gutter - 1] + " ") + lines[0],
            *(Content(" " * self._gutter) + line for line in lines[1:]),
        ]

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.redraw()

    def notify_style_update(self) -> None:
        self._rows.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        self.redraw()
        self._keep_in_view()

    # Keys and mouse

    def action_move(self, step: int) -> None:
        self.choose(self.place + step)

    def action_page(self, step: int) -> None:
        self.choose(self.place + step * max(1, self.size.height // self._height - 1))

    def action_end(self, side: int) -> None:
        self.choose(0 if side < 0 else len(self.items) - 1)

    def action_choose(self) -> None:
        if self.items:
            self.post_message(self.Chosen(self).set_sender(self))

    def on_click(self, event: events.Click) -> None:
        place = (round(self.scroll_y) + event.y) // self._height
        if place >= len(self.items):
            return
        if place == self.place and event.chain > 1:
            self.action_choose()
        else:
            self.choose(place)
