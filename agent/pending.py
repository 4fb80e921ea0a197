"""Messages on their way to a reply: as accepted, waiting their turn or withdrawn, and what is known while answered."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from agent.events import AgentEvent, PromptRead, TurnWithdrawn
from agent.packs import Fresh, Pack
from agent.prompt import Limits, PromptLog
from agent.story.play import Play
from agent.story.stops import Stop, Stops
from agent.story.voice import Voice, others, voice_of
from agent.stray import Stray
from graph.events import Event, Recalled, TurnWithheld
from graph.ids import new_id
from graph.values import ASSISTANT, Member, Recorded, Session, Speaker, Turn
from models.protocols import Generator

Tell = Callable[[AgentEvent], None]
Record = Callable[..., list[Recorded]]
T = TypeVar("T")


class CancelToken:
    """The user's wish to stop, for one message at a time."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def asked(self) -> bool:
        """Whether to stop."""
        return self._event.is_set()

    def ask(self) -> None:
        """Stop what is being answered."""
        self._event.set()

    def clear(self) -> None:
        """Another message is taken up."""
        self._event.clear()

    async def unless(self, work: Awaitable[T]) -> T | None:
        """What comes of the work, or None if it was stopped, and so cancelled."""
        working = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self._event.wait())
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not self.asked:
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return None


@dataclass(frozen=True, slots=True)
class Regeneration:
    """A message is answered once more: the head goes to it, and if nothing comes of that, back to where it `was`."""

    was: str | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A durable message waiting for its reply; a `queued` one is not on the path yet.

    `after` is the turn that a reply follows: the message, or the last tool's turn of an answer that was stopped.
    """

    session: str
    turn: str
    queued: bool
    text: str
    client: str  # who said it, such as "chat"
    first: bool = False  # it is what the session's title is made from
    begins: bool = False  # its session begins with it
    known: bool = False  # it was there already, and is not answered once more
    after: str | None = None
    withheld: bool = False  # the user keeps it out of memory, and with it what is answered
    regeneration: Regeneration | None = None
    voice: str | None = None  # in a story, who of the cast answers
    notes: tuple[str, ...] = ()  # said out of character with it, and ahead of it
    unasked: bool = False  # nobody answers it
    alone: bool = False  # in a story, nobody else may speak up after its reply
    among: tuple[str, ...] | None = None  # in a story, who saw what is answered: nobody else hears the answer
    goes_on: Turn | None = None  # a reply that was cut off: the new one begins with all of it
    since: float = field(default_factory=time.perf_counter, compare=False)  # when it was taken: what is waited counts

    @property
    def over(self) -> bool:
        """Whether nothing is left to do once it is durable: it was there, or nobody answers it and it does not wait."""
        return self.known or (self.unasked and not self.queued)

    @property
    def is_safe(self) -> str:
        """What to say where nothing came of it."""
        return (
            "The chat is unchanged."
            if self.regeneration is not None
            else "Your message is saved; use /retry to get a reply."
        )

    def kept_out(self, turn: str) -> tuple[Event, ...]:
        """What keeps a turn out of memory that answers a message which is; it belongs into the turn's own append."""
        return (TurnWithheld(turn=turn),) if self.withheld else ()


