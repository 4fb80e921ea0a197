"""What a change of a story did, in words, for whoever undoes it."""

from collections.abc import Mapping, Sequence

from agent.story.lore import BOOK
from agent.story.play import ABSENT, CARD, PLACE, PRESENT, WORLD
from agent.story.plots import PLOT
from agent.story.scenes import CLOSED, OPEN, SCENE, STATE
from agent.story.stage import FACT, GAP, GROUP, RESTATED
from agent.story.ties import AFFINITY, APART, TRUST
from agent.story.voice import READ_AS
from graph.events import CastReset, CastSet, Event, StageSet
from graph.history.undoing import quoted

SOMEBODY = "somebody"


def owners_of(events: Sequence[Event]) -> dict[str, list[str]]:
    """Whose names are wanted to tell of events, by the world that they are in."""
    found: dict[str, list[str]] = {}
    for event in events:
        match event:
            case CastSet(world=world, member=member) | CastReset(world=world, member=member):
                found.setdefault(world, []).append(member)
            case StageSet(world=world, owner=owner):
                found.setdefault(world, []).extend(owner.split(APART))
            case _:
                continue
    return found


def what_was(events: Sequence[Event], names: Mapping[str, str]) -> str:
    """What a change did, empty where it was none of a story: of several lines, what tells most."""
    for event in events:
        match event:
            case CastSet(member=member, seat=seat):
                who = names.get(member, SOMEBODY)
                return f"gave {who} a seat in a story" if seat else f"took {who} out of a story"
            case CastReset(member=member):
                return f"had {names.get(member, SOMEBODY)} forget what they saw"
            case _:
                continue
    lines = [event for event in events if isinstance(event, StageSet)]
    told = (_at_large(line) for line in lines)
    return next(filter(None, told), "") or (_line(lines[0], names) if lines else "")


def _at_large(line: StageSet) -> str:
    """A line that tells what a change of several was."""
    if line.aspect.startswith(GAP):
        return "let time pass in a story"
    if line.owner.startswith(SCENE) and line.aspect == STATE:
        return {OPEN: "began a scene", CLOSED: "ended a scene"}.get(line.text or "", "changed a scene")
    return "changed the plan of a story" if line.owner.startswith(PLOT) else ""


def _line(line: StageSet, names: Mapping[str, str]) -> str:
    who, text = names.get(line.owner, SOMEBODY), line.text
    if line.aspect == PRESENT:
        return f"took {who} off the scene" if text == ABSENT else f"brought {who} onto the scene"
    if line.aspect in (CARD, READ_AS):
        return f"changed the card of {who}"
    if line.aspect.startswith(BOOK):
        return f"{'added' if text else 'removed'} the lorebook {quoted(line.aspect.removeprefix(BOOK))}"
    if line.aspect.startswith(FACT):
        return f"said what {who} knows"
    if line.aspect == RESTATED:
        return "had it told anew what everybody does"
    what = f"the {line.aspect} of {_owner(line.owner, names)}"
    if text and line.aspect in (AFFINITY, TRUST):
        return f"set {what} to {text[1:]}" if text.startswith("=") else f"moved {what} by {text}"
    return f"set {what} to {quoted(text)}" if text else f"cleared {what}"


def _owner(owner: str, names: Mapping[str, str]) -> str:
    if owner == WORLD:
        return "the story"
    if owner == GROUP:
        return "the group"
    if owner.startswith(PLACE):
        return f"the place {quoted(owner.removeprefix(PLACE))}"
    ends = [names.get(each, SOMEBODY) for each in owner.split(APART)]
    return ends[0] if len(ends) == 1 else f"{ends[0]} towards {ends[1]}"
