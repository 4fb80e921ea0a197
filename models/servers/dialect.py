"""How one server wants to be asked, learnt from what it refuses.

It begins with what the standard has. Templates of some models take no system text but the first, or only roles that
alternate; some servers know no schema, or none of the smaller parameters. Each is refused once, and remembered.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pydantic import BaseModel

from models.errors import ServerError
from models.protocols import SamplingParams
from models.servers.refusals import ONE_SCHEMA, ROLES, SCHEMA, SYSTEM, said
from models.servers.written_object import schema_words, strict_schema
from models.template import Message

SPARE = ("stream_options", "seed", "top_p", "temperature")  # a reply comes without them, too


class Roles(IntEnum):
    """Which messages a server takes."""

    ANY = 0
    ALTERNATING = 1  # behind a system text at the front
    NO_SYSTEM = 2


class Form(IntEnum):
    """How an object is asked for."""

    SCHEMA = 0
    OBJECT = 1  # any, and the schema in words
    WORDS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: a reply of at most so many tokens, or with `schema` an object. `complaint`: of the last one."""

    messages: Sequence[Message]
    params: SamplingParams
    schema: type[BaseModel] | None = None
    complaint: str = ""


class Dialect:
    """Of one model of one server."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._roles = Roles.ANY
        self._form = Form.SCHEMA
        self._forms: dict[type[BaseModel], Form] = {}  # where a server refuses one schema alone
        self._without: set[str] = set()
        self._most = "max_tokens"

    def body(self, question: Question) -> dict[str, Any]:
        """The request for it."""
        params, schema = question.params, question.schema
        asked: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": role, "content": text} for role, text in self._messages(question)],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": params.temperature if schema is None else 0,
            self._most: params.max_tokens,
        }
        if schema is None:
            asked["top_p"] = params.top_p
            if params.seed is not None:
                asked["seed"] = params.seed
        elif self._form_of(schema) is Form.SCHEMA:
            named = {"name": _name_of(schema), "schema": strict_schema(schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self._form_of(schema) is Form.OBJECT:
            asked["response_format"] = {"type": "json_object"}
        return {key: value for key, value in asked.items() if key not in self._without}

    def learn(self, error: ServerError, question: Question) -> bool:
        """Whether the same, asked again, is asked in another way: one that what the server said gives hope for."""
        words, before = said(error), self.body(question)
        if "max_completion_tokens" in words and self._most in before:
            self._most = "max_completion_tokens"
        elif spare := next((each for each in SPARE if each in before and re.search(rf"\b{each}\b", words)), None):
            self._without.add(spare)
        elif "response_format" in before and question.schema is not None and SCHEMA.search(words):
            self._put_lower(question.schema, alone=bool(ONE_SCHEMA.search(words)))
        elif SYSTEM.search(words):
            self._roles = Roles.NO_SYSTEM
        elif ROLES.search(words):
            self._roles = max(self._roles, Roles.ALTERNATING)
        return self.body(question) != before

    def _put_lower(self, schema: type[BaseModel], *, alone: bool) -> None:
        lower = Form(self._form_of(schema) + 1)
        if alone:
            self._forms[schema] = lower
        else:
            self._form = lower

    def _form_of(self, schema: type[BaseModel]) -> Form:
        return max(self._form, self._forms.get(schema, Form.SCHEMA))

    def _messages(self, question: Question) -> list[Message]:
        messages, schema = list(question.messages), question.schema
        if schema is not None and (question.complaint or self._form_of(schema) is not Form.SCHEMA):
            messages = _joined([*messages, ("user", schema_words(schema, complaint=question.complaint))], at=-2)
        return messages if self._roles is Roles.ANY else _alternating(messages, self._roles)


def _alternating(messages: Sequence[Message], roles: Roles) -> list[Message]:
    """System texts behind the first, or all of them, go into the user's next message; neighbours are joined."""
    kept = 1 if roles is Roles.ALTERNATING and messages and messages[0][0] == "system" else 0
    moved: list[Message] = list(messages[:kept])
    waiting: list[Message] = []
    for role, text in messages[kept:]:
        if role == "system":
            waiting.append(("user", text))
        elif role == "user":
            moved += [*waiting, (role, text)]
            waiting.clear()
        else:
            moved.append((role, text))
    return _joined([*moved, *waiting])


def _joined(messages: Sequence[Message], *, at: int = 0) -> list[Message]:
    """Neighbours of one role as one message, with a blank line between; those before `at` stay as they are."""
    joined = list(messages[:at])
    for role, text in messages[at:]:
        if len(joined) > len(messages[:at]) and joined[-1][0] == role:
            joined[-1] = role, f"{joined[-1][1]}\n\n{text}"
        else:
            joined.append((role, text))
    return joined


def _name_of(schema: type[BaseModel]) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__).strip("_")[:64] or "answer"
