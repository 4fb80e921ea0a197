"""The table of rows: what is in view is drawn, however much there is, and sorting loses nothing."""

import pytest
from textual.app import App, ComposeResult

from tests.tui.acting import press
from tests.tui.conftest import wait_until
from tui.queries.table import ResultTable, widths_of

pytestmark = pytest.mark.ui


class Tabled(App[int]):
    """A table alone."""

    def compose(self) -> ComposeResult:
        yield ResultTable()

    @property
    def table(self) -> ResultTable:
        return self.query_one(ResultTable)

    @property
    def lines(self) -> list[str]:
        return [
            "".join(segment.text for segment in self.table.render_line(y)).rstrip()
            for y in range(self.table.size.height)
        ]


ROWS = [("b", 2), (None, 10), ("a", None), ("C", 1)]


async def test_sorting_by_keys_and_clicks_goes_up_down_and_back_with_nulls_last_and_stays_for_new_rows() -> None:
    app = Tabled()
    async with app.run_test(size=(30, 8)) as pilot:
        app.table.fill(("word", "n"), ROWS)
        app.table.focus()
        for wanted in ([("a", None), ("b", 2), ("C", 1), (None, 10)], [("C", 1), ("b", 2), ("a", None), (None, 10)]):
            await pilot.press("s")
            assert app.table.in_order == wanted
        assert "word ↓" in app.lines[0]
        await pilot.press("s")
        assert app.table.in_order == ROWS
        await pilot.press("right", "s")
        assert [row[1] for row in app.table.in_order] == [1, 2, 10, None]
        assert app.table.rows == ROWS, "the rows themselves stay as they came"

        await pilot.press("home", "down")
        app.table.fill(("word", "n"), [*ROWS, ("d", 0)])
        assert [row[1] for row in app.table.in_order] == [0, 1, 2, 10, None]
        assert (app.table.row, app.table.column) == (1, 1)
        app.table.fill(("other",), [(1,)])
        assert (app.table.row, app.table.column, app.table.sorted_by) == (0, 0, None)

        app.table.fill(("word", "n"), ROWS)
        await pilot.click(ResultTable, offset=(1, 3))
        assert app.table.value == "a"
        await pilot.click(ResultTable, offset=(1, 0))
        assert app.table.sorted_by == (0, False)
        await pilot.click(ResultTable, offset=(29, 7))
        assert app.table.value is not None


async def test_a_long_table_is_drawn_where_it_is_looked_at_and_its_bar_has_room() -> None:
    app = Tabled()
    async with app.run_test(size=(20, 6)) as pilot:
        app.table.fill(("n",), [(each,) for each in range(100_000)])
        app.table.action_end(1)  # before there is a layout
        await wait_until(pilot, lambda: app.table.show_vertical_scrollbar)
        assert "99999" in app.lines[-1]
        app.table.focus()
        await press(pilot, "end", until=lambda: "99999" in app.lines[-1])
        assert app.table.value == 99_999
        await press(pilot, "home", until=lambda: app.lines[1].split() == ["0"])
        await pilot.press("pagedown", "down")
        assert app.table.value == 5
        assert len(app.table._strips) < 50

        app.table.fill(("n",), [("x" * 60,)] * 1000)
        await wait_until(pilot, lambda: app.table.show_vertical_scrollbar)
        await pilot.pause()
        assert not app.table.show_horizontal_scrollbar, "a column gives the vertical bar its room"
        assert app.lines[1] == "x" * (app.table.scrollable_content_region.width - 1) + "…"

        names = tuple(f"column{each}" for each in range(12))
        app.table.fill(names, [tuple("x" * 40 for _ in names)])
        await press(pilot, *["right"] * 11, until=lambda: "column11" in app.lines[0])
        assert app.table.column == 11
        await pilot.press("right", "right")
        assert app.table.column == 11


async def test_no_rows_no_columns_and_no_room_are_no_trouble() -> None:
    app = Tabled()
    async with app.run_test(size=(20, 6)) as pilot:
        app.table.focus()
        await pilot.press("down", "s", "enter", "end")
        app.table.fill(("n",), [])
        await pilot.press("down", "s", "enter", "end")
        assert app.table.value is None
        app.table.fill(("n",), [("x",)])
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
        await pilot.resize_terminal(2, 2)
        await pilot.pause()
        assert app.table.value == "x"


def test_widths_leave_no_room_unused_where_a_column_wants_it() -> None:
    assert widths_of(("a", "b"), [("x" * 90, "y")], 40) == [35, 3]
    assert widths_of(("a", "b"), [("x" * 90, "y" * 90)], 40) == [19, 19]
    assert widths_of(("a", "b"), [("x" * 5, "y" * 90)], 400) == [5, 90]
    assert widths_of(("a",) * 9, [("x" * 90,) * 9], 20) == [32] * 9
