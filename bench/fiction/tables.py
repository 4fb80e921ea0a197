"""Tables of what people write in stories: to whom it is said, and who leaves or comes by it."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.story.addressee import addressed
from agent.story.departures import departure
from agent.story.names import Named
from bench.report import Figure

FOLDER = Path(__file__).parents[2] / "tests" / "agent" / "story"
MEMBERS = (Named("you", ("Ada",)), Named("mara", ("Mara Voss", "Mara")), Named("jonas", ("Jonas Hale", "Jonas")))
Row = tuple[str, str]


@dataclass(frozen=True)
class Address:
    """A message before a cast, and to whom it is said; `explicit` where it names that one."""

    text: str
    expected: str
    explicit: bool
    members: tuple[Named, ...]
    host: str

    def got(self) -> str:
        """Whom the rule says."""
        return addressed(self.text, self.members, host=self.host).id


def addresses(name: str) -> Iterator[Address]:
    """The rows of a table of messages."""
    told = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    for cast in told["cast"]:
        members = tuple(Named(id_, tuple(names)) for id_, *names in cast["members"])
        for kind in ("explicit", "other"):
            for text, expected in cast.get(kind, ()):
                yield Address(text, expected, kind == "explicit", members, cast["host"])


def right_of(table: list[Address]) -> tuple[float, float, str]:
    """How many of a table, and of its explicit rows, are right, and the others in words."""
    misses = [row for row in table if row.got() != row.expected]
    explicit = [row for row in table if row.explicit]
    wrong = sum(row.explicit for row in misses)
    said = "\n".join(f"{row.text!r}: {row.got()}, not {row.expected}" for row in misses)
    return 1 - len(misses) / len(table), 1 - wrong / len(explicit), f"{len(misses)} of {len(table)} missed:\n{said}"


def moves(name: str) -> list[Row]:
    """The rows of a table of departures: a message, and who leaves or joins by it."""
    told = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return [(text, expected) for text, expected in told["rows"]]


def moved(text: str) -> list[str]:
    """Who leaves or joins by a message of the user."""
    return [f"{guess.id} {guess.kind}" for guess in departure(text, MEMBERS, speaker="you")]


def measured(table: list[Row], kind: str) -> tuple[float, float, str]:
    """Of one kind of guess: how many are found of all there are, how many are so of all that are found, the misses."""
    there = right = told = 0
    misses = []
    for text, expected in table:
        wanted = {each.strip() for each in expected.split(";") if each.strip().endswith(kind)}
        got = {each for each in moved(text) if each.endswith(kind)}
        there, right, told = there + len(wanted), right + len(wanted & got), told + len(got)
        misses += [f"{text!r}: {sorted(got)}, not {sorted(wanted)}"] * (got != wanted)
    return right / there, right / told, "\n".join(misses)


def tables() -> dict[str, Figure]:
    """All tables; those that were written after the rules are `held_out`. No model is asked."""
    figures: dict[str, Figure] = {"addressee_model_calls": 0}
    for name in ("addressee", "addressee_held_out"):
        table = [*addresses(name)]
        right, explicit, _ = right_of(table)
        figures |= {f"{name}_rows": len(table), f"{name}_right": right, f"{name}_explicit_right": explicit}
    for name in ("departures", "departures_held_out"):
        rows = moves(name)
        figures[f"{name}_rows"] = len(rows)
        for kind in ("leaves", "joins"):
            recall, precision, _ = measured(rows, kind)
            figures |= {f"{name}_{kind}_recall": recall, f"{name}_{kind}_precision": precision}
    return figures
