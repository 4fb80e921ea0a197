"""Queries as they are kept and offered, as frozen values, and the ready ones of ready.toml with their pieces."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from graph.relations import kinds


@dataclass(frozen=True, slots=True)
class Ran:
    """A query that was run: when (aware), and how many rows came how fast, or why none did.

    `rows` is None where they were not counted. `parameters` are as JSON has them.
    """

    cypher: str
    at: datetime
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    took_ms: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """A query that was given a name."""

    name: str
    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """A query of the shelf: its name, what it shows in a line, and its parameters with values to begin with.

    A parameter whose value is "" is to be asked for before it runs.
    """

    name: str
    about: str
    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translation:
    """A question as Cypher: shown before it runs. `words` say in a sentence what it asks the graph.

    It is a ready query (template), only the nearest of these where that is not sure, or was written by a model. `ready`
    is the id of the ready query, `model` the name of the model.
    """

    question: str
    cypher: str
    parameters: Mapping[str, Any]
    how: Literal["template", "nearest", "model"]
    words: str
    model: str = ""
    ready: str = ""


_WORDS = r"regexp_replace(lower({}), '[^\\pL\\pN]+', ' ', 'g')"  # with one blank between words, and no signs
_WANTED = f"trim({_WORDS.format('$what')})"

# Of several one: cities, boxes, boats; but not of news, this or bus.
_SINGULARS = ((r"(\\pL)ies$", r"\\1y"), ("(x|z|ch|sh|ss)es$", r"\\1"), (r"(\\pL[^siuw]|[^e]w)s$", r"\\1"))


def _one(words: str) -> str:
    """The words with the last of them in the singular, as far as its end tells."""
    for several, one in _SINGULARS:
        words = f"regexp_replace({words}, '{several}', '{one}')"
    return words


def _whole(text: str) -> str:
    """A text as `_are_in` takes it: in small letters, a blank before and after each word. 5 µs; a regex takes 25."""
    return f"concat(' ', {_WORDS.format(text)}, ' ')"


# The words of $what, worked out once, and the same in the singular.
_ASKED = f"WITH {_WANTED} AS wanted\nWITH wanted, {_one('wanted')} AS one"


def _are_in(words: str) -> str:
    """Whether the words of $what stand in a text one after the other, be the last of them one or several."""
    forms = [f"{words} CONTAINS concat(' ', {form}, '{end} ')" for form in ("wanted", "one") for end in ("", "s", "es")]
    return "\n  OR ".join(forms)


def _turns_about(*, joined: str = "", carried: str = "t") -> str:
    """Live turns that have $what as whole words; the engine looks at what follows WITH after the rest."""
    near = "(lower(t.text) CONTAINS lower($what) OR lower(t.text) CONTAINS one)"
    words = f"WITH {carried}, {_whole('t.text')} AS words, wanted, one"
    turns = f"MATCH (t:Turn){joined}\nWHERE {{live}}{{by}}{{time}}\n  AND {near}"
    return f"{_ASKED}\n{turns}\n{words}\nWHERE {_are_in('words')}"


PIECES = {
    "live": "t.live AND t.world = $world AND t.role <> 'tool' AND t.text IS NOT NULL",
    "current": "o.current AND o.world = $world AND o.text IS NOT NULL",
    "chat": "coalesce(s.name, s.title, s.id)",
    "turns_about": _turns_about(),
    "chats_about": _turns_about(joined="-[:IN_SESSION]->(s:Session)", carried="t, s"),
    # Current observations that have $what as whole words, or are about somebody or something of that name.
    "memories_about": (
        f"{_ASKED}\nMATCH (o:Observation)\nWHERE {{current}}{{time}}\n"
        f"WITH o, {_whole('o.text')} AS words, wanted, one\nWHERE {_are_in('words')}\n"
        f"  OR EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE {_are_in(_whole('coalesce(e.name, e.id)'))} }}"
    ),
    # Of a relationship, that it is in force.
    "stands": "r.world = $world AND r.polarity",
    "path": """\
