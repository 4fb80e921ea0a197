"""The words of the help, written from the rows of each place and from the table of actions."""

from collections.abc import Iterable

from textual.content import Content

from tui import places
from tui.actions import by_group, key_name
from tui.charts import keys as charts
from tui.drawing import keys as drawing
from tui.egos import keys as egos
from tui.keys import Place
from tui.memories import keys as memories
from tui.queries import keys as queries
from tui.text import plain
from tui.widgets.columns import row

WIDE = 16

MEMORY_SCREEN = (
    Place("Memories (F4)", (*memories.SCREEN, memories.UNDO)),
    Place("  Memories and review", (*memories.OBSERVATIONS, *memories.REVIEW, *memories.LEARNED, *memories.FILTERS)),
    Place("  Core blocks", memories.BLOCKS),
    Place("  Significance", (*memories.BARS, *memories.TURNS)),
    Place("  Documents", memories.DOCUMENTS),
)
PLACES = (
    Place("Writing", places.COMPOSER),
    Place("Messages (Tab)", places.MESSAGE),
    Place("When the model asks for permission", places.APPROVAL),
    Place("List of chats (F2)", places.CHATS),
    Place("Search (Ctrl+F)", places.SEARCH),
    Place("Recalled (F7)", places.PANEL),
    *MEMORY_SCREEN,
    *charts.PLACES,
    *queries.PLACES,
    Place("Lists", places.LIST),
    Place("Going back, branches and marks", (*places.REWIND, *places.TREE, *places.MARKS, *places.CHOOSER)),
    Place("About a person, place or project (/about)", places.ABOUT),
    *egos.PLACES,
    Place("Graph drawings", drawing.VIEW),
    Place("Confirmations", (*places.ANSWERS, *places.IMPACT, *places.CONFIRM)),
    Place("Text fields", (*places.ASK_LINE, *places.LINES, *places.ASK_TEXT)),
    Place("Forking", places.FORK),
    Place("Models (/model)", places.MODELS),
    Place("Settings (F10)", places.SETTINGS),
    Place("Choosing from a few", places.PICK),
    Place("Reading pages", places.READER),
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


def keys_content(places: Iterable[Place], width: int) -> Content:
    """The keys of some places alone, each under its heading."""
    parts: list[Content] = []
    for place in places:
        parts.extend((Content(""), _heading(place.title)))
        parts.extend(row(each.label, each.words, width, WIDE) for each in place.rows)
    return Content("\n").join(parts[1:])


def _heading(title: str) -> Content:
    return plain(title, "bold $primary")
