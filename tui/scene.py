"""The story of the chat on the screen, in words: who is there, who saw a message, and to whom the next one goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from tui import actions
from tui.state import CastMember, Cue, Move, Passed, Scene
from tui.text import MUTED, cut, one_line, plain
from tui.themes import HERE, THERE, seat_style

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import Session, StageLine, Turn

YOU = "you"
WORLD = "world"  # the owner of what is of nobody in particular, as in agent/story/play.py
NO_STORY = "This chat plays in no story. /story begins one."
LEAST_NAME = 8  # cells of a story's name in the bar


async def scene_of(service: "Face", about: "Session") -> Scene | None:
    """The story that a chat plays in; None where it plays in none. Raises NotFound."""
    if about.story is None:
        return None
    players = await service.stories.cast(about.id)
    found = next((each for each in await service.stories.all() if each.world == about.story), None)
    cast = tuple(CastMember(each.member, one_line(each.name), each.seat, each.present) for each in players)
    name = one_line(found.name if found is not None else about.name or "")
    stage = await service.stories.stage(about.id)
    of_world = {line.aspect: line for line in stage if line.owner == WORLD}
    within = of_world["scene"].text or "" if "scene" in of_world else ""
    set_at = frozenset(line.after for line in of_world.values() if line.after is not None)
    return Scene(about.id, about.story, name, cast, facts_of(stage), within, set_at)


def facts_of(stage: "Sequence[StageLine]") -> tuple[str, ...]:
    """Where a story stands, of what is on its stage: the scene, the place, the time with the weather."""
    told = {line.aspect: one_line(line.text or "") for line in stage if line.owner == WORLD}
    when = ", ".join(filter(None, (told.get("clock"), told.get("weather"))))
    return tuple(filter(None, (told.get("scene"), told.get("place"), when)))


# Who saw it


def cue_of(turn: "Turn", scene: Scene) -> Cue:
    """What stands above a message: who speaks, and who saw it where not all of those did who played then."""
    speaker = scene.member(turn.member)
    saw = turn.witnesses or ()
    # Ids are in the order in which they were made: whoever has a later one than the message came after it.
    playing = [each for each in scene.cast if each.seat == YOU or each.id < turn.id or each.id in saw]
    told = tuple((each.name, each.seat, each.id in saw) for each in playing)
    everybody = all(there for _, _, there in told)
    name = speaker.name if speaker is not None else one_line(turn.speaker)
    return Cue(name, speaker.seat if speaker is not None else "", () if everybody else told)


def cue_named(name: str, scene: Scene | None, before: Cue | None = None) -> Cue:
    """As far as it is known of a message that is not in the log yet."""
    speaker = scene.called(name) if scene is not None else None
    return Cue(one_line(name), speaker.seat if speaker is not None else "", before.saw if before is not None else ())


# Who left


def newest_of(turns: "Sequence[Turn]") -> "Sequence[Turn]":
    """The user's last message of some turns, and what follows it."""
    place = next((place for place in range(len(turns) - 1, -1, -1) if turns[place].role == "user"), 0)
    return turns[place:]


def moves_in(turns: "Sequence[Turn]", scene: Scene) -> dict[str, Move]:
    """Who seems to have left the scene, or to be back, by the turn that tells it last; nobody where it is so already.

    Whoever is `you` decides that alone.
    """
    from agent.story.departures import departure
    from agent.story.names import Named
    from agent.story.stops import called

    names = [Named(each.id, tuple(called(each.name))) for each in scene.cast]
    found: dict[str, tuple[str, bool]] = {}
    for turn in turns:
        if turn.role in ("user", "assistant") and turn.text and not turn.hidden:
            found |= {
                guess.id: (turn.id, guess.kind == "joins") for guess in departure(turn.text, names, speaker=turn.member)
            }
    return {
        turn: Move(each.id, each.name, here)
        for each in scene.cast
        if each.seat != YOU and each.id in found
        for turn, here in [found[each.id]]
        if here != each.present
    }


def passed_in(turns: "Sequence[Turn]", scene: Scene) -> dict[str, Passed]:
    """What the user's last message tells of time and places, by its turn; nothing once the world was set since."""
    from agent.story.passing import passing

    said = next((turn for turn in turns if turn.role == "user" and turn.text and not turn.hidden), None)
    if said is None or not scene.set_at.isdisjoint(turn.id for turn in turns):
        return {}
    found = passing(said.text or "")
    if found is None or (found.sort == "close" and not scene.within):
        return {}
    return {said.id: Passed(found.sort, one_line(found.words))}


