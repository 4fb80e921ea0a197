"""The words of /help, /status and /about, each a page over the chat, and what opens them."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content

from tui import keymaps
from tui.actions import by_group, key_name
from tui.chat_view import NOT_YET
from tui.keymaps import KeyContext
from tui.parts import Parts
from tui.servers import AWAY, server_rows
from tui.text import counted, one_line, size_of
from tui.widgets.dialogs import Reader
from tui.widgets.foot import row
from tui.widgets.pages import WIDE, heading, keys_content

if TYPE_CHECKING:
    pass


PLACES = (
    KeyContext("Writing", keymaps.COMPOSER),
    KeyContext("Messages (Tab)", keymaps.MESSAGE),
    KeyContext("Messages of a story (Tab)", keymaps.STORY_MESSAGE),
    KeyContext("When the model asks for permission", keymaps.APPROVAL),
    KeyContext("List of chats (F2)", keymaps.CHATS),
    KeyContext("Search (Ctrl+F)", keymaps.SEARCH),
    KeyContext("Recalled (F7)", keymaps.PANEL),
    *keymaps.MEMORY_PLACES,
    *keymaps.CHART_PLACES,
    *keymaps.QUERY_PLACES,
    KeyContext("Lists", keymaps.LIST),
    KeyContext("Going back, branches and marks", (*keymaps.REWIND, *keymaps.TREE, *keymaps.MARKS, *keymaps.CHOOSER)),
    *keymaps.STORY_PLACES,
    KeyContext("About a person, place or project (/about)", keymaps.ABOUT),
    *keymaps.NODE_PLACES,
    KeyContext("Graph drawings", keymaps.DRAWING),
    KeyContext("Confirmations", (*keymaps.ANSWERS, *keymaps.IMPACT, *keymaps.CONFIRM)),
    KeyContext("Text fields", (*keymaps.ASK_LINE, *keymaps.LINES, *keymaps.ASK_TEXT)),
    KeyContext("Forking", keymaps.FORK),
    KeyContext("Models (/model)", keymaps.MODELS),
    KeyContext("Settings (F10)", keymaps.SETTINGS),
    KeyContext("Choosing from a few", keymaps.PICK),
    KeyContext("Reading pages", keymaps.READER),
)


def help_content(width: int) -> Content:
    """The whole help for a dialog `width` cells wide inside."""
    parts: list[Content] = [keys_content(PLACES, width)]
    for group, actions in by_group():
        parts.extend((Content(""), heading(f"Commands: {group}")))
        for action in actions:
            keys_of = ", ".join(key_name(key) for key in action.keys)
            words = f"{action.title} ({keys_of})" if keys_of else action.title
            parts.append(row(f"/{action.slash}", words, width, WIDE))
    return Content("\n").join(parts)


NAMES = 26  # cells for the names
LABELS = {
    "home": "home folder",
    "starts": "times opened",
    "uptime_s": "uptime",
    "events": "events in the log",
    "turns": "messages",
    "sessions": "chats",
    "graph_ready": "graph",
    "model_path": "model file",
    "context": "context, in tokens",
    "to_learn_from": "still to learn from",
    "away": "words leave this computer",
}
REBUILT = {
    "compaction": "to make room",
    "head_move": "to go on from elsewhere in the chat",
    "removal": "as something was hidden or deleted",
}
LEFT_OUT = ("log_head",)  # the number of the last event, which is how many there are


def status_content(facts: object, graph: str, disk: Mapping[str, int], width: int) -> Content:
    """The fields of the dataclass `facts`, then bytes by part, for a page `width` cells wide.

    `graph` says what the graph is doing.
    """
    rows = [*_rows(facts, graph), *_disk(disk)]
    return Content("\n").join(row(label, value, width, NAMES) for label, value in rows)


def _rows(facts: object, graph: str) -> Iterator[tuple[str, str]]:
    for name in getattr(facts, "__dataclass_fields__", {}):
        if name in LEFT_OUT:
            continue
        value = getattr(facts, name)
        match value:
            case _ if name == "server":
                yield from server_rows(value) if value is not None else ()
            case str() if name == "model_path" and getattr(facts, "server", None) is not None:
                pass  # which is its name once more
            case tuple() if name == "away":
                if value:
                    yield LABELS[name], f"to {AWAY} {', '.join(map(one_line, value))}"
            case dict() if name == "rewrites":
                if value:
                    told = (f"{count:,}× {REBUILT.get(str(cause), cause)}" for cause, count in value.items())
                    yield "prompts rebuilt", ", ".join(told)
            case dict():
                yield from ((LABELS.get(str(key), str(key)), f"{count:,}") for key, count in value.items())
            case _:
                yield LABELS.get(name, name.replace("_", " ")), _told(name, value, graph)


def _told(name: str, value: object, graph: str) -> str:
    match value:
        case None:
            return "none"
        case bool() if name == "graph_ready":
            return "up to date" if value else f"not ready ({graph})"
        case float():
            minutes, seconds = divmod(round(value), 60)
            return f"{minutes // 60} h {minutes % 60} min {seconds} s"
        case int() if name == "to_learn_from":
            return counted(value, "message")
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _disk(parts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for name, size in sorted(parts.items(), key=lambda part: -part[1]):
        if size:
            yield f"disk: {name}", size_of(size)


async def status(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    from agent.home import Home
    from tui.commands.disk import parts_of

    service = parts.view.chat.service
    facts = await service.status()
    if facts.server is not None:
        facts = replace(facts, server=await service.models.servers.in_use())
    disk = await asyncio.to_thread(lambda: parts_of(Home.resolve(parts.view.options.home)))
    graph = parts.view.chat.state.graph
    state = graph.state if graph is not None else "opening"
    parts.ui.show(Reader("Status", status_content(facts, state, disk, parts.view.page_width)))


async def show_help(parts: Parts, argument: str) -> None:

    parts.ui.show(Reader("Keys and commands", help_content(parts.view.page_width)))
