"""A line at the foot of a screen for what was said to the person just now; it goes by itself."""

from textual.timer import Timer
from textual.widgets import Static

from tui.text import plain

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
