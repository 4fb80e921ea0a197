"""The cells of a canvas: words measured by them, which of them are taken, and the sign of each kind of node."""

from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from rich.cells import cell_len, split_graphemes

from graph.walk.subgraphs import Node
from tui.text import one_line

LONGEST = 400  # characters of a title that are looked at: no label is longer


@lru_cache(2048)
def label_of(title: str) -> str:
    """A title as a label: one line, harmless, never empty."""
    line = normalize("NFC", one_line(title[:LONGEST]))  # fewer terminals and fonts put marks on letters themselves
    if cell_len(line) == 0:
        return "(no words)"
    return f"◌{line}" if cell_len(line[0]) == 0 else line  # a mark that would join what stands before it


@lru_cache(8192)
def cut_to(text: str, cells: int) -> str:
    """Text in at most so many cells, with … at the end where it is cut; never half of a character."""
    if cell_len(text) <= cells:
        return text
    spans, _ = split_graphemes(text)
    used, end = 0, 0
    for _, after, width in spans:
        if used + width > cells - 1:
            break
        used, end = used + width, after
    return f"{text[:end].rstrip()}…" if cells > 0 else ""


__all__ = ["LONGEST", "cell_len", "cut_to", "label_of"]


class Room:
    """`width` × `height` cells, free at first. What lies outside the canvas is never free."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._rows = [0] * height

    def free(self, y: int, start: int, end: int) -> bool:
        """Whether the cells of row `y` from `start` up to before `end` are all free."""
        if not 0 <= y < self.height or start < 0 or end > self.width:
            return False
        return not self._rows[y] & _bits(start, end)

    def take(self, y: int, start: int, end: int) -> None:
        """Take the cells of a row; what lies outside is left out."""
        if 0 <= y < self.height:
            self._rows[y] |= _bits(max(0, start), min(self.width, end))

    def give(self, y: int, start: int, end: int) -> None:
        """Free the cells of a row."""
        if 0 <= y < self.height:
            self._rows[y] &= ~_bits(max(0, start), min(self.width, end))

    def count(self, y: int, start: int, end: int) -> int:
        """How many of the cells are taken."""
        return (self._rows[y] & _bits(max(0, start), min(self.width, end))).bit_count()


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start) if end > start else 0


@dataclass(frozen=True, slots=True)
class NodeSign:
    """A kind of node: its word, its sign, the hollow sign, and the name of its colour in the theme."""

    word: str
    sign: str
    hollow: str
    colour: str


KINDS = {
    "Turn": NodeSign("message", "●", "○", "secondary"),
    "Observation": NodeSign("memory", "◆", "◇", "primary"),
    "Entity": NodeSign("name", "▲", "△", "accent"),
    "Session": NodeSign("chat", "■", "□", "warning"),
    "Document": NodeSign("document", "▮", "▯", "warning"),
    "Chunk": NodeSign("passage", "▪", "▫", "warning"),
    "World": NodeSign("world", "★", "☆", "error"),
    "Project": NodeSign("project", "▼", "▽", "error"),
    "CoreBlock": NodeSign("core block", "•", "◦", "foreground"),
    "Wording": NodeSign("version", "•", "◦", "foreground"),
}


def kind_of(table: str) -> NodeSign:
    """The kind that a table holds; one that people rarely see is called as its table is."""
    return KINDS.get(table) or NodeSign(table, "•", "◦", "foreground")


def sign_of(node: Node) -> str:
    """The sign that stands where the node is."""
    kind = kind_of(node.ref.table)
    return kind.hollow if node.mark else kind.sign
