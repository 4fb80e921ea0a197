"""The keys of the view of a node, and of the way to the words that prove a memory."""

from tui.drawing.keys import VIEW
from tui.keys import KeyContext, KeyRow, bind

EGO = (
    KeyRow("Enter", "go to it; on the last row, show more", foot="walk"),
    KeyRow("Tab", "next relationship", (bind("tab", "side(1)"), bind("shift+tab", "side(-1)"))),
    KeyRow("Backspace", "previous node", (bind("backspace", "back"),), "back", "Bksp"),
    KeyRow("/", "filter neighbours; Esc to show all", (bind("slash", "words"),), "find"),
    KeyRow("p", "show the proof of a memory", (bind("p", "proof"),), "proof"),
    KeyRow("o", "open it in its chat, the memories or the documents", (bind("o", "home"),), "open"),
    KeyRow("d", "show, focus or hide the drawing", (bind("d", "draw"),), "draw"),
    KeyRow("F6", "switch between list and drawing; in the drawing, Tab goes to the next node", (bind("f6", "pane"),)),
    KeyRow("Space", "read the full text", (bind("space", "read"),), "read"),
    KeyRow("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    KeyRow("Esc or q", "back to where you were", (bind("escape,q,ctrl+c", "leave"),), "close", "Esc"),
)
WORDS = (
    KeyRow("Enter or ↓", "go to the matching neighbours", (bind("down", "done", priority=True),)),
    KeyRow("Esc", "show all neighbours", (bind("escape", "clear", priority=True),)),
)
PROOF = (
    KeyRow("Enter", "go to the message in its chat, or to a memory or passage", foot="go there"),
    KeyRow("Space", "read the full text", (bind("space", "read"),), "read"),
    KeyRow("g", "explore its connections in the graph", (bind("g", "walk"),), "graph"),
    KeyRow("Esc or q", "back", (bind("escape,q,p,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)

IN_DRAWING = (
    KeyRow("F6", "back to the list", foot="list"),
    KeyRow("d", "hide the drawing", foot="hide"),
)
ALWAYS = EGO[-2:]

PLACES = (
    KeyContext("A node and its neighbours (g)", EGO),
    KeyContext("  Finding among neighbours (/)", WORDS),
    KeyContext("  The proof of a memory (p)", PROOF),
)
HELP = (*PLACES, KeyContext("  The drawing (d)", VIEW))


def foot_of(*, drawn: bool) -> tuple[KeyRow, ...]:
    """What the foot tells of besides ALWAYS: the keys of the list, or those of the drawing."""
    return (*VIEW[:2], *IN_DRAWING, *VIEW[2:], *EGO[2:6]) if drawn else EGO[:-2]
