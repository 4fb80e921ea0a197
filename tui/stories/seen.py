"""The story as one of its cast saw it."""

from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.state import CastMember, Scene
from tui.text import cut, one_line
from tui.widgets.dialogs import Reader

if TYPE_CHECKING:
    from tui.chat import Chat

NOTHING = "Nothing yet."


async def show_seen(view: ChatView, chat: "Chat", scene: Scene, member: CastMember) -> None:
    """A page of what a member saw of the chat. Raises NotFound, or AgentError."""
    turns = await chat.service.stories.seen_by(scene.session, member.id)
    words = "\n\n".join(f"{one_line(turn.speaker)}: {turn.text}" for turn in turns)
    view.ui.show(Reader(f"{cut(scene.name, 40)}, as {member.name} saw it", words or NOTHING))
