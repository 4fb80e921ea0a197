"""The words of /help, /status and /about, each a page over the chat, and what opens them."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from tui import keymaps
from tui.actions import by_group, key_name
from tui.chat_view import NOT_YET
from tui.keymaps import ABOUT, READER, KeyContext, KeyRow, bindings
from tui.node_links import walk_from
from tui.parts import Parts
from tui.reasons import who
from tui.relationships import related
from tui.text import MUTED, counted, cut, one_line, plain, size_of, spaced, when
from tui.widgets.dialogs import AskLine, Reader
from tui.widgets.foot import row
from tui.widgets.pages import WIDE, heading, keys_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph.values import About, Observation, Relationship


PLACES = (
    KeyContext("Writing", keymaps.COMPOSER),
    KeyContext("Messages (Tab)", keymaps.MESSAGE),
    KeyContext("When the model asks for permission", keymaps.APPROVAL),
    KeyContext("List of chats (F2)", keymaps.CHATS),
    KeyContext("Search (Ctrl+F)", keymaps.SEARCH),
    KeyContext("Recalled (F7)", keymaps.PANEL),
    *keymaps.MEMORY_PLACES,
    *keymaps.CHART_PLACES,
    *keymaps.QUERY_PLACES,
    KeyContext("Lists", keymaps.LIST),
    KeyContext("Going back, branches and marks", (*keymaps.REWIND, *keymaps.TREE, *keymaps.MARKS, *keymaps.CHOOSER)),
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


KEYS = (*ABOUT, *READER)
LONGEST = 200


class AboutPage(Reader):
    """The page; `walk` shows whom it is about in the graph."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ABOUT)
    KEYS: ClassVar[tuple[KeyRow, ...]] = KEYS

    def __init__(self, title: str, words: Content, *, walk: Callable[[], None]) -> None:
        super().__init__(title, words)
        self._walk = walk

    def action_ego(self) -> None:
        self._walk()


def about_content(about: "About", width: int, beliefs: "Sequence[Observation]" = ()) -> Content:
    """The page, `width` cells wide inside; `beliefs` are what was learned about it, relationships among them."""
    if not about.said and not about.mentioned and not about.turns and not beliefs:
        return plain(f"Nothing in the memory mentions {one_line(about.name)}.")
    now = datetime.now().astimezone()
    lines = [
        row("said", _messages(about.said), width, 14),
        row("mentioned", f"mentioned in {_messages(about.mentioned)} by others", width, 14),
        row("", "the graph (g) counts only the messages linked to the name", width, 14),
    ]
    if about.first_at is not None and about.last_at is not None:
        lines.append(row("from", f"{when(about.first_at, now)} to {when(about.last_at, now)}", width, 14))
    for _, name, count in about.sessions:
        lines.append(row("in", f"{one_line(name or 'New chat')} ({spaced(count)})", width, 14))
    for title, over in (("Relationships", False), ("Over", True)):
        told = [each for each in map(_relationship, beliefs) if each is not None and (each.until is not None) is over]
        if told:
            lines += [Content(""), plain(title, "bold $secondary")]
            lines += [plain(related(each), MUTED if over else "") for each in told]
    if said := [each for each in beliefs if not each.plain]:
        lines += [Content(""), plain("Memories", "bold $secondary")]
        lines += [_belief(belief, now) for belief in said]
    if about.turns and beliefs:
        lines += [Content(""), plain("Messages", "bold $secondary")]
    for turn in about.turns:
        head = f"{when(turn.at, now)} · {who(turn.role, turn.speaker)}"
        lines += [Content(""), plain(head, MUTED), plain(cut(turn.text or "(erased)", LONGEST))]
    return Content("\n").join(lines)


def _relationship(belief: "Observation") -> "Relationship | None":
    """What it says of two, if it is in use."""
    return belief.relationship if belief.status == "active" else None


def _messages(count: int) -> str:
    return f"{spaced(count)} {'message' if count == 1 else 'messages'}"


def _belief(belief: "Observation", now: datetime) -> Content:
    mark = "? " if belief.status == "candidate" else "· "
    return Content.assemble(
        plain(f"{mark}{cut(belief.text or 'erased', LONGEST)}"),
        plain(f"  {belief.kind}, {when(belief.at, now)}", MUTED),
    )


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


async def about(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    name: str | None = argument.strip()
    if not name:
        name = await parts.ui.ask(AskLine("About what?", placeholder="A person, place or project", yes="show"))
    if name:
        world, project = parts.view.state.world, await parts.view.project()
        name = await parts.view.chat.service.memories.whom(name, world=world, project=project)
        found = await parts.view.chat.service.search.about(name, world=world, project=project)
        beliefs = await parts.memory.about(name)
        table, known = ("Project" if found.kind == "project" else "Entity"), found.name
        words = about_content(found, parts.view.page_width, beliefs)
        parts.ui.show(AboutPage(f"About {one_line(name)}", words, walk=lambda: walk_from(parts.view, table, known)))


async def status(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    from agent.home import Home
    from tui.commands.disk import parts_of

    facts = await parts.view.chat.service.status()
    disk = await asyncio.to_thread(lambda: parts_of(Home.resolve(parts.view.options.home)))
    graph = parts.view.chat.state.graph
    state = graph.state if graph is not None else "opening"
    parts.ui.show(Reader("Status", status_content(facts, state, disk, parts.view.page_width)))


async def show_help(parts: Parts, argument: str) -> None:

    parts.ui.show(Reader("Keys and commands", help_content(parts.view.page_width)))
