"""The keys of the chat's parts, of its dialogs and of the memory screen; other screens keep theirs beside them."""

from tui.keys import KeyRow, Sign, bind

COMPOSER = (
    KeyRow("Enter", "send; queue the message while a reply is being written", (bind("enter", "send"),)),
    KeyRow(
        "Ctrl+J",
        "new line (also Shift+Enter, if the terminal supports it)",
        (bind("ctrl+j,shift+enter,alt+enter", "newline"),),
    ),
    KeyRow("@file", "attach that file; Tab completes the name"),
    KeyRow(
        "↑ ↓",
        "on the first or last line: earlier messages, or edit a queued one",
        (bind("up", "up"), bind("down", "down")),
    ),
    KeyRow(
        "PgUp PgDn",
        "scroll the chat",
        (bind("pageup", "scroll(-1)"), bind("pagedown", "scroll(1)")),
    ),
    KeyRow("End", "at the end of the text: jump to the newest message", (bind("end", "end"),)),
    KeyRow("Esc Esc", "if the composer is empty: go back to an earlier message"),
    KeyRow("Tab", "complete a command; otherwise go to the messages", (bind("tab", "complete"),)),
    KeyRow(
        "Ctrl+_",
        "undo typing (also Ctrl+-)",
        (bind("ctrl+underscore,ctrl+minus,super+z", "undo"),),
    ),
    KeyRow("Ctrl+C", "stop the reply, or clear the text, or press twice to quit"),
    KeyRow("Ctrl+D", "quit if the composer is empty", (bind("ctrl+d", "delete_or_quit"),)),
)
MESSAGE = (
    KeyRow("j k or ↑ ↓", "next and previous message", (bind("j,down", "next"), bind("k,up", "previous"))),
    KeyRow("c", "copy the message", (bind("c", "copy"),)),
    KeyRow("b", "copy its code block; again for the next", (bind("b", "copy_block"),)),
    KeyRow("Enter", "open a long message; expand a tool call", (bind("enter", "open"),)),
    KeyRow("m", "show what was recalled for it", (bind("m", "recalled"),)),
    KeyRow("g", "explore its connections in the graph", (bind("g", "ego"),)),
    KeyRow("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "pin"),)),
    KeyRow("o", "keep it and its reply out of memory; again to allow", (bind("o", "withhold"),)),
    KeyRow("r", "regenerate the reply; the old version is kept", (bind("r", "answer_again"),)),
    KeyRow(
        "← →",
        "switch between versions (‹2/3›)",
        (bind("left", "walk_left"), bind("right", "walk_right")),
    ),
    KeyRow("e", "edit your message, as a new version", (bind("e", "say_otherwise"),)),
    KeyRow("f", "fork a new chat or a what-if from here", (bind("f", "fork"),)),
    KeyRow("h", "hide it from chat, memory and prompts (asks first); again to unhide", (bind("h", "hide"),)),
    KeyRow("x or Del", "delete it permanently (asks first)", (bind("x,delete", "delete"),)),
    KeyRow("PgUp PgDn", "scroll the chat", (bind("pageup", "page_up"), bind("pagedown", "page_down"))),
    KeyRow("End", "go to the newest message", (bind("end", "tail"),)),
    KeyRow("Tab", "return to the composer", (bind("tab", "leave"),)),
    KeyRow("Esc", "stop the reply, or return to the composer", (bind("escape", "stop"),)),
    KeyRow("type", "letters act only when pressed alone; typed text goes to the composer"),
)
# What is said of a message's keys while it has the focus, the most useful first.
FOCUSED: tuple[Sign, ...] = (
    ("c", "copy"),
    ("r", "retry"),
    ("e", "edit"),
    ("h", "hide"),
    ("x", "delete"),
    ("m", "memory"),
    ("p", "pin"),
    ("f", "fork"),
    ("← →", "versions"),
    ("Enter", "open"),
)
PANEL = (
    KeyRow("F7", "open the panel; again to focus it; once more to close it"),
    KeyRow("↑ ↓ or j k", "choose", (bind("j", "choose(1)"), bind("k", "choose(-1)"))),
    KeyRow("Enter", "go to where it was said", foot="open"),
    KeyRow("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "ask('pin')"),), "pin"),
    KeyRow("h", "hide it from recall (asks first); again to unhide", (bind("h", "ask('hide')"),), "hide"),
    KeyRow("u", "undo the last pin or hide", (bind("u", "ask('undo')"),), "undo"),
    KeyRow("g", "explore its connections in the graph", (bind("g", "ask('ego')"),), "graph"),
    KeyRow(
        "← →",
        "previous and next reply",
        (bind("left", "ask('earlier')", priority=True), bind("right", "ask('later')", priority=True)),
        "other replies",
    ),
    KeyRow(
        "Esc",
        "stop the reply, or return to the composer (the panel stays open if there is room)",
        (bind("escape", "ask('leave')", priority=True),),
        "back",
    ),
)
CHATS = (
    KeyRow("type", "search titles"),
    KeyRow(
        "↑ ↓ PgUp PgDn",
        "choose",
        (
            bind("up", "choose(-1)", priority=True),
            bind("down", "choose(1)", priority=True),
            bind("pageup", "choose(-8)", priority=True),
            bind("pagedown", "choose(8)", priority=True),
        ),
    ),
    KeyRow("Enter", "open the chat"),
    KeyRow("Ctrl+R", "rename", (bind("ctrl+r", "ask('rename')", priority=True),), "rename", "^R"),
    KeyRow("Ctrl+S", "archive or unarchive", (bind("ctrl+s", "ask('archive')", priority=True),), "archive", "^S"),
    KeyRow(
        "Ctrl+X",
        "delete permanently (asks first)",
        (bind("ctrl+x", "ask('delete')", priority=True),),
        "delete",
        "^X",
    ),
    KeyRow("Ctrl+T", "show archived chats too", (bind("ctrl+t", "ask('archived')", priority=True),), "archived", "^T"),
    KeyRow("Ctrl+L", "undo the last change", (bind("ctrl+l", "ask('undo')", priority=True),), "undo", "^L"),
    KeyRow(
        "Ctrl+G", "explore its connections in the graph", (bind("ctrl+g", "ask('ego')", priority=True),), "graph", "^G"
    ),
    KeyRow("Esc", "stop the reply, or close the list", (bind("escape", "ask('close')", priority=True),)),
)
SEARCH = (
    KeyRow("type", "words in any order; the last may be incomplete"),
    KeyRow(
        "↑ ↓ PgUp PgDn",
        "choose",
        (
            bind("up", "choose(-1)", priority=True),
            bind("down", "choose(1)", priority=True),
            bind("pageup", "choose(-5)", priority=True),
            bind("pagedown", "choose(5)", priority=True),
        ),
        "choose",
        "↑ ↓",
    ),
    KeyRow("Enter", "go to where it was said", foot="go"),
    KeyRow("Ctrl+G", "explore its connections in the graph", (bind("ctrl+g", "ego", priority=True),), "graph"),
    KeyRow("Esc", "back", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
APPROVAL = (
    KeyRow("Tab", "switch between the composer and the question", (bind("tab", "leave"),)),
    KeyRow("← →", "choose between Deny and Allow", (bind("left,right", "turn"),), "choose"),
    KeyRow("Enter", "confirm the choice (Deny by default)", (bind("enter", "press"),), "answer"),
    KeyRow("Esc", "deny", foot="deny"),
)

# Lists and dialogs

LIST = (
    KeyRow("↑ ↓ or j k", "choose", (bind("up,k", "move(-1)"), bind("down,j", "move(1)"))),
    KeyRow("PgUp PgDn", "page up, page down", (bind("pageup", "page(-1)"), bind("pagedown", "page(1)"))),
    KeyRow("Home End", "first, last", (bind("home", "end(-1)"), bind("end", "end(1)"))),
    KeyRow("Enter", "open", (bind("enter", "choose"),)),
)
CHOOSER = (
    KeyRow("Space b", "scroll the preview", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
    KeyRow(
        "PgUp PgDn",
        "scroll the preview, then the list",
        (bind("pagedown", "page(1)", priority=True), bind("pageup", "page(-1)", priority=True)),
    ),
    KeyRow("Esc or q", "cancel", (bind("escape,q,ctrl+c", "dismiss(None)"),), "cancel", "Esc"),
)
REWIND = (
    KeyRow(
        "Enter",
        "go back: before the message, to rewrite it",
        (bind("enter", "answer('enter')"),),
        "before it",
    ),
    KeyRow("a", "go back: after its reply", (bind("a", "answer('a')"),), "after its reply"),
)
TREE = (
    KeyRow("Enter", "branches: continue from there", (bind("enter", "answer('enter')"),), "continue from there"),
    KeyRow("g", "branches: explore its connections in the graph", (bind("g", "answer('g')"),), "graph"),
)
ABOUT = (KeyRow("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),)
MARKS = (
    KeyRow("Enter", "marks: restore everything as it was", (bind("enter", "answer('enter')"),), "restore"),
    KeyRow("n", "marks: add one here", (bind("n", "answer('n')"),), "add"),
    KeyRow("d", "marks: remove", (bind("d", "answer('d')"),), "remove"),
)
ANSWERS = (
    KeyRow(
        "Tab or ← →",
        "choose a button",
        (bind("tab,right", "turn(1)"), bind("shift+tab,left", "turn(-1)")),
        "choose",
        "Tab",
    ),
    KeyRow(
        "Enter",
        "press the selected button (Cancel by default, unless it can be undone)",
        (bind("enter", "press"),),
        "press",
    ),
)
IMPACT = (
    KeyRow(
        "↑ ↓ PgUp PgDn",
        "scroll the preview",
        (
            bind("down", "scroll(1)"),
            bind("up", "scroll(-1)"),
            bind("pagedown", "page(1)"),
            bind("pageup", "page(-1)"),
        ),
    ),
)
CONFIRM = (
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "cancel"),)),
    KeyRow("type", "cancel and keep typing in the composer: letters never confirm"),
)
ASK_LINE = (
    KeyRow("Enter", "done"),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
LINES = (
    KeyRow("Enter", "done", (bind("enter", "done"),), "save"),
    KeyRow("Ctrl+J", "new line", (bind("ctrl+j", "newline"),), "new line"),
    KeyRow("Ctrl+U", "clear the line", (bind("ctrl+u", "clear_line"),), "clear"),
)
ASK_TEXT = (
    KeyRow("Ctrl+S", "done", (bind("ctrl+s", "done", priority=True),)),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
READER = (
    KeyRow(
        "↑ ↓ or j k",
        "scroll",
        (bind("j,down", "scroll(1)", priority=True), bind("k,up", "scroll(-1)", priority=True)),
        "move",
        "↑ ↓ PgUp PgDn",
    ),
    KeyRow("Esc, q, Enter", "back", (bind("escape,q,enter,ctrl+c,f1", "dismiss(None)", priority=True),), "back", "Esc"),
)
MODELS = (
    KeyRow("type", "search, or enter the path of a GGUF file"),
    KeyRow(
        "↑ ↓",
        "choose",
        (bind("up", "choose(-1)", priority=True), bind("down", "choose(1)", priority=True)),
        "choose",
    ),
    KeyRow("Enter", "use the model", foot="use"),
    KeyRow("Esc", "back", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
SETTINGS = (
    KeyRow("type", "search the settings"),
    KeyRow(
        "↑ ↓",
        "choose",
        (bind("up", "choose(-1)", priority=True), bind("down", "choose(1)", priority=True)),
        "choose",
    ),
    KeyRow("Enter", "change the setting", foot="change"),
    KeyRow("Ctrl+R", "put it back to its default", (bind("ctrl+r", "reset", priority=True),), "default"),
    KeyRow(
        "PgUp PgDn",
        "scroll what is said of it, then the list",
        (bind("pageup", "page(-1)", priority=True), bind("pagedown", "page(1)", priority=True)),
    ),
    KeyRow("Esc or F10", "back", (bind("escape,f10,ctrl+c", "dismiss(None)", priority=True),), "back", "Esc"),
)
PICK = (
    KeyRow("↑ ↓", "choose", foot="choose"),
    KeyRow("Enter", "save the selected one", foot="save"),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
FORK = (
    KeyRow("Enter", "fork", foot="fork"),
    KeyRow(
        "Tab or ↑ ↓",
        "switch between chat and what-if",
        (bind("tab,shift+tab,up,down", "turn", priority=True),),
        "switch",
        "Tab",
    ),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
