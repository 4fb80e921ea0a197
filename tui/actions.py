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
    Action("ego", "Walk the graph from this chat, or from a name", Group.GRAPH, "ego", argument="[name]"),
    Action(
        "stats",
        "Charts of what the memory holds and how fast clew is",
        Group.GRAPH,
        "stats",
        ("f9",),
        aliases=("charts",),
    ),
    Action("model", "Choose the model that answers", Group.VIEW, "model", argument="[name|file] [here]"),
    Action("better", "Get the better model that is offered", Group.VIEW, "better", ("f5",), "[not now|never]"),
    Action("theme", "Change the colours", Group.VIEW, "theme", argument="[dark|light|name]"),
    Action("top", "Go to the beginning of the chat", Group.VIEW, "top", ("ctrl+home",)),
    Action("bottom", "Go to the end of the chat", Group.VIEW, "bottom", ("ctrl+end",)),
    Action("screenshot", "Save this screen as a picture (SVG)", Group.VIEW, "screenshot", argument="[file.svg]"),
    Action(
        "settings", "Every setting: what it means and is; change it here", Group.CLEW, "settings", ("f10",), "[words]"
    ),
    Action("status", "Show what clew is doing and what it keeps", Group.CLEW, "status"),
    Action("help", "Show the keys and commands", Group.CLEW, "help", ("f1",), aliases=("keys", "?")),
    Action("palette", "Search everything clew can do", Group.CLEW, "palette", ("ctrl+p",), aliases=("commands",)),
    Action("suspend", "Put clew in the background (fg brings it back)", Group.CLEW, "suspend", ("ctrl+z",)),
    Action("quit", "Leave clew", Group.CLEW, "quit", ("ctrl+q",), aliases=("exit", "q")),
)

FIRST = ("help", "new", "sessions", "model", "settings", "memories", "search", "rewind", "edit", "private", "status")
BY_NAME = {action.name: action for action in ACTIONS}
PRIVATE = BY_NAME["private"]
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
    """The actions whose slash command (or an alias) begins with what was typed, in the table's order.

    Where nothing is typed yet, those come first that somebody who looks around is after.
    """
    if not text.startswith("/") or " " in text or "\n" in text:
        return []
    typed = text[1:].lower()
    found = [action for action in ACTIONS if any(word.startswith(typed) for word in (action.slash, *action.aliases))]
    return found if typed else sorted(found, key=lambda action: (*FIRST, action.name).index(action.name))


_KEY_NAMES = {"escape": "Esc", "home": "Home", "end": "End", "ctrl": "Ctrl"}


def key_name(key: str) -> str:
    """A key for people: ctrl+home → Ctrl+Home, f1 → F1."""
    return "+".join(_KEY_NAMES.get(part, part.upper()) for part in key.split("+"))


def by_group() -> Iterable[tuple[Group, list[Action]]]:
    """The table by heading, for the help."""
    for group in Group:
        yield group, [action for action in ACTIONS if action.group is group]
