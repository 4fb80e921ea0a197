"""The line of keys at the foot of a place: each key with its words, none cut, in as many lines as there may be."""

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from tui.keys import Sign, foot, whole_foot


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
