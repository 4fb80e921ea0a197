"""How it is heard that a source begins or ceases to stand: along the relationships that lead to it, and no others."""

from collections.abc import Callable
from functools import cache

from graph.belief import recount, settle
from graph.inheritance import inherits
from graph.sink import Sink, node
from graph.sources import find
from graph.wording import weigh, world_of

# By table of the source, the relationships by which observations hang on it.
_PROOF = {
    "Turn": ("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY"),
    "Chunk": ("DERIVED_FROM", "SUPPORTED_BY"),
}


def flow(sink: Sink, table: str, source: str, seq: int, *, step: int, elsewhere: int) -> None:
    """Tell all that hangs on a source that it stands again (+1) or no longer (-1), as event `seq` says.

    `step` is for the source's own world, `elsewhere` for those that inherit it.
    """
    step_in = _steps(sink, table, source, step, elsewhere)
    for rel, observation in sink.starts(_PROOF[table], source, to=table):
        now = node(sink, "Observation", observation)
        match rel, step_in(now["world"]):
            case _, 0:
                pass
            case "DERIVED_FROM", here:
                settle(sink, observation, seq, lost_sources=now["lost_sources"] - here)
            case "RETIRED_BY", here:
                settle(sink, observation, seq, contradictions=now["contradictions"] + here)
            case _:  # its confidence and its trend are read from what stands
                sink.set_node("Observation", observation, {"touched": seq})
        if rel == "DERIVED_FROM" and elsewhere:
            recount(sink, observation, seq)
    for _, wording in sink.starts(("WORDED_FROM",), source, to=table):
        if here := step_in(world_of(sink, wording)):
            weigh(sink, wording, -here)


def _steps(sink: Sink, table: str, source: str, step: int, elsewhere: int) -> Callable[[str], int]:
    """What a change of a source is in a world."""
    if table == "Chunk":
        return lambda world: step
    own = find(sink, source)[1]["world"]

    @cache
    def step_in(world: str) -> int:
        return step if world == own else elsewhere if elsewhere and inherits(sink, world, source) else 0

    return step_in
