"""Claude's export: conversations with `chat_messages`, in their order or as a tree by `parent_message_uuid`.

Thoughts, tool calls and their results stay out, and are counted. What goes along with a message is quoted behind its
words: the text of an attached file, which a long paste is too, and an artifact as it was written or changed. Of a file
without a text there is a line with its name.
"""

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from pydantic import Field, field_validator

from agent.importing.chats import moment
from agent.importing.salvage import Oddities, Salvaged
from agent.text import fenced
from graph.events import Role

from .chats import SPEAKERS, ImportedChat, ImportedMessage, name

FORMAT = "claude"
ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


class ClaudeMessage(Salvaged):
    """A message of the export."""

    uuid: str | None = None
    text: str | None = None
    content: list[Any] | None = None
    sender: str = ""
    created_at: Any = None
    parent_message_uuid: str | None = None
    attachments: list[Any] | None = None
    files: list[Any] | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        return [{"type": "text", "text": value}] if isinstance(value, str) else value


class ClaudeChat(Salvaged):
    """One conversation of the export."""

    chat_messages: list[Any]
    uuid: str | None = None
    name: Any = None
    created_at: Any = None
    current_leaf_message_uuid: str | None = Field(default=None)


def parse(value: Any) -> ImportedChat:
    """One conversation. Raises ValueError for a value that is none."""
    if not isinstance(value, dict) or not isinstance(value.get("chat_messages"), list):
        raise ValueError("no conversation")
    conversation = ClaudeChat.model_validate(value)
    odd = Oddities(conversation.name)
    began = moment(conversation.created_at)
    skipped: Counter[str] = Counter()
    messages: list[ImportedMessage] = []
    stands_for: dict[str, str | None] = {}  # by uuid: the last message up to it that stays
    artifacts: dict[str, str] = {}
    naive = 0
    last: str | None = None
    for place, each in enumerate(conversation.chat_messages):
        if not isinstance(each, dict):
            odd.tell(f"message {place + 1}, which is no object")
            continue
        said = ClaudeMessage.model_validate(each)
        if said.parent_message_uuid in stands_for:
            parent = stands_for[said.parent_message_uuid]
        else:
            parent = None if _is_root(said.parent_message_uuid) else last
        if said.uuid in stands_for:
            skipped["a duplicate id"] += 1
            continue
        key = said.uuid or str(place)
        role = ROLES.get(said.sender)
        text = _text(said, artifacts, skipped)
        if role is None or not text.strip():
            skipped["empty" if role else "of an unknown role"] += 1
            if role is None:
                odd.tell(f"message {place + 1}, whose sender is unknown")
            stands_for[key] = parent
            continue
        at = moment(said.created_at)
        naive += at is not None and at.naive
        messages.append(
            ImportedMessage(
                key, parent, role, SPEAKERS[role], text, at.ms if at else None, identified=said.uuid is not None
            )
        )
        stands_for[key] = last = key
    return ImportedChat(
        FORMAT,
        conversation.uuid or f"{began.ms if began else ''}",
        tuple(messages),
        title=name(conversation.name),
        at=began.ms if began else None,
        head=stands_for.get(conversation.current_leaf_message_uuid or "") or last,
        identified=conversation.uuid is not None,
        skipped=skipped,
        naive=naive,
        odd=odd.told,
    )


FILE_TOOLS = ("create_file", "str_replace", "str_replace_based_edit_tool")


def _is_root(uuid: str | None) -> bool:
    """The uuid, zeros but for its version's digits, that first messages name as what they follow."""
    return uuid is not None and not set(uuid) - set("048-")


def _text(said: ClaudeMessage, artifacts: dict[str, str], skipped: Counter[str]) -> str:
    """What a message says, with what goes along with it; `artifacts` are the titles of those there are, by id."""
    lines: list[str] = []
    image = False
    for part in said.content or []:
        match part:
            case {"type": "text", "text": str(text)}:
                lines.append(text)
            case {"type": "image"}:
                image = True
            case {"type": "thinking"}:
                skipped["thoughts"] += 1
            case {"type": "tool_use" | "tool_result"}:
                if written := _written(part, artifacts):
                    lines.append(written)
                else:
                    skipped["of or to a tool"] += 1
    if not any(line.strip() for line in lines):
        lines = [said.text or ""]
    if image:
        lines.append("[image]")
    for file in [*(said.attachments or []), *(said.files or [])]:
        named = name(file.get("file_name")) if isinstance(file, dict) else None
        match file:
            case {"extracted_content": str(content)} if content.strip():
                lines.append(fenced(named or "pasted text", content))
            case _:
                lines.append(f"[file: {named}]" if named else "[file]")
    return "\n".join(line for line in lines if line.strip())


def _written(call: dict[str, Any], artifacts: dict[str, str]) -> str:
    """The artifact or file that a call of a tool wrote, or what it put into one; nothing for any other call."""
    match call:
        case {"name": "artifacts", "input": {"id": str(id), **given}}:
            title = artifacts.setdefault(id, name(given.get("title")) or "artifact")
            match given:
                case {"content": str(content)} if content.strip():
                    return fenced(title, content)
                case {"command": "update", "new_str": str(content)} if content.strip():
                    return fenced(f"{title}, changed", content)
        case {"name": str(tool), "input": {"path": str(path), **given}} if tool in FILE_TOOLS:
            file = name(PurePosixPath(path).name) or "file"
            match given:
                case {"file_text": str(content)} if content.strip():
                    return fenced(file, content)
                case {"new_str": str(content)} | {"insert_text": str(content)} if content.strip():
                    return fenced(f"{file}, changed", content)
    return ""
