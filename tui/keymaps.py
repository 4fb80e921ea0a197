"""The keys of every place as rows: bindings, feet and help are all made of them. The chat, its dialogs, each screen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.keys import format_key
from textual.style import Style

from tui.text import MUTED, plain

GAP = "   "
Sign = tuple[str, str]  # a key as people call it, and what it does in a word or two


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A line of the help: how the keys are called, and what they do. `binds` are what Textual calls them and does.

    `foot` is what the foot of the place says of them, in a word or two, `sign` how it calls them where that is shorter;
    a row without `foot` is in the help only, and a row without `binds` is about what is typed (`@file`).
    """

    label: str
    words: str
    binds: tuple[Binding, ...] = ()
    foot: str = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class KeyContext:
    """A part of the screen that has keys of its own; `title` is its heading in the help."""

    title: str
    rows: tuple[KeyRow, ...]


def bind(keys: str, action: str, *, priority: bool = False) -> Binding:
    """Keys by Textual's names (`up,k`), and the action of the widget that they run."""
    return Binding(keys, action, show=False, priority=priority)


def bindings(*places: Sequence[KeyRow]) -> list[BindingType]:
    """All that a widget binds, for its BINDINGS; a key that does one thing tells the palette what, as its tooltip."""
    return [
        replace(binding, tooltip=row.words if len(row.binds) == 1 else "")
        for rows in places
        for row in rows
        for binding in row.binds
    ]


def actions_of(rows: Iterable[KeyRow]) -> dict[str, str]:
    """What each key runs, for who hears the keys itself."""
    return {key: binding.action for row in rows for binding in row.binds for key in binding.key.split(",")}


def signs(rows: Iterable[KeyRow]) -> tuple[Sign, ...]:
    """What a foot shows of these rows."""
    return tuple((row.sign or row.label, row.foot) for row in rows if row.foot)


def foot(own: Sequence[Sign], width: int, lines: int = 1, *, always: Sequence[Sign] = ()) -> Content:
    """The keys in `lines` lines of `width` cells: `always` at the end of them, and of the others as many as fit.

    No key is parted from its words, and none is cut: what does not fit is left out, the last ones first.
    """
    rows: list[Content] = []
    for shown in (*((*own[:count], *always) for count in range(len(own), -1, -1)), always[-1:]):
        rows = in_lines([_sign(*sign) for sign in shown], width)
        if len(rows) <= lines:
            break
    return Content("\n").join(rows[:lines])


def whole_foot(own: Sequence[Sign], width: int) -> Content:
    """All these keys, in as many lines as they need."""
    return Content("\n").join(in_lines([_sign(*sign) for sign in own], width))


def _sign(key: str, words: str) -> Content:
    return plain(key, "bold") + plain(f" {words}", MUTED)


def button(label: str, place: int, chosen: int) -> Content:
    """A button of a row of them, which a click presses; the chosen one stands out without colours too."""
    words = plain(f"[ {label[:1].upper()}{label[1:]} ]", "bold reverse" if place == chosen else MUTED)
    return words.stylize(Style.from_meta({"@click": f"press_at({place})"}))


def letters_of(rows: Iterable[KeyRow]) -> frozenset[str]:
    """The letters and signs among the keys of these rows."""
    return frozenset(key for key in actions_of(rows) if len(format_key(key)) == 1 and format_key(key).isascii())


def in_lines(parts: Sequence[Content], width: int) -> list[Content]:
    """Parts one after the other, in as many lines as they need: none is broken that fits into one."""
    lines: list[Content] = []
    for part in parts:
        longer = lines[-1] + Content(GAP) + part if lines else part
        if lines and longer.cell_length <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


