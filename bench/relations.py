"""What is found in everyday messages of how people, places and things stand to each other: all of it, or made up.

    python -m bench.relations [PATH] [--json] [--only floor|perfect] [--why]

The file has messages, each with the day it was said on and the relations that it clearly tells, by a strict reader;
most of the class `nothing` have names and words for relations all the same. What may be read out of a message without
its being said is in `accept`: neither right nor wrong. Names are compared without case, "the" and titles. `floor` is
what is found without a chat model, `perfect` where one chooses that answers from the file. `--why` names what is
amiss, on stderr.

`precision` and `recall`: a relation is right with its kind, both its ends in their direction, and its polarity.
`direction`: of those found between two ends that are related in this kind, the share that goes the right way; symmetric
ones do. `endings_right`: of the right ones that are over, or were found to be, the share for which that is true.
`dates_right`: of the right ones with a date, in the file or found, the share whose dates are the same; a day in a month
or a year that was told is the same. `from_nothing`: how many were found in messages that tell none.
"""

import argparse
import asyncio
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

import graph
from bench.expected import plain
from bench.report import say
from models.protocols import Answer
from tests.fakes import FakeGenerator

FILE = Path(__file__).with_name("relations.json")
KINDS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(graph.__file__).with_name("relations.toml").read_text(encoding="utf-8")
)
SYMMETRIC = frozenset(kind for kind, row in KINDS.items() if row.get("symmetric"))
TITLE = re.compile(
    r"(?:the|mr|mrs|ms|miss|dr|prof|professor|herr|frau|señor|señora"
    r"|uncle|aunt|auntie|grandma|granny|gran|nan|nana|grandpa|grandad|granddad)(?:\. ?| )(?=\S)"
)


def _known(kind: str) -> str:
    """A kind of the table. Raises ValueError for another one."""
    if kind not in KINDS:
        raise ValueError(f"{kind} is not in graph/relations.toml")
    return kind


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Unnamed(_Part):
    """Somebody whom the message gives no name: your sister, Helga's brother."""

    owner: Annotated[str, Field(min_length=1)]
    word: Annotated[str, Field(min_length=1)]


class Relation(_Part):
    """One relation, told from subject to object; dates are years, months or days as in 2026, 2026-10, 2026-10-14."""

    subject: Annotated[str, Field(min_length=1)] | Unnamed
    kind: Annotated[str, AfterValidator(_known)]
    object: Annotated[str, Field(min_length=1)] | Unnamed
    polarity: bool = True
    ended: bool = False
    since: str | None = None
    until: str | None = None


class Message(_Part):
    """A message, and what it tells; `hard` is what a reader of single sentences and usual words may well miss."""

    id: str
    category: str = Field(alias="class")
    said_at: date
    hard: bool = False
    text: Annotated[str, Field(min_length=1)]
    relations: tuple[Relation, ...]
    accept: tuple[Relation, ...] = ()


def read(path: Path) -> list[Message]:
    """The messages of a file. Raises ValueError, with the place, for another one."""
    return TypeAdapter(list[Message]).validate_json(path.read_text(encoding="utf-8"))


class Told(Protocol):
    """What is compared of a relation, whoever found it; an end is a name, or has an `owner` and a `word`."""

    @property
    def subject(self) -> Any: ...
    @property
    def kind(self) -> str: ...
    @property
    def object(self) -> Any: ...
    @property
    def polarity(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def since(self) -> Any: ...
    @property
    def until(self) -> Any: ...


Find = Callable[[str, date], Iterable[Told]]
End = tuple[str, ...]


def name(end: Any) -> End:
    """An end as it is compared: one word for a name, two for somebody's somebody."""
    parts = (end,) if isinstance(end, str) else (end.owner, _word(end.word))
    return tuple(TITLE.sub("", plain(part), count=1) if TITLE.match(plain(part)) else plain(part) for part in parts)


def _word(said: str) -> str:
    """A word of relationship as its like: "mum" and "mother" are one."""
    noun = import_module("agent.relations.words").language("english").nouns.get(tuple(plain(said).split()))
    return noun.word if noun is not None else said


def day(value: Any) -> str | None:
    """A date as it is compared: ISO, as much of it as is known; a number is milliseconds."""
    if value is None:
        return None
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value / 1000, UTC)
    return (value.isoformat() if isinstance(value, date) else str(value))[: len("2026-10-14")]


