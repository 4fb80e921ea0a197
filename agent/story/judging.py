"""What a trusted model is asked about a story: choices among what is given, and numbers of sentences, never words.

One question for each who is present, of what that one saw: how it stands to the others now, its mood and posture, and
which sentence tells it something new. Whatever it answers becomes lines of the stage that name the turns they are from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from agent.question import question
from agent.story.play import Play
from agent.story.plots import ACTIVE, CANCELLED, COMPLETED, PLANNED, PLOT, Plot, plots_of
from agent.story.stage import FACT
from agent.story.stops import SENTENCE
from agent.story.ties import AFFINITY, POINT, TRUST, pair
from graph.values import Member, Turn
from models.protocols import Generator

BAR = 0.85  # the share of the tasks that a model has to do right
VERSION = 1  # other tasks, another question: probe again
MOST_TOKENS = 120
MOST_LINES = 12  # sentences that are numbered
LONGEST = 300  # characters of one
SAME = "same"
MOST_PLOTS = 6  # that are asked about at once
EVERYBODY = "everybody there"
BECOMES = {"start": ACTIVE, "complete": COMPLETED, "cancel": CANCELLED}
Mood = Literal[
    "same", "calm", "happy", "sad", "angry", "afraid", "tense", "curious", "tender", "ashamed", "proud", "tired"
]
Posture = Literal["same", "standing", "sitting", "lying", "kneeling", "walking"]
Step = Literal[-2, -1, 0, 1, 2]
SYSTEM = "You keep the books of a story. You choose among what is given, and where nothing changed you say so."


@dataclass(frozen=True, slots=True)
class Numbered:
    """A sentence of a turn that a member saw, as it is shown: by number, name and words."""

    turn: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the stage that a judgement makes."""

    owner: str
    aspect: str
    text: str
    sources: tuple[str, ...]


def numbered(seen: Iterable[Turn]) -> list[Numbered]:
    """The sentences of some turns, the last MOST_LINES of them."""
    found = [
        Numbered(turn.id, turn.speaker, " ".join(sentence.split())[:LONGEST])
        for turn in seen
        for sentence in SENTENCE.split((turn.text or "").strip())
        if sentence.strip()
    ]
    return found[-MOST_LINES:]


def schema_of(others: Sequence[Member], lines: Sequence[Numbered]) -> type[BaseModel]:
    """What one may answer: a step for each other one, a mood, a posture, and the number of a sentence or 0."""
    steps: dict[str, Any] = {}
    for at in range(len(others)):
        steps |= {f"affinity_{at + 1}": (Step, ...), f"trust_{at + 1}": (Step, ...)}
    learned = (int, Field(ge=0, le=len(lines)))
    return create_model("Judgement", **steps, mood=(Mood, ...), posture=(Posture, ...), learned=learned)


def asked(generator: Generator, voice: Member, others: Sequence[Member], lines: Sequence[Numbered]) -> list[int]:
    """The question; blocking where the model is on a server."""
    told = "\n".join(f"{at}. {line.speaker}: {line.text}" for at, line in enumerate(lines, start=1))
    who = "\n".join(
        f"affinity_{at} and trust_{at}: how far {voice.name} likes and trusts {other.name} more (1, 2) or less "
        "(-1, -2) because of this; 0 where it is as before."
        for at, other in enumerate(others, start=1)
    )
    ask = (
        f"What {voice.name} saw and heard just now:\n{told}\n\n{who}\n"
        f"mood and posture: those of {voice.name} after this; same where nothing tells.\n"
        f"learned: the number of the sentence that told {voice.name} something lasting and new; 0 where none did."
    )
    return question(generator, SYSTEM, ask)


class SpeaksUp(BaseModel):
    """Whether one who was not asked says something."""

    speaks: bool


def asked_to_speak(generator: Generator, voice: Member, lines: Sequence[Numbered]) -> list[int]:
    """The question whether somebody who was not asked says something now; blocking as `asked`."""
    told = "\n".join(f"{line.speaker}: {line.text}" for line in lines)
    ask = (
        f"What {voice.name} saw and heard just now:\n{told}\n\nNobody asked {voice.name}. Does {voice.name} say "
        "something at once all the same, because it cannot be left unsaid? Mostly the answer is no: speaks is false."
    )
    return question(generator, SYSTEM, ask)


def open_plots(play: Play) -> list[Plot]:
    """The plots that a model may move: those that wait or go on and that everybody there knows of, a few of them."""
    there = {each.id for each in play.voices}
    open_ = (plot for plot in plots_of(play) if not plot.over and (not plot.known or there <= set(plot.known)))
    return list(open_)[:MOST_PLOTS]


def stage_schema(plots: Sequence[Plot]) -> type[BaseModel]:
    """What one may answer of the stage: of each plot what becomes of it, and how much what happened matters, 0 to 3."""
    moves: dict[str, Any] = {
        f"plot_{at}": (Literal["stay", "start", "cancel"] if plot.state == PLANNED else
                       Literal["stay", "complete", "cancel"], ...)
        for at, plot in enumerate(plots, start=1)
    }  # fmt: skip
    return create_model("Stage", **moves, significance=(Literal[0, 1, 2, 3], ...))


def asked_of_stage(generator: Generator, plots: Sequence[Plot], lines: Sequence[Numbered]) -> list[int]:
    """The question what becomes of the plots; blocking as `asked`."""
    told = "\n".join(f"{line.speaker}: {line.text}" for line in lines)
    listed = "\n".join(
        f"plot_{at}: “{plot.title}”, which is planned: start where it begins now, cancel where it cannot come any more."
        if plot.state == PLANNED
        else f"plot_{at}: “{plot.title}”, which goes on: complete where it is over, cancel where it came to nothing."
        for at, plot in enumerate(plots, start=1)
    )
    ask = (
        f"What {EVERYBODY} saw and heard just now:\n{told}\n\n{listed}\nMostly nothing becomes of a plot: stay.\n"
        "significance: 0 everyday, 1 worth a note, 2 it changes something, 3 it changes everything."
    )
    return question(generator, SYSTEM, ask)


def plots_moved(answer: Mapping[str, Any], plots: Sequence[Plot], lines: Sequence[Numbered]) -> list[Change]:
    """The plots that an answer moves; it was checked against the schema."""
    sources = tuple(dict.fromkeys(line.turn for line in lines))
    chosen = ((plot, BECOMES.get(answer[f"plot_{at}"])) for at, plot in enumerate(plots, start=1))
    return [Change(f"{PLOT}{plot.id}", "state", state, sources) for plot, state in chosen if state is not None]


def changes_of(
    answer: Mapping[str, Any], voice: Member, others: Sequence[Member], lines: Sequence[Numbered]
) -> list[Change]:
    """What an answer changes; it was checked against the schema."""
    sources = tuple(dict.fromkeys(line.turn for line in lines))
    found = [
        Change(pair(voice.id, other.id), aspect, f"{step * POINT:+}", sources)
        for at, other in enumerate(others, start=1)
        for aspect in (AFFINITY, TRUST)
        if (step := int(answer[f"{aspect}_{at}"]))
    ]
    found += [Change(voice.id, name, answer[name], sources) for name in ("mood", "posture") if answer[name] != SAME]
    if (number := int(answer["learned"])) > 0:
        line = lines[number - 1]
        fact = f"{line.speaker}: {line.text}"
        found.append(Change(voice.id, f"{FACT}{line.turn}:{number}", fact, (line.turn,)))
    return found


def others_of(play: Play, voice: Member) -> list[Member]:
    """The others who are present, in the order of their seats."""
    return [each for each in play.present if each.id != voice.id]