COMPOSER = (
    KeyRow("Enter", "send; queue the message while a reply is being written", (bind("enter", "send"),)),
    KeyRow(
        "Ctrl+J",
        "new line (also Shift+Enter, if the terminal supports it)",
        (bind("ctrl+j,shift+enter,alt+enter", "newline"),),
    ),
    KeyRow("@file", "let the chat read that file; Tab completes the name; @https://…: a page"),
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
    KeyRow("+", "go on with a reply that was cut off", (bind("plus", "go_on"),)),
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
STORY_MESSAGE = (
    KeyRow("i", "let the other one answer next", (bind("i", "speak"),)),
    KeyRow("W", "say who saw it", (bind("W", "witnesses"),)),
    KeyRow("a", "agree that somebody left or came back, time passes, or the scene changes", (bind("a", "moved"),)),
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
STORY_FOCUSED: tuple[Sign, ...] = (("i", "other answers"), ("W", "who saw it"), *FOCUSED)
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
REFERENCES = (
    KeyRow("Enter", "references: read them again", (bind("enter", "answer('enter')"),), "read again"),
    KeyRow("n", "references: attach one", (bind("n", "answer('n')"),), "attach"),
    KeyRow("d", "references: drop", (bind("d", "answer('d')"),), "drop"),
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


STORIES = (
    KeyRow("Enter", "stories: open the newest chat", (bind("enter", "answer('enter')"),), "open"),
    KeyRow("n", "stories: begin a new one", (bind("n", "answer('n')"),), "new"),
)
STORY_PAGE = (
    KeyRow("Enter, Tab or ↓", "the next field", (bind("enter,down", "app.focus_next"),), "next", "Enter"),
    KeyRow("↑", "the field above", (bind("up", "app.focus_previous"),)),
    KeyRow("→", "at the end of a path: complete it", foot="complete"),
    KeyRow("Ctrl+J", "in a text: a new line"),
    KeyRow("PgUp PgDn", "scroll what the cards say", (bind("pagedown", "turn(1)"), bind("pageup", "turn(-1)"))),
    KeyRow("Ctrl+S", "begin the story", (bind("ctrl+s", "begin", priority=True),), "begin"),
    KeyRow("Esc", "back; what was typed is kept", (bind("escape,ctrl+c", "leave", priority=True),), "back"),
)
GREETINGS = (
    KeyRow(
        "← →", "choose with which words it begins", (bind("left", "turn(-1)"), bind("right", "turn(1)")), "greeting"
    ),
)
KICKOFF = (KeyRow("Space", "set it, or do not", (bind("space", "tick"),), "set it"),)
CAST = (
    KeyRow("Space", "take them off the scene, or bring them back", (bind("space", "place"),), "present, away"),
    KeyRow("n", "a guest joins, from a card", (bind("n", "join"),), "guest joins"),
    KeyRow("l", "the guest leaves the story", (bind("l", "leave"),), "leaves"),
    KeyRow("e", "rename", (bind("e", "rename"),), "rename"),
    KeyRow("v", "the story as they saw it", (bind("v", "seen"),), "as seen"),
    KeyRow("x", "write the card to a file, or into a picture", (bind("x", "export"),), "export"),
    KeyRow("R", "forget all that they saw (asks first)", (bind("R", "reset"),), "reset"),
    KeyRow("u", "undo the last change", (bind("u", "undo"),), "undo"),
    KeyRow("PgUp PgDn", "scroll the card", (bind("pagedown", "turn(1)"), bind("pageup", "turn(-1)"))),
    KeyRow("Esc or q", "back", (bind("escape,q,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)
WITNESSES = (
    KeyRow("Space", "they saw it, or did not", (bind("space", "tick"),), "saw it"),
    KeyRow("Enter", "save", (bind("enter", "save"),), "save"),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)"),), "cancel"),
)
CARD = (
    KeyRow("h", "begin a story with them as the host", (bind("h", "take('host')"),), "begin a story"),
    KeyRow("g", "let them join this story as the guest", (bind("g", "take('guest')"),), "join as guest"),
)
STAGE = (
    KeyRow(
        "1 – 5, Tab",
        "cast, ties, knows, plan, world",
        (
            *(bind(f"{number}", f"page({number})") for number in range(1, 6)),
            bind("tab", "turn(1)", priority=True),
            bind("shift+tab", "turn(-1)", priority=True),
        ),
    ),
    KeyRow("Enter or e", "write the line anew; nothing takes it away", (bind("e", "edit"),), "write", "Enter"),
    KeyRow("h", "every change of the line, with its cause", (bind("h", "changes"),), "changes"),
    KeyRow("u", "undo the last change", (bind("u", "undo"),), "undo"),
    KeyRow("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    KeyRow("Esc, q or Ctrl+T", "back to the chat", (bind("escape,q,ctrl+t,ctrl+c", "leave"),), "back", "Esc"),
)
STAGE_CAST = (
    KeyRow("Space", "take them off the scene, or bring them back", (bind("space", "ask('space')"),), "present, away"),
    KeyRow("c", "cards, names, who joins and leaves", (bind("c", "ask('c')"),), "cards"),
    KeyRow("v", "the story as they saw it", (bind("v", "ask('v')"),), "as seen"),
)
STAGE_TIES = (
    KeyRow(
        "← →",
        "less and more by 5; Enter sets it, and so does leaving the line",
        (bind("left", "step(-5)"), bind("right", "step(5)")),
        "less, more",
    ),
)
STAGE_KNOWS = (
    KeyRow("m", "the next member", (bind("m", "ask('m')"),), "next member"),
    KeyRow("/", "what they know of some words; nothing: all they keep", (bind("slash", "ask('slash')"),), "of words"),
    KeyRow("n", "write what they learned", (bind("n", "ask('n')"),), "learned"),
    KeyRow("v", "the story as they saw it", (bind("v", "ask('v')"),), "as seen"),
)
STAGE_PLAN = (
    KeyRow("n", "plan an event", (bind("n", "ask('n')"),), "event"),
    KeyRow("t", "open a thread", (bind("t", "ask('t')"),), "thread"),
    KeyRow("f", "write another field of it", (bind("f", "ask('f')"),), "field"),
    KeyRow("s", "it starts", (bind("s", "ask('s')"),), "start"),
    KeyRow("c", "it is completed; you say what of it stays", (bind("c", "ask('c')"),), "complete"),
    KeyRow("x", "it is cancelled", (bind("x", "ask('x')"),), "cancel"),
)
STAGE_WORLD = (
    KeyRow("s", "begin a scene", (bind("s", "ask('s')"),), "scene"),
    KeyRow("z", "end the scene", (bind("z", "ask('z')"),), "end it"),
    KeyRow("k", "time passes", (bind("k", "ask('k')"),), "skip"),
    KeyRow("n", "another place", (bind("n", "ask('n')"),), "place"),
    KeyRow("r", "tell all voices anew what everybody does", (bind("r", "ask('r')"),), "tell anew"),
)
STAGE_PAGES = (STAGE_CAST, STAGE_TIES, STAGE_KNOWS, STAGE_PLAN, STAGE_WORLD)
KEEP = (
    KeyRow("Space", "it stays, or does not", (bind("space", "tick"),), "stays"),
    KeyRow("Enter", "complete it", (bind("enter", "save"),), "complete"),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)"),), "cancel"),
)
SKIP = (
    KeyRow("Tab or ↓", "the next field", (bind("down", "app.focus_next"),), "next", "Tab"),
    KeyRow("↑", "the field above", (bind("up", "app.focus_previous"),)),
    KeyRow("Enter", "time passes", foot="time passes"),
    KeyRow("Esc", "cancel", (bind("escape,ctrl+c", "dismiss(None)", priority=True),), "cancel"),
)
STORY_PLACES = (
    KeyContext("Stories (/story)", (*STORIES, *STORY_PAGE, *GREETINGS, *KICKOFF)),
    KeyContext("The stage of a story (Ctrl+T)", STAGE),
    KeyContext("  Its cast", STAGE_CAST),
    KeyContext("  Its ties", STAGE_TIES),
    KeyContext("  What they know", STAGE_KNOWS),
    KeyContext("  Its plan", STAGE_PLAN),
    KeyContext("  Its world", STAGE_WORLD),
    KeyContext("What stays of an event", KEEP),
    KeyContext("Time passes (/skip)", SKIP),
    KeyContext("The cast of a story (/cast)", CAST),
    KeyContext("Who saw a message (W)", WITNESSES),
    KeyContext("A character card (/card)", CARD),
)


CHARTS = (
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
CHART_PLACES = (KeyContext("Charts (F9)", CHARTS),)


DRAWING = (
    KeyRow(
        "← → ↑ ↓, Tab",
        "drawing: next node in that direction, next node",
        (
            *(bind(way, f"move('{way}')") for way in ("up", "down", "left", "right")),
            bind("tab", "next(1)"),
            bind("shift+tab", "next(-1)"),
        ),
        "next node",
        "Tab",
    ),
    KeyRow("Enter", "drawing: explore the selected node", (bind("enter", "choose"),), "walk"),
    KeyRow(
        "+ - 0",
        "zoom in, zoom out, fit",
        (bind("plus,equals_sign", "zoom(1)"), bind("minus", "zoom(-1)"), bind("0", "fit")),
        "zoom",
    ),
    KeyRow(
        "Shift+arrows",
        "move the drawing",
        (
            bind("shift+left", "pan(-1, 0)"),
            bind("shift+right", "pan(1, 0)"),
            bind("shift+up", "pan(0, -1)"),
            bind("shift+down", "pan(0, 1)"),
        ),
        "move",
    ),
    KeyRow("l", "switch layout: force or layered", (bind("l", "other_layout"),), "layout"),
    KeyRow("s", "save the drawing as a picture", (bind("s", "save"),), "save"),
)


MEMORIES = (
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
    KeyRow("m", "mark it; on another one, make a memory from both", (bind("m", "do('synthesize')"),), "make"),
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
        "S K R W J T P",
        "filter by status, kind, relationship, subject, project, trend or pin",
        tuple(bind(key, f"filter('{key}')") for key in "SKRWJTP"),
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
MEMORY_PLACES = (
    KeyContext("Memories (F4)", (*MEMORIES, UNDO)),
    KeyContext("  Memories and review", (*OBSERVATIONS, *REVIEW, *LEARNED, *FILTERS)),
    KeyContext("  Core blocks", BLOCKS),
    KeyContext("  Significance", (*BARS, *TURNS)),
    KeyContext("  Documents", DOCUMENTS),
)


NODE = (
    KeyRow("Enter", "go to it; on the last row, show more", foot="walk"),
    KeyRow("Tab", "next relationship", (bind("tab", "side(1)"), bind("shift+tab", "side(-1)"))),
    KeyRow("Backspace", "previous node", (bind("backspace", "back"),), "back", "Bksp"),
    KeyRow("/", "filter neighbours; Esc to show all", (bind("slash", "words"),), "find"),
    KeyRow("p", "show the proof of a memory", (bind("p", "proof"),), "proof"),
    KeyRow("o", "open it in its chat, the memories or the documents", (bind("o", "home"),), "open"),
    KeyRow("d", "show, focus or hide the drawing", (bind("d", "draw"),), "draw"),
    KeyRow("F6", "switch between list and drawing; in the drawing, Tab goes to the next node", (bind("f6", "pane"),)),
    KeyRow("Space", "read the full text", (bind("space", "read"),), "read"),
    KeyRow("F1 or ?", "these keys", (bind("f1,question_mark", "help"),), "help", "F1"),
    KeyRow("Esc or q", "back to where you were", (bind("escape,q,ctrl+c", "leave"),), "close", "Esc"),
)
NEIGHBOURS = (
    KeyRow("Enter or ↓", "go to the matching neighbours", (bind("down", "done", priority=True),)),
    KeyRow("Esc", "show all neighbours", (bind("escape", "clear", priority=True),)),
)
PROOF = (
    KeyRow("Enter", "go to the message in its chat, or to a memory or passage", foot="go there"),
    KeyRow("Space", "read the full text", (bind("space", "read"),), "read"),
    KeyRow("g", "explore its connections in the graph", (bind("g", "walk"),), "graph"),
    KeyRow("Esc or q", "back", (bind("escape,q,p,ctrl+c", "dismiss(None)"),), "back", "Esc"),
)

IN_DRAWING = (
    KeyRow("F6", "back to the list", foot="list"),
    KeyRow("d", "hide the drawing", foot="hide"),
)
NODE_ALWAYS = NODE[-2:]

NODE_PLACES = (
    KeyContext("A node and its neighbours (g)", NODE),
    KeyContext("  Finding among neighbours (/)", NEIGHBOURS),
    KeyContext("  The proof of a memory (p)", PROOF),
)
NODE_HELP = (*NODE_PLACES, KeyContext("  The drawing (d)", DRAWING))


def node_foot(*, drawn: bool) -> tuple[KeyRow, ...]:
    """What the foot tells of besides ALWAYS: the keys of the list, or those of the drawing."""
    return (*DRAWING[:2], *IN_DRAWING, *DRAWING[2:], *NODE[2:6]) if drawn else NODE[:-2]


QUERIES = (
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
QUERY_ALWAYS = (("F1", "help"), ("Esc", "back"))
RUNNING = (("Esc", "stop it"),)

QUERY_PLACES = (
    KeyContext("Asking the graph (F3)", QUERIES),
    KeyContext("  Writing a query", EDITOR),
    KeyContext("  The rows", (*RESULTS, *TABLE)),
    KeyContext("  The tables of the graph", TABLES),
    KeyContext("  What a query asks for", PARAMETERS),
    KeyContext("  Ready, saved and earlier queries", (TAKE, RUN, REMOVE)),
)
QUERY_HELP = (*QUERY_PLACES, KeyContext("  The rows as a drawing (2)", (*DRAWING, LEAVING)))


def query_foot(part: str) -> tuple[KeyRow, ...]:
    """What the foot tells of while a part has the keys, the nearest first."""
    match part:
        case "tables":
            return (*TABLES, QUERIES[0], QUERIES[3])
        case "table":
            return (*TABLE, *RESULTS, *QUERIES)
        case "words":
            return (EDIT, *QUERIES)
        case "drawing":
            return (*DRAWING[:2], LEAVING, *DRAWING[2:], *RESULTS[2:6], *QUERIES)
        case "rows":
            return (*RESULTS, *QUERIES)
        case _:
            return (QUERIES[0], EDITOR[0], *QUERIES[1:])
