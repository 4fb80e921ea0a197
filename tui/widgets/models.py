"""The model picker: the models of the store, which are here and which would be downloaded, and a path to any GGUF."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.backstage import Choice
from tui.keymaps import MODELS
from tui.keys import bindings, signs
from tui.text import MUTED, clean, one_line, plain, size_of
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows, type_into

NONE = "No models match."
A_FILE = "Press Enter to use this file."


class ModelPicker(ModalScreen[str | None]):
    """Typing filters the list; Enter takes the chosen one, or the path that was typed. None if left."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(MODELS)

    def __init__(self, choices: Sequence[Choice], current: str, *, title: str = "Model") -> None:
        super().__init__()
        self._title = title
        self._choices = list(choices)
        self._current = current
        self._shown: list[Choice] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(placeholder="Search, or enter the path of a GGUF file", compact=True)
            yield Rows(markup=False, compact=True, classes="page-body")
            yield Foot(signs(MODELS), classes="dialog-keys")

    def on_mount(self) -> None:
        self._fill()
        self.query_one(Input).focus()

    def on_key(self, event: events.Key) -> None:
        type_into(self.query_one(Input), event)

    @on(Input.Changed)
    def _fill(self) -> None:
        typed = self.query_one(Input).value.casefold()
        rows = self.query_one(OptionList)
        self._shown = [c for c in self._choices if typed in c.name.casefold() or typed in c.description.casefold()]
        rows.clear_options()
        rows.add_options([Option(_row(choice, choice.name == self._current)) for choice in self._shown])
        names = [choice.name for choice in self._shown]
        if not self._shown:
            words = A_FILE if typed.endswith(".gguf") else NONE
            rows.add_option(Option(plain(f"  {words}", MUTED), disabled=True))
        rows.highlighted = names.index(self._current) if self._current in names else 0 if names else None

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_take()

    def action_choose(self, step: int) -> None:
        rows = self.query_one(OptionList)
        if self._shown:
            rows.highlighted = ((rows.highlighted or 0) + step) % len(self._shown)

    def action_take(self) -> None:
        typed = clean(self.query_one(Input).value).strip()
        place = self.query_one(OptionList).highlighted
        if typed.endswith(".gguf") or not self._shown or place is None:
            self.dismiss(typed or None)
        else:
            self.dismiss(self._shown[place].name)


def _row(choice: Choice, current: bool) -> Content:
    mark = "●" if current else "○" if choice.installed else "↓"
    style = "bold $primary" if current else "" if choice.installed else MUTED
    place = "on disk" if choice.installed else "to download"
    return Content.assemble(
        plain(f"  {mark} {one_line(choice.name):<24}", style),
        plain(f" {size_of(choice.size):>7} {place}\n    ", MUTED),
        plain(one_line(choice.description), MUTED),
    )
