"""What stands below a drawn graph: the chosen node in full, what is left out, and what the signs mean."""

from datetime import datetime

from graph.subgraphs import Node
from tui.dates import when
from tui.drawing.cells import cell_len, cut_to, label_of
from tui.drawing.layout import Layout
from tui.drawing.picture import in_words
from tui.drawing.signs import kind_of, sign_of
from tui.text import spaced

BETWEEN = " · "


def about_node(node: Node, now: datetime, width: int) -> str:
    """The chosen node: its sign, what it says, and after that its kind, when, and why it is not in force."""
    kind = kind_of(node.ref.table)
    after = [kind.word, when(node.at, now) if node.at is not None else "", "what-if" if node.world else "", node.mark]
    rest = "".join(f"{BETWEEN}{word}" for word in after if word)
    room = width - 2 - cell_len(rest)
    if room < 10:
        return cut_to(f"{sign_of(node)} {label_of(node.title)}", width)
    return f"{sign_of(node)} {cut_to(label_of(node.title), room)}{rest}"


def about_picture(layout: Layout, width: int, *, zoom: float = 1.0, larger: bool = False) -> str:
    """How much is drawn, how large, and what the signs and lines are; what does not fit whole is left out.

    `larger`: it can be zoomed, so that there is room for more.
    """
    more = "; + shows more" if larger and layout.crowded_out else ""
    parts = [f"{left_out(layout)}{more}"]
    if zoom != 1:
        parts.append(f"{zoom:g}×")
    if any(spot.node.mark for spot in layout.spots):
        parts.append("hollow: not in use")
    kinds = dict.fromkeys(kind_of(spot.node.ref.table) for spot in layout.spots)
    parts += [f"{kind.sign} {kind.word}" for kind in kinds]
    if layout.only_name:
        parts.append(f"▸ {in_words(layout.only_name)}")
    shown = cut_to(parts[0], width)
    for part in parts[1:]:
        longer = f"{shown}{BETWEEN}{part}"
        if cell_len(longer) > width:
            break
        shown = longer
    return shown


def left_out(layout: Layout) -> str:
    """38 of 210 nodes."""
    drawn, more = len(layout.spots), layout.more_nodes
    if more:
        return f"{spaced(drawn)} of {spaced(drawn + more)} nodes"
    if layout.more_edges:
        return f"all {drawn} nodes; {spaced(layout.more_edges)} lines not drawn"
    return f"{drawn} nodes" if drawn != 1 else "1 node"
