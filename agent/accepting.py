"""What is stored when a message is taken: the message, what keeps it out of memory, a title; and what is answered.

A message that is edited is a new one in the place of the old: both stay, and the head goes to the new one. A reply that
is made anew answers a message that is there already.
"""

from dataclasses import dataclass

from graph.events import Event, Role, SessionStarted, SessionTitled, TurnSaid, TurnWithheld
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Session, Turn

from .errors import AgentError
from .reachable import reachable
from .steps import Accepted, Regeneration
from .title import verbatim
from .withholding import asks_to_withhold, asks_to_withhold_earlier

USER = "you"
RETRIED = 64  # turns looked through for the one that waits: an answer that was stopped may have left some of tools


@dataclass(frozen=True, slots=True)
class PendingAppend:
    """A message as it is taken, and the events that store it."""

    accepted: Accepted
    events: tuple[Event, ...]


class Accepting:
    """Works out what to store; blocking, in any thread. Raises NotFound or AgentError where nothing can be taken."""

    def __init__(self, memory: Memory, *, client: str) -> None:
        self._memory = memory
        self._client = client

    def message(
        self, session: str | None, text: str, project: str | None, *, queued: bool, newest: str | None
    ) -> PendingAppend:
        """A message at the end of a chat, None to begin one. `newest` is the last one, which may wait in the queue."""
        if session is None:
            session = new_id()
            began = SessionStarted(session=session, project=project, client=self._client)
            return self._append_of(session, text, parent=None, untitled=True, before=[began])
        about = self._memory.session(session)
        if about.deleted:
            raise AgentError("This chat was deleted, so nothing was sent. Start a new one with /new.")
        earlier: list[Event] = []
        if asks_to_withhold_earlier(text):
            meant = newest if queued else last_message(self._memory.thread(session, limit=RETRIED))
            earlier = self.kept_out_with(meant)
        parent = None if queued else about.head
        return self._append_of(session, text, parent=parent, untitled=about.name is None, before=earlier, queued=queued)

    def edited(self, session: str, turn: str, text: str) -> PendingAppend:
        """A message in the place of an earlier one of the user's."""
        old = reachable(self._memory, session, turn)
        if old.role != Role.USER:
            raise AgentError(
                "Only your own messages can be edited. A reply can be regenerated instead. Nothing was changed."
            )
        about = self._memory.session(session)
        path = self._memory.thread(session, before=old.id, limit=RETRIED)
        earlier = self.kept_out_with(last_message(path)) if asks_to_withhold_earlier(text) else []
        untitled = about.name is None or not (about.named_by_user or any(each.role == Role.USER for each in path))
        by_hand = old.withheld and not asks_to_withhold(old.text or "")
        return self._append_of(session, text, parent=old.parent, untitled=untitled, before=earlier, withheld=by_hand)

    def regenerated(self, session: str, turn: str | None) -> Accepted:
        """The message that a reply is made anew for: that of the given one (or of a message), or of the last reply."""
        about = self._memory.session(session)
        if about.deleted:
            raise AgentError("This chat was deleted, so there is nothing to answer. Start a new one with /new.")
        asked = self._asked(about, turn)
        waits = turn is None and self._waiting(session, asked)
        return Accepted(
            session,
            asked.id,
            False,
            asked.text or "",
            after=about.head if waits else None,
            withheld=asked.withheld,
            regeneration=None if waits or about.head == asked.id else Regeneration(about.head),
        )

    def kept_out_with(self, turn: str | None) -> list[Event]:
        """What keeps a message out of memory, with what was answered so far; the rest follows with that."""
        return [TurnWithheld(turn=each) for each in self.unkept(turn)] if turn is not None else []

    def unkept(self, turn: str) -> list[str]:
        """Those of a message and its answer that are not kept out of memory yet."""
        said = self._memory.exchange(turn)
        turns = (said.turn, *said.tools, *([said.reply] if said.reply is not None else []))
        return [each.id for each in turns if not each.withheld]

    def _append_of(
        self,
        session: str,
        text: str,
        *,
        parent: str | None,
        untitled: bool,
        before: list[Event],
        queued: bool = False,
        withheld: bool = False,
    ) -> PendingAppend:
        withheld = withheld or asks_to_withhold(text)
        turn = TurnSaid(
            turn=new_id(),
            session=session,
            parent=parent,
            role=Role.USER,
            speaker=USER,
            client=self._client,
            queued=queued,
            text=text,
        )
        events: list[Event] = [*before, turn]
        if withheld:
            events.append(TurnWithheld(turn=turn.turn))
        elif untitled:
            events.append(SessionTitled(session=session, sources=(turn.turn,), text=verbatim(text)))
        accepted = Accepted(session, turn.turn, queued, text, first=untitled and not withheld, withheld=withheld)
        return PendingAppend(accepted, tuple(events))

    def _asked(self, about: Session, turn: str | None) -> Turn:
        if turn is None:
            path = self._memory.thread(about.id, limit=RETRIED)
            asked = next((each for each in reversed(path) if each.role == Role.USER), None)
            if asked is None:
                raise AgentError("This chat has no message to answer. Nothing was changed.")
            if asked.hidden:
                raise AgentError("The last message is hidden. Nothing was changed. Unhide it first.")
            return asked
        meant = reachable(self._memory, about.id, turn)
        asked = meant if meant.role == Role.USER else self._memory.exchange(meant.id).turn
        if asked.role != Role.USER:
            raise AgentError("That reply does not answer a message, so it cannot be regenerated. Nothing was changed.")
        return reachable(self._memory, about.id, asked.id)

    def _waiting(self, session: str, asked: Turn) -> bool:
        """Whether nothing but turns of tools follows a message on the path: it has no reply there."""
        path = self._memory.thread(session, limit=RETRIED)
        at = next((at for at, turn in enumerate(path) if turn.id == asked.id), len(path))
        return all(turn.role == Role.TOOL for turn in path[at + 1 :])


def last_message(path: list[Turn]) -> str | None:
    """The user's last message of a path."""
    return next((turn.id for turn in reversed(path) if turn.role == Role.USER), None)
