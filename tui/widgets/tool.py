"""A tool call in the transcript: one line, that Enter or a click unfolds."""

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED, plain
from tui.toolwords import Call, line_of, whole
from tui.widgets.message import Message


class ToolBlock(Message):
    """What the model looked up on the way to its reply, folded."""

    def __init__(self, turn: str, call: Call) -> None:
        super().__init__(turn, classes="tool")
        self.call = call
        self.folded = True

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
        return Content.assemble(head, "\n", plain(whole(self.call) or "It answered nothing.", MUTED))

    def tell(self, call: Call) -> None:
        """The call stands like this now."""
        self.call = call
        self._paint()

    def toggle(self) -> None:
        """Unfold it, or fold it again."""
        self.folded = not self.folded
        self._paint()

    def _paint(self) -> None:
        if self.is_mounted:
            self.query_one(".words", Static).update(self._content())

    def on_click(self) -> None:
        self.toggle()
