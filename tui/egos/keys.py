"""The keys of the view of a node, and of the way to the words that prove a memory."""

from tui.drawing.keys import VIEW
from tui.keys import Place, Row, bind

EGO = (
    Row("Enter", "walk to it: it stands in the middle then; on a last row: more", foot="walk"),
    Row("Tab", "to the next relationship", (bind("tab", "side(1)"), bind("shift+tab", "side(-1)"))),
    Row("Backspace", "back to the node before", (bind("backspace", "back"),), "back", "Bksp"),
    Row("/", "only neighbours with these words; Esc: all again", (bind("slash", "words"),), "find"),
    Row("p", "the way from a memory down to the words that prove it", (bind("p", "proof"),), "proof"),
    Row("o", "go where it is at home: its chat, the memories, the documents", (bind("o", "home"),), "open"),
    Row("d", "the drawing: into it, away with it, back again", (bind("d", "draw"),), "draw"),
    Row(
        "F6", "from the list to the drawing, and back; in the drawing Tab goes to its next node", (bind("f6", "pane"),)
    ),
    Row("Space", "read its words whole", (bind("space", "read"),), "read"),
    Row("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    Row("Esc or q", "back to where you were", (bind("escape,q,ctrl+c", "leave"),), "close", "Esc"),
)
WORDS = (
    Row("Enter or ↓", "to the neighbours that have these words", (bind("down", "done", priority=True),)),
    Row("Esc", "all neighbours again", (bind("escape", "clear", priority=True),)),
)
PROOF = (
    Row("Enter", "go to the words in their chat; walk to a memory or a passage", foot="go there"),
    Row("Space", "read its words whole", (bind("space", "read"),), "read"),
    Row("g", "walk the graph from it", (bind("g", "walk"),), "graph"),
    Row("Esc or q", "back", (bind("escape,q,p,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)

IN_DRAWING = (
    Row("F6", "out of the drawing, to the list", foot="list"),
    Row("d", "away with the drawing", foot="away"),
)
ALWAYS = EGO[-2:]

PLACES = (
    Place("A node and its neighbours (g)", EGO),
    Place("  Finding among neighbours (/)", WORDS),
    Place("  The words that prove a memory (p)", PROOF),
)
HELP = (*PLACES, Place("  The drawing (d)", VIEW))


def foot_of(*, drawn: bool) -> tuple[Row, ...]:
    """What the foot tells of besides ALWAYS: the keys of the list, or those of the drawing."""
    return (*VIEW[:2], *IN_DRAWING, *VIEW[2:], *EGO[2:6]) if drawn else EGO[:-2]
