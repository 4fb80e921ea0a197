"""The keys of the chat's parts, of its dialogs and of the memory screen; other screens keep theirs beside them."""

from tui.keys import Row, Sign, bind

COMPOSER = (
    Row("Enter", "send; while a reply is written the message is queued", (bind("enter", "send"),)),
    Row(
        "Ctrl+J",
        "new line (also Shift+Enter where the terminal can tell)",
        (bind("ctrl+j,shift+enter,alt+enter", "newline"),),
    ),
    Row("@file", "the text of that file goes along with the message; Tab completes the name"),
    Row(
        "↑ ↓",
        "earlier messages, at the first and last line; a queued one is taken back",
        (bind("up", "up"), bind("down", "down")),
    ),
    Row(
        "PgUp PgDn",
        "scroll without leaving the composer",
        (bind("pageup", "scroll(-1)"), bind("pagedown", "scroll(1)")),
    ),
    Row("End", "at the end of the text: back to the newest message", (bind("end", "end"),)),
    Row("Esc Esc", "with nothing written: go back to an earlier message"),
    Row("Tab", "complete a command; else go to the messages", (bind("tab", "complete"),)),
    Row(
        "Ctrl+_",
        "undo what was typed (also Ctrl+-)",
        (bind("ctrl+underscore,ctrl+minus,super+z", "undo"),),
    ),
    Row("Ctrl+C", "stop the reply, else clear the text, else press twice to quit"),
    Row("Ctrl+D", "quit, when there is no text", (bind("ctrl+d", "delete_or_quit"),)),
)
MESSAGE = (
    Row("j k or ↑ ↓", "next and previous message", (bind("j,down", "next"), bind("k,up", "previous"))),
    Row("c", "copy the message", (bind("c", "copy"),)),
    Row("b", "copy its code block; again for the next one", (bind("b", "copy_block"),)),
    Row("Enter", "open a long message whole; unfold a tool call", (bind("enter", "open"),)),
    Row("m", "show what was recalled for it", (bind("m", "recalled"),)),
    Row("g", "walk the graph from it: what it is joined to, and how", (bind("g", "ego"),)),
    Row("p", "pin it: it is always given to the model; again: unpin", (bind("p", "pin"),)),
    Row("o", "keep it out of memory, with its reply; again: remember it", (bind("o", "withhold"),)),
    Row("r", "answer again, beside the reply there is", (bind("r", "answer_again"),)),
    Row(
        "← →",
        "the other replies, or other wordings, in its place (‹2/3›)",
        (bind("left", "walk_left"), bind("right", "walk_right")),
    ),
    Row("e", "say it otherwise: your own message, as a new branch", (bind("e", "say_otherwise"),)),
    Row("f", "fork: a new chat with all up to here, or a what-if", (bind("f", "fork"),)),
    Row("h", "hide it from chat, memory and prompts, after asking; again: bring it back", (bind("h", "hide"),)),
    Row("x or Del", "delete it for good, after asking; this cannot be undone", (bind("x,delete", "delete"),)),
    Row("PgUp PgDn", "scroll the chat", (bind("pageup", "page_up"), bind("pagedown", "page_down"))),
    Row("End", "go to the newest message", (bind("end", "tail"),)),
    Row("Tab", "back to the composer", (bind("tab", "leave"),)),
    Row("Esc", "stop the reply that is being written; else back to the composer", (bind("escape", "stop"),)),
    Row("type", "a letter acts only if it is pressed alone; what is typed goes on in the composer"),
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
    Row("F7", "open the panel; again: go to it; once more: close it"),
    Row("↑ ↓ or j k", "choose", (bind("j", "choose(1)"), bind("k", "choose(-1)"))),
    Row("Enter", "go to where it was said", foot="open"),
    Row("p", "pin: it is always given to the model; again: unpin", (bind("p", "ask('pin')"),), "pin"),
    Row("h", "hide, after asking: recall leaves it out; again: bring it back", (bind("h", "ask('hide')"),), "hide"),
    Row("u", "undo the last pin or hide", (bind("u", "ask('undo')"),), "undo"),
    Row("g", "walk the graph from it", (bind("g", "ask('ego')"),), "graph"),
    Row(
        "← →",
        "the reply before, the reply after",
        (bind("left", "ask('earlier')", priority=True), bind("right", "ask('later')", priority=True)),
        "other replies",
    ),
    Row(
        "Esc",
        "stop the reply; else back to the composer, and the panel stays if there is room",
        (bind("escape", "ask('leave')", priority=True),),
        "back",
    ),
)
CHATS = (
    Row("type", "search the titles; Ctrl+A and Ctrl+U edit these words"),
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
    Row("Ctrl+S", "archive, or bring back", (bind("ctrl+s", "ask('archive')", priority=True),), "archive", "^S"),
    Row(
        "Ctrl+X",
        "delete for good, after asking; this cannot be undone",
        (bind("ctrl+x", "ask('delete')", priority=True),),
        "delete",
        "^X",
    ),
    Row("Ctrl+T", "show the archived ones too", (bind("ctrl+t", "ask('archived')", priority=True),), "archived", "^T"),
    Row("Ctrl+L", "undo the last change", (bind("ctrl+l", "ask('undo')", priority=True),), "undo", "^L"),
    Row("Ctrl+G", "walk the graph from it", (bind("ctrl+g", "ask('ego')", priority=True),), "graph", "^G"),
    Row("Esc", "stop the reply; else close the list", (bind("escape", "ask('close')", priority=True),)),
)
SEARCH = (
    Row("type", "words in any order; the last one may be a beginning"),
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
    Row("Ctrl+G", "walk the graph from it", (bind("ctrl+g", "ego", priority=True),), "graph"),
    Row("Esc", "back", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "back"),
)
APPROVAL = (
    Row("Tab", "from the composer to the question, and back", (bind("tab", "leave"),)),
    Row("← →", "choose between Refuse and Allow", (bind("left,right", "turn"),), "choose"),
    Row("Enter", "do the chosen one: Refuse, at first", (bind("enter", "press"),), "answer"),
    Row("Esc", "refuse it", foot="refuse"),
)

