"""What a model asks leave for, above the composer: what would change, and the keys that answer."""

import time
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.keymaps import APPROVAL
from tui.keys import bindings, button
from tui.text import MUTED, plain

if TYPE_CHECKING:
    from agent.events import ApprovalWanted

GUARD_S = 0.6  # an Enter that was on its way into the composer when this appeared answers nothing
LONGEST = 600
REFUSE, ALLOW = 0, 1
BUTTONS = ("Deny", "Allow")
HINT_TAB = Content.assemble(("Tab", "bold"), " answer it    ", ("Esc", "bold"), " deny")


class Approval(Static, can_focus=True):
    """It takes the keys only from an empty composer, and gives every letter back to it: none of them is an answer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(APPROVAL)
    guard_s = GUARD_S

    class Answered(Message):
        """The person said yes or no."""

        def __init__(self, approval: str, *, allowed: bool) -> None:
            super().__init__()
            self.approval = approval
            self.allowed = allowed

    class Typed(Message):
        """A letter that belongs to the composer."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self) -> None:
        super().__init__("", id="approval", markup=False)
        self.display = False
        self._wanted: ApprovalWanted | None = None
        self._since = 0.0
        self._chosen = REFUSE

    def show(self, wanted: "ApprovalWanted | None", *, take_keys: bool) -> None:
        """Show what is wanted, if it is not shown already; None: nothing is."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self.display = wanted is not None
        if wanted is None:
            return
        self._since, self._chosen = time.monotonic(), REFUSE
        self._paint()
        if take_keys:
            self.focus(scroll_visible=False)

    def _paint(self) -> None:
        if self._wanted is None:
            return
        what = self._wanted.what
        words = what if len(what) <= LONGEST else f"{what[:LONGEST]}…"
        buttons = [button(label, place, self._chosen) for place, label in enumerate(BUTTONS)]
        hint = Content("  ").join(buttons) if self.has_focus else HINT_TAB
        head = plain("The model wants to change your memory\n", "bold $warning")
        self.update(Content.assemble(head, plain(words), "\n", plain("", MUTED), hint))

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._paint()

    def action_leave(self) -> None:
        self.post_message(self.Typed("").set_sender(self))

    def action_turn(self) -> None:
        self._chosen = ALLOW if self._chosen == REFUSE else REFUSE
        self._paint()

    def action_press(self) -> None:
        self.action_press_at(self._chosen)

    def action_press_at(self, place: int) -> None:
        """Answer with that button."""
        if self._wanted is not None and time.monotonic() - self._since >= self.guard_s:
            allowed = place == ALLOW
            self.post_message(self.Answered(self._wanted.approval, allowed=allowed).set_sender(self))

    def on_key(self, event: events.Key) -> None:
        if self._wanted is not None and event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character).set_sender(self))
