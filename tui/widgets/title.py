"""The line above the transcript: the name of the chat."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED, cut, one_line, plain

if TYPE_CHECKING:
    from tui.worlds import WhatIf

NEW, NEW_WHAT_IF = "New chat", "New what-if"


class Title(Static):
    """clew and the name of the chat on the screen."""

    def __init__(self) -> None:
        super().__init__("", id="title", markup=False)

    def name_chat(
        self, name: str | None, *, private: bool = False, what_if: "WhatIf | None" = None, session: str | None = None
    ) -> None:
        if private:
            self.update(
                Content.assemble(("clew", "bold $primary"), plain("  Private chat: nothing is saved", "$warning"))
            )
            return
        title = plain(f"  {one_line(name or (NEW if what_if is None else NEW_WHAT_IF))}", MUTED)
        world = plain(in_world(what_if, session), "$warning")
        self.update(Content.assemble(("clew", "bold $primary"), title, world))


def in_world(what_if: "WhatIf | None", session: str | None) -> str:
    """The world of a chat, to be put behind its name; empty in the main one."""
    if what_if is None:
        return ""
    return (
        f"  what-if of “{cut(what_if.of, 40)}”" if what_if.session == session else f"  in the what-if {what_if.quoted}"
    )
