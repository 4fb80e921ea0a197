"""The one table of what a person can do: keys, the palette, slash commands and the help are all read from it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """The headings of the help, in its order."""

    CHAT = "Chat"
    CHATS = "Chats"
    TIME = "Going back"
    MEMORY = "Memory"
    GRAPH = "The graph"
    VIEW = "View"
    CLEW = "clew"


@dataclass(frozen=True, slots=True)
class Action:
    """Something the app does. `name` is its deed in tui/deeds.py; `argument` hints at what may follow the slash."""

    name: str
    title: str
    group: Group
    slash: str
    keys: tuple[str, ...] = ()
    argument: str = ""
    aliases: tuple[str, ...] = ()


ACTIONS: tuple[Action, ...] = (
    Action("stop", "Stop the reply; what came is kept", Group.CHAT, "stop", ("escape",)),
    Action("retry", "Answer the last message if it has no reply", Group.CHAT, "retry"),
    Action("regenerate", "Answer the last message again; ← → on a reply choose", Group.CHAT, "regenerate"),
    Action("edit", "Say your last message otherwise, as a new branch", Group.CHAT, "edit", argument="[text]"),
    Action("copy", "Copy the last reply or a code block", Group.CHAT, "copy", ("ctrl+y",), "[code [number]]"),
    Action("editor", "Write the message in $EDITOR", Group.CHAT, "editor", ("ctrl+g",)),
    Action("system", "What this chat tells the model first", Group.CHAT, "system", argument="[text]"),
    Action(
        "sampling",
        "How this chat draws its words",
        Group.CHAT,
        "sampling",
        argument="[name=value …]",
    ),
    Action("new", "Begin a new chat", Group.CHATS, "new", ("ctrl+n",), aliases=("clear",)),
    Action("sessions", "Show or hide the list of chats", Group.CHATS, "sessions", ("f2", "ctrl+o"), aliases=("chats",)),
    Action("private", "Begin a chat of which nothing is kept", Group.CHATS, "private"),
    Action("project", "The projects; put this chat into one", Group.CHATS, "project", argument="[name|none]"),
    Action("rename", "Name this chat", Group.CHATS, "rename", argument="[name]"),
    Action("archive", "Take this chat out of the list", Group.CHATS, "archive"),
    Action("delete", "Delete this chat, after asking", Group.CHATS, "delete"),
    Action("rewind", "Go back to an earlier message of yours (Esc Esc)", Group.TIME, "rewind"),
    Action("tree", "The shape of this chat, with all its branches", Group.TIME, "tree", ("f6",)),
    Action("fork", "A new chat with this one's past, or a what-if", Group.TIME, "fork", argument="[what-if] [name]"),
    Action("undo", "Undo the last change; a delete cannot be undone", Group.TIME, "undo", argument="[number]"),
    Action("marks", "Places to come back to; with a name: set one", Group.TIME, "marks", argument="[name]"),
    Action("search", "Search everything ever said", Group.MEMORY, "search", ("ctrl+f",), "[words]", ("find",)),
    Action("memory", "Show what was recalled for a reply, and why", Group.MEMORY, "memory", ("f7",), aliases=("why",)),
    Action("recall", "Look what would be recalled for words of yours", Group.MEMORY, "recall", argument="[words]"),
    Action("about", "All there is about a person, place or project", Group.MEMORY, "about", argument="[name]"),
    Action("memories", "What was learned, with its proof", Group.MEMORY, "memories", ("f4",), "[words|id]"),
    Action("unlearn", "Undo what was learned last; again: bring it back", Group.MEMORY, "unlearn", ("f8",)),
    Action("review", "Look through what waits for your word", Group.MEMORY, "review"),
    Action("remember", "Have something remembered", Group.MEMORY, "remember", argument="text"),
    Action("forget", "Forget something learned, after asking", Group.MEMORY, "forget", argument="[words|id]"),
    Action("correct", "Say how something learned really is", Group.MEMORY, "correct", argument="[words: text|id text]"),
    Action("blocks", "The short texts that are in every prompt", Group.MEMORY, "blocks", argument="[name]"),
    Action("ingest", "Read documents in; Esc stops it", Group.MEMORY, "ingest", argument="path"),
    Action("documents", "The documents that were read in", Group.MEMORY, "documents"),
    Action("back", "Go back to where you were before a jump", Group.MEMORY, "back", ("alt+left",)),
    Action("graph", "Ask the graph of your memory in Cypher", Group.GRAPH, "graph", ("f3",), "[cypher]", ("query",)),
    Action("ego", "Walk the graph from this chat", Group.GRAPH, "ego"),
    Action(
        "stats",
        "Charts of what the memory holds and how fast clew is",
        Group.GRAPH,
        "stats",
        ("f9",),
        aliases=("charts",),
    ),
    Action("model", "Choose the model that answers", Group.VIEW, "model", argument="[name|file] [here]"),
    Action("theme", "Change the colours", Group.VIEW, "theme", argument="[dark|light|name]"),
    Action("top", "Go to the beginning of the chat", Group.VIEW, "top", ("ctrl+home",)),
    Action("bottom", "Go to the end of the chat", Group.VIEW, "bottom", ("ctrl+end",)),
    Action("screenshot", "Save this screen as a picture (SVG)", Group.VIEW, "screenshot", argument="[file.svg]"),
    Action("status", "Show what clew is doing and what it keeps", Group.CLEW, "status"),
    Action("help", "Show the keys and commands", Group.CLEW, "help", ("f1",), aliases=("keys", "?")),
    Action("palette", "Search everything clew can do", Group.CLEW, "palette", ("ctrl+p",), aliases=("commands",)),
    Action("suspend", "Put clew in the background (fg brings it back)", Group.CLEW, "suspend", ("ctrl+z",)),
    Action("quit", "Leave clew", Group.CLEW, "quit", ("ctrl+q",), aliases=("exit", "q")),
)

# Keys that belong to one place instead of to an action: for the help only.
COMPOSER_KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send; while a reply is written the message is queued"),
    ("Ctrl+J", "new line (also Shift+Enter where the terminal can tell)"),
    ("@file", "the text of that file goes along with the message"),
    ("↑ ↓", "earlier messages, at the first and last line"),
    ("PgUp PgDn", "scroll without leaving the composer"),
    ("End", "at the end of the text: back to the newest message"),
    ("Esc Esc", "with nothing written: go back to an earlier message"),
    ("Tab", "complete a command; else go to the messages"),
    ("Ctrl+C", "stop the reply, else clear the text, else press twice to quit"),
    ("Ctrl+D", "quit, when there is no text"),
)
MESSAGE_KEYS: tuple[tuple[str, str], ...] = (
    ("j k or ↑ ↓", "next and previous message"),
    ("c", "copy the message"),
    ("b", "copy its code block; again for the next one"),
    ("Enter", "open a long message whole; unfold a tool call"),
    ("m", "show what was recalled for it"),
    ("g", "walk the graph from it: what it is joined to, and how"),
    ("p", "pin it: it is always given to the model; again: unpin"),
    ("o", "keep it out of memory, with its reply; again: remember it"),
    ("r", "answer again, beside the reply there is"),
    ("← →", "the other replies, or other wordings, in its place (‹2/3›)"),
    ("e", "say it otherwise: your own message, as a new branch"),
    ("f", "fork: a new chat with all up to here, or a what-if"),
    ("h", "hide it from chat, memory and prompts; again: bring it back"),
    ("x or Del", "delete it for good, after asking; this cannot be undone"),
    ("Esc", "back to the composer"),
)
MEMORY_KEYS: tuple[tuple[str, str], ...] = (
    ("F7", "open the panel; again: go to it; once more: close it"),
    ("↑ ↓ Enter", "choose, and go to where it was said"),
    ("p", "pin: it is always given to the model; again: unpin"),
    ("h", "hide: recall leaves it out; again: bring it back"),
    ("g", "walk the graph from it"),
    ("u", "undo the last pin or hide"),
    ("← →", "the reply before, the reply after"),
    ("Esc", "back to the composer; the panel stays if there is room"),
)
MEMORIES_KEYS: tuple[tuple[str, str], ...] = (
    ("1 – 5, Tab", "observations, review, core blocks, significance, documents"),
    ("↑ ↓ or j k", "choose; Home and End: the first, the last"),
    ("Enter", "go to where it was said; ← → choose among its source words"),
    ("g", "walk the graph from it: what it is joined to, and how"),
    ("p", "pin: it is always given to the model; again: unpin"),
    ("c", "correct it in your own words"),
    ("a e x", "under review: promote, edit, reject"),
    ("u", "undo the last of these, then the last change before"),
    ("w", "show another world: the main one, the what-ifs"),
    ("@", "show what clew knew on a day; Esc: now"),
    ("d or Del", "forget it for good, after asking; this cannot be undone"),
    ("S K W J T P", "filters: status, kind, whom it is about, project, trend, pins"),
    ("/", "only those with these words; Backspace clears all filters"),
    ("Space b", "scroll the right half"),
    ("e n", "core blocks: edit, write a new one"),
    ("0 – 3", "significance, on a turn: rate it, or all marked with Space or A"),
    ("i x", "documents: read one in, let one go, which cannot be undone"),
    ("Esc", "back to the chat"),
)
LIST_KEYS: tuple[tuple[str, str], ...] = (
    ("type", "search the titles"),
    ("↑ ↓ Enter", "choose and open"),
    ("Ctrl+G", "walk the graph from it"),
    ("Ctrl+R", "rename"),
    ("Ctrl+A", "archive, or bring back"),
    ("Ctrl+X", "delete for good, after asking; this cannot be undone"),
    ("Ctrl+U", "undo the last change; u does too after Tab"),
    ("Ctrl+T", "show the archived ones too"),
    ("Esc", "close the list"),
)

BY_NAME = {action.name: action for action in ACTIONS}
_STRAY = re.compile(r"[^\W_]{1,3}(?P<command>/(?P<word>[a-z]{2,})(?: [^\n]*)?)", re.IGNORECASE)
BY_SLASH = {word: action for action in ACTIONS for word in (action.slash, *action.aliases)}


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command as typed: the action it names and what follows."""

    action: Action
    argument: str


