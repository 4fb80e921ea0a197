"""A question before a chat forks: in the world it is of, or as a what-if; and what the new one is to be called."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keymaps import FORK
from tui.keys import bindings, signs
from tui.text import MUTED, clean, plain
from tui.widgets.foot import Foot

WAYS = ("as a chat", "as a what-if")
TELLS = ("Other chats can use what is learned here.", "A separate world: other chats never see it.")


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """What is to be forked: a what-if or not, and by which name, if by any."""

    what_if: bool = False
    name: str | None = None


class ForkScreen(ModalScreen[ForkRequest | None]):
    """Closes with what is wanted; None if left. Tab turns between the two ways."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FORK)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._what_if = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog impact fork"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static("", classes="impact-ways", markup=False)
            yield Static("", classes="fork-tells", markup=False)
            yield Input(placeholder="Name (optional)", compact=True)
            yield Foot(signs(FORK), classes="dialog-keys")

    def on_mount(self) -> None:
        self._paint()

    def _paint(self) -> None:
        names = [plain(f" {way} ", "reverse" if place == self._what_if else MUTED) for place, way in enumerate(WAYS)]
        self.query_one(".impact-ways", Static).update(Content(" ").join(names))
        self.query_one(".fork-tells", Static).update(plain(TELLS[self._what_if], MUTED))

    def action_turn(self) -> None:
        self._what_if = not self._what_if
        self._paint()

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        self.dismiss(ForkRequest(self._what_if, clean(event.value).strip() or None))
