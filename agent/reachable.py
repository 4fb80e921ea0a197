"""Which turns the head of a chat may go to, and what is said of those it may not."""

from graph.events import Role
from graph.memory import Memory
from graph.values import Turn

from .errors import AgentError

BUSY = (
    "A reply is being written in this chat, or a message waits for one. Nothing was changed: stop it first (Esc in the "
    "chat, Ctrl+C on the command line), or wait until it is there."
)


def reachable(memory: Memory, session: str, turn: str) -> Turn:
    """A turn that a chat's head may stand at.

    Raises NotFound, or AgentError for one that is deleted, hidden, queued, a tool's or another chat's.
    """
    about, found = memory.session(session), memory.turn(turn)
    if about.deleted:
        raise AgentError("This chat was deleted, so there is nothing to go to. Nothing was changed.")
    if found.deleted:
        raise AgentError("That message was deleted for good, so there is no way to it. Nothing was changed.")
    if found.queued:
        raise AgentError("That message still waits in the queue and has no place yet. Nothing was changed.")
    if not memory.belongs(session, found.id):
        raise AgentError(
            f"That message is none of this chat's: it was said in the chat {found.session}. Nothing was changed. Open "
            "that one, or fork from it."
        )
    if found.hidden:
        raise AgentError(
            f"That message is hidden. Nothing was changed. Bring it back first: `clew unhide {found.id}`, or `u` after "
            "hiding it."
        )
    if found.role == Role.TOOL:
        raise AgentError(
            "That is what a tool looked up for a reply, not a message. Nothing was changed. Choose the message or the "
            "reply."
        )
    return found
