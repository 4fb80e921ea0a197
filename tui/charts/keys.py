"""The keys of the charts."""

from tui.keys import Place, Row, bind

SCREEN = (
    Row(
        "↑ ↓ or j k",
        "scroll",
        (bind("down,j", "scroll(1)"), bind("up,k", "scroll(-1)")),
        "scroll",
        "↑ ↓",
    ),
    Row(
        "PgUp PgDn, Space b",
        "a page",
        (bind("pagedown,space", "page(1)"), bind("pageup,b", "page(-1)")),
    ),
    Row("Home End", "the first chart, the last", (bind("home", "edge(-1)"), bind("end", "edge(1)"))),
    Row("r", "refresh", (bind("r", "again"),), "refresh"),
    Row("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    Row("Esc, q or F9", "back to the chat", (bind("escape,q,f9,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)
PLACES = (Place("Charts (F9)", SCREEN),)
