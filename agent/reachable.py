"""Which turns the head of a chat may go to, and what is said of those it may not."""

from graph.events import Role
from graph.memory import Memory
from graph.values import Turn

from .errors import AgentError

BUSY = (
    "A reply is being written in this chat, or a message is waiting for one. Nothing was changed. Stop it "
    "first (Esc in the chat, Ctrl+C on the command line), or wait for it."
)


def reachable(memory: Memory, session: str, turn: str) -> Turn:
    """A turn that a chat's head may stand at.

    Raises NotFound, or AgentError for one that is deleted, hidden, queued, a tool's or another chat's.
    """
    about, found = memory.session(session), memory.turn(turn)
    if about.deleted:
        raise AgentError("This chat was deleted, so you cannot go there. Nothing was changed.")
    if found.deleted:
        raise AgentError("That message was deleted permanently, so you cannot go there. Nothing was changed.")
    if found.queued:
        raise AgentError("That message is still in the queue. Nothing was changed.")
    if not memory.belongs(session, found.id):
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
