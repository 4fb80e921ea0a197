"""How things stand in one what-if, for those who read the graph, which knows of each item only its own world."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graph.beliefs import Wanted
from graph.impacts import RevisionStanding
from graph.worlds import Lineage


@dataclass(frozen=True, slots=True)
class InWorld:
    """What a world may see, and how it stands there.

    `observations` by id, those that are not live too. `seen` gives those of some turns that the world sees, and whether
    what is made of each may be believed: it may not be of what is withheld.
    """

    lineage: Lineage
    observations: dict[str, RevisionStanding]
    seen: Callable[[Iterable[str]], dict[str, bool]]

    def standing(self, turns: Iterable[str]) -> set[str]:
        """Those of some turns that stand in the world."""
        return {turn for turn, stands in self.seen(turns).items() if stands}


def standing_rows(rows: Iterable[Mapping[str, Any]], view: InWorld) -> list[dict[str, Any]]:
    """Rows of observations as they stand in a world; without those it may not see."""
    return [{**row, **asdict(view.observations[row["id"]])} for row in rows if row["id"] in view.observations]


def is_wanted(wanted: Wanted, row: Mapping[str, Any]) -> bool:
    """Whether an observation stands as it is asked for."""
    if wanted.status not in (None, row["status"]):
        return False
    if wanted.everything or wanted.status in ("superseded", "invalid"):
        return bool(wanted.dead or row["live"])
    return bool(row["current"] or (wanted.dead and not row["live"] and row["status"] in ("candidate", "active")))
