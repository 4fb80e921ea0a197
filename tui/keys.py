"""The keys of a place on the screen as rows: its bindings, its foot and its part of the help are all made of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.style import Style

from tui.text import MUTED, plain

GAP = "   "
Sign = tuple[str, str]  # a key as people call it, and what it does in a word or two


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A line of the help: how the keys are called, and what they do. `binds` are what Textual calls them and does.

    `foot` is what the foot of the place says of them, in a word or two, `sign` how it calls them where that is shorter;
    a row without `foot` is in the help only, and a row without `binds` is about what is typed (`@file`).
    """

    label: str
    words: str
    binds: tuple[Binding, ...] = ()
    foot: str = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class KeyContext:
    """A part of the screen that has keys of its own; `title` is its heading in the help."""

    title: str
    rows: tuple[KeyRow, ...]


def bind(keys: str, action: str, *, priority: bool = False) -> Binding:
    """Keys by Textual's names (`up,k`), and the action of the widget that they run."""
    return Binding(keys, action, show=False, priority=priority)


def bindings(*places: Sequence[KeyRow]) -> list[BindingType]:
    """All that a widget binds, for its BINDINGS; a key that does one thing tells the palette what, as its tooltip."""
    return [
        replace(binding, tooltip=row.words if len(row.binds) == 1 else "")
        for rows in places
        for row in rows
        for binding in row.binds
    ]


def actions_of(rows: Iterable[KeyRow]) -> dict[str, str]:
    """What each key runs, for who hears the keys itself."""
    return {key: binding.action for row in rows for binding in row.binds for key in binding.key.split(",")}


def signs(rows: Iterable[KeyRow]) -> tuple[Sign, ...]:
    """What a foot shows of these rows."""
    return tuple((row.sign or row.label, row.foot) for row in rows if row.foot)


def foot(own: Sequence[Sign], width: int, lines: int = 1, *, always: Sequence[Sign] = ()) -> Content:
    """The keys in `lines` lines of `width` cells: `always` at the end of them, and of the others as many as fit.

    No key is parted from its words, and none is cut: what does not fit is left out, the last ones first.
    """
    rows: list[Content] = []
    for shown in (*((*own[:count], *always) for count in range(len(own), -1, -1)), always[-1:]):
        rows = in_lines([_sign(*sign) for sign in shown], width)
        if len(rows) <= lines:
            break
    return Content("\n").join(rows[:lines])


def whole_foot(own: Sequence[Sign], width: int) -> Content:
    """All these keys, in as many lines as they need."""
    return Content("\n").join(in_lines([_sign(*sign) for sign in own], width))


def _sign(key: str, words: str) -> Content:
    return plain(key, "bold") + plain(f" {words}", MUTED)


def button(label: str, place: int, chosen: int) -> Content:
    """A button of a row of them, which a click presses; the chosen one stands out without colours too."""
    words = plain(f"[ {label[:1].upper()}{label[1:]} ]", "bold reverse" if place == chosen else MUTED)
    return words.stylize(Style.from_meta({"@click": f"press_at({place})"}))


def letters_of(rows: Iterable[KeyRow]) -> frozenset[str]:
    """The letters among the keys of these rows."""
    return frozenset(key for key in actions_of(rows) if len(key) == 1)


def in_lines(parts: Sequence[Content], width: int) -> list[Content]:
    """Parts one after the other, in as many lines as they need: none is broken that fits into one."""
    lines: list[Content] = []
    for part in parts:
        longer = lines[-1] + Content(GAP) + part if lines else part
        if lines and longer.cell_length <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines
