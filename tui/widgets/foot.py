"""What stands at the foot of a place: its keys, each with its words, and what was said to the person just now."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from tui.keymaps import Sign, foot, whole_foot
from tui.text import MUTED, plain


def row(name: str, words: str, width: int, column: int) -> Content:
    """One row `width` cells wide, the words from `column` on."""
    if width < 2 * column or len(name) >= column:
        return Content.assemble(plain(name, "bold"), "  ", plain(words, MUTED))
    lines = plain(words, MUTED).wrap(max(8, width - column))
    rows = [Content.assemble(plain(f"{name:<{column}}", "bold"), lines[0])] if lines else [plain(name, "bold")]
    return Content("\n").join([*rows, *(Content.assemble(" " * column, line) for line in lines[1:])])


class Foot(Widget):
    """`own` are dropped from the right where `lines` do not hold them, `always` are not; 0 lines: as many as needed."""

    DEFAULT_CSS = "Foot { width: 1fr; height: auto; }"

    def __init__(
        self,
        own: Sequence[Sign],
        *,
        lines: int = 0,
        always: Sequence[Sign] = (),
        id: str | None = None,
        classes: str = "",
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._own, self._lines, self._always = tuple(own), lines, tuple(always)

    def tell(self, own: Sequence[Sign], *, lines: int = 0) -> None:
        """Show these keys from now on."""
        if (tuple(own), lines) != (self._own, self._lines):
            self._own, self._lines = tuple(own), lines
            self.refresh(layout=True)

    def _content(self, width: int) -> Content:
        if self._lines:
            return foot(self._own, max(1, width), self._lines, always=self._always)
        return whole_foot((*self._own, *self._always), max(1, width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._content(width).get_height({}, max(1, width))

    def render(self) -> Content:
        return self._content(self.content_size.width)


SAID_S = 8.0


class StatusMessage(Static):
    """Shown only while there is something; an error is `failed`."""

    def __init__(self, *, id: str) -> None:
        super().__init__("", id=id, markup=False)
        self.display = False  # not by DEFAULT_CSS: a sheet that comes with a screen styles the chat below it anew
        self._timer: Timer | None = None

    def say(self, words: str, *, error: bool = False) -> None:
        """Show words for a while."""
        self.update(plain(words))
        self.set_class(error, "failed")
        self.display = True
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SAID_S, self.unsay)

    def unsay(self) -> None:
        """Take back what was said."""
        self.display = False
