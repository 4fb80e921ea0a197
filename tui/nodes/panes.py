"""What the screen of a node shows: the list of its neighbours, the drawing, and the way down to its proof."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from graph.relations import kinds
from graph.values import ProofStep, Ref
from tui.keymaps import NEIGHBOURS, PROOF, bindings, signs
from tui.latest import Latest
from tui.nodes import walk
from tui.text import MUTED, in_chat, one_line, plain, spaced
from tui.widgets.dialogs import Reader
from tui.widgets.foot import Foot
from tui.widgets.long_list import LongList
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import Ego, Node, Side, Subgraph
    from tui.drawing.svg import SavedDrawing
    from tui.drawing.view import GraphView


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A row. `centre` and `node` have a node, `heading`, `node` and `more` the side they are of."""

    kind: Literal["centre", "gap", "heading", "node", "more"]
    side: "Side | None" = None
    node: "Node | None" = None

    @property
    def identity(self) -> str:
        side = "/".join(map(str, self.side.key)) if self.side is not None else ""
        memories = self.node.stands.memories if self.node is not None and self.node.stands is not None else ""
        return f"{self.kind} {side} {self.node.ref if self.node is not None else ''} {memories}"

    @property
    def stands(self) -> bool:
        """The mark can stand here."""
        return self.kind in ("centre", "node", "more")


def items_of(ego: "Ego", sides: "Iterable[Side]") -> list[NeighbourRow]:
    """The rows of a node with these of its neighbours."""
    items = [NeighbourRow("centre", node=ego.node)]
    among_kinds = False
    for side in sides:
        if not (among_kinds and side.relation in kinds()):  # the kinds of relationships have one heading
            items += [NeighbourRow("gap", side), NeighbourRow("heading", side)]
        among_kinds = side.relation in kinds()
        items += [NeighbourRow("node", side, node) for node in side.nodes]
        if len(side.nodes) < side.total:
            items.append(NeighbourRow("more", side))
    return items


class NeighbourList(LongList[NeighbourRow]):
    """Rows of one line; the mark passes headings by."""

    def __init__(self, *, id: str) -> None:
        super().__init__(self._line, lambda item: item.identity, height=1, id=id)
        self.worlds: walk.Worlds = {}

    def _line(self, item: NeighbourRow, width: int) -> Sequence[Content]:
        match item.kind:
            case "centre" if item.node is not None:
                noun = walk.NOUNS.get(item.node.ref.table, (item.node.ref.table, ""))[0]
                return [plain(f"this {noun} itself", MUTED)]
            case "heading" if item.side is not None and item.side.relation in kinds():
                return [plain("relationships", "bold $secondary") + plain("  -[:RELATES]-", MUTED)]
            case "heading" if item.side is not None:
                return [walk.heading(item.side, len(item.side.nodes))]
            case "node" if item.node is not None and item.side is not None and item.node.stands is not None:
                return [
                    Content("  ") + walk.related(item.node, datetime.now().astimezone(), outgoing=item.side.outgoing)
                ]
            case "node" if item.node is not None:
                return [Content("  ") + walk.row(item.node, width, datetime.now().astimezone(), self.worlds)]
            case "more" if item.side is not None:
                more = f"  … {spaced(item.side.total - len(item.side.nodes))} more"
                if item.side.relation in kinds():
                    more += f": {walk.relation_of(item.side.relation, outgoing=item.side.outgoing)}"
                return [plain(more, f"italic {MUTED}")]
        return [Content("")]

    def choose(self, place: int) -> None:
        """Put the mark at a row, or at the next one in that direction where it can stand."""
        last = len(self.items) - 1
        place = max(0, min(place, last))
        step = 1 if place >= self.place else -1
        wanted = next((each for each in range(place, last + 1 if step > 0 else -1, step) if self._stands(each)), None)
        if wanted is None:
            wanted = next((each for each in range(place, -1 if step > 0 else last + 1, -step) if self._stands(each)), 0)
        super().choose(wanted)

    def choose_side(self, step: int) -> None:
        """Put the mark at the first neighbour of the next relationship, or of the one before; round and round."""
        first = [place + 1 for place, item in enumerate(self.items) if item.kind == "heading"]
        if not first:
            return
        passed = [place for place in first if (place > self.place if step > 0 else place < self.place)]
        self.choose(passed[0 if step > 0 else -1] if passed else first[0 if step > 0 else -1])
        self.scroll_to(y=max(0, self.place - 2), animate=False, immediate=True)

    def _stands(self, place: int) -> bool:
        return self.items[place].stands