@dataclass(frozen=True, slots=True)
class Compared:
    """A relation with ends, kind and dates as they are compared; the ends of a symmetric one are in one order."""

    first: End
    kind: str
    second: End
    polarity: bool
    ended: bool
    since: str | None
    until: str | None

    @classmethod
    def of(cls, told: Told) -> "Compared":
        """The same, of whatever has these fields."""
        kind, ends = str(told.kind), (name(told.subject), name(told.object))
        first, second = sorted(ends) if kind in SYMMETRIC else ends
        return cls(first, kind, second, told.polarity, told.ended, day(told.since), day(told.until))

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be right for it to be right."""
        return (self.first, self.kind, self.second, self.polarity)

    @property
    def pair(self) -> tuple[object, ...]:
        """Who is related in which kind, in whatever direction and polarity."""
        return (self.kind, *sorted((self.first, self.second)))

    @property
    def way(self) -> tuple[object, ...]:
        """The same with its direction."""
        return (self.kind, self.first, self.second)

    @property
    def dated(self) -> bool:
        """Whether it has a date."""
        return self.since is not None or self.until is not None

    def same_dates(self, found: "Compared") -> bool:
        """Whether a found one has these dates, or days within them."""
        pairs = ((self.since, found.since), (self.until, found.until))
        return all(theirs == ours or bool(ours and theirs and theirs.startswith(f"{ours}-")) for ours, theirs in pairs)

    def __str__(self) -> str:
        """In a line, for people."""
        first, second = ("'s ".join(end) for end in (self.first, self.second))
        marks = ("" if self.polarity else "not ") + ("once " if self.ended else "")
        dates = "".join(f" {word} {at}" for word, at in (("since", self.since), ("until", self.until)) if at)
        return f"{first} {marks}{self.kind} {second}{dates}"


@dataclass(slots=True)
class Tally:
    """Counts that the figures are made of, and what is amiss, in words."""

    messages: int = 0
    expected: int = 0
    found: int = 0  # each once, without what is only accepted
    right: int = 0
    related: int = 0  # of the found ones, those between two ends that are related in this kind
    directed: int = 0  # and of these, those that go the right way
    endings: int = 0
    endings_right: int = 0
    dates: int = 0
    dates_right: int = 0
    amiss: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count another one in."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def figures(self) -> dict[str, float | int]:
        """Counts and shares from 0 to 1; a share of nothing is 1."""
        shares = {
            "precision": (self.right, self.found),
            "recall": (self.right, self.expected),
            "direction": (self.directed, self.related),
            "endings_right": (self.endings_right, self.endings),
            "dates_right": (self.dates_right, self.dates),
        }
        counts = ("messages", "expected", "found", "right")
        rounded = {label: round(part / whole, 3) if whole else 1.0 for label, (part, whole) in shares.items()}
        return {**{label: getattr(self, label) for label in counts}, **rounded}


def score(message: Message, told: Iterable[Told]) -> Tally:
    """What was found in one message, against what it tells."""
    expected = [Compared.of(each) for each in message.relations]
    accepted = {Compared.of(each).key for each in message.accept} - {each.key for each in expected}
    found = [each for each in dict.fromkeys(map(Compared.of, told)) if each.key not in accepted]
    pairs, ways = {each.pair for each in expected}, {each.way for each in expected}
    related = [each for each in found if each.pair in pairs]
    directed = sum(each.way in ways for each in related)
    tally = Tally(messages=1, expected=len(expected), found=len(found), related=len(related), directed=directed)
    left = [*found]
    for wanted in expected:
        alike = [each for each in left if each.key == wanted.key]
        if not alike:
            tally.amiss.append(f"{message.id}: missed: {wanted}")
            continue
        best = max(alike, key=lambda each: (each.ended == wanted.ended, wanted.same_dates(each)))
        left.remove(best)
        tally.right += 1
        tally.endings += wanted.ended or best.ended
        tally.endings_right += wanted.ended and best.ended
        tally.dates += wanted.dated or best.dated
        tally.dates_right += (wanted.dated or best.dated) and wanted.same_dates(best)
        if wanted.ended != best.ended or not wanted.same_dates(best):
            tally.amiss.append(f"{message.id}: other dates or ending: {wanted} / {best}")
    tally.amiss += [f"{message.id}: wrong: {each}" for each in left]
    return tally


Tallies = dict[str, Tally]


def measure(messages: Sequence[Message], find: Find) -> Tallies:
    """Every message by itself: the counts `overall`, by class, and of the `hard` ones."""
    tallies: Tallies = {"overall": Tally()}
    for message in messages:
        tally = score(message, find(message.text, message.said_at))
        for label in ("overall", f"class {message.category}", *(("hard",) if message.hard else ())):
            tallies.setdefault(label, Tally()).add(tally)
    return tallies


def figures(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    """The figures of one finder."""
    rows = {label: tally.figures() for label, tally in tallies.items()}
    classes = {label.removeprefix("class "): row for label, row in rows.items() if label.startswith("class ")}
    overall = {**rows["overall"], "from_nothing": classes.get("nothing", {}).get("found", 0)}
    return {"overall": overall, "hard": rows.get("hard", Tally().figures()), "by_class": classes}


def floor(messages: Sequence[Message]) -> Find:
    """What is found without a chat model."""
    # By its name, so that this file and its test stand without it.
    find_relations = import_module("agent.relations.find").find_relations
    return lambda text, said_at: find_relations(text, speaker="you", said_at=said_at)


class PerfectChooser(FakeGenerator):
    """Chooses what the file says of a message, as far as the lists of the question have it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(name="scripted-perfect")
        self._messages = {each.text: each for each in messages}
        self.message = ""

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """The relations of the message, each with the sentence that has most of its ends."""
        words = self.detokenize(prompt)
        shown = {name(_end(label)): label for label in re.findall(r"^- (.*)$", words.partition("The names:")[2], re.M)}
        told = dict(re.findall(r"^\[(\d+)\] (.*)$", words, re.M))
        chosen = []
        for each in self._messages[self.message].relations:
            ends = [shown.get(name(end)) for end in (each.subject, each.object)]
            counts = {int(number): sum(str(end) in text for end in ends) for number, text in told.items()}
            if None not in ends:
                where = max(counts, key=lambda number: counts[number])
                fields = {"subject": ends[0], "kind": each.kind, "object": ends[1], "sentence": where}
                chosen.append({**fields, "holds": each.polarity, "over": each.ended})
        return schema.model_validate({"relations": chosen})


