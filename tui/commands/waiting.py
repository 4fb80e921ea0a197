"""What to say of exchanges that nothing was learned from yet, so that nobody takes them for forgotten."""

from typing import TYPE_CHECKING

from tui.commands.output import say

if TYPE_CHECKING:
    from agent.service import Agent


def waiting(count: int, *, by_itself: bool = True) -> str:
    """How many exchanges wait and what takes them up; nothing where none do."""
    if not count:
        return ""
    exchanges = "1 exchange waits" if count == 1 else f"{count:,} exchanges wait"
    chat = "the chat does it by itself, `clew reflect` does it now" if by_itself else "`clew reflect` does it"
    return f"{exchanges} to be learned from: {chat}."


async def tell_waiting(agent: "Agent") -> None:
    """Say on stderr that exchanges wait, if any do."""
    words = waiting(await agent.unreflected(), by_itself=agent.settings.reflect)
    if words:
        say(words)
