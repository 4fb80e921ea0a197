"""The keys of the charts."""

from tui.keys import KeyContext, KeyRow, bind

SCREEN = (
    KeyRow(
        "↑ ↓ or j k",
        "scroll",
        (bind("down,j", "scroll(1)"), bind("up,k", "scroll(-1)")),
        "scroll",
        "↑ ↓",
    ),
    KeyRow(
        "PgUp PgDn, Space b",
        "a page",
        (bind("pagedown,space", "page(1)"), bind("pageup,b", "page(-1)")),
    ),
    KeyRow("Home End", "the first chart, the last", (bind("home", "edge(-1)"), bind("end", "edge(1)"))),
    KeyRow("r", "refresh", (bind("r", "again"),), "refresh"),
    KeyRow("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    KeyRow("Esc, q or F9", "back to the chat", (bind("escape,q,f9,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)
PLACES = (KeyContext("Charts (F9)", SCREEN),)
