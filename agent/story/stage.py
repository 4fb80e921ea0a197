"""What stands on a story's stage, as people set it and as prompts tell it: whose it is, which aspects there are.

What somebody feels and wants is told to nobody else; what one does, holds and where one is, to whoever is there.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.errors import AgentError
from agent.story.play import MET, PLACE, PRESENT, WORLD, Play
from agent.story.plots import PLOT, TEXTS, plot_by, told_of
from agent.story.scenes import LAST, SCENE, remembered, scenes_of
from agent.story.ties import AFFINITY, APART, SUMMARY, TRUST, Tie, in_words, pair, ties_of
from graph.values import Member, StageLine

GROUP = "group"
GAP = "gap:"  # before the id of a skip, as the aspect of what is remembered of it
FACT = "fact:"  # before an id, as the aspect of something that a member learned
REMEMBERED = (FACT, GAP, SCENE)  # what begins the aspects of what a member knows
MOST_FACTS = 8  # that are told
LONGEST = 600  # characters of a line
RESTATED = "restated"  # the aspect of the world that has what people do told anew

INNER = {"mood": "feels {}", "goals": "wants: {}", "status": "is {}", "inventory": "carries {}"}
OUTER = {
    "public": "is known to all: {}",
    "place": "is at {}",
    "posture": "{}",
    "action": "is {}",
    "holding": "holds {}",
    "attention": "attends to {}",
}
OF_MEMBER = (*INNER, *OUTER, PRESENT)
OF_WORLD = {
    "scene": "Scene: {}",
    "place": "Place: {}",
    "clock": "Time: {}",
    "weather": "Weather: {}",
    "anchor": "{}",
}
OF_GROUP = {"summary": "Together: {}", "dynamic": "Between them: {}"}
OF_TIE = (AFFINITY, TRUST, SUMMARY, MET)
OF_PLACE = ("slots", "moving", "public", "audible")


@dataclass(frozen=True, slots=True)
class Told:
    """One line of the stage as a prompt has it; its `key` tells what it is a version of."""

    key: str
    seq: int
    text: str


def aspects_of(owner: str, play: Play) -> tuple[str, ...]:
    """What can be set of a member, the world, the group, a place, or a plot. Raises AgentError for anything else."""
    if play.member(owner) is not None:
        known = (aspect for of, aspect in play.lines if of == owner and aspect.startswith(REMEMBERED))
        return (*OF_MEMBER, *known)
    if owner.startswith(PLOT):
        plot_by(play, owner.removeprefix(PLOT))
        return TEXTS
    if owner == WORLD:
        return tuple(OF_WORLD)
    if owner == GROUP:
        return tuple(OF_GROUP)
    ends = owner.split(APART)
    if len(set(ends)) == 2 and all(play.member(each) is not None for each in ends):
        return OF_TIE
    if owner.startswith(PLACE) and owner.removeprefix(PLACE).strip():
        return OF_PLACE
    raise AgentError(f"There is nothing called {owner} on this stage. Nothing was changed.")


def told_to(play: Play, voice: Member, renewal: int = 0, met: Collection[str] = ()) -> list[Told]:
    """What a voice is told of the stage: the world, the group where all are there, itself, and what others do.

    What people do is told anew with each `renewal`, counted from 0, and where that was asked for. Of those whom it did
    not know in the beginning it is told of who they are once they have `met`, and of nothing before.
    """
    strange = {each.id for each in play.cast if play.are_strangers(voice.id, each.id)}
    unknown = strange - set(met)
    asked = play.lines.get((WORLD, RESTATED))
    anew = f"~{renewal}" * (renewal > 0) + (f"~{asked.seq}" if asked is not None else "")
    found = [*_told(play.lines, WORLD, OF_WORLD), *_scenes(play, voice)]
    found += _kept(play, voice, GAP, "In between", LAST)
    found += _kept(play, voice, FACT, f"{voice.name} knows", MOST_FACTS)
    if len(play.present) == len(play.cast) > 2:
        found += _told(play.lines, GROUP, OF_GROUP)
    found += (_met(play, voice, each) for each in play.cast if each.id in strange - unknown)
    for member in play.present:
        if member.id in unknown:
            continue
        found += (replace(each, key=each.key + anew) for each in _told(play.lines, member.id, OUTER, member.name))
        if member.id == voice.id:
            found += _told(play.lines, member.id, INNER, member.name)
    plots = (Told(owner, seq, text) for owner, seq, text in told_of(play, voice))
    return [*found, *(each for owner, each in _ties(play, voice) if owner not in unknown), *plots]


def _met(play: Play, voice: Member, other: Member) -> Told:
    line = play.lines[pair(voice.id, other.id), MET]
    return Told(f"{voice.id}.{MET}.{other.id}", line.seq, f"{voice.name} has met {other.name}.")


def _scenes(play: Play, voice: Member) -> Iterator[Told]:
    """How the last scenes ended, as a voice remembers them."""
    for scene, line in remembered(play, voice, [each for each in scenes_of(play) if not each.open]):
        yield Told(f"{voice.id}.{SCENE}{scene.id}", line.seq, f"Earlier: {line.text}")


def _kept(play: Play, voice: Member, sort: str, lead: str, most: int) -> Iterator[Told]:
    """What a voice remembers of a sort, the last of it: facts, times that were skipped."""
    kept = [line for (owner, aspect), line in play.lines.items() if owner == voice.id and aspect.startswith(sort)]
    for line in sorted((each for each in kept if each.text), key=lambda each: each.seq)[-most:]:
        yield Told(f"{voice.id}.{line.aspect}", line.seq, f"{lead}: {line.text}")


def _ties(play: Play, voice: Member) -> Iterator[tuple[str, Told]]:
    """How a voice stands to the others who are there, by their ids; told anew where that is worth other words."""
    there = {each.id for each in play.present}
    for tie in ties_of(play.cast, play.history):
        if tie.owner.id == voice.id and tie.target.id in there and (words := in_words(tie)):
            told = Told(pair(tie.owner.id, tie.target.id), _since(tie, words), f"{voice.name} {words}.")
            yield tie.target.id, told


def _since(tie: Tie, words: str) -> int:
    """The event since which a tie is told in these words."""
    changes = list(tie.changes)
    while len(changes) > 1:
        before = ties_of((tie.owner, tie.target), changes[:-1])
        if next(in_words(each) for each in before if each.owner.id == tie.owner.id) != words:
            break
        changes.pop()
    return changes[-1].seq


def _told(
    lines: Mapping[tuple[str, str], StageLine], owner: str, wordings: Mapping[str, str], name: str = ""
) -> Iterator[Told]:
    for aspect, wording in wordings.items():
        line = lines.get((owner, aspect))
        if line is not None and line.text:
            text = wording.format(line.text.strip().rstrip("."))
            yield Told(f"{owner}.{aspect}", line.seq, f"{name} {text}.".strip())