class WordsInput(Input):
    """The words that neighbours are to have."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(NEIGHBOURS)

    def action_done(self) -> None:
        self.post_message(self.Submitted(self, self.value))

    def action_clear(self) -> None:
        self.value = ""
        self.post_message(self.Submitted(self, ""))


FEW, MANY = 40, 160  # nodes in a small drawing, and in the largest
CELLS = 60  # of the screen for one node


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """A node to be drawn with what is around it, or with these neighbours alone, which are so many in all."""

    ref: "Ref"
    only: "tuple[Ref, ...] | None" = None
    total: int = 0
    world: str = MAIN


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
        self._service: Face | None = None
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
        service: "Face",
        ref: "Ref",
        failures: tuple[type[Exception], ...],
        *,
        only: "Sequence[Side] | None" = None,
        world: str = MAIN,
    ) -> None:
        """Draw a node with what is around it, or with `only` these of its neighbours, as they stand in a world."""
        from tui.drawing.view import GraphView

        self._service, self._failures = service, failures
        if self._view is None:
            self._view = GraphView()
            await self.mount(self._view)
        if only is None:
            await self._latest.ask(DrawingRequest(ref, world=world))
        else:
            refs = dict.fromkeys(node.ref for side in only for node in side.nodes)
            await self._latest.ask(DrawingRequest(ref, tuple(refs), sum(side.total for side in only), world))

    def take_focus(self) -> None:
        """The keys go to the drawing."""
        if self._view is not None:
            self._view.focus()

    async def _look(self, wanted: DrawingRequest) -> "Subgraph | str":
        assert self._service is not None
        most = max(FEW, min(MANY, self.app.size.width * self.app.size.height // CELLS))
        try:
            if wanted.only is None:
                return await self._service.graph.around(wanted.ref, limit=most, world=wanted.world)
            found = await self._service.graph.subgraph([wanted.ref, *wanted.only[: most - 1]], world=wanted.world)
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


DEEPEST = 12  # columns that steps are set in at most
RecallPath = tuple[Ref, bool]  # a node, and whether to walk to it or to show it where it is at home


class ProofScreen(ModalScreen[RecallPath | None]):
    """Chooses a step: a message is shown in its chat, anything else is walked to."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROOF)

    def __init__(self, steps: Sequence[ProofStep], worlds: walk.Worlds) -> None:
        super().__init__()
        self._steps = steps
        self._worlds = worlds

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page"):
            yield Static("Proof", classes="dialog-title", markup=False)
            yield LongList[ProofStep](self._row, lambda step: str(step.node.ref), classes="page-body")
            yield Foot(signs(PROOF), classes="dialog-keys")

    def on_mount(self) -> None:
        rows = self.query_one(LongList)
        rows.fill(self._steps)
        rows.focus()

    def _row(self, step: ProofStep, width: int) -> Sequence[Content]:
        lead = "  " * min(step.depth, DEEPEST)
        relation = walk.relation_of(step.relation, outgoing=True) if step.relation else "this memory"
        now = datetime.now().astimezone()
        first, second = walk.told(step.node, step.words, width, now, self._worlds)
        return [Content.assemble(lead, plain(relation, "bold $secondary"), "  ", first), Content(lead) + second]

    @property
    def _chosen(self) -> ProofStep | None:
        found: ProofStep | None = self.query_one(LongList).chosen
        return found

    @on(LongList.Chosen)
    def _enter(self) -> None:
        step = self._chosen
        if step is not None:
            self.dismiss((step.node.ref, step.node.ref.table != "Turn"))

    def action_walk(self) -> None:
        step = self._chosen
        if step is not None:
            self.dismiss((step.node.ref, True))

    def action_read(self) -> None:
        step = self._chosen
        if step is None:
            return
        text = step.words or str(step.node.details.get("text") or step.node.title)
        if text:
            self.app.push_screen(Reader(one_line(walk.NOUNS.get(step.node.ref.table, ("", ""))[0]).capitalize(), text))
        else:
            self.app.push_screen(Reader("Words", plain("Its proof is hidden or deleted.", MUTED)))