@dataclass(slots=True)
class PendingAnswer:
    """One message while it is answered: what stays the same, and how far it has come.

    `tell` takes what is told between the events of a step: how far something is, a question to the user.
    """

    taken: Accepted
    tell: Tell
    session: Session = field(init=False)
    generator: Generator = field(init=False)
    limits: Limits = field(init=False)
    parent: str = ""  # the turn that the next one follows
    reply_turn: str = field(default_factory=new_id)
    fresh: Fresh = field(init=False)  # what was recalled and pinned for this message
    log: PromptLog = field(init=False)
    play: Play | None = None  # of a story, as it stands when it is answered
    looked_up: tuple[str, Pack] | None = None  # what the last tool answered, and what that quotes
    begun: Sequence[int] = ()  # the tokens of a reply that is gone on with
    kept: str | None = None  # the text of the reply, once it is durable

    def __post_init__(self) -> None:
        self.parent = self.taken.after or self.taken.turn

    @property
    def voice(self) -> Member | None:
        """Who of a story's cast answers."""
        return self.play.member(self.taken.voice) if self.play is not None else None

    @property
    def voice_of_prompt(self) -> Voice | None:
        """The same as a prompt has it."""
        return voice_of(self.voice) if self.voice is not None else None

    @property
    def stops(self) -> list[Stop]:
        """Where the reply would speak for somebody else, or is none."""
        voice = self.voice_of_prompt
        stops: list[Stop] = [Stray(self.taken.text)]
        if self.play is not None and voice is not None:
            stops.append(Stops(others(self.play, voice), voice.name))
        return stops

    @property
    def heard(self) -> Speaker:
        """Who speaks the reply, and who hears it."""
        if self.play is None or self.taken.voice is None:
            return ASSISTANT
        among = self.taken.among
        heard = self.play.hearers(self.taken.voice)
        return Speaker(
            self.taken.voice, tuple(id for id in heard if among is None or id in among or id == self.taken.voice)
        )

    @property
    def pack(self) -> tuple[Recalled, ...]:
        """What of that stands in the prompt."""
        held = self.log.held
        return tuple(item for item in self.fresh.pack if item.id in held)

    def read(self, done: int, total: int) -> None:
        """Tell how far the model has read the prompt."""
        self.tell(PromptRead(self.taken.session, self.taken.turn, done, total))


class Queue:
    """Who waits for the one model there is. A message is in it from its acceptance until it is taken up or withdrawn.

    One that is on hold passes its turn by, and stands in line again when it is released.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[Accepted, Tell | None]] = {}
        self._held: dict[str, asyncio.Event] = {}

    def join(self, taken: Accepted, tell: Tell | None) -> None:
        """A message was accepted. One without `tell` can be neither held nor withdrawn: it was there before."""
        self._waiting[taken.turn] = taken, tell

    def waits(self, turn: str) -> bool:
        return turn in self._waiting

    def take(self, turn: str) -> bool:
        """Its turn has come; False where it is on hold, or was withdrawn."""
        return turn not in self._held and self._waiting.pop(turn, None) is not None

    def find(self, session: str, turn: str) -> Accepted | None:
        """A message of a session that still waits."""
        taken, tell = self._waiting.get(turn, (None, None))
        return taken if taken is not None and tell is not None and taken.session == session else None

    def newest(self, session: str) -> str | None:
        """The last message of a session that waits."""
        return next((turn for turn in reversed(self._waiting) if self.find(session, turn) is not None), None)

    def hold(self, *turns: str) -> None:
        """These pass their turn by until they are released."""
        for turn in turns:
            self._held.setdefault(turn, asyncio.Event())

    def held(self, session: str) -> tuple[str, ...]:
        """The messages of a session that are on hold, in their order."""
        return tuple(turn for turn in self.of(session) if turn in self._held)

    def of(self, session: str) -> tuple[str, ...]:
        """The messages of a session that wait, in their order."""
        return tuple(turn for turn in self._waiting if self.find(session, turn) is not None)

    def release(self, *turns: str) -> None:
        """These stand in line again."""
        for turn in turns:
            if (held := self._held.pop(turn, None)) is not None:
                held.set()

    def release_all(self) -> None:
        self.release(*self._held)

    async def released(self, turn: str) -> None:
        """Wait until a message is not on hold."""
        if (held := self._held.get(turn)) is not None:
            await held.wait()

    def withdraw(self, turn: str) -> None:
        """It waits no more, and that is told to whoever follows it."""
        taken, tell = self._waiting.pop(turn)
        assert tell is not None
        tell(TurnWithdrawn(taken.session, turn))
        self.release(turn)
