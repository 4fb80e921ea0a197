"""A view of a drawn graph alone on the screen, and ways to wait for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from graph.values import Ref, Subgraph
from tests.tui.conftest import wait_until
from tui.drawing.layout import Layout
from tui.drawing.svg import SavedDrawing
from tui.drawing.view import GraphView
from tui.themes import THEMES


class Drawing(App[None]):
    """A view alone on the screen, above a line to type in."""

    CSS = "GraphView { height: 1fr; }"

    def __init__(self, theme: str = "clew-dark") -> None:
        super().__init__()
        self.wanted = theme
        self.heard: list[tuple[str, Ref]] = []
        self.saved: list[SavedDrawing] = []

    def compose(self) -> ComposeResult:
        yield GraphView()
        yield Input()

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self.wanted
        self.view.focus()

    @property
    def view(self) -> GraphView:
        return self.query_one(GraphView)

    def on_graph_view_moved(self, event: GraphView.Moved) -> None:
        self.heard.append(("moved", event.ref))

    def on_graph_view_saved(self, event: GraphView.Saved) -> None:
        self.saved.append(event.kept)

    def on_graph_view_chosen(self, event: GraphView.Chosen) -> None:
        self.heard.append(("chosen", event.ref))


def chosen(app: Drawing) -> Ref:
    """The node that is chosen."""
    assert app.view.chosen is not None
    return app.view.chosen.ref


def made(view: GraphView) -> Layout:
    assert view.picture is not None
    return view.picture.layout


def fits(view: GraphView, width: int, height: int) -> bool:
    return view.picture is not None and (made(view).width, made(view).height) == (width, height)


@asynccontextmanager
async def drawn(
    subgraph: Subgraph, *, size: tuple[int, int] = (80, 27), theme: str = "clew-dark", focus: Ref | None = None
) -> AsyncIterator[tuple[Drawing, Pilot[None]]]:
    app = Drawing(theme)
    async with app.run_test(size=size) as pilot:
        app.view.show(subgraph, focus)
        await wait_until(pilot, lambda: app.view.picture is not None)
        await pilot.pause()
        yield app, pilot


def text_of(app: Drawing) -> str:
    strips = [app.view.render_line(y) for y in range(app.view.size.height)]
    return "\n".join(strip.text for strip in strips)
