"""The rows of an answer: a table of any length whose cells are drawn as they come into view, sorted by any column.

Invariants: it draws what is in view and nothing else; sorting moves places and never the rows themselves.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from tui.keymaps import TABLE, bindings
from tui.queries.cells import brief, cell, is_right, order_of
from tui.text import one_line, plain

GAP = 2  # cells between columns
NARROWEST, WIDEST = 3, 400
LOOKED_AT = 200  # rows that say how wide a column is, of the first ones and of all others
LEAST = 12  # narrower than that no column is made that wants more
SCROLLED = 32  # the widest where there is no room for all columns
UP, DOWN = " ↑", " ↓"


def widths_of(columns: Sequence[str], rows: Sequence[Sequence[Any]], room: int) -> list[int]:
    """How wide each column is: as its longest cell where there is room; the widest ones share what is left."""
    natural = [Content(one_line(name)).cell_length + 2 for name in columns]
    for row in (*rows[:LOOKED_AT], *rows[LOOKED_AT :: max(1, len(rows) // LOOKED_AT)], *rows[-1:]):
        for place, value in enumerate(row):
            natural[place] = max(natural[place], Content(brief(value, WIDEST)).cell_length)
    natural = [max(NARROWEST, min(WIDEST, each)) for each in natural]
    free, most = room - GAP * (len(columns) - 1), LEAST
    if sum(min(each, most) for each in natural) > free:
        return [min(each, SCROLLED) for each in natural]  # the table scrolls, and need not be thrifty
    while most < WIDEST and sum(min(each, most + 1) for each in natural) <= free and max(natural, default=0) > most:
        most += 1
    return [min(each, most) for each in natural]


class ResultTable(ScrollView, can_focus=True):
    """One cell is chosen; the arrows move it, Enter opens it, `s` sorts by its column."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--row", "table--chosen-row", "table--chosen", "table--head"}
    BINDINGS: ClassVar[list[BindingType]] = bindings(TABLE)

    class Opened(Message):
        """Enter, or a second click, on the chosen cell."""

    class Sorted(Message):
        """The rows are in another order."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: tuple[str, ...] = ()
        self.rows: Sequence[tuple[Any, ...]] = ()
        self.order: list[int] = []  # the places of the rows, as they are shown
        self.row = 0
        self.column = 0
        self.sorted_by: tuple[int, bool] | None = None  # which column, and whether downwards
        self._widths: list[int] = []
        self._right: list[bool] = []  # which columns are of numbers
        self._strips: dict[int, Strip] = {}

    def fill(self, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> None:
        """Show these; where the columns are the same, the order and the chosen cell stay."""
        if columns != self.columns:
            self.columns, self.row, self.column, self.sorted_by = columns, 0, 0, None
            self.scroll_to(0, 0, animate=False, immediate=True)
        self.rows = rows
        self.row = max(0, min(self.row, len(rows) - 1))
        self._put_in_order()
        self._fit()

    @property
    def chosen(self) -> tuple[Any, ...] | None:
        """The row of the chosen cell."""
        return self.rows[self.order[self.row]] if self.row < len(self.order) else None

    @property
    def value(self) -> Any:
        """What is in the chosen cell."""
        row = self.chosen
        return row[self.column] if row is not None else None

    @property
    def in_order(self) -> list[tuple[Any, ...]]:
        """All rows as they are shown."""
        return [self.rows[place] for place in self.order]

    def _put_in_order(self) -> None:
        self.order = list(range(len(self.rows)))
        if self.sorted_by is not None:
            column, downwards = self.sorted_by
            nulls = [place for place in self.order if self.rows[place][column] is None]
            others = [place for place in self.order if self.rows[place][column] is not None]
            others.sort(key=lambda place: order_of(self.rows[place][column]), reverse=downwards)
            self.order = others + nulls  # whichever way: what is not there comes last

    def sort(self, column: int) -> None:
        """By a column upwards; again: downwards; once more: as the rows came."""
        steps: dict[tuple[int, bool] | None, tuple[int, bool] | None] = {(column, False): (column, True)}
        self.sorted_by = None if self.sorted_by == (column, True) else steps.get(self.sorted_by, (column, False))
        self._put_in_order()
        self.redraw()
        self.post_message(self.Sorted())

    def _measure(self) -> None:
        room = self.scrollable_content_region.width
        self._widths = widths_of(self.columns, self.rows, room) if self.columns else []
        self._right = [self._is_of_numbers(place) for place in range(len(self.columns))]
        wide = sum(self._widths) + GAP * max(0, len(self._widths) - 1)
        self.virtual_size = Size(wide, len(self.rows) + 1)
        self.redraw()

    def _is_of_numbers(self, column: int) -> bool:
        there = (row[column] for row in self.rows[:LOOKED_AT] if row[column] is not None)
        return is_right(next(there, None))

    def redraw(self) -> None:
        """Something that the table shows has changed."""
        self._strips.clear()
        self.refresh()

    def _left_of(self, column: int) -> int:
        return sum(self._widths[:column]) + GAP * column

    def _keep_in_view(self) -> None:
        if not self._widths:
            return
        height = max(1, self.scrollable_content_region.height - 1)  # the first line is the head's
        y = round(self.scroll_y)
        y = min(y, self.row) if self.row < y + height else self.row - height + 1
        left, width = self._left_of(self.column), self._widths[self.column]
        self.scroll_to_region(Region(left, y, width, 1), animate=False, immediate=True, y_axis=False)
        self.scroll_to(y=y, animate=False, immediate=True)

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = round(self.scroll_y) + y - 1 if y else -1
        if not self._widths or place >= len(self.rows):
            return Strip.blank(width, self.get_visual_style("table--row").rich_style)
        if place not in self._strips:
            if len(self._strips) > 300:
                self._strips.clear()
            self._strips[place] = self._head() if place < 0 else self._drawn(place)
        left = round(self.scroll_x)
        whole = self._strips[place]
        return whole.crop(left, left + width).extend_cell_length(width, self._filling(place).rich_style)

    def _filling(self, place: int) -> Any:
        if place < 0:
            return self.get_visual_style("table--row", "table--head")
        chosen = place == self.row
        return self.get_visual_style("table--row", *(("table--chosen-row",) if chosen else ()))

    def _head(self) -> Strip:
        style = self._filling(-1)
        cells = []
        for place, (name, width) in enumerate(zip(self.columns, self._widths, strict=True)):
            mark = "" if self.sorted_by is None or self.sorted_by[0] != place else DOWN if self.sorted_by[1] else UP
            named = plain(one_line(name)).truncate(max(1, width - len(mark)), ellipsis=True) + plain(mark)
            cells.append(self._padded(named, width, right=self._right[place]))
        return self._strip(Content(" " * GAP).join(cells), style)

    def _drawn(self, place: int) -> Strip:
        row, style = self.rows[self.order[place]], self._filling(place)
        cells = []
        for column, (value, width) in enumerate(zip(row, self._widths, strict=True)):
            right = self._right[column] and (value is None or is_right(value))
            drawn = self._padded(cell(value).truncate(width, ellipsis=True), width, right=right)
            if place == self.row and column == self.column and self.has_focus:
                drawn = drawn.stylize(self.get_visual_style("table--chosen"))
            cells.append(drawn)
        return self._strip(Content(" " * GAP).join(cells), style)

    def _padded(self, content: Content, width: int, *, right: bool) -> Content:
        blank = " " * max(0, width - content.cell_length)
        return Content(blank) + content if right else content + Content(blank)

    def _strip(self, content: Content, style: Any) -> Strip:
        return Visual.to_strips(self, content, max(1, content.cell_length), 1, style, apply_selection=False)[0]

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.redraw()

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        self._fit()

    # Bars come and go with the layout, after the rows were put in: they take room from the columns and from the rows
    # in view, and until one is there Textual refuses to scroll along it.

    def watch_show_vertical_scrollbar(self) -> None:
        self._fit()

    def watch_show_horizontal_scrollbar(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self._measure()
        self._keep_in_view()

    # Keys and mouse

    def choose(self, row: int, column: int) -> None:
        """Put the mark at a cell."""
        row, column = max(0, min(row, len(self.rows) - 1)), max(0, min(column, len(self.columns) - 1))
        if (row, column) != (self.row, self.column):
            self.row, self.column = row, column
            self.redraw()
            self._keep_in_view()

    def action_move(self, step: int) -> None:
        self.choose(self.row + step, self.column)

    def action_aside(self, step: int) -> None:
        self.choose(self.row, self.column + step)

    def action_page(self, step: int) -> None:
        self.choose(self.row + step * max(1, self.scrollable_content_region.height - 2), self.column)

    def action_end(self, side: int) -> None:
        self.choose(0 if side < 0 else len(self.rows) - 1, self.column)

    def action_open(self) -> None:
        if self.rows:
            self.post_message(self.Opened())

    def action_sort(self) -> None:
        if self.columns:
            self.sort(self.column)

    def on_click(self, event: events.Click) -> None:
        x, y = event.x + round(self.scroll_x), event.y
        column = next((place for place in range(len(self._widths)) if x < self._left_of(place + 1)), None)
        if column is None:
            return
        if y == 0:
            self.sort(column)
            return
        row = round(self.scroll_y) + y - 1
        if row >= len(self.rows):
            return
        if (row, column) == (self.row, self.column) and event.chain > 1:
            self.action_open()
        else:
            self.choose(row, column)
