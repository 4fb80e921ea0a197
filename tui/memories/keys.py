"""The keys of the memory screen and of each of its pages."""

from tui.keys import KeyContext, KeyRow, bind

SCREEN = (
    KeyRow(
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
    KeyRow("w", "switch world: main or a what-if", (bind("w", "world"),)),
    KeyRow("@", "show what clew knew on a date; Esc for now", (bind("at", "as_of"),)),
    KeyRow("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    KeyRow("Esc, q or F4", "back to the chat", (bind("escape,f4,q,ctrl+c", "leave"),), "back", "Esc"),
)
UNDO = KeyRow("u", "undo the last change", (bind("u", "undo"),), "undo")
LEARNED = (
    KeyRow("Enter", "go to where it was said", foot="go there"),
    KeyRow(
        "← →",
        "choose a source",
        (bind("left", "source(-1)"), bind("right", "source(1)")),
        "source",
    ),
    KeyRow("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),
    KeyRow("Space b", "scroll the details", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
)
OBSERVATIONS = (
    KeyRow("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "do('pin')"),), "pin"),
    KeyRow("c", "correct it", (bind("c", "do('correct')"),), "correct"),
    KeyRow(
        "d or Del",
        "forget it permanently (asks first)",
        (bind("d,delete", "do('forget')"),),
        "forget",
        "d",
    ),
)
REVIEW = (
    KeyRow("a", "review: keep it if it is true", (bind("a", "do('promote')"),), "keep"),
    KeyRow("e", "review: edit it", (bind("e", "do('edit')"),), "edit"),
    KeyRow("x", "review: reject it if it is false", (bind("x", "do('reject')"),), "reject"),
)
FILTERS = (
    KeyRow(
        "S K W J T P",
        "filter by status, kind, subject, project, trend or pin",
        tuple(bind(key, f"filter('{key}')") for key in "SKWJTP"),
    ),
    KeyRow("/", "search by words", (bind("slash", "words"),)),
    KeyRow("Backspace", "clear all filters", (bind("backspace", "clear"),)),
)
BLOCKS = (
    KeyRow("e", "edit the text", (bind("e", "do('edit')"),), "edit"),
    KeyRow("n", "write a new block", (bind("n", "do('new')"),), "new"),
    KeyRow("d or Del", "remove", (bind("d,delete", "do('delete')"),), "remove", "d"),
)
BARS = (KeyRow("Enter or →", "show its messages", (bind("right,l", "choose"),), "messages", "Enter"),)
TURNS = (
    KeyRow(
        "0 – 3",
        "rate this message, or all marked ones",
        tuple(bind(f"{n}", f"rate({n})") for n in range(4)),
        "rate",
        "0–3",
    ),
    KeyRow("Space", "mark this message", (bind("space", "mark"),), "mark"),
    KeyRow("A", "mark all; again to unmark", (bind("A", "mark_all"),), "all"),
    KeyRow("Enter", "go to where it was said", foot="go there"),
    KeyRow("← or Esc", "back to the chart", (bind("left,h,escape", "back"),), "chart", "←"),
)
DOCUMENTS = (
    KeyRow("Enter", "read", foot="read"),
    KeyRow("i", "add a file or folder", (bind("i", "do('ingest')"),), "add"),
    KeyRow("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),
    KeyRow(
        "x or Del",
        "delete it permanently (asks first)",
        (bind("x,delete", "do('remove')"),),
        "delete",
        "x",
    ),
)
PLACES = (
    KeyContext("Memories (F4)", (*SCREEN, UNDO)),
    KeyContext("  Memories and review", (*OBSERVATIONS, *REVIEW, *LEARNED, *FILTERS)),
    KeyContext("  Core blocks", BLOCKS),
    KeyContext("  Significance", (*BARS, *TURNS)),
    KeyContext("  Documents", DOCUMENTS),
)
