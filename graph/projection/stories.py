"""How stories come into the graph: their worlds and casts, what stands on their stages, and who saw which turn.

What stands on a stage is kept line by line; which of them holds is asked along a path (stage.py), so that a head that
moves changes nothing here.
"""

from collections.abc import Collection

from graph.events import CastReset, CastSet, StageSet, StoryBegun, TurnWitnessed
from graph.events.codec import Stored
from graph.projection.entities import cast
from graph.projection.sink import Sink, node

SEAT, RESET = "seat", "reset"


def begin(sink: Sink, stored: Stored, event: StoryBegun) -> None:
    """A story is a world without a parent."""
    named = {"name": event.text, "name_seq": stored.seq}
    sink.put_node("World", event.world, {"seq": stored.seq, "story": event.world, **named})


def seat(sink: Sink, stored: Stored, event: CastSet) -> None:
    """A member comes, changes its seat or its name, or leaves."""
    cast(sink, stored, event)
    _line(sink, stored, event, event.member, SEAT, value=event.seat, after=event.after)


def reset(sink: Sink, stored: Stored, event: CastReset) -> None:
    """A member forgets, or remembers again."""
    _line(sink, stored, event, event.member, RESET, value=str(event.since))


def put(sink: Sink, stored: Stored, event: StageSet) -> None:
    """An aspect of something is otherwise from here on."""
    _line(sink, stored, event, event.owner, event.aspect, text=event.text, by=event.by, after=event.after)
    for source in dict.fromkeys(event.sources):
        sink.put_rel("SET_FROM", str(stored.seq), source)


def correct(sink: Sink, event: TurnWitnessed, seq: int) -> None:
    """Others saw a turn than was written down."""
    for member in (node(sink, "Turn", event.turn)["witnesses"] or "").split():
        sink.drop_rel("WITNESSED", member, event.turn)
    witness(sink, event.turn, event.witnesses)
    sink.set_node("Turn", event.turn, {"touched": seq})


def witness(sink: Sink, turn: str, members: Collection[str]) -> None:
    """These saw a turn."""
    who = dict.fromkeys(members)
    for member in who:
        sink.put_rel("WITNESSED", member, turn)
    sink.set_node("Turn", turn, {"witnesses": " ".join(who)})


def erase(sink: Sink, seq: int) -> None:
    """A line says nothing any more."""
    sink.set_node("StageLine", str(seq), {"text": None})


def _line(
    sink: Sink,
    stored: Stored,
    event: CastSet | CastReset | StageSet,
    owner: str,
    aspect: str,
    *,
    value: str | None = None,
    text: str | None = None,
    by: str = "user",
    after: str | None = None,
) -> None:
    line = {"seq": stored.seq, "world": event.world, "owner": owner, "aspect": aspect, "at": stored.at}
    sink.put_node("StageLine", str(stored.seq), {**line, "value": value, "text": text, "by": by, "after": after})
