"""A tool call in the transcript: one line, that Enter or a click unfolds."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED, plain
from tui.toolwords import ToolCall, line_of, whole
from tui.widgets.message import Message


class ToolBlock(Message):
    """What the model looked up on the way to its reply, folded unless it is what was asked for."""

    def __init__(self, turn: str, call: ToolCall) -> None:
        super().__init__(turn, classes="tool")
        self.call = call
        self._turned = False  # the reader folded or unfolded it
        self.folded = _folded(call)

    @property
    def text(self) -> str:
        return f"{line_of(self.call)}\n\n{whole(self.call)}".rstrip()

    def compose(self) -> ComposeResult:
        yield Static(self._content(), classes="words", markup=False)

    def _content(self) -> Content:
        mark = "▸" if self.folded else "▾"
        head = plain(f"{mark} {line_of(self.call)}", "$text-error" if self.call.error else MUTED)
        if self.folded:
            return head
        nothing = "It returned nothing." if self.call.done else "…"
        return Content.assemble(head, "\n", plain(whole(self.call) or nothing, MUTED))

    def tell(self, call: ToolCall) -> None:
        """The call stands like this now."""
        self.call = call
        if not self._turned:
            self.folded = _folded(call)
        self._paint()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.folded, self._turned = not self.folded, True
        self._paint()

    def _paint(self) -> None:
        if self.is_mounted:
            self.query_one(".words", Static).update(self._content())

    def on_click(self) -> None:
        self.toggle()


def _folded(call: ToolCall) -> bool:
    """Themes were asked for to be read; other answers are there for the model."""
    return call.tool != "themes" or not call.done or call.error is not None
