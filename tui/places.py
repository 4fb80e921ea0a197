"""The keys of the chat's parts, of its dialogs and of the memory screen; other screens keep theirs beside them."""

from tui.keys import Row, Sign, bind

COMPOSER = (
    Row("Enter", "send; queue the message while a reply is being written", (bind("enter", "send"),)),
    Row(
        "Ctrl+J",
        "new line (also Shift+Enter, if the terminal supports it)",
        (bind("ctrl+j,shift+enter,alt+enter", "newline"),),
    ),
    Row("@file", "attach that file; Tab completes the name"),
    Row(
        "↑ ↓",
        "on the first or last line: earlier messages, or edit a queued one",
        (bind("up", "up"), bind("down", "down")),
    ),
    Row(
        "PgUp PgDn",
        "scroll the chat",
        (bind("pageup", "scroll(-1)"), bind("pagedown", "scroll(1)")),
    ),
    Row("End", "at the end of the text: jump to the newest message", (bind("end", "end"),)),
    Row("Esc Esc", "if the composer is empty: go back to an earlier message"),
    Row("Tab", "complete a command; otherwise go to the messages", (bind("tab", "complete"),)),
    Row(
        "Ctrl+_",
        "undo typing (also Ctrl+-)",
        (bind("ctrl+underscore,ctrl+minus,super+z", "undo"),),
    ),
    Row("Ctrl+C", "stop the reply, or clear the text, or press twice to quit"),
    Row("Ctrl+D", "quit if the composer is empty", (bind("ctrl+d", "delete_or_quit"),)),
)
MESSAGE = (
    Row("j k or ↑ ↓", "next and previous message", (bind("j,down", "next"), bind("k,up", "previous"))),
    Row("c", "copy the message", (bind("c", "copy"),)),
    Row("b", "copy its code block; again for the next", (bind("b", "copy_block"),)),
    Row("Enter", "open a long message; expand a tool call", (bind("enter", "open"),)),
    Row("m", "show what was recalled for it", (bind("m", "recalled"),)),
    Row("g", "explore its connections in the graph", (bind("g", "ego"),)),
    Row("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "pin"),)),
    Row("o", "keep it and its reply out of memory; again to allow", (bind("o", "withhold"),)),
    Row("r", "regenerate the reply; the old version is kept", (bind("r", "answer_again"),)),
    Row(
        "← →",
        "switch between versions (‹2/3›)",
        (bind("left", "walk_left"), bind("right", "walk_right")),
    ),
    Row("e", "edit your message, as a new version", (bind("e", "say_otherwise"),)),
    Row("f", "fork a new chat or a what-if from here", (bind("f", "fork"),)),
    Row("h", "hide it from chat, memory and prompts (asks first); again to unhide", (bind("h", "hide"),)),
    Row("x or Del", "delete it permanently (asks first)", (bind("x,delete", "delete"),)),
    Row("PgUp PgDn", "scroll the chat", (bind("pageup", "page_up"), bind("pagedown", "page_down"))),
    Row("End", "go to the newest message", (bind("end", "tail"),)),
    Row("Tab", "return to the composer", (bind("tab", "leave"),)),
    Row("Esc", "stop the reply, or return to the composer", (bind("escape", "stop"),)),
    Row("type", "letters act only when pressed alone; typed text goes to the composer"),
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
    Row("F7", "open the panel; again to focus it; once more to close it"),
    Row("↑ ↓ or j k", "choose", (bind("j", "choose(1)"), bind("k", "choose(-1)"))),
    Row("Enter", "go to where it was said", foot="open"),
    Row("p", "pin it, so that the model always sees it; again to unpin", (bind("p", "ask('pin')"),), "pin"),
    Row("h", "hide it from recall (asks first); again to unhide", (bind("h", "ask('hide')"),), "hide"),
    Row("u", "undo the last pin or hide", (bind("u", "ask('undo')"),), "undo"),
    Row("g", "explore its connections in the graph", (bind("g", "ask('ego')"),), "graph"),
    Row(
        "← →",
        "previous and next reply",
        (bind("left", "ask('earlier')", priority=True), bind("right", "ask('later')", priority=True)),
        "other replies",
    ),
    Row(
        "Esc",
        "stop the reply, or return to the composer (the panel stays open if there is room)",
        (bind("escape", "ask('leave')", priority=True),),
        "back",
    ),
)
CHATS = (
    Row("type", "search titles"),
    Row(
        "↑ ↓ PgUp PgDn",
        "choose",
        (
            bind("up", "choose(-1)", priority=True),
            bind("down", "choose(1)", priority=True),
            bind("pageup", "choose(-8)", priority=True),
            bind("pagedown", "choose(8)", priority=True),
        ),
    ),
    Row("Enter", "open the chat"),
    Row("Ctrl+R", "rename", (bind("ctrl+r", "ask('rename')", priority=True),), "rename", "^R"),
    Row("Ctrl+S", "archive or unarchive", (bind("ctrl+s", "ask('archive')", priority=True),), "archive", "^S"),
    Row(
        "Ctrl+X",
        "delete permanently (asks first)",
        (bind("ctrl+x", "ask('delete')", priority=True),),
        "delete",
        "^X",
    ),
    Row("Ctrl+T", "show archived chats too", (bind("ctrl+t", "ask('archived')", priority=True),), "archived", "^T"),
    Row("Ctrl+L", "undo the last change", (bind("ctrl+l", "ask('undo')", priority=True),), "undo", "^L"),
    Row(
        "Ctrl+G", "explore its connections in the graph", (bind("ctrl+g", "ask('ego')", priority=True),), "graph", "^G"
    ),
    Row("Esc", "stop the reply, or close the list", (bind("escape", "ask('close')", priority=True),)),
)
SEARCH = (
    Row("type", "words in any order; the last may be incomplete"),
    Row(
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
    Row("Enter", "go to where it was said", foot="go"),
    Row("Ctrl+G", "explore its connections in the graph", (bind("ctrl+g", "ego", priority=True),), "graph"),
    Row("Esc", "back", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
APPROVAL = (
    Row("Tab", "switch between the composer and the question", (bind("tab", "leave"),)),
    Row("← →", "choose between Deny and Allow", (bind("left,right", "turn"),), "choose"),
    Row("Enter", "confirm the choice (Deny by default)", (bind("enter", "press"),), "answer"),
    Row("Esc", "deny", foot="deny"),
)

# Lists and dialogs

LIST = (
    Row("↑ ↓ or j k", "choose", (bind("up,k", "move(-1)"), bind("down,j", "move(1)"))),
    Row("PgUp PgDn", "page up, page down", (bind("pageup", "page(-1)"), bind("pagedown", "page(1)"))),
    Row("Home End", "first, last", (bind("home", "end(-1)"), bind("end", "end(1)"))),
    Row("Enter", "open", (bind("enter", "choose"),)),
)
CHOOSER = (
    Row("Space b", "scroll the preview", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
    Row(
        "PgUp PgDn",
        "scroll the preview, then the list",
        (bind("pagedown", "page(1)", priority=True), bind("pageup", "page(-1)", priority=True)),
    ),
    Row("Esc or q", "cancel", (bind("escape,q,ctrl+c", "dismiss(None)"),), "cancel", "Esc"),
)
REWIND = (
    Row(
        "Enter",
        "go back: before the message, to rewrite it",
        (bind("enter", "answer('enter')"),),
        "before it",
    ),
    Row("a", "go back: after its reply", (bind("a", "answer('a')"),), "after its reply"),
)
TREE = (
    Row("Enter", "branches: continue from there", (bind("enter", "answer('enter')"),), "continue from there"),
    Row("g", "branches: explore its connections in the graph", (bind("g", "answer('g')"),), "graph"),
)
ABOUT = (Row("g", "explore its connections in the graph", (bind("g", "ego"),), "graph"),)
MARKS = (
    Row("Enter", "marks: restore everything as it was", (bind("enter", "answer('enter')"),), "restore"),
    Row("n", "marks: add one here", (bind("n", "answer('n')"),), "add"),
    Row("d", "marks: remove", (bind("d", "answer('d')"),), "remove"),
)
ANSWERS = (
    Row(
        "Tab or ← →",
        "choose a button",
        (bind("tab,right", "turn(1)"), bind("shift+tab,left", "turn(-1)")),
        "choose",
        "Tab",
    ),
    Row(
        "Enter",
        "press the selected button (Cancel by default, unless it can be undone)",
        (bind("enter", "press"),),
        "press",
    ),
)
IMPACT = (
    Row(
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
    Row("Esc", "cancel", (bind("escape,ctrl+c", "cancel"),)),
    Row("type", "cancel and keep typing in the composer: letters never confirm"),
)
ASK_LINE = (
    Row("Enter", "done"),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
LINES = (
    Row("Enter", "done", (bind("enter", "done"),), "save"),
    Row("Ctrl+J", "new line", (bind("ctrl+j", "newline"),), "new line"),
    Row("Ctrl+U", "clear the line", (bind("ctrl+u", "clear_line"),), "clear"),
)
ASK_TEXT = (
    Row("Ctrl+S", "done", (bind("ctrl+s", "done", priority=True),)),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
READER = (
    Row(
        "↑ ↓ or j k",
        "scroll",
        (bind("j,down", "scroll(1)", priority=True), bind("k,up", "scroll(-1)", priority=True)),
        "move",
        "↑ ↓ PgUp PgDn",
    ),
    Row("Esc, q, Enter", "back", (bind("escape,q,enter,ctrl+c,f1", "dismiss(None)", priority=True),), "back", "Esc"),
)
MODELS = (
    Row("type", "search, or enter the path of a GGUF file"),
    Row(
        "↑ ↓",
        "choose",
        (bind("up", "choose(-1)", priority=True), bind("down", "choose(1)", priority=True)),
        "choose",
    ),
    Row("Enter", "use the model", foot="use"),
    Row("Esc", "back", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
SETTINGS = (
    Row("type", "search the settings"),
    Row(
        "↑ ↓",
        "choose",
        (bind("up", "choose(-1)", priority=True), bind("down", "choose(1)", priority=True)),
        "choose",
    ),
    Row("Enter", "change the setting", foot="change"),
    Row("Ctrl+R", "put it back to its default", (bind("ctrl+r", "reset", priority=True),), "default"),
    Row(
        "PgUp PgDn",
        "scroll what is said of it, then the list",
        (bind("pageup", "page(-1)", priority=True), bind("pagedown", "page(1)", priority=True)),
    ),
    Row("Esc or F10", "back", (bind("escape,f10,ctrl+c", "dismiss(None)", priority=True),), "back", "Esc"),
)
PICK = (
    Row("↑ ↓", "choose", foot="choose"),
    Row("Enter", "save the selected one", foot="save"),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
FORK = (
    Row("Enter", "fork", foot="fork"),
    Row(
        "Tab or ↑ ↓",
        "switch between chat and what-if",
        (bind("tab,shift+tab,up,down", "turn", priority=True),),
        "switch",
        "Tab",
    ),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
