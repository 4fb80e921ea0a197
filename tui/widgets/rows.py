"""A list whose chosen row has a mark as well as a ground, which NO_COLOR and some terminals hardly show."""

from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widgets import Input, OptionList



class Rows(OptionList):
    """Rows of one or more lines; the mark stands in the first column of the chosen row's first line."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        place = self.scroll_offset.y + y
        if place >= len(self._lines) or self._lines[place] != (self.highlighted, 0):
            return strip
        first = next(iter(strip), None)
        mark = Segment("›", first.style if first is not None else None)
        return Strip.join([Strip([mark], 1), strip.crop(1)])


def type_into(box: Input, event: events.Key) -> None:
    """A key on a list that has a search box: what is typed there belongs to the box, and so do its editing keys."""
    if event.is_printable and event.character:
        box.insert_text_at_cursor(event.character)
    elif event.key == "backspace":
        box.action_delete_left()
    elif event.key == "ctrl+u":
        box.action_delete_left_all()
    elif event.key == "ctrl+a":
        box.action_home()
    else:
        return
    event.stop()
    event.prevent_default()
