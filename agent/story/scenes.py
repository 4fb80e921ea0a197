"""Scenes: stretches of a story with a title, each remembered by whoever was there as they saw it.

A scene is a line of the stage, `scene:ID`, whose state is open or closed. When it closes, each member who saw anything
of it gets a summary of its own, made from what it saw: without a model, the first sentences of what mattered most, in
the very words. From then on the summary stands in its prompts, and the scene's turns leave them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.story.play import Play
from agent.story.stops import SENTENCE
from graph.events import Role
from graph.values import Member, StageLine, Turn
from graph.whole_words import words_in

SCENE = "scene:"  # before a scene's id, as an owner, and as the aspect of a summary
TITLE, STATE = "title", "state"
OPEN, CLOSED = "open", "closed"
LAST = 3  # scenes whose summaries are in every prompt
LONGEST = 600  # characters of a summary
QUOTED = 200  # characters of a sentence in it
KEY = 2  # significance from which on words are kept


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene on the path of a chat; begun `after` a turn, None: with the story; `seq` is the event of that."""

    id: str
    title: str
    open: bool
    after: str | None
    seq: int


def scenes_of(play: Play) -> list[Scene]:
    """The scenes of a play, in the order in which they began."""
    begun: dict[str, StageLine] = {}
    for line in play.history:
        if line.owner.startswith(SCENE) and line.aspect == STATE and line.text == OPEN:
            begun.setdefault(line.owner, line)
    return [
        Scene(
            owner.removeprefix(SCENE),
            play.text(owner, TITLE),
            play.text(owner, STATE) == OPEN,
            line.after,
            line.seq,
        )
        for owner, line in begun.items()
    ]


def summary(title: str, seen: Sequence[Turn], ratings: Mapping[str, int], spent: Collection[str] = frozenset()) -> str:
    """What is left of a scene without a model: of what somebody saw, the first, the weightiest and the last words.

    In the very words, each of at most QUOTED characters; empty where nothing was seen. What has a word that is `spent`,
    folded, is left out.
    """
    spent = frozenset(spent)
    said = [turn for turn in seen if turn.text and turn.role in (Role.USER, Role.ASSISTANT)]
    if not said:
        return ""
    heaviest = sorted(said, key=lambda turn: -ratings.get(turn.id, 0))[:4]
    kept = {turn.id for turn in (said[0], *heaviest, said[-1])}
    found, room = "", LONGEST - len(title) - 2
    for turn in said:
        if turn.id not in kept:
            continue
        quote = f"{turn.speaker}: {_first(turn.text or '')}"
        if not spent.isdisjoint(words_in(quote)):
            continue
        if len(found) + len(quote) + 1 > room:
            break
        found = f"{found} {quote}".strip()
    return f"{title}. {found}" if title else found


def key_quotes(seen: Iterable[Turn], ratings: Mapping[str, int]) -> list[str]:
    """The words of a scene that mattered: rated 2 or more, of at most QUOTED characters each."""
    weighty = (turn for turn in seen if ratings.get(turn.id, 0) >= KEY and turn.text)
    return [f"{turn.speaker}: {' '.join((turn.text or '').split())[:QUOTED]}" for turn in weighty]


def remembered(play: Play, voice: Member, closed: Sequence[Scene]) -> list[tuple[Scene, StageLine]]:
    """The summaries of the last closed scenes that a voice has, the oldest first."""
    found = []
    for scene in closed:
        line = play.lines.get((voice.id, f"{SCENE}{scene.id}"))
        if line is not None and line.text:
            found.append((scene, line))
    return found[-LAST:]


def _first(text: str) -> str:
    """The first sentence of a turn on one line."""
    line = " ".join(SENTENCE.split(text.strip(), maxsplit=1)[0].split())
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"
