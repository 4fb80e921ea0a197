"""A drawn graph: nodes to choose among with the arrows, zoom, pan, two layouts, a picture to keep."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from graph.subgraphs import Node, Ref, Subgraph
from tui.text import one_line


class GraphView(ScrollView, can_focus=True):
    """Shows what `show` was given last; posts `Moved` when another node is chosen and `Chosen` on Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('up')", show=False),
        Binding("down", "move('down')", show=False),
        Binding("tab", "next(1)", show=False),
        Binding("shift+tab", "next(-1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    class About(Message):
        """Something of a node of one view, which is its `control`."""

        def __init__(self, view: "GraphView", node: Node) -> None:
            super().__init__()
            self.view = view
            self.node = node

        @property
        def ref(self) -> Ref:
            return self.node.ref

        @property
        def control(self) -> "GraphView":
            return self.view

    class Moved(About):
        """Another node is chosen."""

    class Chosen(About):
        """Enter, or a second click on the chosen node."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._subgraph = Subgraph((), ())
        self._place = 0

    @property
    def chosen(self) -> Node | None:
        """The chosen node."""
        nodes = self._subgraph.nodes
        return nodes[self._place] if self._place < len(nodes) else None

    def show(self, subgraph: Subgraph, focus: Ref | None = None) -> None:
        """Draw this; `focus` is the node it is about, chosen first. Can be called before the view is mounted."""
        self._subgraph = subgraph
        self._place = next((place for place, node in enumerate(subgraph.nodes) if node.ref == focus), 0)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        nodes = self._subgraph.nodes
        text = f"{'›' if y == self._place else ' '} {one_line(nodes[y].title)}" if y < len(nodes) else ""
        content = Content(text).truncate(width)
        return Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False)[0]

    def action_move(self, way: str) -> None:
        self.action_next(1 if way == "down" else -1)

    def action_next(self, step: int) -> None:
        nodes = self._subgraph.nodes
        if nodes:
            self._place = (self._place + step) % len(nodes)
            self.refresh()
            self.post_message(self.Moved(self, nodes[self._place]).set_sender(self))

    def action_choose(self) -> None:
        if self.chosen is not None:
            self.post_message(self.Chosen(self, self.chosen).set_sender(self))
