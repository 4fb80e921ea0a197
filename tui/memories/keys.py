"""The keys of the memory screen and of each of its pages."""

from tui.keys import Row, bind
from tui.memories.filters import KEYS

SCREEN = (
    Row(
        "1 – 5, Tab",
        "memories, review, core blocks, significance, documents",
        (
            *(bind(f"{number}", f"page({number})") for number in range(1, 6)),
            bind("tab", "turn(1)", priority=True),
            bind("shift+tab", "turn(-1)", priority=True),
        ),
        "pages",
        "1–5",
    ),
    Row("w", "switch world: main or a what-if", (bind("w", "world"),)),
    Row("@", "show what clew knew on a date; Esc for now", (bind("at", "as_of"),)),
    Row("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    Row("Esc, q or F4", "back to the chat", (bind("escape,f4,q,ctrl+c", "leave"),), "back", "Esc"),
)
UNDO = Row("u", "undo the last change", (bind("u", "undo"),), "undo")
LEARNED = (
    Row("Enter", "go to where it was said", foot="go there"),
    Row(
        "← →",
        "choose a source",
        (bind("left", "source(-1)"), bind("right", "source(1)")),
        "source",
    ),
    Row("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),
    Row("Space b", "scroll the details", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
)
OBSERVATIONS = (
    Row("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "do('pin')"),), "pin"),
    Row("c", "correct it", (bind("c", "do('correct')"),), "correct"),
    Row(
        "d or Del",
        "forget it permanently (asks first)",
        (bind("d,delete", "do('forget')"),),
        "forget",
        "d",
    ),
)
REVIEW = (
    Row("a", "review: keep it if it is true", (bind("a", "do('promote')"),), "keep"),
    Row("e", "review: edit it", (bind("e", "do('edit')"),), "edit"),
    Row("x", "review: reject it if it is false", (bind("x", "do('reject')"),), "reject"),
)
FILTERS = (
    Row(
        "S K W J T P",
        "filter by status, kind, subject, project, trend or pin",
        tuple(bind(key, f"filter('{key}')") for key in KEYS),
    ),
    Row("/", "search by words", (bind("slash", "words"),)),
    Row("Backspace", "clear all filters", (bind("backspace", "clear"),)),
)
BLOCKS = (
    Row("e", "edit the text", (bind("e", "do('edit')"),), "edit"),
    Row("n", "write a new block", (bind("n", "do('new')"),), "new"),
    Row("d or Del", "remove", (bind("d,delete", "do('delete')"),), "remove", "d"),
)
BARS = (Row("Enter or →", "show its messages", (bind("right,l", "choose"),), "messages", "Enter"),)
TURNS = (
    Row(
        "0 – 3",
        "rate this message, or all marked ones",
        tuple(bind(f"{n}", f"rate({n})") for n in range(4)),
        "rate",
        "0–3",
    ),
    Row("Space", "mark this message", (bind("space", "mark"),), "mark"),
    Row("A", "mark all; again to unmark", (bind("A", "mark_all"),), "all"),
    Row("Enter", "go to where it was said", foot="go there"),
    Row("← or Esc", "back to the chart", (bind("left,h,escape", "back"),), "chart", "←"),
)
DOCUMENTS = (
    Row("Enter", "read", foot="read"),
    Row("i", "add a file or folder", (bind("i", "do('ingest')"),), "add"),
    Row("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),
    Row(
        "x or Del",
        "delete it permanently (asks first)",
        (bind("x,delete", "do('remove')"),),
        "delete",
        "x",
    ),
)
