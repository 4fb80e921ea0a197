"""A list whose chosen row has a mark as well as a ground, which NO_COLOR and some terminals hardly show."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import OptionList

MARK = "›"


class Rows(OptionList):
    """Rows of one or more lines; the mark stands in the first column of the chosen row's first line."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= len(self._lines) or self._lines[place] != (self.highlighted, 0):
            return strip
        first = next(iter(strip), None)
        mark = Segment(MARK, first.style if first is not None else None)
        return Strip.join([Strip([mark], 1), strip.crop(1)])
