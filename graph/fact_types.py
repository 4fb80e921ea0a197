"""Which type of fact a memory is, by a closed table (fact_types.toml): told at reading, kept nowhere."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FactType = Literal["world", "experience", "opinion"]


@dataclass(frozen=True, slots=True)
class _Table:
    opinion: re.Pattern[str]
    relations: dict[str, FactType]
    kinds: dict[str, FactType]


def fact_type(text: str, kind: str, relation: str | None) -> FactType:
    """The type of what a memory says, by its words, the relationship it tells of, and its kind."""
    table = _table()
    if table.opinion.search(text) is not None:
        return "opinion"
    found = table.relations.get(relation) if relation is not None else None
    return found or table.kinds.get(kind, "world")


@cache
def _table() -> _Table:
    told = tomllib.loads(Path(__file__).with_name("fact_types.toml").read_text(encoding="utf-8"))
    phrases = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in told["words"]["opinion"])
    return _Table(re.compile(rf"\b(?:{phrases})\b", re.IGNORECASE), told["relations"], told["kinds"])