WITH $world AS world
MATCH p = (a:Entity)-[:MENTIONS|ABOUT|DERIVED_FROM|SUPPORTED_BY|REPLIES_TO* ALL SHORTEST 1..8]-(b:Entity)
WHERE lower(coalesce(a.name, a.id)) = lower($one) AND lower(coalesce(b.name, b.id)) = lower($other)
  AND all(n IN nodes(p) WHERE coalesce(n.live, true) = true AND coalesce(n.world, world) = world)
RETURN p AS path, length(p) AS steps LIMIT 3""",
}


Speaker = Literal["you", "assistant", "everybody"]
ENTITIES = "person"  # are meant where no others are
_PLACE = re.compile(r"\{(\w+)\}")


class ReadyQuery(BaseModel, extra="forbid", frozen=True):
    """One of ready.toml, its Cypher and its sentence with places to be filled."""

    id: str
    name: str = ""
    about: str
    time: str = ""
    cypher: str
    on_shelf: str = ""
    by: Speaker = "everybody"
    mine: str = ""
    parameters: Mapping[str, str] = {}

    def filled(self, **places: str) -> str:
        """The Cypher, with the pieces of it; a place that is not given is empty."""
        return fill(fill(self.cypher, PIECES, keep=True), PIECES | places).strip()


def fill(text: str, places: Mapping[str, str], *, keep: bool = False) -> str:
    """A text with its {places} filled; others are left empty, or with `keep` as they are."""
    return _PLACE.sub(lambda found: places.get(found[1], found[0] if keep else ""), text)


@cache
def ready_queries() -> Mapping[str, ReadyQuery]:
    """All ready queries by their ids, in the order of the file."""
    found = tomllib.loads(Path(__file__).with_name("ready.toml").read_text(encoding="utf-8"))["query"]
    return {each["id"]: ReadyQuery.model_validate(each) for each in found}


def of_time(column: str, *bounds: tuple[str, str]) -> str:
    """Conditions on a time: for each parameter and its sign one."""
    return "".join(f" AND {column} {sign} to_epoch_ms(timestamp(${name}))" for name, sign in bounds)


def of_speaker(speaker: Speaker) -> str:
    """The condition on who wrote a turn, if there is one."""
    return "" if speaker == "everybody" else f" AND t.speaker = '{speaker}'"


def of_entities(kind: str) -> str:
    """The condition on the kind of an entity; of any kind, it is neither the user nor the assistant."""
    return f" AND e.kind = '{kind}'" if kind else " AND e.kind <> 'you' AND e.kind <> 'assistant'"


def of_relationship(kind: str, asked: Literal["who", "whom", ""], *, over: bool | None = False) -> str:
    """The condition on an edge from `a` to `b`: its kind, which end is asked for, whether it is over (None: either).

    Of a kind that holds both ways either end may be the one that is asked for.
    """
    asked = "" if kind and kinds()[kind].symmetric else asked
    ends = {each: f"lower(coalesce({each}.name, {each}.id)) = lower($what)" for each in ("a", "b")}
    end = {"who": ends["b"], "whom": ends["a"], "": f"({ends['a']} OR {ends['b']})"}[asked]
    held = "" if over is None else f" AND r.until IS {'NOT ' if over else ''}NULL"
    return f"{' AND r.kind = $kind' if kind else ''}{held} AND {end}"


def shelf(now: datetime | None = None) -> tuple[Ready, ...]:
    """The shelf; `now` (aware) is what "this month" is seen from, by default the time it is."""
    local = now or datetime.now().astimezone()
    month = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0).isoformat(timespec="seconds")
    return tuple(_on_shelf(each, month) for each in ready_queries().values() if each.name)


def _on_shelf(query: ReadyQuery, month: str) -> Ready:
    since = query.parameters.get("since")
    cypher = query.filled(
        time=of_time(query.time, ("since", ">=")) if since else "",
        by=of_speaker(query.by),
        entities=of_entities(ENTITIES),
        related=of_relationship("", "", over=None),
    )
    parameters = {**query.parameters, **({"since": month} if since else {})}
    return Ready(query.name, query.on_shelf or fill(query.about, {}), cypher, parameters)
