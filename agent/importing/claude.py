"""Claude's export: conversations with `chat_messages`, in their order or as a tree by `parent_message_uuid`.

Thoughts, tool calls and their results stay out of a message's text; attached files become a line with their name.
"""

from collections import Counter
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from graph.events import Role

from .chats import SPEAKERS, Chat, Message, name
from .times import moment

FORMAT = "claude"
ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


class Said(BaseModel):
    """A message of the export."""

    model_config = ConfigDict(extra="ignore")

    uuid: str | None = None
    text: str | None = None
    content: list[Any] | None = None
    sender: str = ""
    created_at: Any = None
    parent_message_uuid: str | None = None
    attachments: list[Any] | None = None
    files: list[Any] | None = None


class Conversation(BaseModel):
    """One conversation of the export."""

    model_config = ConfigDict(extra="ignore")

    chat_messages: list[Said]
    uuid: str | None = None
    name: Any = None
    created_at: Any = None
    current_leaf_message_uuid: str | None = Field(default=None)


def parse(value: Any) -> Chat:
    """One conversation. Raises pydantic's ValidationError for a value that is none."""
    conversation = Conversation.model_validate(value)
    began = moment(conversation.created_at)
    skipped: Counter[str] = Counter()
    messages: list[Message] = []
    stands_for: dict[str, str | None] = {}  # by uuid: the last message up to it that stays
    naive = 0
    last: str | None = None
    for place, said in enumerate(conversation.chat_messages):
        if said.parent_message_uuid in stands_for:
            parent = stands_for[said.parent_message_uuid]
        else:
            parent = None if _is_root(said.parent_message_uuid) else last
        if said.uuid in stands_for:
            skipped["a second one with the same id"] += 1
            continue
        key = said.uuid or str(place)
        role = ROLES.get(said.sender)
        text = _text(said)
        if role is None or not text.strip():
            skipped["empty" if role else "of an unknown role"] += 1
            stands_for[key] = parent
            continue
        at = moment(said.created_at)
        naive += at is not None and at.naive
        messages.append(
            Message(key, parent, role, SPEAKERS[role], text, at.ms if at else None, identified=said.uuid is not None)
        )
        stands_for[key] = last = key
    return Chat(
        FORMAT,
        conversation.uuid or f"{began.ms if began else ''}",
        tuple(messages),
        title=name(conversation.name),
        at=began.ms if began else None,
        head=stands_for.get(conversation.current_leaf_message_uuid or "") or last,
        identified=conversation.uuid is not None,
        skipped=skipped,
        naive=naive,
    )


def _is_root(uuid: str | None) -> bool:
    """The uuid, zeros but for its version's digits, that first messages name as what they follow."""
    return uuid is not None and not set(uuid) - set("048-")


def _text(said: Said) -> str:
    blocks = [part for part in said.content or [] if isinstance(part, dict)]
    lines = [str(part["text"]) for part in blocks if part.get("type") == "text" and isinstance(part.get("text"), str)]
    if not any(line.strip() for line in lines):
        lines = [said.text or ""]
    if any(part.get("type") == "image" for part in blocks):
        lines.append("[image]")
    for file in [*(said.attachments or []), *(said.files or [])]:
        named = name(file.get("file_name")) if isinstance(file, dict) else None
        lines.append(f"[file: {named}]" if named else "[file]")
    return "\n".join(line for line in lines if line.strip())
