"""The list of a node's neighbours, a heading for each relationship, and the line for the words they are to have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input

from tui.keymaps import NEIGHBOURS
from tui.keys import bindings
from tui.nodes import words
from tui.text import MUTED, plain, spaced
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from graph.walk.subgraphs import Ego, Node, Side


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A row. `centre` and `node` have a node, `heading`, `node` and `more` the side they are of."""

    kind: Literal["centre", "gap", "heading", "node", "more"]
    side: "Side | None" = None
    node: "Node | None" = None

    @property
    def identity(self) -> str:
        side = "/".join(map(str, self.side.key)) if self.side is not None else ""
        return f"{self.kind} {side} {self.node.ref if self.node is not None else ''}"

    @property
    def stands(self) -> bool:
        """The mark can stand here."""
        return self.kind in ("centre", "node", "more")


def items_of(ego: "Ego", sides: "Iterable[Side]") -> list[NeighbourRow]:
    """The rows of a node with these of its neighbours."""
    items = [NeighbourRow("centre", node=ego.node)]
    for side in sides:
        items += [NeighbourRow("gap", side), NeighbourRow("heading", side)]
        items += [NeighbourRow("node", side, node) for node in side.nodes]
        if len(side.nodes) < side.total:
            items.append(NeighbourRow("more", side))
    return items


class NeighbourList(LongList[NeighbourRow]):
    """Rows of one line; the mark passes headings by."""

    def __init__(self, *, id: str) -> None:
        super().__init__(self._line, lambda item: item.identity, height=1, id=id)
        self.worlds: words.Worlds = {}

    def _line(self, item: NeighbourRow, width: int) -> Sequence[Content]:
        match item.kind:
            case "centre" if item.node is not None:
                noun = words.NOUNS.get(item.node.ref.table, (item.node.ref.table, ""))[0]
                return [plain(f"this {noun} itself", MUTED)]
            case "heading" if item.side is not None:
                return [words.heading(item.side, len(item.side.nodes))]
            case "node" if item.node is not None:
                return [Content("  ") + words.row(item.node, width, datetime.now().astimezone(), self.worlds)]
            case "more" if item.side is not None:
                return [plain(f"  … {spaced(item.side.total - len(item.side.nodes))} more", f"italic {MUTED}")]
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
