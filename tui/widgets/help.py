"""The words of the help, written from the rows of each place and from the table of actions."""

from collections.abc import Iterable

from textual.content import Content

from tui import places
from tui.actions import by_group, key_name
from tui.charts import keys as charts
from tui.drawing import keys as drawing
from tui.egos import keys as egos
from tui.keys import KeyContext
from tui.memories import keys as memories
from tui.queries import keys as queries
from tui.text import plain
from tui.widgets.columns import row

WIDE = 16

MEMORY_SCREEN = (
    KeyContext("Memories (F4)", (*memories.SCREEN, memories.UNDO)),
    KeyContext(
        "  Memories and review", (*memories.OBSERVATIONS, *memories.REVIEW, *memories.LEARNED, *memories.FILTERS)
    ),
    KeyContext("  Core blocks", memories.BLOCKS),
    KeyContext("  Significance", (*memories.BARS, *memories.TURNS)),
    KeyContext("  Documents", memories.DOCUMENTS),
)
PLACES = (
    KeyContext("Writing", places.COMPOSER),
    KeyContext("Messages (Tab)", places.MESSAGE),
    KeyContext("When the model asks for permission", places.APPROVAL),
    KeyContext("List of chats (F2)", places.CHATS),
    KeyContext("Search (Ctrl+F)", places.SEARCH),
    KeyContext("Recalled (F7)", places.PANEL),
    *MEMORY_SCREEN,
    *charts.PLACES,
    *queries.PLACES,
    KeyContext("Lists", places.LIST),
    KeyContext("Going back, branches and marks", (*places.REWIND, *places.TREE, *places.MARKS, *places.CHOOSER)),
    KeyContext("About a person, place or project (/about)", places.ABOUT),
    *egos.PLACES,
    KeyContext("Graph drawings", drawing.VIEW),
    KeyContext("Confirmations", (*places.ANSWERS, *places.IMPACT, *places.CONFIRM)),
    KeyContext("Text fields", (*places.ASK_LINE, *places.LINES, *places.ASK_TEXT)),
    KeyContext("Forking", places.FORK),
    KeyContext("Models (/model)", places.MODELS),
    KeyContext("Settings (F10)", places.SETTINGS),
    KeyContext("Choosing from a few", places.PICK),
    KeyContext("Reading pages", places.READER),
)


def help_content(width: int) -> Content:
    """The whole help for a dialog `width` cells wide inside."""
    parts: list[Content] = [keys_content(PLACES, width)]
    for group, actions in by_group():
        parts.extend((Content(""), _heading(f"Commands: {group}")))
        for action in actions:
            keys_of = ", ".join(key_name(key) for key in action.keys)
            words = f"{action.title} ({keys_of})" if keys_of else action.title
            parts.append(row(f"/{action.slash}", words, width, WIDE))
    return Content("\n").join(parts)


def keys_content(places: Iterable[KeyContext], width: int) -> Content:
    """The keys of some places alone, each under its heading."""
    parts: list[Content] = []
    for place in places:
        parts.extend((Content(""), _heading(place.title)))
        parts.extend(row(each.label, each.words, width, WIDE) for each in place.rows)
    return Content("\n").join(parts[1:])


def _heading(title: str) -> Content:
    return plain(title, "bold $primary")
