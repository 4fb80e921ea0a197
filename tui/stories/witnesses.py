"""Who of a story's cast saw a message, to be put right by hand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keymaps import WITNESSES, bindings, signs
from tui.state import CastMember, Scene
from tui.text import MUTED, cut, one_line, plain
from tui.themes import seat_style
from tui.widgets.foot import Foot
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from graph.values import Turn

WORDS = (
    "Whoever did not see it is told nothing of it from here on: what was given to a voice is taken out of its prompt. "
    "What was said since stays."
)
QUOTED = 160  # characters of the message


class WitnessScreen(ModalScreen[tuple[str, ...] | None]):
    """The cast with a tick at each who saw it; closes with the ids of those, None if left."""

    AUTO_FOCUS = "LongList"
    BINDINGS: ClassVar[list[BindingType]] = bindings(WITNESSES)

    def __init__(self, scene: Scene, turn: "Turn") -> None:
        super().__init__()
        self._scene = scene
        self._turn = turn
        self._rows = LongList[CastMember](_row, lambda member: member.id, height=1, ticks=True, classes="witness-list")

    def compose(self) -> ComposeResult:
        said = f"{one_line(self._turn.speaker)}: {cut(self._turn.text or 'erased', QUOTED)}"
        with Vertical(classes="dialog witnesses"):
            yield Static("Who saw this?", classes="dialog-title", markup=False)
            yield Static(plain(said, MUTED), classes="dialog-words", markup=False)
            yield self._rows
            yield Static(plain(WORDS), classes="dialog-words witness-words", markup=False)
            yield Foot(signs(WITNESSES), classes="dialog-keys")

    def on_mount(self) -> None:
        self._rows.styles.height = len(self._scene.cast)
        self._rows.marks = {each.id for each in self._scene.cast if each.id in (self._turn.witnesses or ())}
        self._rows.fill(self._scene.cast)

    def action_tick(self) -> None:
        """The chosen one saw it, or did not; the mark stays where it is."""
        if self._rows.chosen is not None:
            self._rows.marks ^= {self._rows.chosen.id}
            self._rows.redraw()

    def on_long_list_chosen(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        """Whoever is no member any more stays a witness."""
        here = {each.id for each in self._scene.cast}
        gone = [each for each in self._turn.witnesses or () if each not in here]
        self.dismiss((*(each.id for each in self._scene.cast if each.id in self._rows.marks), *gone))


def _row(member: CastMember, width: int) -> Sequence[Content]:
    return [plain(member.name, seat_style(member.seat))]
