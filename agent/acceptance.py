"""What is stored when a message is taken: the message, what is answered, a title; and where a chat's head may go.

A message that is edited is a new one in the place of the old: both stay, and the head goes to the new one. A reply that
is made anew answers a message that is there already.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from agent.errors import AgentError
from agent.pending import Accepted, Regeneration
from agent.references.address import Address
from agent.references.attachments import attaching
from agent.story.play import Play, Plays
from agent.story.spans import MARKER, Marker, split_ooc
from agent.text import verbatim
from agent.withholding import asks_to_withhold, asks_to_withhold_earlier
from graph.errors import NotFound
from graph.events import Event, Role, SessionStarted, SessionTitled, TurnSaid, TurnWithheld
from graph.ids import is_id, new_id
from graph.memory import Memory
from graph.values import Session, Turn

BUSY = (
    "A reply is being written in this chat, or a message is waiting for one. Nothing was changed. Stop it "
    "first (Esc in the chat, Ctrl+C on the command line), or wait for it."
)


def reachable(memory: Memory, session: str, turn: str) -> Turn:
    """A turn that a chat's head may stand at.

    Raises NotFound, or AgentError for one that is deleted, hidden, queued, a tool's or another chat's.
    """
    about, found = memory.readings.session(session), memory.readings.turn(turn)
    if about.deleted:
        raise AgentError("This chat was deleted, so you cannot go there. Nothing was changed.")
    if found.deleted:
        raise AgentError("That message was deleted permanently, so you cannot go there. Nothing was changed.")
    if found.queued:
        raise AgentError("That message is still in the queue. Nothing was changed.")
    if not memory.readings.belongs(session, found.id):
        raise AgentError(
            f"That message belongs to another chat, {found.session}. Nothing was changed. Open that chat, or "
            "fork from it."
        )
    if found.hidden:
        raise AgentError(
            f"That message is hidden. Nothing was changed. Unhide it first: `clew unhide {found.id}`, or press h "
            "on it in the chat."
        )
    if found.role == Role.TOOL:
        raise AgentError("That is a tool result, not a message. Nothing was changed. Choose the message or the reply.")
    return found


USER = "you"
BEFORE_ALL = ""  # the place of a chat's first message
NO_ID = "A message needs a ULID for an id, such as 01ARZ3NDEKTSV4RRFFQ69G5FAV. Nothing was sent; send it without one."
NO_STORY = "This chat plays in no story. Nothing was changed. /story begins one."
NOT_THERE = "There is nobody of that name in this scene who could answer. Nothing was changed. /cast tells who plays."
NONE_WAITS = "No message here is waiting for a reply. Nothing was changed."
RETRIED = 64  # turns looked through for the one that waits: an answer that was stopped may have left some of tools


@dataclass(frozen=True, slots=True)
class NewMessage:
    """What a client says. It may have made the id of the turn itself, to know it again where no answer came.

    In a story, `whisper` is the member of the cast who alone hears it. `references` are attached with it.
    """

    text: str
    client: str
    turn: str = field(default_factory=new_id)
    whisper: str | None = None
    references: tuple[Address, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingAppend:
    """A message as it is taken, and the events that store it."""

    accepted: Accepted
    events: tuple[Event, ...] = ()
    withdrawable: bool = False  # it may be taken back while it waits
    branches: bool = False  # it takes the place of an earlier message


class Acceptance:
    """Works out what to store; blocking, in any thread. Raises NotFound or AgentError where nothing can be taken."""

    def __init__(self, memory: Memory, plays: Plays) -> None:
        self._memory = memory
        self._plays = plays
        self.marker: Marker = MARKER  # of what is said out of character

    def message(
        self, session: str | None, new: NewMessage, project: str | None, *, queued: bool, newest: str | None
    ) -> PendingAppend:
        """A message at the end of a chat, None to begin one. `newest` is the last one, which may wait in the queue."""
        if session is None:
            session = new_id()
            began = SessionStarted(session=session, project=project, client=new.client)
            attached = attaching(self._memory, session, None, new.references, turn=new.turn)
            return self._append_of(
                session, new, parent=None, untitled=True, before=[began], attached=attached, begins=True
            )
        about = self._memory.readings.session(session)
        if about.deleted:
            raise AgentError("This chat was deleted, so nothing was sent. Start a new one with /new.")
        attached = self._attached(about, new)
        if (play := self._plays.of(about)) is not None:
            parent = None if queued else self._memory.readings.stands_at(session)
            return self._played(about, new, play, parent=parent, queued=queued)
        earlier: list[Event] = []
        if asks_to_withhold_earlier(new.text):
            meant = newest if queued else last_message(self._memory.readings.thread(session, limit=RETRIED))
            earlier = self.kept_out_with(meant)
        parent, untitled = None if queued else about.head, about.name is None
        return self._append_of(
            session, new, parent=parent, untitled=untitled, before=earlier, attached=attached, queued=queued
        )

    def edited(self, session: str, turn: str, new: NewMessage) -> PendingAppend:
        """A message in the place of an earlier one of the user's."""
        old = reachable(self._memory, session, turn)
        if old.role != Role.USER:
            raise AgentError(
                "Only your own messages can be edited. A reply can be regenerated instead. Nothing was changed."
            )
        about = self._memory.readings.session(session)
        attached = self._attached(about, new, at=old.parent or BEFORE_ALL)
        if (play := self._plays.of(about)) is not None:
            return self._played(about, new, play, parent=old.parent, branches=True, among=old.witnesses)
        path = self._memory.readings.thread(session, before=old.id, limit=RETRIED)
        earlier = self.kept_out_with(last_message(path)) if asks_to_withhold_earlier(new.text) else []
        untitled = about.name is None or not (about.named_by_user or any(each.role == Role.USER for each in path))
        by_hand = old.withheld and not asks_to_withhold(old.text or "")
        return self._append_of(
            session,
            new,
            parent=old.parent,
            untitled=untitled,
            before=earlier,
            attached=attached,
            branches=True,
            withheld=by_hand,
        )

    def _attached(self, about: Session, new: NewMessage, at: str | None = None) -> list[Event]:
        """What a message attaches that a chat does not refer to yet, there where it is said."""
        references = new.references
        return attaching(self._memory, about.id, about, references, turn=new.turn, at=at) if references else []

    def known(self, new: NewMessage) -> PendingAppend | None:
        """The message that is there already under this id: it is not said twice. AgentError: it is no id."""
        if not is_id(new.turn):
            raise AgentError(NO_ID)
        try:
            turn = self._memory.readings.turn(new.turn)
        except NotFound:
            return None
        return PendingAppend(Accepted(turn.session, turn.id, False, turn.text or "", new.client, known=True))

    def regenerated(self, session: str, turn: str | None, *, client: str, goes_on: bool = False) -> PendingAppend:
        """The message that a reply is made anew for: that of the given one (or of a message), or of the last reply.

        Where it `goes_on`, the new one begins with all of the old, which was cut off.
        """
        about = self._memory.readings.session(session)
        if about.deleted:
            raise AgentError("This chat was deleted, so there is nothing to answer. Start a new one with /new.")
        if about.story is not None and (again := self._played_again(about, turn, client)) is not None:
            return again
        asked = self._asked(about, turn)
        waits = turn is None and self._waiting(session, asked)
        accepted = Accepted(
            session,
            asked.id,
            False,
            asked.text or "",
            client,
            after=about.head if waits else None,
            withheld=asked.withheld,
            regeneration=None if waits or about.head == asked.id else Regeneration(about.head),
            voice=asked.addressed,
            among=asked.witnesses,
        )
        if goes_on:
            cut = self._memory.readings.turn(turn or about.head or asked.id)
            if about.story is not None or cut.role != Role.ASSISTANT or not cut.truncated or not cut.text:
                raise AgentError("That is no reply that was cut off. Nothing was changed.")
            accepted = replace(accepted, goes_on=cut, regeneration=Regeneration(about.head))
        return PendingAppend(accepted)

    def retried(self, session: str, *, client: str) -> PendingAppend:
        """The last message of a chat, which has no reply."""
        path = self._memory.readings.thread(session, limit=RETRIED)
        last = next((turn for turn in reversed(path) if turn.role != Role.TOOL), None)
        if last is None or last.role != Role.USER:
            raise AgentError(NONE_WAITS)
        first, text = last is path[0] and not last.withheld, last.text or ""
        accepted = Accepted(
            session,
            last.id,
            False,
            text,
            client,
            first=first,
            after=path[-1].id,
            withheld=last.withheld,
            voice=last.addressed,
            among=last.witnesses,
        )
        return PendingAppend(accepted)

    def spoken(self, session: str, member: str, *, client: str) -> PendingAppend:
        """Somebody of a story's cast speaks next, asked or not."""
        about = self._memory.readings.session(session)
        play = self._plays.of(about)
        if play is None:
            raise AgentError(NO_STORY)
        speaker = next((each for each in play.voices if each.id == member), None)
        if speaker is None:
            raise AgentError(NOT_THERE)
        path = [turn for turn in self._memory.readings.thread(session, limit=RETRIED) if turn.role != Role.NOTE]
        if not path:
            raise AgentError("Nothing was said in this story yet. Nothing was changed. Say something first.")
        last = next((turn for turn in reversed(path) if turn.role == Role.USER), path[-1])
        seen = [turn for turn in path if speaker.id in (turn.witnesses or ())]
        asked = (seen[-1].text or "") if seen else ""
        after = self._memory.readings.stands_at(session)
        accepted = Accepted(session, last.id, False, asked, client, after=after, voice=speaker.id, alone=True)
        return PendingAppend(accepted)

    def kept_out_with(self, turn: str | None) -> list[Event]:
        """What keeps a message out of memory, with what was answered so far; the rest follows with that."""
        return [TurnWithheld(turn=each) for each in self.unkept(turn)] if turn is not None else []

    def unkept(self, turn: str) -> list[str]:
        """Those of a message and its answer that are not kept out of memory yet."""
        said = self._memory.readings.exchange(turn)
        turns = (said.turn, *said.tools, *([said.reply] if said.reply is not None else []))
        return [each.id for each in turns if not each.withheld]

    def _append_of(
        self,
        session: str,
        new: NewMessage,
        *,
        parent: str | None,
        untitled: bool,
        before: list[Event],
        attached: list[Event],
        queued: bool = False,
        begins: bool = False,
        branches: bool = False,
        withheld: bool = False,
    ) -> PendingAppend:
        withheld = withheld or asks_to_withhold(new.text)
        turn = TurnSaid(
            turn=new.turn,
            session=session,
            parent=parent,
            role=Role.USER,
            speaker=USER,
            client=new.client,
            queued=queued,
            text=new.text,
        )
        events: list[Event] = [*before, turn, *attached]
        if withheld:
            events.append(TurnWithheld(turn=turn.turn))
        elif untitled:
            events.append(SessionTitled(session=session, sources=(turn.turn,), text=verbatim(new.text)))
        accepted = Accepted(
            session,
            turn.turn,
            queued,
            new.text,
            new.client,
            first=untitled and not withheld,
            begins=begins,
            withheld=withheld,
        )
        return PendingAppend(accepted, tuple(events), withdrawable=not branches, branches=branches)

    def _played(
        self,
        about: Session,
        new: NewMessage,
        play: Play,
        *,
        parent: str | None,
        queued: bool = False,
        branches: bool = False,
        among: tuple[str, ...] | None = None,
    ) -> PendingAppend:
        """What the user says as a member of a story's cast, and what they say out of character, which nobody hears.

        In the place of an earlier message it is heard by who heard that: `among`.
        """
        you = play.seated("you")
        if you is None:
            raise AgentError("Nobody of the cast is you. Nothing was sent. /cast sets who you are.")
        text, notes = split_ooc(new.text, self.marker)
        whisper = play.member(new.whisper)
        if new.whisper is not None and (whisper is None or not play.is_present(whisper) or whisper.seat == "you"):
            raise AgentError(NOT_THERE)
        said: list[TurnSaid] = []

        def say(role: Role, text: str, turn: str, **played: Any) -> None:
            over = None if queued else said[-1].turn if said else parent
            place = {"session": about.id, "parent": over, "queued": queued, "client": new.client}
            fields = {**place, "turn": turn, "role": role, "speaker": you.id, "text": text, **played}
            said.append(TurnSaid.model_validate(fields))

        for at, note in enumerate(notes, start=1):
            say(Role.NOTE, note, new_id() if text or at < len(notes) else new.turn, witnesses=())
        if text:
            addressed = whisper or play.addressee(text, among)
            only = whisper.id if whisper is not None else None
            heard = play.hearers(you.id, only=only) if among is None else among
            say(Role.USER, text, new.turn, addressed=addressed.id, witnesses=heard)
        last = said[-1]
        accepted = Accepted(
            about.id,
            last.turn,
            queued,
            last.text or "",
            new.client,
            voice=last.addressed,
            notes=tuple(each.turn for each in said[:-1]),
            unasked=not text,
            among=last.witnesses,
        )
        return PendingAppend(accepted, tuple(said), withdrawable=not branches, branches=branches)

    def _played_again(self, about: Session, turn: str | None, client: str) -> PendingAppend | None:
        """A reply of a story that answers no message, or not the one before it: its voice speaks again, below that."""
        meant = turn if turn is not None else about.head
        if meant is None:
            return None
        again = reachable(self._memory, about.id, meant)
        if again.role != Role.ASSISTANT or again.parent is None:
            return None
        over = self._memory.readings.turn(again.parent)
        asked = self._memory.readings.exchange(again.id).turn
        if asked.role != Role.USER:
            asked = over
        accepted = Accepted(
            about.id,
            asked.id,
            False,
            over.text or "",
            client,
            after=over.id,
            regeneration=Regeneration(about.head),
            voice=again.member,
            among=again.witnesses,
        )
        return PendingAppend(accepted)

    def _asked(self, about: Session, turn: str | None) -> Turn:
        if turn is None:
            path = self._memory.readings.thread(about.id, limit=RETRIED)
            asked = next((each for each in reversed(path) if each.role == Role.USER), None)
            if asked is None:
                raise AgentError("This chat has no message to answer. Nothing was changed.")
            if asked.hidden:
                raise AgentError("The last message is hidden. Nothing was changed. Unhide it first.")
            return asked
        meant = reachable(self._memory, about.id, turn)
        asked = meant if meant.role == Role.USER else self._memory.readings.exchange(meant.id).turn
        if asked.role != Role.USER:
            raise AgentError("That reply does not answer a message, so it cannot be regenerated. Nothing was changed.")
        return reachable(self._memory, about.id, asked.id)

    def _waiting(self, session: str, asked: Turn) -> bool:
        """Whether nothing but turns of tools follows a message on the path: it has no reply there."""
        path = self._memory.readings.thread(session, limit=RETRIED)
        at = next((at for at, turn in enumerate(path) if turn.id == asked.id), len(path))
        return all(turn.role == Role.TOOL for turn in path[at + 1 :])


def last_message(path: list[Turn]) -> str | None:
    """The user's last message of a path."""
    return next((turn.id for turn in reversed(path) if turn.role == Role.USER), None)
