"""The line above the transcript: the name of the chat."""

from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED, one_line, plain


class Title(Static):
    """clew and the name of the chat on the screen."""

    def __init__(self) -> None:
        super().__init__("", id="title", markup=False)

    def name_chat(self, name: str | None, *, private: bool = False, what_if: str = "") -> None:
        if private:
            self.update(
                Content.assemble(("clew", "bold $primary"), plain("  Private chat: nothing of it is kept", "$warning"))
            )
            return
        title = plain(f"  {one_line(name or 'New chat')}", MUTED)
        world = plain(in_world(what_if, name), "$warning")
        self.update(Content.assemble(("clew", "bold $primary"), title, world))


def in_world(what_if: str, name: str | None) -> str:
    """The world of a chat, to be put behind its name; empty in the main one."""
    if not what_if:
        return ""
    return "  what-if" if what_if == name else f"  what-if of “{one_line(what_if)}”"
