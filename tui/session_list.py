"""The list of chats beside the chat: hidden, and filled."""

from tui.chat_view import ChatView

ROOM_FOR_THREE = 120  # cells from which the memory panel may stand there too
ROOM_FOR_BOTH = 72  # cells from which the list stands beside the chat instead of in its place


def hide(view: ChatView) -> None:
    """Back to the chat alone."""
    view.sessions.display = view.sessions.archived = False  # it opens on the chats that are in use
    view.screen.set_class(False, "-listing")
    view.composer.focus()


async def fill(view: ChatView) -> None:
    """Read the list again, if it is shown."""
    if view.chat is not None and view.sessions.display:
        service = view.chat.service
        found = await service.chats.all(archived=view.sessions.archived)
        private = [] if view.sessions.archived else await service.private.all()
        view.sessions.fill([*private, *found], view.chat.session, private=view.state.private)
