"""A story as one chat stands: who plays, who is present, and what is on the stage; read along the path to its head.

Presence is a line of the stage, `present`, which a person or a rule sets and no model; whoever has a seat and no such
line is there.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from agent.errors import AgentError
from agent.story.addressee import addressed
from agent.story.names import Named
from agent.story.stops import called
from graph.memory import Memory
from graph.readings.conversation import Readings
from graph.values import Member, Session, StageLine

MET, NOT_MET = "met", "no"  # of one who has not met another
PRESENT, CARD, AT, AUDIBLE = "present", "card", "place", "audible"
PLACE = "place:"  # before a place's name, as an owner
ABSENT = "no"
KEPT = 8  # plays
WORLD = "world"  # the owner of what is of nobody in particular
NOBODY_HEARS = (
    "Nobody who could answer is present. Nothing was sent. /present NAME brings somebody back, /cast tells who plays."
)


@dataclass(frozen=True, slots=True)
class Play:
    """The cast by seats (you, host, guest), and the lines of the stage: by owner and aspect the last, and all."""

    cast: tuple[Member, ...]
    lines: Mapping[tuple[str, str], StageLine]
    history: tuple[StageLine, ...] = ()  # all lines that hold, from the first turn to the last

    def text(self, owner: str, aspect: str) -> str:
        """What a line of the stage says; empty where nothing does."""
        line = self.lines.get((owner, aspect))
        return line.text or "" if line is not None else ""

    def member(self, id: str | None) -> Member | None:
        """One of the cast by its id."""
        return next((each for each in self.cast if each.id == id), None)

    def seated(self, seat: str) -> Member | None:
        """Who has a seat."""
        return next((each for each in self.cast if each.seat == seat), None)

    @property
    def present(self) -> tuple[Member, ...]:
        """Those of the cast who are there."""
        return tuple(each for each in self.cast if self.is_present(each))

    @property
    def voices(self) -> tuple[Member, ...]:
        """Those present whom a model speaks for, the host first."""
        return tuple(each for each in self.present if each.seat != "you")

    def is_present(self, member: Member) -> bool:
        """Whether a member sees and hears what goes on."""
        return self.text(member.id, PRESENT) != ABSENT

    def hearers(self, speaker: str, *, only: str | None = None) -> tuple[str, ...]:
        """Who sees what a member says: the speaker, and whoever is there and near; of a whisper, the one it is for.

        What somebody says who is away is narration: whoever is there hears it, and they do not.
        """
        told_by = self.member(speaker)
        if told_by is not None and not self.is_present(told_by):
            return tuple(each.id for each in self.present if only in (None, each.id))
        heard = (each.id for each in self.present if only in (None, each.id) and self.is_near(each.id, speaker))
        return tuple(dict.fromkeys([speaker, *heard]))

    def are_strangers(self, one: str, other: str) -> bool:
        """Whether one had not met another when that was set; whether it has since is told by what both saw."""
        return self.text(f"{one}>{other}", MET) == NOT_MET

    def is_near(self, listener: str, speaker: str) -> bool:
        """Whether one hears what another says: at the same place, or at one from which that place is heard.

        Where either place is not set, nothing keeps them apart.
        """
        here, there = (self.text(each, AT).strip().casefold() for each in (listener, speaker))
        if not here or not there or here == there:
            return True
        audible = (text for (owner, aspect), text in self._places() if aspect == AUDIBLE and owner == there)
        return any(here in (each.strip().casefold() for each in text.split(",")) for text in audible)

    def _places(self) -> Iterator[tuple[tuple[str, str], str]]:
        """What is known of places, by their names in small letters."""
        for (owner, aspect), line in self.lines.items():
            if owner.startswith(PLACE):
                yield (owner.removeprefix(PLACE).strip().casefold(), aspect), line.text or ""

    def addressee(self, text: str, among: Collection[str] | None = None) -> Member:
        """Who is to answer what the user says: the one named, else the host, else who is there. Raises AgentError.

        Of those `among` some members, where these are given, else of those present.
        """
        heard = [each for each in self.cast if each.seat != "you" and each.id in (among or ())]
        voices = self.voices if among is None else heard
        if not voices:
            raise AgentError(NOBODY_HEARS)
        names = [Named(each.id, tuple(called(each.name))) for each in voices]
        id = addressed(text, names, host=voices[0].id).id
        return next(each for each in voices if each.id == id)


class Plays:
    """Reads plays, each once as long as nothing but words is added below: one reply asks several times. In any thread.

    What is said changes nothing that holds above it, so that a play that was read while the user was reading is there
    when they send.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._read: OrderedDict[tuple[str, str | None], tuple[int, str | None, Play]] = OrderedDict()

    def of(self, session: Session, witness: str | None = None) -> Play | None:
        """The play of a chat at its head, to everybody or as far as a `witness` saw; None of one that is no story's."""
        if session.story is None:
            return None
        key, now = (session.id, witness), self._memory.head()
        known = self._read.get(key)
        play = known[2] if known is not None and self._holds(session, known[0], known[1], now) else None
        if play is None:
            play = play_of(self._memory.readings, session, witness)
        if play is not None:
            self._read[key] = now, session.head, play
            self._read.move_to_end(key)
            while len(self._read) > KEPT:
                self._read.popitem(last=False)
        return play

    def _holds(self, session: Session, seq: int, head: str | None, now: int) -> bool:
        if seq == now:
            return head == session.head
        return self._memory.readings.only_said(session.id, seq, head)


def play_of(readings: Readings, session: Session, witness: str | None = None) -> Play | None:
    """The play of a chat as it stands, to everybody or as far as a `witness` saw; None of a chat that is no story's."""
    if session.story is None:
        return None
    cast, history = readings.play(session.id, witness=witness)
    return Play(tuple(cast), {(line.owner, line.aspect): line for line in history}, tuple(history))


def meant(play: Play, name: str) -> str:
    """The member that a name means, or an id is of. Raises AgentError."""
    wanted = " ".join(name.split()).casefold()
    whole = [each for each in play.cast if wanted in (each.name.casefold(), each.id)]
    found = whole or [each for each in play.cast if wanted in each.name.casefold().split()]
    if len(found) == 1:
        return found[0].id
    who = ", ".join(each.name for each in play.cast)
    says = "The name" if found else "Nobody called"
    what = "means more than one" if found else "plays"
    raise AgentError(f"{says} “{name}” {what} here. Nothing was changed. Who plays: {who}.")
