"""A story for people, as it was seen: all of a chat or one scene of it, by everybody or as one of the cast saw it.

As Markdown, with what that one keeps of it at the end, or as JSON Lines of its messages, each with who saw it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from agent.errors import AgentError
from agent.exporting import is_shown, message, one_line
from agent.story.play import Play, meant, play_of
from agent.story.scenes import CLOSED, SCENE, STATE, Scene, scenes_of
from agent.story.stage import REMEMBERED
from graph.readings.conversation import Readings
from graph.values import Member, Turn

NO_STORY = "This chat plays in no story. Nothing was written. Only stories are seen by a cast and have scenes."


@dataclass(frozen=True, slots=True)
class Script:
    """Messages in their order, the name of the chat or the scene, the cast, who saw it, and what that one keeps."""

    title: str
    turns: tuple[Turn, ...]
    cast: tuple[Member, ...]
    seer: Member | None = None
    kept: tuple[str, ...] = ()


def script_of(readings: Readings, session: str, *, seer: str | None = None, scene: str | None = None) -> Script:
    """The script of a chat, or of a `scene` of it by its title, as a member saw it by whose name. Raises AgentError."""
    about = readings.session(session)
    play = play_of(readings, about)
    if play is None:
        raise AgentError(NO_STORY)
    who = play.member(meant(play, seer)) if seer is not None else None
    path = readings.thread(session)
    wanted = _of_title(play, scene) if scene is not None else None
    if wanted is not None:
        path = _within(play, wanted, path)
    told = [turn for turn in readings.in_view(path) if is_shown(turn)]
    if who is not None:
        seen = {turn.id for turn in readings.thread(session, witness=who.id)}
        told = [turn for turn in told if turn.id in seen]
    title = wanted.title if wanted is not None else about.name or "Untitled chat"
    return Script(title, tuple(told), play.cast, who, tuple(_kept(play, who, wanted)) if who is not None else ())


def as_markdown(script: Script) -> Iterator[str]:
    """The pieces of a Markdown file."""
    seen = f" as {one_line(script.seer.name)} saw it" if script.seer is not None else ""
    yield f"# {one_line(script.title)}{seen}\n"
    yield from map(message, script.turns)
    if script.kept:
        yield f"\n## What {one_line(script.seer.name) if script.seer is not None else ''} keeps of it\n\n"
        yield from (f"- {one_line(each)}\n" for each in script.kept)


def as_lines(script: Script) -> Iterator[str]:
    """A line of JSON for each message: `turn`, `role`, `speaker`, `at`, `text`, and the names of those who `saw` it."""
    for turn in script.turns:
        saw = [each.name for each in script.cast if each.id in (turn.witnesses or ())]
        line = {
            "turn": turn.id,
            "role": turn.role,
            "speaker": turn.speaker,
            "at": turn.at.isoformat(),
            "text": turn.text,
            "saw": saw,
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _of_title(play: Play, title: str) -> Scene:
    """The last scene of a title, in any case. Raises AgentError."""
    wanted = one_line(title).casefold()
    scenes = scenes_of(play)
    found = [scene for scene in scenes if one_line(scene.title).casefold() == wanted]
    if not found:
        there = ", ".join(f"“{one_line(scene.title)}”" for scene in scenes) or "none"
        raise AgentError(f"There is no scene “{one_line(title)}”. Nothing was written. The scenes are: {there}.")
    return found[-1]


def _within(play: Play, scene: Scene, path: list[Turn]) -> list[Turn]:
    """What was said in a scene: below the turn after which it began, up to the one after which it was closed."""
    places = {turn.id: at for at, turn in enumerate(path, start=1)}
    owner = f"{SCENE}{scene.id}"
    closed = [line for line in play.history if (line.owner, line.aspect, line.text) == (owner, STATE, CLOSED)]
    ends = places.get(closed[-1].after or "", 0) if closed else len(path)
    return path[places.get(scene.after or "", 0) : ends]


def _kept(play: Play, member: Member, scene: Scene | None) -> Iterator[str]:
    for line in play.lines.values():
        of_it = line.aspect.startswith(REMEMBERED) if scene is None else line.aspect == f"{SCENE}{scene.id}"
        if line.owner == member.id and line.text and of_it:
            yield line.text
