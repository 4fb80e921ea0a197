"""The buttons below a question: one is chosen, the arrows and Tab choose another, Enter presses the chosen one."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from tui.keymaps import ANSWERS
from tui.keys import bindings, button, in_lines

CANCEL = "Cancel"


class Answers(Widget, can_focus=True):
    """No letter presses a button: what is typed over a question is never an answer to it."""

    DEFAULT_CSS = "Answers { width: 1fr; height: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = bindings(ANSWERS)

    class Chosen(Message):
        """The mark went to another button."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Pressed(Message):
        """A button was pressed."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, labels: Sequence[str], *, chosen: int = 0, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._labels = tuple(labels)
        self.chosen = chosen

    def _content(self, width: int) -> Content:
        return Content("\n").join(
            in_lines([button(label, place, self.chosen) for place, label in enumerate(self._labels)], width)
        )

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._content(max(1, width)).get_height({}, max(1, width))

    def render(self) -> Content:
        return self._content(max(1, self.content_size.width))

    def choose(self, place: int) -> None:
        """Put the mark on that button."""
        self.chosen = place
        self.refresh()
        self.post_message(self.Chosen(place))

    def action_turn(self, step: int) -> None:
        self.choose((self.chosen + step) % len(self._labels))

    def action_press(self) -> None:
        self.post_message(self.Pressed(self.chosen))

    def action_press_at(self, place: int) -> None:
        """A click: on the button itself."""
        self.post_message(self.Pressed(place))
