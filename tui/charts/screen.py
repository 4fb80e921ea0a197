"""The charts: what the memory holds, how it grew, what matters in it, and how fast replies come."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import ItemGrid, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from tui.charts.chart import Chart, charts_of
from tui.chat_view import ChatView
from tui.keymaps import CHART_PLACES, CHARTS
from tui.keys import bindings, signs
from tui.text import MUTED, in_chat, plain
from tui.widgets.dialogs import Reader
from tui.widgets.foot import Foot

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
