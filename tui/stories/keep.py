"""What stays of a story event that is completed: chosen by hand, everything else goes with it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keymaps import KEEP, bindings, signs
from tui.scene import YOU
from tui.text import cut, one_line, plain
from tui.widgets.foot import Foot
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from agent.story.overview import Seated
    from agent.story.plots import Plot

WORDS = "What is not chosen goes: no summary and no prompt carries it on."
Kept = tuple[str, str, str]  # owner, aspect and words, as Stories.move_plot takes them


class KeepScreen(ModalScreen[tuple[Kept, ...] | None]):
    """What may stay, with a tick at what does; closes with that, None if left."""

    AUTO_FOCUS = "LongList"
    BINDINGS: ClassVar[list[BindingType]] = bindings(KEEP)

    def __init__(self, plot: "Plot", cast: "Sequence[Seated]") -> None:
        super().__init__()
        self._title = f"What stays of “{cut(one_line(plot.title), 40)}”?"
        names = {each.member: "You" if each.seat == YOU else one_line(each.name) for each in cast}
        self._told: dict[Kept, str] = {}
        for prop in plot.props:
            for member, name in names.items():
                keeps = "keep" if name == "You" else "keeps"
                self._told[member, "inventory", prop] = f"{name} {keeps} {one_line(prop)}"
        for each in cast:
            if each.seat != YOU:
                fact = f"{plot.title} took place"
                self._told[each.member, "fact", fact] = f"{names[each.member]} remembers that {one_line(fact)}"
        self._rows = LongList[Kept](self._row, "|".join, height=1, ticks=True, classes="keep-list")

    def _row(self, kept: Kept, width: int) -> Sequence[Content]:
        return [plain(self._told[kept])]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog keep"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield self._rows
            yield Static(plain(WORDS), classes="dialog-words", markup=False)
            yield Foot(signs(KEEP), classes="dialog-keys")

    def on_mount(self) -> None:
        self._rows.styles.height = min(12, max(1, len(self._told)))
        self._rows.fill(list(self._told))

    def action_tick(self) -> None:
        self._rows.toggle_mark()

    def on_long_list_chosen(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        self.dismiss(tuple(kept for kept in self._told if "|".join(kept) in self._rows.marks))
