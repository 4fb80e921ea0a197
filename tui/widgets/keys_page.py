"""The keys of a screen in words, for a page over it."""

from collections.abc import Iterable

from textual.content import Content

from tui.keys import KeyContext
from tui.text import plain
from tui.widgets.columns import row

WIDE = 16  # cells of the names of the keys


def keys_content(places: Iterable[KeyContext], width: int) -> Content:
    """The keys of some places alone, each under its heading."""
    parts: list[Content] = []
    for place in places:
        parts.extend((Content(""), heading(place.title)))
        parts.extend(row(each.label, each.words, width, WIDE) for each in place.rows)
    return Content("\n").join(parts[1:])


def heading(title: str) -> Content:
    """The name of a screen, above its keys."""
    return plain(title, "bold $primary")
