"""An earlier message said otherwise: its text stands in the composer, and Enter sends it as a new branch."""

from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.widgets.banner import Banner

if TYPE_CHECKING:
    from tui.chat import Chat

EDITING = "Editing: Enter saves a new version, Esc cancels"
STILL_EDITING = "Editing"  # before what else there is to say
LEFT = "Edit cancelled. Nothing was changed."


class MessageEdit:
    """The composer's other state. What stood in it before comes back when it is left, or sent."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._turn: str | None = None
        self.original = ""
        self.kept = ""  # what was in the composer before: the draft on disk meanwhile

    @property
    def under_way(self) -> bool:
        """Something is being edited."""
        return self._turn is not None

    def begin(self, turn: str, text: str) -> None:
        """Put a message of the chat on the screen into the composer."""
        composer = self._view.composer
        if not self.under_way:
            self.kept = composer.text
        self._turn, self.original = turn, text
        composer.put(text)
        composer.focus()
        self._view.ui.unsay()
        self._banner.hold(EDITING, STILL_EDITING)

    def leave(self) -> bool:
        """Give up: the composer is as it was before; False if nothing is being edited."""
        if not self.under_way:
            return False
        self._end()
        self._view.composer.put(self.kept)
        self._view.ui.say(LEFT)
        return True

    def send(self, chat: "Chat", text: str) -> None:
        """Enter was pressed: the chat goes on from the edited message; if it cannot, the text is back to be edited."""
        assert self._turn is not None
        turn, original, kept = self._turn, self.original, self.kept
        self._end()
        composer = self._view.composer
        composer.put(kept)

        def refused(words: str) -> None:
            if chat.session == session:
                self.begin(turn, text)
                self.original, self.kept = original, kept
            self._view.ui.say(words, error=True)

        session = chat.session
        chat.edit(turn, text, refused=refused)

    def _end(self) -> None:
        self._turn = None
        self._banner.hold("")

    @property
    def _banner(self) -> Banner:
        return self._view.banner
