"""When an event of a story may be stored, and what a story asks of the others.

Invariant: stories are apart. Of a turn of a story, and of no other, it is told which members of the cast saw it;
whoever speaks or is addressed there is one, as the world of the turn knows them; and no path leads out of a story or
into one.
"""

import json
import sqlite3
from collections.abc import Collection

from graph.events import CastReset, CastSet, Role, StageSet, StoryBegun, TurnSaid, TurnWitnessed
from graph.log.requiring import (
    found,
    item_exists,
    require,
    require_name,
    require_turn,
    turn_exists,
    world_exists,
)
from graph.projection.entities import CHARACTER
from graph.projection.paths import Lineage, lineage_of
from graph.projection.stories import RESET, SEAT

Play = StoryBegun | CastSet | CastReset | StageSet | TurnWitnessed
SPEAKERS = (Role.USER, Role.ASSISTANT)

_OF_WORLD = "SELECT story FROM worlds WHERE id = ?"
_OF_SESSION = "SELECT world, story FROM sessions AS own JOIN worlds ON worlds.id = own.world WHERE own.id = ?"
_OF_TURN = "SELECT world, story FROM turns AS said JOIN worlds ON worlds.id = said.world WHERE said.id = ?"
# Where it was said that a member plays.
_CAST = """
SELECT line.world, line.seq FROM subjects JOIN stage_lines AS line ON line.id = CAST(subjects.seq AS TEXT)
WHERE subjects.id = ? AND subjects.kind = 'cast.set' ORDER BY line.seq
"""
_ELSEWHERE = """
SELECT source.value FROM json_each(:turns) AS source WHERE NOT EXISTS (
    SELECT 1 FROM turns AS said JOIN worlds ON worlds.id = said.world
    WHERE said.id = source.value AND worlds.story = :story
)
"""


def admit_play(db: sqlite3.Connection, event: Play) -> None:
    """Raise InvalidEvent unless it is of a story or a what-if of one, of members of its cast and of its own turns."""
    match event:
        case StoryBegun():
            require(not world_exists(db, event.world), f"there is a world {event.world} already")
            require(event.text is not None, "the story has no fit name")
            require_name(event.text, "the story")
        case TurnWitnessed():
            require_turn(db, event.turn)
            world, story = db.execute(_OF_TURN, (event.turn,)).fetchone()
            require(story is not None, f"{event.turn} is of no story")
            _require_members(db, lineage_of(db, world), event.witnesses)
        case CastSet():
            _admit_member(db, event, _story(db, event.world))
        case CastReset():
            _story(db, event.world)
            _require_members(db, lineage_of(db, event.world), (event.member,))
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            require(event.since <= last, "an event after which a member would remember does not exist")
        case StageSet():
            story = _story(db, event.world)
            require_name(event.owner, "what stands on the stage")
            require_name(event.aspect, "the aspect")
            require(event.aspect not in (SEAT, RESET), f"the {event.aspect} of a member is no line of the stage")
            require(len(set(event.sources)) == len(event.sources), "it names a source twice")
            _require_turns(db, story, [*event.sources, *([event.after] if event.after is not None else [])])


def _admit_member(db: sqlite3.Connection, event: CastSet, story: str) -> None:
    require_name(event.text, "the member of the cast")
    require(event.member.split() == [event.member], "the member of the cast has no fit id")
    if item_exists(db, "cast.set", event.member):
        (world, _) = db.execute(_CAST, (event.member,)).fetchone()
        require(_story(db, world) == story, f"{event.member} is of another story")
    else:
        new = not found(db, "SELECT 1 FROM entities WHERE id = ?", event.member)
        require(new and event.text is not None, f"{event.member} is no member that was named")
    if event.after is not None and turn_exists(db, event.after):  # what was brought from elsewhere may lack it
        _require_turns(db, story, (event.after,))


def admit_said(db: sqlite3.Connection, event: TurnSaid) -> None:
    """Raise InvalidEvent unless the cast of a story, and of none but a story, speaks, is addressed, and saw a turn."""
    spoken = event.speaker if event.role in SPEAKERS else None
    require_heard(db, event.session, spoken, event.addressed, event.witnesses)
    require_path(db, event.session, event.parent)


def require_heard(
    db: sqlite3.Connection,
    session: str,
    speaker: str | None,
    addressed: str | None,
    witnesses: Collection[str] | None,
) -> None:
    """What is said in a story names its cast, and nothing else does; `speaker` is of a message, not of a note."""
    world, story = db.execute(_OF_SESSION, (session,)).fetchone() or ("", None)
    if story is None:
        require(witnesses is None and addressed is None, "only what is said in a story is addressed, or witnessed")
        return
    require(witnesses is not None, "it does not say who of the cast saw it")
    named = (id for id in (speaker, addressed) if id is not None)
    _require_members(db, lineage_of(db, world), [*(witnesses or ()), *named])


def require_path(db: sqlite3.Connection, session: str, turn: str | None) -> None:
    """A session of a story goes on from turns of it, and none else does."""
    if turn is not None:
        (_, there), (_, here) = (
            db.execute(query, (id,)).fetchone() or (None, None)
            for query, id in ((_OF_TURN, turn), (_OF_SESSION, session))
        )
        require(there == here, f"turn {turn} is of another story")


def require_no_member(db: sqlite3.Connection, entity: str | None) -> None:
    """Whoever is of a cast is called and known by that alone."""
    of_cast = "SELECT 1 FROM entities WHERE id = ? AND noted_kind = ?"
    require(entity is None or not found(db, of_cast, entity, CHARACTER), f"{entity} is of the cast of a story")


def _story(db: sqlite3.Connection, world: str) -> str:
    """The story that a world is of. Raises InvalidEvent where it is of none."""
    row = db.execute(_OF_WORLD, (world,)).fetchone()
    require(row is not None and row[0] is not None, f"{world} is no story")
    return str(row[0])


def _require_members(db: sqlite3.Connection, lineage: Lineage, members: Collection[str]) -> None:
    for member in dict.fromkeys(members):
        known = any(lineage.knows(world, seq) for world, seq in db.execute(_CAST, (member,)))
        require(known, f"{member} is no member of the cast")


def _require_turns(db: sqlite3.Connection, story: str, turns: Collection[str]) -> None:
    for turn in turns:
        require_turn(db, turn)
    row = db.execute(_ELSEWHERE, {"turns": json.dumps(list(turns)), "story": story}).fetchone()
    require(row is None, f"turn {row and row[0]} is of another story")
