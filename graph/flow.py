"""How it is heard that a source begins or ceases to stand: along the relationships that lead to it, and no others."""

from graph.belief import settle
from graph.sink import Sink, node
from graph.wording import weigh

# By table of the source, the relationships by which observations hang on it.
_PROOF = {
    "Turn": ("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY"),
    "Chunk": ("DERIVED_FROM", "SUPPORTED_BY"),
}


def flow(sink: Sink, table: str, source: str, step: int, seq: int) -> None:
    """Tell all that hangs on a source that it stands again (+1) or no longer (-1), as event `seq` says."""
    for rel, observation in sink.starts(_PROOF[table], source, to=table):
        now = node(sink, "Observation", observation)
        match rel:
            case "DERIVED_FROM":
                settle(sink, observation, seq, dead=now["dead"] - step)
            case "RETIRED_BY":
                settle(sink, observation, seq, retired=now["retired"] + step)
            case _:  # its confidence and its trend are read from what is live
                sink.set_node("Observation", observation, {"touched": seq})
    for _, wording in sink.starts(("WORDED_FROM",), source, to=table):
        weigh(sink, wording, -step)