def _end(label: str) -> Any:
    """An end as a question shows it: a name, or "Ada's boss"."""
    owner, possessive, word = label.partition("'s ") if not label.startswith("your ") else ("you", "'s ", label[5:])
    return Unnamed(owner=owner, word=word) if possessive and word.islower() else label


def perfect(messages: Sequence[Message]) -> Find:
    """What is found where a perfect model chooses, and the floor beside it."""
    choosing, plainly, model = import_module("agent.relations.choosing"), floor(messages), PerfectChooser(messages)

    def find(text: str, said_at: date) -> Iterable[Told]:
        model.message = text
        chosen = asyncio.run(choosing.choose(model, text, said_at=said_at, ask=asyncio.ensure_future))
        found: list[Told] = choosing.merged(plainly(text, said_at), chosen)
        return found

    return find


FINDERS: dict[str, Callable[[Sequence[Message]], Find]] = {"floor": floor, "perfect": perfect}


def show(label: str, found: Mapping[str, Any]) -> None:
    """The figures as a table."""
    columns = list(Tally().figures())
    print(f"{label:<16}" + "".join(f"{column:>14}" for column in columns))
    rows = {"overall": found["overall"], "hard": found["hard"], **found["by_class"]}
    for row, values in rows.items():
        print(f"  {row:<14}" + "".join(f"{values[column]:>14}" for column in columns))
    print(f"  from_nothing  {found['overall']['from_nothing']:>14}\n")


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.relations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, nargs="?", default=FILE, help="a JSON file of messages with relations")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", choices=FINDERS, help="one finder")
    parser.add_argument("--why", action="store_true", help="name what is amiss, on stderr")
    arguments = parser.parse_args()
    messages = read(arguments.path)
    wanted = FINDERS if arguments.only is None else [arguments.only]
    done = {label: measure(messages, FINDERS[label](messages)) for label in wanted}
    if arguments.why:
        for label, tallies in done.items():
            for line in tallies["overall"].amiss:
                say(f"{label}: {line}")
    if arguments.json:
        print(json.dumps({label: figures(tallies) for label, tallies in done.items()}, ensure_ascii=False))
    else:
        for label, tallies in done.items():
            show(label, figures(tallies))


if __name__ == "__main__":
    main()
