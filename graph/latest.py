"""Whether something was decided here later than an export decided it: then the export does not change it back."""

import sqlite3
from collections.abc import Collection

from graph.events import (
    CoreWritten,
    Event,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ProjectMade,
    SessionArchived,
    SessionConfigured,
    SessionRenamed,
    SessionUnarchived,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
)

# Of the events of a thing, those past a time that say how it stands, the newest first.
_OF = """
SELECT id FROM events WHERE {thing} = ? AND kind IN ({kinds}) AND at > ?
AND coalesce(structure ->> '$.world', '') = ? ORDER BY seq DESC
"""


def decided_later(db: sqlite3.Connection, event: Event, *, at: int, but: Collection[str]) -> bool:
    """Whether the log has a later decision of what `event` decides, other than the events of these ids."""
    kinds: tuple[str, ...] = (event.kind,)
    match event:
        case SessionRenamed() | SessionConfigured() | ProjectAssigned():
            thing, of = "session", event.session
        case SessionArchived() | SessionUnarchived():
            thing, of, kinds = "session", event.session, ("session.archived", "session.unarchived")
        case TurnHidden() | TurnUnhidden():
            thing, of, kinds = "turn", event.turn, ("turn.hidden", "turn.unhidden")
        case TurnWithheld() | TurnReleased():
            thing, of, kinds = "turn", event.turn, ("turn.withheld", "turn.released")
        case TurnRated():
            thing, of = "turn", event.turn
        case PinSet() | PinCleared():
            thing, of = ("turn", event.turn) if event.turn is not None else ("item", event.observation or "")
            kinds = ("pin.set", "pin.cleared")
        case CoreWritten():
            thing, of = "kind <> 'turn.said' AND structure ->> '$.block'", event.block
        case ProjectMade():
            thing, of = "kind <> 'turn.said' AND structure ->> '$.project'", event.project
        case _:
            return False
    world = getattr(event, "world", None) or ""
    query = _OF.format(thing=thing, kinds=", ".join(f"'{kind}'" for kind in kinds))
    return any(id not in but for (id,) in db.execute(query, (of, at, world)))
