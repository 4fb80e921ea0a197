"""Plain JSON Lines: an object a line, with `role`, `text` and `time`, and maybe `session`, `speaker`, `id` and `title`.

Lines of one session that stand together are one chat; one that comes later goes on where that session was. A message
without an id is known by its line's number, so a file may grow at its end and broken lines may be mended in place. The
same objects as the elements of one JSON array are read too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from agent.importing.chats import LATEST_MS, moment
from graph.events import Role

from .chats import SPEAKERS, ImportedChat, ImportedMessage, name
from .reading import ExportLine, in_words

FORMAT = "lines"
MOST_MESSAGES = 500  # in one part of a chat
FIRST_BAD = 5  # broken lines that are told of one by one
ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "you": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "note": Role.NOTE,
}
KEPT_OUT = {"system": "of the system", "developer": "of the system"} | dict.fromkeys(
    ("tool", "function"), "of or to a tool"
)


class Record(BaseModel):
    """One line. The names that other tools give the same things are understood."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    role: str | None = None
    text: str = Field(validation_alias=AliasChoices("text", "content", "message"))
    time: Any = Field(default=None, validation_alias=AliasChoices("time", "timestamp", "created_at", "at", "date"))
    session: str | None = Field(
        default=None, validation_alias=AliasChoices("session", "session_id", "conversation", "conversation_id", "chat")
    )
    speaker: str | None = Field(default=None, validation_alias=AliasChoices("speaker", "name", "author"))
    id: str | None = None
    title: str | None = None

    @field_validator("text", mode="before")
    @classmethod
    def _of_parts(cls, value: Any) -> Any:
        """Of several parts, as OpenAI and Anthropic have them, the texts, and a line for what is none."""
        if value is None:
            return ""  # of a message that only calls a tool
        return "\n".join(filter(None, map(_part, value))) if isinstance(value, list) else value


@dataclass(slots=True)
class LinePart:
    """What has been read of a chat and not given on yet."""

    session: str | None
    continues: bool = False
    messages: list[ImportedMessage] = field(default_factory=list)
    title: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    naive: int = 0

    @property
    def empty(self) -> bool:
        return not self.messages and not self.skipped


class JsonLines:
    """The chats of a file of lines; `bad` are the first broken lines and `bad_count` is how many there were.

    `times` are the first ones of each session, up to `latest`: known before where the file was read through before.
    """

    def __init__(self, times: dict[str | None, int] | None = None, latest: int = LATEST_MS) -> None:
        self.times: dict[str | None, int] = {} if times is None else times
        self._latest = latest
        self.bad: list[tuple[int, str]] = []
        self.bad_count = 0
        self._last: dict[str | None, str] = {}  # by session: the key of its last message
        self._ids: dict[str | None, set[str]] = {}
        self._stand_in = ""

    def chats(self, lines: Iterable[ExportLine]) -> Iterator[ImportedChat]:
        """The chats, in parts, in the order of the lines."""
        part = LinePart(None)
        for line in lines:
            record = self._record(line)
            if record is None:
                continue
            if record.session != part.session or len(part.messages) >= MOST_MESSAGES:
                if not part.empty:
                    yield self._chat(part, more=True)
                part = LinePart(record.session, record.session in self._last)
            self._add(part, line.number, record)
        if not part.empty:
            yield self._chat(part)

    def _record(self, line: ExportLine) -> Record | None:
        try:
            if line.error is None:
                return Record.model_validate(line.value)
            why = line.error
        except ValidationError as error:
            why = _explain(line.value, error)
        self.bad_count += 1
        if len(self.bad) < FIRST_BAD:
            self.bad.append((line.number, why))
        return None

    def _add(self, part: LinePart, number: int, record: Record) -> None:
        part.title = part.title or name(record.title)
        said_as = (record.role or "user").strip().lower()
        role = ROLES.get(said_as)
        if role is None or not record.text.strip():
            part.skipped["empty" if role else KEPT_OUT.get(said_as, "of an unknown role")] += 1
            return
        known = self._ids.setdefault(record.session, set())
        if record.id is not None:
            if record.id in known:
                part.skipped["a duplicate id"] += 1
                return
            known.add(record.id)
        key = f"id {record.id}" if record.id is not None else f"line {number}"
        at = moment(record.time)
        part.naive += at is not None and at.naive
        if not self._last and record.session is None:
            self._stand_in = f"{role} {at.ms if at else ''}"
        if at is not None and at.ms <= self._latest:
            self.times.setdefault(record.session, at.ms)
        parent = self._last.get(record.session)
        speaker = name(record.speaker) or SPEAKERS[role]
        part.messages.append(
            ImportedMessage(
                key, parent, role, speaker, record.text, at.ms if at else None, identified=record.id is not None
            )
        )
        self._last[record.session] = key

    def _chat(self, part: LinePart, *, more: bool = False) -> ImportedChat:
        at = next((message.at for message in part.messages if message.at is not None), None)
        return ImportedChat(
            FORMAT,
            part.session if part.session is not None else self._stand_in,
            tuple(part.messages),
            title=part.title,
            at=at,
            head=part.messages[-1].key if part.messages else None,
            identified=part.session is not None,
            continues=part.continues,
            more=more,
            times=(self.times[part.session],) if part.session in self.times else (),
            skipped=part.skipped,
            naive=part.naive,
        )


def looks_like_one(value: Any) -> bool:
    """Whether a value is a message as this format has them."""
    try:
        Record.model_validate(value)
    except ValidationError:
        return False
    return bool({"role", "speaker", "author"} & set(value))


def _part(part: Any) -> str:
    match part:
        case str():
            return part
        case {"text": str(text)}:
            return text
        case {"type": str(kind)} if kind.partition("_")[0] in ("image", "audio", "video", "file", "document"):
            return f"[{kind.partition('_')[0]}]"
    return ""


def _explain(value: Any, error: ValidationError) -> str:
    if not isinstance(value, dict):
        return f"not an object with role and text but {in_words(value)}"
    problem = error.errors()[0]
    if problem["type"] == "missing":
        return "it has no text"
    return f"{problem['loc'][0]} is not text but {in_words(problem['input'])}"
