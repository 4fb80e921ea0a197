"""How things stand in one what-if, for those who read the graph, which knows of each item only its own world."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graph.impacts import Standing
from graph.worlds import Lineage


@dataclass(frozen=True, slots=True)
class InWorld:
    """What a world may see, and how it stands there.

    `observations` by id, those that are not live too. `seen` gives those of some turns that the world sees, and whether
    what is made of each may be believed: it may not be of what is withheld.
    """

    lineage: Lineage
    observations: dict[str, Standing]
    seen: Callable[[Iterable[str]], dict[str, bool]]

    def standing(self, turns: Iterable[str]) -> set[str]:
        """Those of some turns that stand in the world."""
        return {turn for turn, stands in self.seen(turns).items() if stands}
