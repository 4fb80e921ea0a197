"""Episodes: a cast, and deeds that are done one after another in a story. As JSON, a list of objects

    {"name": "the key", "cast": {…}, "deeds": [{"do": "say", "text": "Good evening, Mara."}, …]}

The cast has `host`, `guest` (or none), `you` (a name) and a `scenario`. A card is an object of our own with `name`,
`description`, `greetings`, `personality`, `examples`; or a character card as it is exported, known by its `spec`.

|do|with|what happens|
|---|---|---|
|say|text, whisper|the user says it, maybe to one alone, and whoever is asked answers; `((…))` is out of character|
|speak|who|somebody of the cast speaks, asked or not|
|away, present|who|somebody leaves the scene or comes back|
|join|card|a guest joins|
|leave|who|a guest leaves the cast|
|witness|turn, who|these saw a turn, and nobody else|
|rewind|turn|the chat goes back to a turn; null: to before the first|
|forward|–|the chat goes back to where it stood before the last rewind|
|switch|turn|the chat goes to another version of a turn, and to the newest end below it|
|regenerate|turn|a reply is made anew, the last one without a turn|
|edit|turn, text|the user says something else in the place of a message|
|hide, unhide, pin, unpin, delete|turn|of one turn|
|fork|turn, what_if|a new chat goes on from a turn, or from the end; chats are numbered, the first is 0|
|reset|who|a member forgets all|
|undo|–|the last reset is undone|
|rename|who, name|a member is called otherwise|
|look|–|somebody looks at the chat, so that its prompt is warmed|
|rest|–|nothing happens for so long that states go to the disk|
|restart|–|clew ends in good order, and is begun again|
|kill|text|clew ends at once, and is begun again on what was on the disk; with a text, amid the reply to it|
|compact|–|the user says so much that prompts are shortened|
|scene, close|name|a scene begins, or ends, and what everybody saw of it is put together for them|
|set|who, aspect, text, to|what somebody alone knows: mood, goals, status, or a `summary` of what they are `to` another|

Who is meant is said by the name that a member came with, and `you`. A turn is meant by its number in the story, in the
order in which they were said (0: the first, which is the greeting where there is one; -1: the last), or by a label: a
deed with `"as": "gold"` names what is said by it "gold", the reply to it "gold.reply" and the first note in it
"gold.note0". `message:3`, `reply:3` and `turn:3` are the fourth of its kind on the path of the chat. Numbers that are
too large count on from the beginning. Any deed may have `in`: the number of a chat, the first without it. `n` is the
number of a deed where that is not its place in the list; what is said by it, and answered, depends on that.

Deeds that the story refuses (who is away cannot speak) change nothing and are counted.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from agent.story.cards import Card, read_card

Ref = int | str
FILE = Path(__file__).with_name("scripted.json")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _Deed(_Part):
    label: str | None = Field(default=None, alias="as")
    chat: Ref = Field(default=0, alias="in")
    n: int | None = None


class Say(_Deed):
    """Something is said, or so much that prompts are shortened."""

    do: Literal["say"] = "say"
    text: str
    whisper: str | None = None


class Compact(_Deed):
    """So much is said that prompts are shortened."""

    do: Literal["compact"] = "compact"


class Person(_Deed):
    """Something happens to one of the cast."""

    do: Literal["speak", "away", "present", "leave", "reset"]
    who: str


class Join(_Deed):
    """A guest joins."""

    do: Literal["join"] = "join"
    card: dict[str, Any]


class Rename(_Deed):
    """A member is called otherwise."""

    do: Literal["rename"] = "rename"
    who: str
    name: str


class Witness(_Deed):
    """These saw a turn."""

    do: Literal["witness"] = "witness"
    turn: Ref
    who: tuple[str, ...]


class Rewind(_Deed):
    """The chat goes back."""

    do: Literal["rewind"] = "rewind"
    turn: Ref | None


class OfTurn(_Deed):
    """Something happens to a turn."""

    do: Literal["switch", "hide", "unhide", "pin", "unpin", "delete"]
    turn: Ref


class Regenerate(_Deed):
    """A reply is made anew."""

    do: Literal["regenerate"] = "regenerate"
    turn: Ref | None = None


class Edit(_Deed):
    """A message is replaced."""

    do: Literal["edit"] = "edit"
    turn: Ref
    text: str


class Scene(_Deed):
    """A scene begins."""

    do: Literal["scene"] = "scene"
    name: str


class Inner(_Deed):
    """What somebody feels, wants or thinks of another."""

    do: Literal["set"] = "set"
    who: str
    aspect: Literal["mood", "goals", "status", "summary"]
    text: str
    to: str | None = None


class Fork(_Deed):
    """A chat goes on from a turn of another."""

    do: Literal["fork"] = "fork"
    turn: Ref | None = None
    what_if: bool = False


class Plain(_Deed):
    """What needs no word more."""

    do: Literal["forward", "undo", "look", "rest", "restart", "close"]


class Kill(_Deed):
    """clew ends at once, in the middle of a reply where something is said."""

    do: Literal["kill"] = "kill"
    text: str | None = None


Deed = Annotated[
    Say
    | Compact
    | Person
    | Join
    | Rename
    | Witness
    | Rewind
    | OfTurn
    | Regenerate
    | Edit
    | Scene
    | Inner
    | Fork
    | Plain
    | Kill,
    Field(discriminator="do"),
]


class Cast(_Part):
    """Who plays."""

    host: dict[str, Any]
    guest: dict[str, Any] | None = None
    you: str = "You"
    scenario: str | None = None


class Episode(_Part):
    """A cast and what is done."""

    name: str
    cast: Cast
    deeds: tuple[Deed, ...]


_EPISODES: TypeAdapter[tuple[Episode, ...]] = TypeAdapter(tuple[Episode, ...])
_DEED: TypeAdapter[Deed] = TypeAdapter(Deed)


def read(path: Path) -> tuple[Episode, ...]:
    """The episodes of a file. Raises ValueError, with the place, for another one."""
    try:
        return _EPISODES.validate_json(path.read_bytes())
    except ValidationError as error:
        raise ValueError(f"{path}: {error}") from error


def deed_of(**fields: Any) -> Deed:
    """A deed as JSON has it."""
    return _DEED.validate_python(fields)


def to_json(episodes: Iterable[Episode]) -> str:
    """What `read` reads."""
    given = [each.model_dump(mode="json", by_alias=True, exclude_unset=True) for each in episodes]
    return json.dumps(given, ensure_ascii=False, indent=1)


def card_of(given: dict[str, Any]) -> Card:
    """The card of an episode. Raises AgentError, or TypeError for a field that no card has."""
    if "spec" in given:
        return read_card(json.dumps(given).encode(), "card")
    listed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    return Card(**listed)
