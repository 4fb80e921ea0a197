"""Dots in braille characters: each cell of the terminal holds two by four of them."""

from collections.abc import Iterator

DOTS_ACROSS, DOTS_DOWN = 2, 4
_BLANK = 0x2800
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column within a cell (Unicode, 15.4)

Point = tuple[int, int]  # in dots, from the top left


class Dots:
    """A canvas of `width` × `height` cells; what falls outside is left out."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height
        self._cells = [bytearray(width) for _ in range(height)]

    def dot(self, x: int, y: int) -> None:
        """Set a dot."""
        row, column = y // DOTS_DOWN, x // DOTS_ACROSS
        if 0 <= row < self.height and 0 <= column < self.width:
            self._cells[row][column] |= _BITS[y % DOTS_DOWN][x % DOTS_ACROSS]

    def line(self, start: Point, end: Point) -> None:
        """A straight line of dots, both ends included."""
        for x, y in along(start, end):
            self.dot(x, y)

    def lines(self) -> list[str]:
        """The rows as text: blanks where there is no dot."""
        return ["".join(chr(_BLANK + bits) if bits else " " for bits in row) for row in self._cells]


def along(start: Point, end: Point) -> Iterator[Point]:
    """The dots of a straight line from start to end, the same ones in both directions."""
    if start > end:
        yield from reversed(list(along(end, start)))
        return
    (x, y), (to_x, to_y) = start, end
    steps = max(abs(to_x - x), abs(to_y - y))
    for step in range(steps + 1):
        yield (x + _rounded(step * (to_x - x), steps), y + _rounded(step * (to_y - y), steps)) if steps else (x, y)


def _rounded(amount: int, by: int) -> int:
    """amount / by, to the nearest whole number, halves up."""
    return (2 * amount + by) // (2 * by)
