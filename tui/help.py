"""The words of the help, written from the rows of each place and from the table of actions."""

from textual.content import Content

from tui import keymaps
from tui.actions import by_group, key_name
from tui.charts import keys as charts
from tui.drawing import keys as drawing
from tui.keys import KeyContext
from tui.memories import keys as memories
from tui.nodes import keys as egos
from tui.queries import keys as queries
from tui.widgets.columns import row
from tui.widgets.keys_page import WIDE, heading, keys_content

PLACES = (
    KeyContext("Writing", keymaps.COMPOSER),
    KeyContext("Messages (Tab)", keymaps.MESSAGE),
    KeyContext("When the model asks for permission", keymaps.APPROVAL),
    KeyContext("List of chats (F2)", keymaps.CHATS),
    KeyContext("Search (Ctrl+F)", keymaps.SEARCH),
    KeyContext("Recalled (F7)", keymaps.PANEL),
    *memories.PLACES,
    *charts.PLACES,
    *queries.PLACES,
    KeyContext("Lists", keymaps.LIST),
    KeyContext("Going back, branches and marks", (*keymaps.REWIND, *keymaps.TREE, *keymaps.MARKS, *keymaps.CHOOSER)),
    KeyContext("About a person, place or project (/about)", keymaps.ABOUT),
    *egos.PLACES,
    KeyContext("Graph drawings", drawing.VIEW),
    KeyContext("Confirmations", (*keymaps.ANSWERS, *keymaps.IMPACT, *keymaps.CONFIRM)),
    KeyContext("Text fields", (*keymaps.ASK_LINE, *keymaps.LINES, *keymaps.ASK_TEXT)),
    KeyContext("Forking", keymaps.FORK),
    KeyContext("Models (/model)", keymaps.MODELS),
    KeyContext("Settings (F10)", keymaps.SETTINGS),
    KeyContext("Choosing from a few", keymaps.PICK),
    KeyContext("Reading pages", keymaps.READER),
)


def help_content(width: int) -> Content:
    """The whole help for a dialog `width` cells wide inside."""
    parts: list[Content] = [keys_content(PLACES, width)]
    for group, actions in by_group():
        parts.extend((Content(""), heading(f"Commands: {group}")))
        for action in actions:
            keys_of = ", ".join(key_name(key) for key in action.keys)
            words = f"{action.title} ({keys_of})" if keys_of else action.title
            parts.append(row(f"/{action.slash}", words, width, WIDE))
    return Content("\n").join(parts)
