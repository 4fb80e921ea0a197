"""The line for the words that neighbours are to have."""

from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from tui.keys import bindings
from tui.nodes.keys import WORDS


class WordsInput(Input):
    """The words that neighbours are to have."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(WORDS)

    def action_done(self) -> None:
        self.post_message(self.Submitted(self, self.value))

    def action_clear(self) -> None:
        self.value = ""
        self.post_message(self.Submitted(self, ""))
