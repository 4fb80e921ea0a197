"""The events of stories: worlds of their own with a cast, what stands on their stage, and who saw what.

`graph.events` joins them with the others into the closed union that the log holds. What stands on the stage is never
overwritten: the last word counts that holds on the path which is looked at, so that going back takes it along.
"""

from typing import Literal

from pydantic import Field

from graph.events.conversation import Base

Seat = Literal["you", "host", "guest"]
SEATS: tuple[Seat, ...] = ("you", "host", "guest")
Author = Literal["user", "rule", "model"]


class StoryBegun(Base):
    """A story begins: a world without a parent, so that nothing of it is learned elsewhere. `text` is its name."""

    kind: Literal["story.begun"] = "story.begun"
    world: str
    text: str | None


class CastSet(Base):
    """A member of a story's cast has a seat from here on, or none; `text` is its name, None where that stays.

    `after` is the turn at which that was said, so that it holds on the paths over it; None: everywhere in the world.
    """

    kind: Literal["cast.set"] = "cast.set"
    world: str
    member: str
    seat: Seat | None = None
    after: str | None = None
    text: str | None


class CastReset(Base):
    """What a member knows begins after event `since`; 0: with all that it saw."""

    kind: Literal["cast.reset"] = "cast.reset"
    world: str
    member: str
    since: int = Field(ge=0)


class StageSet(Base):
    """What one aspect of something is from here on, such as a member's mood; no text: nothing any more.

    `owner` is a member or a name such as "world"; `after` as in CastSet. `sources` are the turns whose words it may
    carry: it holds while all of them stand on the path.
    """

    kind: Literal["stage.set"] = "stage.set"
    world: str
    owner: str
    aspect: str
    after: str | None = None
    sources: tuple[str, ...] = ()
    by: Author = "user"
    text: str | None


class TurnWitnessed(Base):
    """By hand: these members of the cast saw a turn, and nobody else."""

    kind: Literal["turn.witnessed"] = "turn.witnessed"
    turn: str
    witnesses: tuple[str, ...] = ()
