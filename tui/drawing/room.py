"""Which cells of a canvas are taken: rows of bits, so that a stretch of cells is asked for at once."""


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
