"""The ready queries of ready.toml: those on the shelf, and those that questions in plain words become."""

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from .pieces import PIECES
from .values import Ready

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
    )
    parameters = {**query.parameters, **({"since": month} if since else {})}
    return Ready(query.name, query.on_shelf or fill(query.about, {}), cypher, parameters)
