"""LoCoMo-shaped JSON: two people who talk over many sessions, `session_1`, `session_2` …, each at a date.

Each session becomes a chat of its own, its turns one after the other, said by persons. A photo becomes a line with its
caption and the words it was found by. A turn keeps its `dia_id`, so that the answers' evidence can be found again
(`sources_of`).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from agent.importing.chats import moment
from graph.events import Role

from .chats import SPEAKERS, ImportedChat, ImportedMessage, message_source, name

FORMAT = "locomo"
SESSION = "session_"


class LocomoTurn(BaseModel):
    """A turn of a session."""

    model_config = ConfigDict(extra="ignore")

    speaker: Any = None
    dia_id: str | None = None
    text: str | None = None
    blip_caption: Any = None
    query: Any = None  # what the photo was found by


class LocomoSession(BaseModel):
    """The turns of one session."""

    turns: list[LocomoTurn]


def is_one(value: Any) -> bool:
    """Whether a value is a conversation, with `conversation` around it or not."""
    return isinstance(value, dict) and bool(_numbers(_conversation(value)))


def parse(value: Any) -> Iterator[ImportedChat]:
    """The sessions of one conversation, in their order. Raises pydantic's ValidationError where one is none."""
    conversation = _conversation(value)
    people = [name(conversation.get(key)) for key in ("speaker_a", "speaker_b")]
    title = " and ".join(person for person in people if person) or None
    numbers = _numbers(conversation)
    begun = [moment(conversation.get(f"{SESSION}{number}_date_time")) for number in numbers]
    for place, (number, began) in enumerate(zip(numbers, begun, strict=True)):
        nearest = sorted(range(len(begun)), key=lambda other, place=place: abs(other - place))  # type: ignore[misc]
        sample = value.get("sample_id")
        stand_in = f"{'+'.join(person or '' for person in people)} {began.ms if began else ''}"
        session = LocomoSession.model_validate({"turns": conversation[f"{SESSION}{number}"]})
        yield _chat(
            session,
            id=f"{sample if sample is not None else stand_in}/{SESSION}{number}",
            identified=sample is not None,
            at=began.ms if began else None,
            naive=bool(began and began.naive),
            title=title,
            times=tuple(at.ms for other in nearest if (at := begun[other]) is not None),
        )


def sources_of(value: Any) -> dict[str, str]:
    """The source key of each turn of a conversation by its dia_id, for `Memory.imported`.

    They are those that an import of the conversation into an empty memory gives.
    """
    return {message.key: message_source(chat, message) for chat in parse(value) for message in chat.messages}


def _chat(
    session: LocomoSession,
    *,
    id: str,
    identified: bool,
    at: int | None,
    naive: bool,
    title: str | None,
    times: tuple[int, ...],
) -> ImportedChat:
    skipped: Counter[str] = Counter()
    messages: list[ImportedMessage] = []
    keys: set[str] = set()
    for place, said in enumerate(session.turns):
        key = said.dia_id or str(place)
        text = "\n".join(part for part in (said.text, _photo(said)) if part)
        if key in keys or not text.strip():
            skipped["a duplicate id" if key in keys else "empty"] += 1
            continue
        keys.add(key)
        parent = messages[-1].key if messages else None
        speaker = name(said.speaker) or SPEAKERS[Role.USER]
        messages.append(ImportedMessage(key, parent, Role.USER, speaker, text, at, identified=said.dia_id is not None))
    return ImportedChat(
        FORMAT,
        id,
        tuple(messages),
        title=title,
        titled_by_content=False,
        at=at,
        head=messages[-1].key if messages else None,
        identified=identified,
        skipped=skipped,
        naive=len(messages) if naive else 0,
        times=times,
    )


def _photo(said: LocomoTurn) -> str | None:
    """A line for a turn's photo: its caption, and the words it was found by, which name what that only describes."""
    caption, words = name(said.blip_caption), name(said.query)
    if caption is None:
        return None
    return f"[photo: {caption} ({words})]" if words else f"[photo: {caption}]"


def _conversation(value: dict[str, Any]) -> dict[str, Any]:
    inside = value.get("conversation")
    return inside if isinstance(inside, dict) else value


def _numbers(conversation: dict[str, Any]) -> list[int]:
    """The numbers of the sessions, in their order."""
    lists = (key for key, turns in conversation.items() if isinstance(turns, list) and key.startswith(SESSION))
    rests = (key.removeprefix(SESSION) for key in lists)
    return sorted(int(rest) for rest in rests if rest.isascii() and rest.isdigit() and str(int(rest)) == rest)
