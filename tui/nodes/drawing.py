"""The drawing of a node with what is around it; the newest node wins, and until it is drawn the last picture stays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from tui.latest import Latest
from tui.text import MUTED, in_chat, plain

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.walk.subgraphs import Node, Ref, Side, Subgraph
    from tui.drawing.svg import SavedDrawing
    from tui.drawing.view import GraphView

FEW, MANY = 40, 160  # nodes in a small drawing, and in the largest
CELLS = 60  # of the screen for one node


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """A node to be drawn with what is around it, or with these neighbours alone, which are so many in all."""

    ref: "Ref"
    only: "tuple[Ref, ...] | None" = None
    total: int = 0


class Drawing(Vertical):
    """Holds the graph view, which is made with the first drawing."""

    DEFAULT_CSS = """
    Drawing { height: 1fr; }
    Drawing > GraphView { height: 1fr; }
    Drawing > Static { height: auto; }
    """

    class Saved(Message):
        """What became of the picture that was to be written."""

        def __init__(self, kept: "SavedDrawing") -> None:
            super().__init__()
            self.kept = kept

    class Chosen(Message):
        """Enter on a drawn node."""

        def __init__(self, ref: "Ref") -> None:
            super().__init__()
            self.ref = ref

    def __init__(self) -> None:
        super().__init__()
        self._view: GraphView | None = None
        self._service: Agent | None = None
        self._failures: tuple[type[Exception], ...] = ()
        self._latest: Latest[DrawingRequest, Subgraph | str] = Latest(self._look, self._show)

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    @property
    def chosen(self) -> "Node | None":
        """The drawn node that is chosen."""
        return self._view.chosen if self._view is not None else None

    async def draw(
        self,
        service: "Agent",
        ref: "Ref",
        failures: tuple[type[Exception], ...],
        *,
        only: "Sequence[Side] | None" = None,
    ) -> None:
        """Draw a node with what is around it, or with `only` these of its neighbours."""
        from tui.drawing.view import GraphView

        self._service, self._failures = service, failures
        if self._view is None:
            self._view = GraphView()
            await self.mount(self._view)
        if only is None:
            await self._latest.ask(DrawingRequest(ref))
        else:
            refs = dict.fromkeys(node.ref for side in only for node in side.nodes)
            await self._latest.ask(DrawingRequest(ref, tuple(refs), sum(side.total for side in only)))

    def take_focus(self) -> None:
        """The keys go to the drawing."""
        if self._view is not None:
            self._view.focus()

    async def _look(self, wanted: DrawingRequest) -> "Subgraph | str":
        assert self._service is not None
        most = max(FEW, min(MANY, self.app.size.width * self.app.size.height // CELLS))
        try:
            if wanted.only is None:
                return await self._service.graph.around(wanted.ref, limit=most)
            found = await self._service.graph.subgraph([wanted.ref, *wanted.only[: most - 1]])
            return replace(found, more_nodes=max(0, wanted.total - len(found.nodes) + 1))
        except self._failures as error:
            return in_chat(str(error))

    def _show(self, wanted: DrawingRequest, found: "Subgraph | str") -> None:
        if not self.is_mounted or self._view is None:
            return
        note = self.query_one(Static)
        note.display = isinstance(found, str)
        if isinstance(found, str):
            note.update(plain(found, MUTED))
            self._view.clear()  # it is of something else, which may have been deleted
        else:
            self._view.show(found, wanted.ref)

    def on_graph_view_saved(self, event: "GraphView.Saved") -> None:
        event.stop()
        self.post_message(self.Saved(event.kept))

    def on_graph_view_chosen(self, event: "GraphView.Chosen") -> None:
        event.stop()
        self.post_message(self.Chosen(event.ref))
