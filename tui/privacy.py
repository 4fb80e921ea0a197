"""Private chats keep nothing: what is asked for there by hand, and would be kept, is asked about first."""

from tui.chat_view import ChatView
from tui.widgets.dialogs import Confirm

PRIVATE = "Private chats are not saved: this one is gone when you quit."


async def may_keep(view: ChatView, what: str = "a memory you add by hand is") -> bool:
    """Whether what is asked for may be kept for good: in a private chat the person is asked, and no is the rule."""
    if not view.is_private(view.session):
        return True
    words = f"This chat is private, but {what} saved permanently."
    return await view.ui.ask(Confirm("Save it permanently?", words, yes="save"))
