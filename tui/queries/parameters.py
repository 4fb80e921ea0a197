"""The values of a query's `$names`, asked before it runs: a line for each, as JSON where it is JSON, else as text."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keys import bindings, signs
from tui.queries.keys import PARAMETERS
from tui.text import MUTED, clean, plain, shown
from tui.widgets.foot import Foot

HOW = 'A number, true, null, ["a", "b"] are what they look like; all else is text. "12" in quotes is text too.'


def value_of(said: str) -> Any:
    """What a line stands for: what JSON reads in it, else the words themselves."""
    text = clean(said).strip()
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and its kin are words here


def line_of(value: Any) -> str:
    """A value as the line that stands for it; a text that would be read as something else is in quotes."""
    if isinstance(value, str) and value_of(value) == value and value == value.strip() and "\n" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


class AskParameters(ModalScreen[dict[str, Any] | None]):
    """The values by name; None if left. Enter goes on to the next empty line, and runs from the last."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PARAMETERS)

    def __init__(self, names: Sequence[str], known: Mapping[str, Any]) -> None:
        super().__init__()
        self._names = tuple(names)
        self._known = known

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog parameters"):
            yield Static(plain("What the query asks for"), classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False):
                for name in self._names:
                    value = self._known.get(name, "")
                    yield Static(plain(f"${name}", "$secondary"), classes="parameter-name", markup=False)
                    yield Input(shown("" if value == "" else line_of(value)).replace("\n", " "), compact=True)
            yield Static(plain(HOW, MUTED), classes="dialog-words", markup=False)
            yield Foot(signs(PARAMETERS), classes="dialog-keys")

    def on_mount(self) -> None:
        lines = list(self.query(Input))
        next((each for each in lines if not each.value), lines[0]).focus()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        lines = list(self.query(Input))
        place = lines.index(event.input)
        if place + 1 < len(lines):
            lines[place + 1].focus()
        else:
            self.action_done()

    def action_done(self) -> None:
        values = (value_of(each.value) for each in self.query(Input))
        self.dismiss(dict(zip(self._names, values, strict=True)))
