"""The keys of the view of a node, and of the way to the words that prove a memory."""

from tui.drawing.keys import VIEW
from tui.keys import Place, Row, bind

EGO = (
    Row("Enter", "go to it; on the last row, show more", foot="walk"),
    Row("Tab", "next relationship", (bind("tab", "side(1)"), bind("shift+tab", "side(-1)"))),
    Row("Backspace", "previous node", (bind("backspace", "back"),), "back", "Bksp"),
    Row("/", "filter neighbours; Esc to show all", (bind("slash", "words"),), "find"),
    Row("p", "show the proof of a memory", (bind("p", "proof"),), "proof"),
    Row("o", "open it in its chat, the memories or the documents", (bind("o", "home"),), "open"),
    Row("d", "show, focus or hide the drawing", (bind("d", "draw"),), "draw"),
    Row("F6", "switch between list and drawing; in the drawing, Tab goes to the next node", (bind("f6", "pane"),)),
    Row("Space", "read the full text", (bind("space", "read"),), "read"),
    Row("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    Row("Esc or q", "back to where you were", (bind("escape,q,ctrl+c", "leave"),), "close", "Esc"),
)
WORDS = (
    Row("Enter or ↓", "go to the matching neighbours", (bind("down", "done", priority=True),)),
    Row("Esc", "show all neighbours", (bind("escape", "clear", priority=True),)),
)
PROOF = (
    Row("Enter", "go to the message in its chat, or to a memory or passage", foot="go there"),
    Row("Space", "read the full text", (bind("space", "read"),), "read"),
    Row("g", "explore its connections in the graph", (bind("g", "walk"),), "graph"),
    Row("Esc or q", "back", (bind("escape,q,p,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)

IN_DRAWING = (
    Row("F6", "back to the list", foot="list"),
    Row("d", "hide the drawing", foot="hide"),
)
ALWAYS = EGO[-2:]

PLACES = (
    Place("A node and its neighbours (g)", EGO),
    Place("  Finding among neighbours (/)", WORDS),
    Place("  The proof of a memory (p)", PROOF),
)
HELP = (*PLACES, Place("  The drawing (d)", VIEW))


def foot_of(*, drawn: bool) -> tuple[Row, ...]:
    """What the foot tells of besides ALWAYS: the keys of the list, or those of the drawing."""
    return (*VIEW[:2], *IN_DRAWING, *VIEW[2:], *EGO[2:6]) if drawn else EGO[:-2]