# The bar


def bar_content(scene: Scene, width: int, *, named: bool, brief: bool = False) -> Content:
    """One line: the story's name where it is `named`, where it stands, and who is there.

    Where there is no room for all, what comes first is cut; `brief` is one thing beside who is there.
    """
    present = Content(" ").join(_chip(each) for each in scene.cast)
    facts = [*([scene.name] if named else []), *scene.facts]
    room = width - present.cell_length - 3
    if not facts or room < LEAST_NAME:
        return present.truncate(max(1, width), ellipsis=True)
    facts = facts[:1] if brief else facts
    while len(facts) > 1 and len(" · ".join(facts)) > room:
        facts.pop()
    first, *others = facts
    parts = [plain(cut(first, room), "bold" if named else ""), *map(plain, others), present]
    return plain(" · ", MUTED).join(parts)


def _chip(member: CastMember) -> Content:
    mark = plain(HERE if member.present else THERE, seat_style(member.seat) if member.present else MUTED)
    name = YOU if member.seat == YOU else member.name
    return Content.assemble(mark, " ", plain(name, "" if member.present else MUTED))


# Coming and going


def placed(member: CastMember, *, present: bool) -> str:
    """What it means that somebody came or left, in a sentence."""
    if present:
        return f"{is_(member)} on the scene from here on."
    sees = "see" if member.seat == YOU else "sees"
    return f"{is_(member)} away and {sees} nothing of what follows. /present {member.name} is the way back."


def _is(member: CastMember) -> str:
    return "You are" if member.seat == YOU else f"{member.name} is"


def is_(member: CastMember) -> str:
    """How a sentence about a member begins."""
    return "You are" if member.seat == YOU else f"{member.name} is"


# To whom


@dataclass(frozen=True, slots=True)
class Hearing:
    """To whom what is being written goes: `to` one of the voices, or to nobody."""

    how: Literal["said", "whispered", "aside", "nobody"]
    to: CastMember | None = None


def hearing(text: str, scene: Scene) -> Hearing | None:
    """To whom a text goes that is being written; None where it is a command. As agent/story/play.py decides it."""
    asked = actions.parse(text)
    if isinstance(asked, actions.Command) and asked.action.name == "whisper":
        to, _ = whispered(asked.argument, scene.voices)
        return Hearing("whispered", to)
    if asked is not None:
        return None
    from agent.story.spans import split_ooc

    said, notes = split_ooc(text)
    if notes and not said:
        return Hearing("aside")
    voices = scene.voices
    if len(voices) < 2:
        return Hearing("said", voices[0]) if voices else Hearing("nobody")
    from agent.story.addressee import addressed
    from agent.story.names import Named
    from agent.story.stops import called

    names = [Named(each.id, tuple(called(each.name))) for each in voices]
    return Hearing("said", scene.member(addressed(said, names, host=voices[0].id).id))


def hearing_content(found: Hearing) -> Content:
    """It in the frame of the composer."""
    match found:
        case Hearing("said", CastMember() as to):
            return Content.assemble(plain("→ ", MUTED), plain(to.name, seat_style(to.seat)))
        case Hearing("whispered", CastMember() as to):
            return Content.assemble(plain("whisper → ", "italic"), plain(to.name, seat_style(to.seat)))
        case Hearing("whispered"):
            return plain("whisper → ?", "italic")
        case Hearing("aside"):
            return plain("out of character: nobody in the story hears it", MUTED)
        case _:
            return plain("nobody is here to answer · /cast", "$warning")


def whispered(argument: str, voices: "tuple[CastMember, ...]") -> tuple[CastMember | None, str]:
    """Whom `NAME text` names, by the whole name or by a word of it that only one has, and the text."""
    words = argument.split(maxsplit=1)
    low = " ".join(argument.split()).casefold()
    for each in sorted(voices, key=lambda voice: -len(voice.name)):
        whole = each.name.casefold()
        if low == whole or low.startswith(f"{whole} "):
            rest = argument.split(maxsplit=len(each.name.split()))
            return each, rest[-1] if low != whole else ""
    if not words:
        return None, ""
    first = words[0].rstrip(",:").casefold()
    found = [each for each in voices if first in each.name.casefold().split()]
    return (found[0] if len(found) == 1 else None), words[1] if len(words) > 1 else ""
