"""The keys of the query screen and of its parts."""

from tui.drawing.keys import VIEW
from tui.keys import KeyContext, KeyRow, bind

SCREEN = (
    KeyRow("F5 or Ctrl+Enter", "run the query", (bind("f5,ctrl+enter", "run", priority=True),), "run", "F5"),
    KeyRow("Ctrl+L", "ready queries", (bind("ctrl+l", "shelf", priority=True),), "ready", "^L"),
    KeyRow(
        "Ctrl+T",
        "ask in plain words; the query is shown before it runs",
        (bind("ctrl+t", "ask", priority=True),),
        "ask in words",
        "^T",
    ),
    KeyRow("F2", "show or hide the tables of the graph", (bind("f2", "tables", priority=True),), "tables"),
    KeyRow(
        "Ctrl+R", "what was run before, to run it again", (bind("ctrl+r", "history", priority=True),), "history", "^R"
    ),
    KeyRow("Ctrl+S", "save this query under a name", (bind("ctrl+s", "save", priority=True),), "save", "^S"),
    KeyRow("Ctrl+O", "saved queries", (bind("ctrl+o", "saved", priority=True),), "saved", "^O"),
    KeyRow("F6", "from the query to the rows, to the tables, and back", (bind("f6", "pane(1)", priority=True),)),
    KeyRow("F1", "these keys", (bind("f1", "help", priority=True),)),
    KeyRow("Esc or F3", "stop the running query; otherwise back to the chat", (bind("escape,f3,ctrl+c", "leave"),)),
)
EDITOR = (
    KeyRow(
        "Tab",
        "complete the word, or go to the rows",
        (bind("tab", "complete"), bind("shift+tab", "backwards")),
        "complete, rows",
    ),
    KeyRow("Ctrl+Space", "show all completions", (bind("ctrl+@,ctrl+at,ctrl+space", "offer"),)),
    KeyRow("↑ ↓", "a line up, a line down; choose what to write", (bind("up", "up"), bind("down", "down"))),
    KeyRow("Ctrl+_", "undo typing", (bind("ctrl+underscore,ctrl+minus,super+z", "undo"),)),
    KeyRow("? words", "a question in words instead of a query; F5 turns it into one"),
)
EDIT = KeyRow(
    "e",
    "back to the query",
    (bind("e", "screen.edit", priority=True),),  # so that what is typed right behind it is the query's
    "edit",
)
RESULTS = (
    KeyRow(
        "1 2 3",
        "the rows as a table, drawn, as JSON",
        tuple(bind(f"{each}", f"page({each})") for each in (1, 2, 3)),
    ),
    KeyRow("m", "more rows", (bind("m", "more"),), "more"),
    KeyRow("x", "write all rows, or the drawing, to a file", (bind("x", "export"),), "export"),
    KeyRow("y", "copy the selection", (bind("y", "copy"),), "copy"),
    KeyRow("Y", "copy all rows that are here", (bind("Y", "copy_all"),)),
    KeyRow("g", "explore the connections of the selection", (bind("g", "ego"),), "graph"),
    EDIT,
    KeyRow(
        "Tab",
        "to the tables, or back to the query",
        (bind("tab", "screen.pane(1)"), bind("shift+tab", "screen.pane(-1)")),
    ),
)
TABLE = (
    KeyRow(
        "↑ ↓ ← →",
        "choose a cell; also h j k l",
        (bind("up,k", "move(-1)"), bind("down,j", "move(1)"), bind("left,h", "aside(-1)"), bind("right,l", "aside(1)")),
    ),
    KeyRow("Enter", "read the cell whole", (bind("enter", "open"),), "read"),
    KeyRow("s", "sort by this column: ascending, descending, original order", (bind("s", "sort"),), "sort"),
    KeyRow("PgUp PgDn", "a page up, a page down", (bind("pageup", "page(-1)"), bind("pagedown", "page(1)"))),
    KeyRow("Home End", "the first row, the last", (bind("home", "end(-1)"), bind("end", "end(1)"))),
)
TABLES = (
    KeyRow("Enter", "write it into the query", foot="write"),
    KeyRow("r", "run a sample of it", (bind("r", "sample"),), "sample"),
    KeyRow("← →", "fold and unfold what a table has", (bind("left", "fold"), bind("right", "unfold")), "unfold", "→"),
    KeyRow(
        "Tab",
        "back to the query",
        (bind("tab", "screen.pane(1)"), bind("shift+tab", "screen.pane(-1)")),
        "to the query",
    ),
)
PARAMETERS = (
    KeyRow("Enter", "the next line; on the last one: run", foot="next, then run"),
    KeyRow("↑ ↓", "the line above, the line below", (bind("up", "app.focus_previous"), bind("down", "app.focus_next"))),
    KeyRow("F5", "run", (bind("f5,ctrl+enter", "done", priority=True),), "run"),
    KeyRow("Esc", "back to the query", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
TAKE = KeyRow("Enter", "put it into the editor", (bind("enter", "answer('enter')"),), "take it")
RUN = KeyRow("F5", "run it at once", (bind("f5", "answer('f5')"),), "run it")
REMOVE = KeyRow("d", "remove it (asks first)", (bind("d", "answer('d')"),), "remove")
LEAVING = KeyRow("e or F6", "out of the drawing: to the query, to the next part", foot="leave it", sign="e")
ALWAYS = (("F1", "help"), ("Esc", "back"))
RUNNING = (("Esc", "stop it"),)

PLACES = (
    KeyContext("Asking the graph (F3)", SCREEN),
    KeyContext("  Writing a query", EDITOR),
    KeyContext("  The rows", (*RESULTS, *TABLE)),
    KeyContext("  The tables of the graph", TABLES),
    KeyContext("  What a query asks for", PARAMETERS),
    KeyContext("  Ready, saved and earlier queries", (TAKE, RUN, REMOVE)),
)
HELP = (*PLACES, KeyContext("  The rows as a drawing (2)", (*VIEW, LEAVING)))


def foot_of(part: str) -> tuple[KeyRow, ...]:
    """What the foot tells of while a part has the keys, the nearest first."""
    match part:
        case "tables":
            return (*TABLES, SCREEN[0], SCREEN[3])
        case "table":
            return (*TABLE, *RESULTS, *SCREEN)
        case "words":
            return (EDIT, *SCREEN)
        case "drawing":
            return (*VIEW[:2], LEAVING, *VIEW[2:], *RESULTS[2:6], *SCREEN)
        case "rows":
            return (*RESULTS, *SCREEN)
        case _:
            return (SCREEN[0], EDITOR[0], *SCREEN[1:])
