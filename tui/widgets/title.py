"""The line above the transcript: the name of the chat."""

from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED, one_line, plain


class Title(Static):
    """clew and the name of the chat on the screen."""

    def __init__(self) -> None:
        super().__init__("", id="title", markup=False)

    def name_chat(self, name: str | None, *, private: bool = False) -> None:
        if private:
            self.update(
                Content.assemble(("clew", "bold $primary"), plain("  Private chat: nothing of it is kept", "$warning"))
            )
            return
        self.update(Content.assemble(("clew", "bold $primary"), plain(f"  {one_line(name or 'New chat')}", MUTED)))