# Lists and dialogs

LIST = (
    Row("↑ ↓ or j k", "choose", (bind("up,k", "move(-1)"), bind("down,j", "move(1)"))),
    Row("PgUp PgDn", "a page up, a page down", (bind("pageup", "page(-1)"), bind("pagedown", "page(1)"))),
    Row("Home End", "the first, the last", (bind("home", "end(-1)"), bind("end", "end(1)"))),
    Row("Enter", "open the chosen one", (bind("enter", "choose"),)),
)
CHOOSER = (
    Row("Space b", "scroll what the choice would do", (bind("space", "scroll(1)"), bind("b", "scroll(-1)"))),
    Row(
        "PgUp PgDn",
        "the same, then the list",
        (bind("pagedown", "page(1)", priority=True), bind("pageup", "page(-1)", priority=True)),
    ),
    Row("Esc or q", "cancel", (bind("escape,q,ctrl+c", "dismiss(None)"),), "cancel", "Esc"),
)
REWIND = (
    Row(
        "Enter",
        "going back: to before it, to write it anew",
        (bind("enter", "answer('enter')"),),
        "before it",
    ),
    Row("a", "going back: to after its answer", (bind("a", "answer('a')"),), "after its answer"),
)
TREE = (
    Row("Enter", "branches: go on from there", (bind("enter", "answer('enter')"),), "go on from there"),
    Row("g", "branches: walk the graph from it", (bind("g", "answer('g')"),), "graph"),
)
ABOUT = (Row("g", "walk the graph from it", (bind("g", "ego"),), "graph"),)
MARKS = (
    Row("Enter", "marks: put everything back as it was there", (bind("enter", "answer('enter')"),), "restore it"),
    Row("n", "marks: set one here", (bind("n", "answer('n')"),), "set one here"),
    Row("d", "marks: let it go", (bind("d", "answer('d')"),), "let it go"),
)
ANSWERS = (
    Row(
        "Tab or ← →",
        "to the other buttons",
        (bind("tab,right", "turn(1)"), bind("shift+tab,left", "turn(-1)")),
        "choose",
        "Tab",
    ),
    Row(
        "Enter",
        "press the chosen button: “Cancel” at first, unless it can be undone",
        (bind("enter", "press"),),
        "press",
    ),
)
IMPACT = (
    Row(
        "↑ ↓ PgUp PgDn",
        "scroll what changes",
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
    Row("type", "cancel, and go on writing in the composer: no letter answers a question"),
)
ASK_LINE = (
    Row("Enter", "done"),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
LINES = (
    Row("Enter", "done", (bind("enter", "done"),), "keep"),
    Row("Ctrl+J", "new line", (bind("ctrl+j", "newline"),), "new line"),
    Row("Ctrl+U", "clear the line", (bind("ctrl+u", "clear_line"),), "clear it"),
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
    Row("type", "search, or the path of any GGUF file"),
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
    Row("Enter", "take the chosen one", foot="keep"),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
FORK = (
    Row("Enter", "fork", foot="fork"),
    Row("Tab or ↑ ↓", "the other way", (bind("tab,shift+tab,up,down", "turn", priority=True),), "the other way", "Tab"),
    Row("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
