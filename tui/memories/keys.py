"""The keys of the memory screen and of each of its pages."""

from tui.keys import Row, bind
from tui.memories.filters import KEYS

SCREEN = (
    Row(
        "1 – 5, Tab",
        "observations, review, core blocks, significance, documents",
        (
            *(bind(f"{number}", f"page({number})") for number in range(1, 6)),
            bind("tab", "turn(1)", priority=True),
            bind("shift+tab", "turn(-1)", priority=True),
        ),
        "pages",
        "1–5",
    ),
    Row("w", "show another world: the main one, the what-ifs", (bind("w", "world"),)),
    Row("@", "show what clew knew on a day; Esc: now", (bind("at", "as_of"),)),
    Row("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    Row("Esc, q or F4", "back to the chat", (bind("escape,f4,q,ctrl+c", "leave"),), "back", "Esc"),
)
UNDO = Row("u", "undo the last of these, then the last change before", (bind("u", "undo"),), "undo")
LEARNED = (
    Row("Enter", "go to where it was said", foot="go there"),
    Row(
        "← →",
        "choose among its source words",
        (bind("left", "source(-1)"), bind("right", "source(1)")),
        "other words",
    ),
    Row("g", "walk the graph from it: what it is joined to, and how", (bind("g", "ego"),), "graph"),
    Row("Space b", "scroll the right half", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
)
OBSERVATIONS = (
    Row("p", "pin: it is always given to the model; again: unpin", (bind("p", "do('pin')"),), "pin"),
    Row("c", "correct it in your own words", (bind("c", "do('correct')"),), "correct"),
    Row(
        "d or Del",
        "forget it for good, after asking; this cannot be undone",
        (bind("d,delete", "do('forget')"),),
        "forget",
        "d",
    ),
)
REVIEW = (
    Row("a", "under review: promote it, it is true", (bind("a", "do('promote')"),), "promote"),
    Row("e", "under review: put it right", (bind("e", "do('edit')"),), "edit"),
    Row("x", "under review: reject it, it is not true", (bind("x", "do('reject')"),), "reject"),
)
FILTERS = (
    Row(
        "S K W J T P",
        "filters: status, kind, whom it is about, project, trend, pins",
        tuple(bind(key, f"filter('{key}')") for key in KEYS),
    ),
    Row("/", "only those with these words", (bind("slash", "words"),)),
    Row("Backspace", "clear all filters", (bind("backspace", "clear"),)),
)
BLOCKS = (
    Row("e", "edit the text", (bind("e", "do('edit')"),), "edit"),
    Row("n", "write a new one", (bind("n", "do('new')"),), "new"),
    Row("d or Del", "take it away", (bind("d,delete", "do('delete')"),), "take away", "d"),
)
BARS = (Row("Enter or →", "to its turns", (bind("right,l", "choose"),), "its turns", "Enter"),)
TURNS = (
    Row(
        "0 – 3",
        "rate the turn, or all that are marked",
        tuple(bind(f"{n}", f"rate({n})") for n in range(4)),
        "rate",
        "0–3",
    ),
    Row("Space", "mark the turn", (bind("space", "mark"),), "mark"),
    Row("A", "mark all; again: none", (bind("A", "mark_all"),), "all"),
    Row("Enter", "go to where it was said", foot="go there"),
    Row("← or Esc", "back to the bars", (bind("left,h,escape", "back"),), "bars", "←"),
)
DOCUMENTS = (
    Row("Enter", "read it", foot="read it"),
    Row("i", "read one in, or a folder of them", (bind("i", "do('ingest')"),), "read one in"),
    Row("g", "walk the graph from it", (bind("g", "ego"),), "graph"),
    Row(
        "x or Del",
        "let it go, after asking; this cannot be undone",
        (bind("x,delete", "do('remove')"),),
        "let it go",
        "x",
    ),
)