def parse(text: str) -> Command | str | None:
    """What a message that begins with a slash asks for; an explanation if no command has that name.

    None: it is a message. `/usr/bin is …` and `/ hello` are messages; only a first word of letters is a command.
    """
    if not text.startswith("/"):
        return None
    word, _, rest = text[1:].partition(" ")
    word = word.strip()
    if "\n" in word or not (word.isalpha() or word == "?"):
        return None
    action = BY_SLASH.get(word.lower())
    if action is None:
        return f"There is no command /{word}. Nothing was sent. F1 lists them; a blank in front sends it."
    return Command(action, rest.strip())


def meant(text: str) -> str | None:
    """The command that stands behind a few stray letters, as in `o/private`; None if there is none.

    A key that was meant for something else is typed where it does nothing there, and makes a message of the command.
    """
    found = _STRAY.fullmatch(text.strip())
    if found is None or found["word"].lower() not in BY_SLASH:
        return None
    return found["command"]


def completions(text: str) -> list[Action]:
    """The actions whose slash command (or an alias) begins with what was typed, in the table's order."""
    if not text.startswith("/") or " " in text or "\n" in text:
        return []
    typed = text[1:].lower()
    return [action for action in ACTIONS if any(word.startswith(typed) for word in (action.slash, *action.aliases))]


_KEY_NAMES = {"escape": "Esc", "home": "Home", "end": "End", "ctrl": "Ctrl"}


def key_name(key: str) -> str:
    """A key for people: ctrl+home → Ctrl+Home, f1 → F1."""
    return "+".join(_KEY_NAMES.get(part, part.upper()) for part in key.split("+"))


def by_group() -> Iterable[tuple[Group, list[Action]]]:
    """The table by heading, for the help."""
    for group in Group:
        yield group, [action for action in ACTIONS if action.group is group]
