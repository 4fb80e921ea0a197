"""What a graph saw that its log does not have any more: the last events, cut off where no hash can tell.

The graph notes the last event it applied and its hash. Where the log ends before that, or has another event there,
`graph.witness` keeps the note after the graph is rebuilt (the old one is kept aside), until the log has that event
again or the user has the graph made anew.
"""

import json
from pathlib import Path

from graph.errors import EventsMissing
from graph.reader import LogReader
from graph.sqlite import GRAPH
from graph.values import Check

WITNESS = "graph.witness"
_ADVICE = (
    "If this is a backup you put back, run `clew rebuild`. Otherwise restore a backup of log.sqlite that "
    f"contains them. Until then keep {GRAPH}.aside, which still has the messages."
)


def testify(folder: Path, *, applied: int, link: str) -> None:
    """Note the last event a graph had applied, and its hash in hex."""
    path = folder / WITNESS
    path.write_text(json.dumps({"applied": applied, "link": link}), encoding="utf-8")
    path.chmod(0o600)


def hear(folder: Path, reader: LogReader) -> str | None:
    """What is missing from the log, None if it has all that was ever noted."""
    try:
        noted = json.loads((folder / WITNESS).read_text(encoding="utf-8"))
        applied, link = int(noted["applied"]), str(noted["link"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if reader.link(applied).hex() == link:
        return None
    head = reader.head()
    if head < applied:
        return f"the log ends at event {head}, the graph had seen {applied}: the last events are missing"
    return f"event {applied} of the log is not the one the graph had seen: events are missing, or it is another log"


def missing(heard: str) -> EventsMissing:
    """What a start tells about it."""
    return EventsMissing(f"Warning: {heard}. What is in the log is safe, and the graph was rebuilt from it. {_ADVICE}")


def examine_witness(folder: Path, reader: LogReader) -> list[Check]:
    """A finding if something is missing."""
    heard = hear(folder, reader)
    return [Check("last events", False, heard, _ADVICE)] if heard is not None else []
