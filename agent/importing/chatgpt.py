"""ChatGPT's export: conversations that are trees of messages, of which `current_node` names the one shown last.

Left out, and counted: what the system and tools said, what was written to a tool, what the model thought, what the app
itself hides, and empty messages. A message follows the nearest one before it that stays, so regenerated answers and
edited questions are alternatives here as they were there.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import Field, field_validator, model_validator

from agent.importing.chats import moment
from agent.importing.salvage import Oddities, Salvaged
from agent.text import fenced
from graph.events import Role

from .chats import SPEAKERS, ImportedChat, ImportedMessage, name

FORMAT = "chatgpt"
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
SAID = {"text", "multimodal_text", "code"}
UNKNOWN, NO_CANVAS = "of an unknown role", "of a canvas that cannot be read"
WHY = {UNKNOWN: "whose author is unknown", NO_CANVAS: "a canvas that cannot be read"}
SHOWN = 60  # characters of a message that is named
CANVAS = "canmore"  # the tool of canvases
ALL = "all"  # the recipient of what is not written to a tool


class Author(Salvaged):
    """Who wrote a message."""

    role: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        return {"role": value} if isinstance(value, str) else value


class Content(Salvaged):
    """What a message says: `parts` are texts, or objects for pictures and sound."""

    content_type: str = "text"
    parts: list[Any] | None = None
    text: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_parts(cls, value: Any) -> Any:
        return {"parts": value if isinstance(value, list) else [value]} if isinstance(value, str | list) else value

    @field_validator("parts", mode="before")
    @classmethod
    def _of_one(cls, value: Any) -> Any:
        return [value] if isinstance(value, str | dict) else value


class ChatGptMessage(Salvaged):
    """A message of the export."""

    id: str | None = None
    author: Author = Field(default_factory=Author)
    create_time: Any = None
    content: Content = Field(default_factory=Content)
    weight: float | None = None
    recipient: str | None = None
    metadata: dict[str, Any] | None = None


class ChatGptNode(Salvaged):
    """A place in the tree."""

    message: ChatGptMessage | None = None
    parent: str | None = None
    children: list[str] = Field(default_factory=list)

    @field_validator("children", mode="before")
    @classmethod
    def _of_names(cls, value: Any) -> Any:
        return [each for each in value if isinstance(each, str | int)] if isinstance(value, list) else []


class ChatGptChat(Salvaged):
    """One conversation of the export."""

    mapping: dict[str, Any]
    id: str | None = None
    conversation_id: str | None = None
    title: Any = None
    create_time: Any = None
    current_node: str | None = None
    is_archived: Any = None
    is_do_not_remember: Any = None


def parse(value: Any) -> ImportedChat:
    """One conversation. Raises ValueError for a value that is none."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        raise ValueError("no conversation")
    conversation = ChatGptChat.model_validate(value)
    odd = Oddities(conversation.title)
    began = moment(conversation.create_time)
    skipped: Counter[str] = Counter()
    messages: list[ImportedMessage] = []
    stands_for: dict[str, str | None] = {}  # by node: the last message up to it that stays
    keys: set[str] = set()
    for number, (node_id, node) in enumerate(_oldest_first(_nodes(conversation.mapping, odd), skipped)):
        parent = stands_for.get(node.parent) if node.parent is not None else None
        stands_for[node_id] = parent
        if node.message is None:
            continue
        why = _left_out(node.message)
        text = "" if why else _text(node.message)
        if why or not text.strip():
            skipped[why or "empty"] += 1
            if why in (UNKNOWN, NO_CANVAS):
                odd.tell(f"message {number}, {WHY[why]} (“{_shown(_text(node.message))}”)")
            continue
        key = node.message.id or node_id
        if key in keys:
            skipped["a duplicate id"] += 1
            stands_for[node_id] = key
            continue
        keys.add(key)
        at = moment(node.message.create_time)
        role = ROLES[node.message.author.role]
        model = (node.message.metadata or {}).get("model_slug") if role is Role.ASSISTANT else None
        messages.append(ImportedMessage(key, parent, role, SPEAKERS[role], text, at.ms if at else None, name(model)))
        stands_for[node_id] = key
    stand_in = f"{began.ms if began else ''}"
    id = conversation.conversation_id or conversation.id
    return ImportedChat(
        FORMAT,
        id or stand_in,
        tuple(messages),
        title=name(conversation.title),
        at=began.ms if began else None,
        head=stands_for.get(conversation.current_node or "") or (messages[-1].key if messages else None),
        identified=id is not None,
        archived=conversation.is_archived is True,
        withheld=str(conversation.is_do_not_remember).lower() in ("true", "1"),
        skipped=skipped,
        odd=odd.told,
    )


