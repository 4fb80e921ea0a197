"""A layout as rows of characters with their roles, and below it the chosen node, what is left out, the signs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from graph.values import Node
from tui.drawing.cells import Dots, Room, cell_len, cells_of, cut_to, kind_of, label_of, sign_of
from tui.drawing.layout import JoinedEdges, Layout, Spot
from tui.text import one_line, spaced, when

NAMED = 12  # lines: with more of them only those of the chosen node have their names
LONGEST_NAME = 22  # cells
PLACES = (0.5, 0.4, 0.6, 0.3, 0.7)  # of a name on its line, the best first


@dataclass(frozen=True, slots=True)
class PicturePart:
    """Text at a cell. `role` says how it looks: line, lit (of the chosen node), name, sign …, label, near, chosen."""

    x: int
    y: int
    text: str
    role: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is painted over the lines, and the lines as rows of braille: all, and those of the chosen node."""

    layout: Layout
    chosen: int | None
    pieces: tuple[tuple[PicturePart, ...], ...]  # of each row, from left to right
    dots: tuple[str, ...]
    lit: tuple[str, ...]

    def row(self, y: int) -> list[tuple[str, str]]:
        """Runs of text and role that fill the row."""
        runs: list[tuple[str, str]] = []
        at = 0
        for piece in self.pieces[y]:
            runs += self._lines(y, at, piece.x)
            runs.append((piece.text, piece.role))
            at = piece.x + cell_len(piece.text)
        return runs + list(self._lines(y, at, self.layout.width))

    def _lines(self, y: int, start: int, end: int) -> Iterator[tuple[str, str]]:
        run, role = "", ""
        for all_here, lit_here in zip(self.dots[y][start:end], self.lit[y][start:end], strict=True):
            now = "lit" if lit_here != " " else "line" if all_here != " " else "blank"
            if now != role and run:
                yield run, role
                run = ""
            run, role = run + (lit_here if now == "lit" else all_here), now
        if run:
            yield run, role


def paint(layout: Layout, chosen: int | None = None) -> Picture:
    """The picture of a layout with one of its nodes chosen."""
    lit = [line for line in layout.lines if chosen in (line.start, line.end)]
    near = {place for line in lit for place in (line.start, line.end)}
    covered, pieces = Room(layout.width, layout.height), []
    for place, spot in enumerate(layout.spots):
        role = "chosen" if place == chosen else "near" if place in near else "label"
        pieces.append(PicturePart(spot.x, spot.y, sign_of(spot.node), f"sign {kind_of(spot.node.ref.table).colour}"))
        pieces.append(PicturePart(spot.text_x, spot.y, spot.text, role))
        pieces += (PicturePart(x, spot.y, " ", "blank") for x in _blanks(spot, layout.width))
        covered.take(spot.y, min(spot.x, spot.text_x - 1), max(spot.x + 1, spot.text_end + 1))
    heads = {cell: (head, "line") for line in layout.lines for cell, head in line.way.heads}
    heads |= {cell: (head, "lit") for line in lit for cell, head in line.way.heads}
    pieces = [piece for piece in pieces if piece.role != "blank" or (piece.x, piece.y) not in heads]
    pieces += (PicturePart(x, y, head, role) for (x, y), (head, role) in heads.items())
    for x, y in heads:
        covered.take(y, x, x + 1)
    others = [line for line in layout.lines if line not in lit] if len(layout.lines) <= NAMED else []
    for line in [*lit, *others][: 0 if layout.only_name else NAMED]:
        piece = _name(layout, line, covered, "name lit" if line in lit else "name")
        if piece is not None:
            pieces.append(piece)
            covered.take(piece.y, piece.x, piece.x + cell_len(piece.text))
    rows: list[list[PicturePart]] = [[] for _ in range(layout.height)]
    for piece in sorted(pieces, key=lambda piece: piece.x):
        rows[piece.y].append(piece)
    return Picture(layout, chosen, tuple(map(tuple, rows)), _rows(layout, layout.lines), _rows(layout, lit))


def names_of(line: JoinedEdges) -> str:
    """What joins two nodes, in words; of what leads back after a slash."""
    onward, back = (", ".join(in_words(name) for name in names) for names in (line.onward, line.back))
    return f"{onward} / {back}" if onward and back and onward != back else onward or back


def in_words(name: str) -> str:
    """REPLIES_TO as people read it: replies to."""
    return one_line(name[:100]).replace("_", " ").lower()


def _blanks(spot: Spot, width: int) -> list[int]:
    """The cells before and after a label, which keep lines off it."""
    return [x for x in (spot.text_x - 1, spot.text_end) if 0 <= x < width and x != spot.x]


def _rows(layout: Layout, lines: Sequence[JoinedEdges]) -> tuple[str, ...]:
    dots = Dots(layout.width, layout.height)
    for line in lines:
        dots.line(line.way.start, line.way.end)
    return tuple(dots.lines())


def _name(layout: Layout, line: JoinedEdges, covered: Room, role: str) -> PicturePart | None:
    """The name of a line where it covers nothing but lines; None where there is no such place."""
    text = cut_to(names_of(line), LONGEST_NAME)
    cells = cell_len(text) + 2
    way = cells_of(line.way.start, line.way.end)
    for share in PLACES:
        x, y = way[int(share * (len(way) - 1))]
        if covered.free(y, x - cells // 2, x - cells // 2 + cells):
            return PicturePart(x - cells // 2, y, f" {text} ", role)
    return None


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
