"""The file of `bench.observations`: small conversations, and what should be known after each.

docs/observations-bench.md describes it.

Only turns, class, and of what is known the terms, status and sources have to be there. What a perfect model would do is
worked out from them where the file does not say it: which revision follows which, and who took something back.
"""

import json
import re
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from graph.values import Status

STATUSES: tuple[Status, ...] = get_args(Status)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
CLAUSE = re.compile(r"(?<=[,;:])\s+|\s+[-–—]\s+")
ONESELF = re.compile(
    r"\b(?:i|i'm|i've|im|my|me|we|our|ich|wir|meine?|je|j'|mon|ma|mes|nous|soy|mi|mis|io|ho|mio|mia|eu|sou|meu|minha|ik|mijn)\b"
)


def _several(value: Any) -> Any:
    """One value where the file may also have a list of alternatives."""
    return value if isinstance(value, list | tuple) else (value,)


Term = Annotated[tuple[str, ...], BeforeValidator(_several), Field(min_length=1)]  # one of them has to occur


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Said(_Part):
    """One message."""

    role: Literal["user", "assistant"]
    text: str
    at: AwareDatetime | None = None


class Item(_Part):
    """Something that is true after the conversation, whoever words it how; `sources` are places in `turns`, from 0."""

    terms: tuple[Term, ...] = Field(min_length=1)
    sources: Annotated[tuple[int, ...], BeforeValidator(_several), Field(min_length=1)]

    def said_in(self, text: str | None) -> bool:
        """Whether a text has all the terms."""
        words = plain(text or "")
        return all(any(occurs(plain(way), words) for way in term) for term in self.terms)


class Known(Item):
    """What should be known. `status` may name several that will do, the likeliest first."""

    status: Annotated[tuple[Status, ...], BeforeValidator(_several), Field(min_length=1)] = ("active",)
    text: str | None = None
    revises: int | None = None  # the place in `known` of what this one follows
    by: int | None = None  # the turn that takes it back
    outdated_by: frozenset[int] = frozenset()  # worked out: the turns that say what is so instead

    @property
    def active(self) -> bool:
        """Whether it should be in use."""
        return "active" in self.status

    @property
    def superseded(self) -> bool:
        """Whether it should be an earlier revision."""
        return self.status[0] == "superseded"


class Conversation(_Part):
    """A conversation, and what should be known after it; `accept` is what is true besides, without being required."""

    id: str
    category: str = Field(alias="class")
    turns: tuple[Said, ...] = Field(min_length=1)
    known: tuple[Known, ...] = ()
    accept: tuple[Item, ...] = ()

    @model_validator(mode="after")
    def _places_exist(self) -> "Conversation":
        for item in (*self.known, *self.accept):
            for place in item.sources:
                if not 0 <= place < len(self.turns) or self.turns[place].role != "user":
                    raise ValueError(f"{self.id}: source {place} is no message of the user's")
        for place, item in enumerate(self.known):
            if item.revises is not None and not (0 <= item.revises < len(self.known) and item.revises != place):
                raise ValueError(f"{self.id}: there is no item {item.revises} to revise")
            if item.by is not None and not 0 <= item.by < len(self.turns):
                raise ValueError(f"{self.id}: there is no turn {item.by} that takes anything back")
        return self

    @model_validator(mode="after")
    def _outdated(self) -> "Conversation":
        """Tell each item that is over by which turns it is: those of all that followed it, or that took it back."""
        follows = {of: place for place, of in self.followed().items()}
        items = []
        for place, item in enumerate(self.known):
            turns, at = set[int](), place
            while not item.active and at in follows and not turns & set(self.known[follows[at]].sources):
                at = follows[at]
                turns |= set(self.known[at].sources)
            turns |= {self.taken_back(place)} if item.status[0] == "invalid" else set()
            items.append(item.model_copy(update={"outdated_by": frozenset(turns)}))
        object.__setattr__(self, "known", tuple(items))
        return self

    def exchanges(self) -> list[range]:
        """The places of each exchange's turns: the user's messages and the replies to them."""
        starts = [
            place
            for place, said in enumerate(self.turns)
            if place == 0 or (said.role == "user" and self.turns[place - 1].role == "assistant")
        ]
        return [range(start, end) for start, end in zip(starts, [*starts[1:], len(self.turns)], strict=True)]

    def sentence(self, item: Known) -> str:
        """What a perfect model writes of an item: the file's text, else the sentence that has the terms."""
        if item.text:
            return item.text
        for place in item.sources:
            said = self.turns[place].text
            for words in (*SENTENCE.split(said), said):
                if item.said_in(words):
                    return briefly(item, words)
        return " ".join(ways[0] for ways in item.terms)

    def followed(self) -> dict[int, int]:
        """For each item that has one, the place in `known` of what it follows: named, or else the one before it.

        Of an item that is superseded and that nothing names, the next item that was said later is the follower.
        """
        follows = {place: item.revises for place, item in enumerate(self.known) if item.revises is not None}
        for place, item in enumerate(self.known):
            if item.superseded and place not in follows.values():
                later = [
                    other
                    for other in (*range(place + 1, len(self.known)), *range(place))
                    if other not in follows and min(self.known[other].sources) > min(item.sources)
                ]
                if later:
                    follows[later[0]] = place
        return follows

    def taken_back(self, place: int) -> int:
        """The turn after which an item is invalid: named, or that of the next item, or the user's last."""
        item = self.known[place]
        if item.by is not None:
            return item.by
        later = [min(other.sources) for other in self.known if min(other.sources) > max(item.sources)]
        users = [number for number, said in enumerate(self.turns) if said.role == "user"]
        return min(later, default=users[-1] if users else len(self.turns) - 1)


def briefly(item: Item, sentence: str) -> str:
    """The fewest clauses of a sentence that have the terms, and speak of oneself or are its beginning."""
    clauses = CLAUSE.split(sentence.strip())
    runs = [(start, end) for start in range(len(clauses)) for end in range(start + 1, len(clauses) + 1)]
    for start, end in sorted(runs, key=lambda run: run[1] - run[0]):
        words = ", ".join(clause.rstrip(",;:") for clause in clauses[start:end])
        if item.said_in(words) and (start == 0 or ONESELF.search(plain(words))):
            return words
    return sentence.strip()


def plain(text: str) -> str:
    """Words without the differences of case, apostrophes, spaces and composed letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("ʼ", "'").split())


def occurs(term: str, text: str) -> bool:
    """Whether a plain term is in a plain text; a number has to stand alone there."""
    if term[:1].isdigit() or term[-1:].isdigit():
        return re.search(rf"(?<!\d){re.escape(term)}(?!\d)", text) is not None
    return bool(term.strip()) and term in text


def read(path: Path) -> list[Conversation]:
    """The conversations of a file, a list or an object with one. Raises ValueError, with the place, for another one."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        content = content.get("conversations", content)
    conversations = TypeAdapter(list[Conversation]).validate_python(content)
    ids = [conversation.id for conversation in conversations]
    if twice := {id for id in ids if ids.count(id) > 1}:
        raise ValueError(f"{path}: these ids are there twice: {', '.join(sorted(twice))}")
    return conversations