def _nodes(mapping: Mapping[str, Any], odd: Oddities) -> dict[str, ChatGptNode]:
    """The places of a tree; one that names nothing it follows follows the one that names it."""
    nodes: dict[str, ChatGptNode] = {}
    for place, (id, value) in enumerate(mapping.items()):
        if not isinstance(value, dict) or not isinstance(value.get("message"), dict | None):
            odd.tell(f"message {place}, which is no object")
        nodes[id] = ChatGptNode.model_validate(value if isinstance(value, dict) else {})
    before = {child: id for id, node in nodes.items() for child in node.children}
    supposed = [id for id, node in nodes.items() if node.parent not in nodes or node.parent == id]
    for id in supposed:
        nodes[id].parent = before.get(id)
    _open_circles(nodes, frozenset(supposed))
    return nodes


def _open_circles(nodes: Mapping[str, ChatGptNode], supposed: Collection[str]) -> None:
    """Have places of which it was only supposed what they follow follow nothing, where they would follow themselves."""
    done: set[str | None] = {None}
    for id in nodes:
        way: dict[str, None] = {}
        at: str | None = id
        while at is not None and at not in done and at not in way:
            way[at] = None
            at = nodes[at].parent
        if at in way:
            circle = list(way)[list(way).index(at) :]
            for first in [each for each in circle if each in supposed][:1]:
                nodes[first].parent = None
        done.update(way)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _oldest_first(mapping: Mapping[str, ChatGptNode], skipped: Counter[str]) -> Iterator[tuple[str, ChatGptNode]]:
    """Every node after the one it follows; those on a circle, which follow themselves, are left out."""
    children: dict[str | None, list[str]] = {}
    for id, node in mapping.items():
        children.setdefault(node.parent if node.parent in mapping else None, []).append(id)
    for id, node in mapping.items():  # in the order that the parent gives
        if id in children and node.children:
            order = {child: place for place, child in enumerate(node.children)}
            children[id].sort(key=lambda child, order=order: order.get(child, len(order)))  # type: ignore[misc]
    waiting = list(reversed(children.get(None, [])))
    count = 0
    while waiting:
        id = waiting.pop()
        count += 1
        yield id, mapping[id]
        waiting.extend(reversed(children.get(id, [])))
    if count < len(mapping):
        skipped["in a circular chain of messages"] += len(mapping) - count


def _left_out(message: ChatGptMessage) -> str | None:
    """Why a message does not come along, None if it does."""
    metadata = message.metadata or {}
    if message.author.role == "system":
        return "of the system"
    to_canvas = (message.recipient or "").startswith(CANVAS) and message.author.role == "assistant"
    if message.author.role == "tool" or ((message.recipient or ALL) != ALL and not to_canvas):
        return "of or to a tool"
    if message.author.role not in ROLES:
        return UNKNOWN
    if metadata.get("is_visually_hidden_from_conversation") or message.weight == 0:
        return "hidden"
    if to_canvas:
        return None if _canvas(message) else NO_CANVAS
    if message.content.content_type not in SAID:
        return "hidden"  # thoughts, custom instructions
    return None


def _canvas(message: ChatGptMessage) -> str:
    """What a message wrote into a canvas, a text beside the chat; nothing for any other."""
    tool = (message.recipient or "").partition(".")[0]
    content = message.content
    try:
        said = content.text or "".join(map(str, content.parts or []))
        given: Any = json.JSONDecoder().raw_decode(said.lstrip())[0] if tool == CANVAS else {}
    except (ValueError, RecursionError):
        given = {}
    match given:
        case {"content": str(text), **more} if text.strip():
            return fenced(name(more.get("name")) or "canvas", text)
        case {"content": list(parts), **more}:
            said = "\n".join(each for each in parts if isinstance(each, str))
            return fenced(name(more.get("name")) or "canvas", said) if said.strip() else ""
        case {"updates": updates}:
            updates = updates if isinstance(updates, list) else [updates]
            changed = [each.get("replacement") for each in updates if isinstance(each, dict)]
            texts = [text for text in changed if isinstance(text, str) and text.strip()]
            return fenced("canvas, changed", "\n".join(texts)) if texts else ""
    return ""


def _text(message: ChatGptMessage) -> str:
    if canvas := _canvas(message):
        return canvas
    content = message.content
    parts = [_part(part) for part in content.parts or []]
    lines = [part for part in parts if part.strip()]
    if content.text:
        lines.append(content.text)
    files = (message.metadata or {}).get("attachments")
    names = [name(file.get("name")) for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return "\n".join([*lines, *(f"[file: {file}]" for file in names if file)])


def _part(part: Any) -> str:
    """A part's text, or a line that stands for what is none."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    kind = str(part.get("content_type", ""))
    if isinstance(part.get("text"), str):
        return str(part["text"])
    for what in ("image", "audio", "video"):
        if what in kind:
            return f"[{what}]"
    return "[attachment]"
