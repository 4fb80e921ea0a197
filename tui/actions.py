"""The one table of what a person can do: keys, the palette, slash commands and the help are all read from it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ActionGroup(StrEnum):
    """The headings of the help, in its order."""

    CHAT = "Chat"
    CHATS = "Chats"
    TIME = "Going back"
    STORY = "Stories"
    MEMORY = "Memory"
    GRAPH = "The graph"
    VIEW = "View"
    CLEW = "clew"


@dataclass(frozen=True, slots=True)
class Action:
    """Something the app does: `name` in tui/handlers.py says what; `argument` hints at what may follow the slash."""

    name: str
    title: str
    group: ActionGroup
    slash: str
    keys: tuple[str, ...] = ()
    argument: str = ""
    aliases: tuple[str, ...] = ()


ACTIONS: tuple[Action, ...] = (
    Action("stop", "Stop the reply", ActionGroup.CHAT, "stop", ("escape",)),
    Action("retry", "Retry the last message if it has no reply", ActionGroup.CHAT, "retry"),
    Action("regenerate", "Regenerate the last reply (← → for versions)", ActionGroup.CHAT, "regenerate"),
    Action("edit", "Edit your last message", ActionGroup.CHAT, "edit", argument="[text]"),
    Action("copy", "Copy the last reply or a code block", ActionGroup.CHAT, "copy", ("ctrl+y",), "[code [number]]"),
    Action("editor", "Write the message in $EDITOR", ActionGroup.CHAT, "editor", ("ctrl+g",)),
    Action(
        "references",
        "Pages, threads and files this chat reads",
        ActionGroup.CHAT,
        "ref",
        argument="[verb] [address]",
    ),
    Action("system", "System prompt of this chat", ActionGroup.CHAT, "system", argument="[text]"),
    Action(
        "sampling",
        "Sampling settings of this chat",
        ActionGroup.CHAT,
        "sampling",
        argument="[name=value …]",
    ),
    Action("new", "Start a new chat", ActionGroup.CHATS, "new", ("ctrl+n",), aliases=("clear",)),
    Action(
        "sessions",
        "Show or hide the list of chats",
        ActionGroup.CHATS,
        "sessions",
        ("f2", "ctrl+o"),
        aliases=("chats",),
    ),
    Action("private", "Start a private chat (nothing is saved)", ActionGroup.CHATS, "private"),
    Action("project", "List projects, or move this chat to one", ActionGroup.CHATS, "project", argument="[name|none]"),
    Action("rename", "Rename this chat", ActionGroup.CHATS, "rename", argument="[name]"),
    Action("archive", "Archive this chat", ActionGroup.CHATS, "archive"),
    Action("delete", "Delete this chat (asks first)", ActionGroup.CHATS, "delete"),
    Action("rewind", "Go back to one of your messages (Esc Esc)", ActionGroup.TIME, "rewind"),
    Action("tree", "Show all branches of this chat", ActionGroup.TIME, "tree", ("f6",)),
    Action("fork", "Fork this chat, or start a what-if from it", ActionGroup.TIME, "fork", argument="[what-if] [name]"),
    Action("undo", "Undo the last change (except a delete)", ActionGroup.TIME, "undo", argument="[number]"),
    Action("marks", "List marks; with a name, set one here", ActionGroup.TIME, "marks", argument="[name]"),
    Action("story", "Begin a story with characters, or open one", ActionGroup.STORY, "story", argument="[name]"),
    Action("stage", "The stage of this story", ActionGroup.STORY, "stage", ("ctrl+t",)),
    Action("cast", "Who plays in this story", ActionGroup.STORY, "cast"),
    Action("present", "Bring somebody onto the scene", ActionGroup.STORY, "present", argument="[name]"),
    Action("away", "Take somebody off the scene", ActionGroup.STORY, "away", argument="[name]"),
    Action("whisper", "Say something to one alone", ActionGroup.STORY, "whisper", argument="name text"),
    Action("speak", "Let somebody answer next", ActionGroup.STORY, "speak", argument="[name]"),
    Action("scene", "Begin a scene; close: end it", ActionGroup.STORY, "scene", argument="[title|close]"),
    Action("skip", "Let time pass in the story", ActionGroup.STORY, "skip", argument="[until when]"),
    Action(
        "meanwhile",
        "The others go on without you; end: come back",
        ActionGroup.STORY,
        "meanwhile",
        argument="[title|end]",
    ),
    Action("plot", "Plan an event or open a thread", ActionGroup.STORY, "plot", argument="[thread] [title]"),
    Action("lore", "Add a lorebook, for all or for one", ActionGroup.STORY, "lore", argument="[file]"),
    Action("knows", "What somebody in the story knows", ActionGroup.STORY, "knows", argument="[name] [words]"),
    Action("seen", "The story as somebody in it saw it", ActionGroup.STORY, "seen", argument="[name]"),
    Action("card", "Read a character card", ActionGroup.STORY, "card", argument="[file]"),
    Action("search", "Search all messages", ActionGroup.MEMORY, "search", ("ctrl+f",), "[words]", ("find",)),
    Action("memories", "Memories, with their proof", ActionGroup.MEMORY, "memories", ("f4",), "[words|id]"),
    Action(
        "memory", "Show what was recalled for a reply, and why", ActionGroup.MEMORY, "memory", ("f7",), aliases=("why",)
    ),
    Action("recall", "Try what would be recalled for some words", ActionGroup.MEMORY, "recall", argument="[words]"),
    Action("about", "Everything about a person, place or project", ActionGroup.MEMORY, "about", argument="[name]"),
    Action("unlearn", "Undo what was just learned; again to redo", ActionGroup.MEMORY, "unlearn", ("f8",)),
    Action("review", "Review uncertain memories", ActionGroup.MEMORY, "review"),
    Action("remember", "Remember something", ActionGroup.MEMORY, "remember", argument="text"),
    Action("relate", "Say how two stand to each other", ActionGroup.MEMORY, "relate", argument="who kind whom"),
    Action("entity", "Say who somebody is: rename, merge, split", ActionGroup.MEMORY, "entity", argument="[verb] name"),
    Action("forget", "Forget a memory (asks first)", ActionGroup.MEMORY, "forget", argument="[words|id]"),
    Action("synthesize", "Make a memory from two others", ActionGroup.MEMORY, "synthesize", argument="[id id] [text]"),
    Action("correct", "Correct a memory", ActionGroup.MEMORY, "correct", argument="[words: text|id text]"),
    Action("blocks", "Core blocks: short texts in every prompt", ActionGroup.MEMORY, "blocks", argument="[name]"),
    Action("ingest", "Add documents to the memory (Esc stops)", ActionGroup.MEMORY, "ingest", argument="path"),
    Action("documents", "Show the documents", ActionGroup.MEMORY, "documents"),
    Action("back", "Go back to where you were", ActionGroup.MEMORY, "back", ("alt+left",)),
    Action("graph", "Query the memory graph in Cypher", ActionGroup.GRAPH, "graph", ("f3",), "[cypher]", ("query",)),
    Action("ego", "Explore the graph from this chat or a name", ActionGroup.GRAPH, "ego", argument="[name]"),
    Action(
        "stats",
        "Charts of your memory and clew's speed",
        ActionGroup.GRAPH,
        "stats",
        ("f9",),
        aliases=("charts",),
    ),
    Action("model", "Choose the model that answers", ActionGroup.VIEW, "model", argument="[name|file] [here]"),
    Action("better", "Download the suggested better model", ActionGroup.VIEW, "better", ("f5",), "[not now|never]"),
    Action("theme", "Change the theme", ActionGroup.VIEW, "theme", argument="[dark|light|name]"),
    Action("top", "Go to the beginning of the chat", ActionGroup.VIEW, "top", ("ctrl+home",)),
    Action("bottom", "Go to the end of the chat", ActionGroup.VIEW, "bottom", ("ctrl+end",)),
    Action("screenshot", "Save this screen as a picture (SVG)", ActionGroup.VIEW, "screenshot", argument="[file.svg]"),
    Action("settings", "Show and change the settings", ActionGroup.CLEW, "settings", ("f10",), "[words]"),
    Action("status", "Show status and disk use", ActionGroup.CLEW, "status"),
    Action("help", "Show the keys and commands", ActionGroup.CLEW, "help", ("f1",), aliases=("keys", "?")),
    Action("palette", "Search everything clew can do", ActionGroup.CLEW, "palette", ("ctrl+p",), aliases=("commands",)),
    Action("suspend", "Suspend clew (fg resumes it)", ActionGroup.CLEW, "suspend", ("ctrl+z",)),
    Action("quit", "Quit clew", ActionGroup.CLEW, "quit", ("ctrl+q",), aliases=("exit", "q")),
)

FIRST = ("help", "new", "sessions", "model", "settings", "memories", "search", "rewind", "edit", "private", "status")
BY_NAME = {action.name: action for action in ACTIONS}
NEAR = 0.7  # of difflib, from which a word is offered for one that was mistyped
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
        return (
            f"Unknown command /{word}. {_suggestion(word)}Nothing was sent. F1 lists the commands; start with a space "
            "to send it as a message."
        )
    return Command(action, rest.strip())


def _suggestion(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), BY_SLASH, n=1, cutoff=NEAR)
    return f"Did you mean /{near[0]}? " if near else ""


def meant(text: str) -> str | None:
    """The command that stands behind a few stray letters, as in `o/private`; None if there is none.

    A key that was meant for something else is typed where it does nothing there, and makes a message of the command.
    """
    found = _STRAY.fullmatch(text.strip())
    if found is None or found["word"].lower() not in BY_SLASH:
        return None
    return found["command"]


def completions(text: str) -> list[Action]:
    """The actions whose slash command begins with what was typed, then those with an alias that does.

    Where nothing is typed yet, those come first that somebody who looks around is after.
    """
    if not text.startswith("/") or " " in text or "\n" in text:
        return []
    typed = text[1:].lower()
    found = [action for action in ACTIONS if any(word.startswith(typed) for word in (action.slash, *action.aliases))]
    if not typed:
        return sorted(found, key=lambda action: (*FIRST, action.name).index(action.name))
    return sorted(found, key=lambda action: not action.slash.startswith(typed))


_KEY_NAMES = {"escape": "Esc", "home": "Home", "end": "End", "ctrl": "Ctrl"}


def key_name(key: str) -> str:
    """A key for people: ctrl+home → Ctrl+Home, f1 → F1."""
    return "+".join(_KEY_NAMES.get(part, part.upper()) for part in key.split("+"))


def by_group() -> Iterable[tuple[ActionGroup, list[Action]]]:
    """The table by heading, for the help."""
    for group in ActionGroup:
        yield group, [action for action in ACTIONS if action.group is group]
